//! The check of a program: its two instances compared with each other (A/A).

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use wirebench_stats::{AaCheck, Estimate, Interval, Outcome};

use super::comparison::estimate;

/// The second instance of the baseline, or of a side of `ab`, compared with its first (A/A).
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
pub struct BaselineCheck {
    /// What follows from it.
    pub state: CheckState,
    /// Second over first with an interval of 99 % confidence; absent without cohorts of both.
    pub second_over_first: Option<Estimate>,
}

/// What follows from the check of the baseline.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// The two instances do not differ.
    Passed,
    /// The interval contains the whole margin and reaches beyond it on both sides, so instances that
    /// differ by the margin would look the same. Nothing is withheld, and nothing is confirmed.
    TooNoisy,
    /// They differ, so that nothing is claimed of any row of this workload.
    Failed,
    /// There are too few cohorts of both instances.
    Absent,
}

impl BaselineCheck {
    pub(crate) fn of(check: Option<AaCheck>, margin: f64) -> Self {
        let is_wide = |it: Interval| Interval::of_margin(margin).lies_within(&it);
        let second_over_first = check.map(|check| estimate(&check.judged));
        let state = match check {
            Some(AaCheck { failed: true, .. }) => CheckState::Failed,
            Some(AaCheck { judged, .. }) if judged.interval.is_some_and(is_wide) => {
                CheckState::TooNoisy
            }
            Some(AaCheck { judged, .. }) if judged.outcome != Outcome::TooFewCohorts => {
                CheckState::Passed
            }
            _ => CheckState::Absent,
        };
        Self { second_over_first, state }
    }
}

/// Two instances of a program compared with each other, as `ab` writes it.
#[derive(JsonSchema, Serialize)]
pub(super) struct FlatCheck {
    state: CheckState,
    /// Second over first.
    value: Option<f64>,
    /// The lower end of its 99 % interval.
    low: Option<f64>,
    /// The upper end.
    high: Option<f64>,
}

pub(super) fn flat<S: Serializer>(
    checks: &[BaselineCheck; 2],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let report = checks.map(|BaselineCheck { state, second_over_first: found }| FlatCheck {
        state,
        value: found.map(|it| it.value),
        low: found.and_then(|it| it.interval).map(|it| it.low),
        high: found.and_then(|it| it.interval).map(|it| it.high),
    });
    report.serialize(serializer)
}
