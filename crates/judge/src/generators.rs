//! Whether several generators made one load.

use wirebench_schema::{
    journal::{Reason, ReasonKind, Weight},
    load::LoadReport,
};

/// Generators that begin further apart than this, or than this share of the window, make another load than the
/// one that was asked for.
const SPREAD_NS: u64 = 10_000_000;
const SPREAD_PARTS: u64 = 100;

/// Why generators did not make one load; none if they did.
#[must_use]
pub fn apart(report: &LoadReport) -> Option<Reason> {
    let spread_ns = spread_ns(report).filter(|it| are_apart(*it, report.window_ns))? as f64;
    let detail = format!("at most {:.0} ms are allowed", limit_ns(report.window_ns) as f64 / 1e6);
    Some(ReasonKind::GeneratorsApart.reason(Weight::Invalid, Some(spread_ns), detail))
}

/// How far apart they began. One by itself began when it began.
#[must_use]
pub fn spread_ns(report: &LoadReport) -> Option<u64> {
    // What the clocks may be off counts, too.
    let spread = report.generators.iter().map(|it| it.start_delay_ns + it.clock_error_ns).max();
    spread.filter(|_| report.generators.len() > 1)
}

/// Whether that is too far for one load in a window of this length.
pub(crate) fn are_apart(spread_ns: u64, window_ns: u64) -> bool {
    spread_ns > limit_ns(window_ns)
}

fn limit_ns(window_ns: u64) -> u64 {
    SPREAD_NS.max(window_ns / SPREAD_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::{EngineChoice, GeneratorPart, LoadConfig};

    fn report(spread_ns: u64, window_ns: u64) -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let mut report = LoadReport::new("0".into(), config, EngineChoice::Epoll);
        report.window_ns = window_ns;
        let part = |start_delay_ns| GeneratorPart {
            start_delay_ns,
            clock_error_ns: 1_000_000,
            ..GeneratorPart::default()
        };
        report.generators = vec![part(0), part(spread_ns)];
        report
    }

    #[test]
    fn generators_may_begin_10_ms_or_a_hundredth_of_the_window_apart() {
        let second = 1_000_000_000;
        assert_eq!(apart(&report(9_000_000, second)), None);
        assert_eq!(apart(&report(90_000_000, 10 * second)), None);
        expect_test::expect![
            "the load generators began up to 13.0 ms apart (at most 10 ms are allowed); use a longer -d, or \
             hosts that are closer"
        ]
        .assert_eq(&apart(&report(12_000_000, second)).unwrap().text());
        let mut alone = report(0, second);
        alone.generators[0].clock_error_ns = second;
        alone.generators.truncate(1);
        assert_eq!(apart(&alone), None);
    }
}
