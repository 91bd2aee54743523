//! Compares measured percentiles with the true ones. Pure.

use std::time::Duration;

use super::{
    case::{Case, Model},
    truth::{quantile, standard_error},
};

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

/// One percentile of one case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    pub(crate) percentile: f64,
    pub(crate) truth: Duration,
    pub(crate) measured: Duration,
    pub(crate) verdict: Verdict,
}

impl Comparison {
    pub(crate) fn new(case: &Case, percentile: f64, measured: Duration, requests: u64) -> Self {
        let share = percentile / 100.0;
        let truth = quantile(case.mode, share);
        let error = measured.abs_diff(truth);
        let tolerance = TOLERANCE.max(truth.mul_f64(TOLERANCE_SHARE));
        let chance = match case.model {
            Model::Poisson => standard_error(case.mode, share, requests).mul_f64(CHANCE),
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
        Self { percentile, truth, measured, verdict }
    }

    /// Measured less truth, in microseconds.
    pub(crate) fn error_us(&self) -> f64 {
        (self.measured.as_secs_f64() - self.truth.as_secs_f64()) * 1e6
    }

    /// The error as a share of the truth; none when the truth is zero.
    pub(crate) fn error_share(&self) -> Option<f64> {
        let truth_us = self.truth.as_secs_f64() * 1e6;
        (truth_us > 0.0).then(|| self.error_us() / truth_us)
    }
}

#[cfg(test)]
mod tests {
    use super::super::mode::Mode;
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn verdict(mode: Mode, model: Model, percentile: f64, measured: Duration) -> Verdict {
        let case = Case { mode, rate: 1000, model, window: MS(1000) };
        Comparison::new(&case, percentile, measured, 1000).verdict
    }

    #[test]
    fn errors_count_beyond_50_us_and_2_percent() {
        let us = Duration::from_micros;
        let short = Mode::Constant { delay: MS(1) };
        assert_eq!(verdict(short, Model::Rate, 50.0, us(1050)), Verdict::Within);
        assert_eq!(verdict(short, Model::Rate, 50.0, us(1051)), Verdict::Missed);
        assert_eq!(verdict(short, Model::Rate, 50.0, us(949)), Verdict::Missed);
        let long = Mode::Constant { delay: MS(100) };
        assert_eq!(verdict(long, Model::Closed, 50.0, us(102_000)), Verdict::Within);
        assert_eq!(verdict(long, Model::Closed, 50.0, us(102_001)), Verdict::Missed);
    }

    #[test]
    fn only_random_arrivals_are_allowed_chance_and_only_closed_models_omission() {
        let stall = Mode::Stall { period: MS(1000), length: MS(200) };
        assert_eq!(verdict(stall, Model::Rate, 90.0, MS(110)), Verdict::Missed);
        assert_eq!(verdict(stall, Model::Poisson, 90.0, MS(110)), Verdict::WithinChance);
        assert_eq!(verdict(stall, Model::Poisson, 90.0, MS(140)), Verdict::Missed);
        assert_eq!(verdict(stall, Model::Closed, 90.0, MS(0)), Verdict::Omission);
        assert_eq!(verdict(stall, Model::ClosedLoop, 50.0, MS(0)), Verdict::Within);
    }
}
