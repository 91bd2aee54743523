//! Compares measured percentiles with the true ones. Pure.

use std::time::Duration;

use super::case::{Case, Model};

/// An error up to this much is none.
const TOLERANCE: Duration = Duration::from_micros(50);
/// Nor is one up to this share of the truth.
const TOLERANCE_SHARE: f64 = 0.02;
/// How many standard errors chance is allowed.
const CHANCE: f64 = 3.0;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verdict {
    Within,
    /// Within three standard errors of what chance does to random arrivals.
    WithinChance,
    /// Outside, and it should not be.
    Missed,
    /// A closed model over stalls: it is measured to show what it omits.
    Omission,
}

impl Verdict {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Within => "yes",
            Self::WithinChance => "by chance",
            Self::Missed => "NO",
            Self::Omission => "omits",
        }
    }
}

/// The true value of a percentile of a case, and the verdict on the measured one.
pub(crate) fn judge(
    case: &Case,
    percentile: f64,
    measured: Duration,
    requests: u64,
) -> (Duration, Verdict) {
    let share = percentile / 100.0;
    let truth = case.mode.quantile(share);
    let error = measured.abs_diff(truth);
    let tolerance = TOLERANCE.max(truth.mul_f64(TOLERANCE_SHARE));
    let chance = match case.model {
        Model::Poisson => case.mode.standard_error(share, requests).mul_f64(CHANCE),
        _ => Duration::ZERO,
    };
    let verdict = if error <= tolerance {
        Verdict::Within
    } else if case.omits() {
        Verdict::Omission
    } else if error <= tolerance + chance {
        Verdict::WithinChance
    } else {
        Verdict::Missed
    };
    (truth, verdict)
}

#[cfg(test)]
mod tests {
    use super::{super::mode::Mode, Verdict as V, *};

    #[test]
    fn errors_count_beyond_50_us_and_2_percent_except_for_chance_and_omission() {
        let ms = Duration::from_millis;
        let (short, long) = (Mode::Constant { delay: ms(1) }, Mode::Constant { delay: ms(100) });
        let stall = Mode::Stall { period: ms(1000), length: ms(200) };
        for (mode, model, percentile, measured_us, expected) in [
            (short, Model::Rate, 50.0, 1050, V::Within),
            (short, Model::Rate, 50.0, 1051, V::Missed),
            (short, Model::Rate, 50.0, 949, V::Missed),
            (long, Model::Closed, 50.0, 102_000, V::Within),
            (long, Model::Closed, 50.0, 102_001, V::Missed),
            (stall, Model::Rate, 90.0, 110_000, V::Missed),
            (stall, Model::Poisson, 90.0, 110_000, V::WithinChance),
            (stall, Model::Poisson, 90.0, 140_000, V::Missed),
            (stall, Model::Closed, 90.0, 0, V::Omission),
            (stall, Model::ClosedLoop, 50.0, 0, V::Within),
        ] {
            let case = Case { mode, rate: 1000, model, window: ms(1000) };
            let (_, verdict) = judge(&case, percentile, Duration::from_micros(measured_us), 1000);
            assert_eq!(verdict, expected, "{mode}, {model:?}, {measured_us} us");
        }
    }
}
