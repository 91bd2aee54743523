//! The parts of a load that several generators made, put together. Pure.

use wirebench_schema::{
    agent::WindowReport,
    load::{
        ErrorCounts, GeneratorPart, Interval, LatencyFigure, LatencySummary, LoadConfig,
        LoadReport, add_classes,
    },
};

use super::clock::Offset;

/// The load `config` that all shares are together, with a row for each; none without shares. Each has its host, with
/// the offset of its clock.
pub(super) fn whole<'a>(
    config: LoadConfig,
    shares: impl Iterator<Item = ((&'a str, &'a Offset), WindowReport)>,
) -> Option<LoadReport> {
    let (mut generators, reports): (Vec<GeneratorPart>, Vec<LoadReport>) = shares
        .map(|((host, offset), window)| (part(host, *offset, &window), window.report))
        .unzip();
    let first_ns = generators.iter().map(|it| it.start_delay_ns).min()?;
    generators.iter_mut().for_each(|it| it.start_delay_ns -= first_ns);
    Some(LoadReport { generators, ..LoadReport::together(config, &reports)? })
}

/// The row of a generator, with the moment of its start.
fn part(host: &str, offset: Offset, window: &WindowReport) -> GeneratorPart {
    let report = &window.report;
    let cpu_ns: u64 = report.thread_cpu_ns.iter().sum();
    let p99 = report.latency.as_ref().and_then(|it| it.known(LatencyFigure::P99));
    GeneratorPart {
        host: host.to_owned(),
        connections: report.connections_made,
        requests_per_second: report.requests_per_second,
        latency_ns_p99: p99.map(|it| it as u64),
        lag_ns_p99: report.lag.as_ref().map(|it| it.latency_ns_p99),
        cpus_used: cpu_ns as f64 / report.window_ns.max(1) as f64,
        threads: report.thread_cpu_ns.len(),
        start_delay_ns: offset.here(window.start_ns),
        clock_error_ns: offset.error_ns,
    }
}

/// The same interval of all generators; none without generators.
pub(super) fn interval(parts: &[Interval]) -> Option<Interval> {
    let first = parts.first()?.clone();
    let sum = |of: fn(&Interval) -> u64| parts.iter().map(of).sum();
    let latency = LatencySummary::merge(parts.iter().filter_map(|it| it.latency.as_deref()));
    let latency = latency.as_ref().and_then(LatencySummary::samples);
    let classes = parts.iter().fold(Vec::new(), |sum, it| add_classes(&sum, &it.status_classes));
    let mut errors_by_kind = Box::<ErrorCounts>::default();
    parts.iter().for_each(|it| errors_by_kind.add(&it.errors_by_kind));
    let whole = Interval {
        errors_by_kind,
        status_classes: classes,
        requests: sum(|it| it.requests),
        requests_per_second: parts.iter().map(|it| it.requests_per_second).sum(),
        errors: sum(|it| it.errors),
        bytes_received: sum(|it| it.bytes_received),
        latency: None,
        ..first
    };
    Some(latency.map_or(whole.clone(), |samples| whole.with_latency(&samples.estimate())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram;
    use wirebench_schema::load::Samples;

    /// An interval in which a host had this many replies after this time.
    fn of_host(replies: u64, latency_ns: u64) -> Interval {
        let mut samples = Samples::new(Histogram::new_with_bounds(1, 1 << 31, 3).unwrap());
        (0..replies).for_each(|_| samples.reply(latency_ns));
        let interval = Interval {
            length_ns: 1_000_000_000,
            requests: replies,
            requests_per_second: replies as f64,
            latency: LatencySummary::of_samples(&samples).map(Box::new),
            ..Interval::default()
        };
        interval.with_latency(&samples.estimate())
    }

    #[test]
    fn percentiles_of_an_interval_are_those_of_the_replies_to_all_hosts() {
        let both = interval(&[of_host(100, 20_000_000), of_host(300, 100_000)]).unwrap();
        assert_eq!((both.requests, both.latency), (400, None));
        let near =
            |found: Option<u64>, expected: u64| found.unwrap().abs_diff(expected) < expected / 500;
        assert!(near(both.latency_ns_p50, 100_000), "{:?}", both.latency_ns_p50);
        assert!(near(both.latency_ns_p99, 20_000_000), "{:?}", both.latency_ns_p99);
    }
}
