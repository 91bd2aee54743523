//! In `report.json`: what ratios are in the states of the machine that are not compared.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::journal::Journal;
use wirebench_stats::Estimate;

use crate::analysis::{Comparison, Machine, Metric, WorkloadRows, rows_in};

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
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    metric: Metric,
) -> Vec<(usize, Comparison)> {
    let machine = Machine::of(journal);
    let name = &rows.workload.name;
    let of = |state: usize| {
        let machine = machine.choosing(state);
        machine.filter(name)?;
        let rows = rows_in(&machine).into_iter().find(|it| it.workload.name == *name)?;
        Some((state, rows.compare_to_baseline(metric)))
    };
    rows.states.others.iter().filter_map(|it| of(it.state)).collect()
}

/// The ratios of the row at `index`.
pub(super) fn of_row(others: &[(usize, Comparison)], index: usize) -> Vec<OtherState> {
    let of = |(state, comparison): &(usize, Comparison)| {
        let ratio = comparison.rows.get(index)?.as_ref()?.ratio.as_ref()?.estimate;
        Some(OtherState { state: *state, ratio })
    };
    others.iter().filter_map(of).collect()
}
