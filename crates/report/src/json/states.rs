//! In `report.json`: what ratios are in the states of the machine that are not compared.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::Estimate;

use crate::analysis::{Analysis, Compared, Metric, WorkloadRows};

/// The ratio of a row in another state.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct OtherState {
    /// Its number in `machine_states`.
    pub state: usize,
    /// The ratio to the baseline.
    pub ratio: Estimate,
}

/// All rows of a workload in each other state of which there are enough cohorts.
pub(super) fn others(
    analysis: &Analysis<'_>,
    rows: &WorkloadRows<'_>,
    metric: Metric,
) -> Vec<(usize, Vec<Option<Estimate>>)> {
    let of = |state: usize| {
        let rows = analysis.in_state(rows, state)?;
        let ratio = |it: &Option<Compared>| Some(it.as_ref()?.ratio.as_ref()?.estimate);
        Some((state, rows.compare(metric).rows.iter().map(ratio).collect()))
    };
    rows.states.others.iter().filter_map(|it| of(it.state)).collect()
}

/// The ratios of the row at `index`.
pub(super) fn of_row(others: &[(usize, Vec<Option<Estimate>>)], index: usize) -> Vec<OtherState> {
    let of = |(state, ratios): &(usize, Vec<Option<Estimate>>)| {
        Some(OtherState { state: *state, ratio: (*ratios.get(index)?)? })
    };
    others.iter().filter_map(of).collect()
}
