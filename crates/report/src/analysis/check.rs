//! The check of a program: its two instances compared with each other (A/A).

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::{AaCheck, Estimate};

use super::comparison::estimate;

/// The second instance of the baseline, or of a side of `ab`, compared with its first (A/A).
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct BaselineCheck {
    /// What follows from it.
    pub state: CheckState,
    /// Second over first with an interval of 99 % confidence; absent without cohorts of both.
    pub second_over_first: Option<Estimate>,
}

/// The conclusion from two instances of one program.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// The interval contains 1 and is at most as wide as the margin, or lies within the margin.
    Passed,
    /// The interval contains 1, and half of its width exceeds the margin: a difference of the margin
    /// would not be noticed. Nothing is withheld, and nothing is confirmed.
    TooNoisy,
    /// The interval excludes 1 and does not lie within the margin. The cause may be in every other
    /// difference too, so nothing is claimed of any row of this workload.
    Suspicious,
    /// Fewer than three cohorts have both instances.
    Absent,
}

impl BaselineCheck {
    pub(crate) fn of(check: Option<AaCheck>, margin: f64) -> Self {
        let second_over_first = check.map(|check| estimate(&check.judged));
        let interval = second_over_first.and_then(|it| it.interval);
        let state = match (check, interval) {
            (Some(AaCheck { differ: true, .. }), _) => CheckState::Suspicious,
            (_, Some(it)) if it.half_width_relative() > margin => CheckState::TooNoisy,
            (_, Some(_)) => CheckState::Passed,
            (_, None) => CheckState::Absent,
        };
        Self { second_over_first, state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_stats::{Interval, Judged, Outcome};

    #[test]
    fn two_instances_that_differ_are_suspicious_and_a_wide_interval_confirms_nothing() {
        use CheckState::{Passed, Suspicious, TooNoisy};
        let state = |margin: f64, (low, high): (f64, f64)| {
            let interval = Interval { low, high };
            let differ =
                !interval.contains(1.0) && !interval.lies_within(&Interval::of_margin(margin));
            let (interval, plain, outcome) = (Some(interval), None, Outcome::Inconclusive);
            let ratio = f64::midpoint(low, high);
            let judged = Judged { ratio, cohorts: 7, interval, plain, p_adjusted: None, outcome };
            BaselineCheck::of(Some(AaCheck { judged, differ }), margin).state
        };
        for (margin, interval, expected) in [
            // On a busy machine.
            (0.01, (0.995, 1.186), TooNoisy),
            (0.01, (1.001, 1.186), Suspicious),
            (0.01, (0.90, 0.999), Suspicious),
            // On both sides of the width of the margin.
            (0.03, (0.971, 1.029), Passed),
            (0.03, (0.969, 1.031), TooNoisy),
            (0.03, (0.995, 1.053), Passed),
            (0.03, (0.995, 1.057), TooNoisy),
            // An interval that excludes 1 within the margin and beyond it.
            (0.03, (1.001, 1.029), Passed),
            (0.03, (1.001, 1.031), Suspicious),
        ] {
            assert_eq!(state(margin, interval), expected, "{margin} {interval:?}");
        }
        assert_eq!(BaselineCheck::of(None, 0.01).state, CheckState::Absent);
    }
}
