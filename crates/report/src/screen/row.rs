//! The rows that the first screen has, their names and their places.

use wirebench_schema::journal::Journal;

use crate::{
    analysis::{Role, Row, WorkloadRows},
    shown::{Shown, shown},
};

/// The name of a row. The baseline's role is in its outcome, so that it needs no mark here.
pub(super) fn name(row: &Row<'_>) -> String {
    if row.role == Role::Baseline { row.variant.to_string() } else { row.name() }
}

/// The place of its variant among those of the run; the baseline is the first one.
pub(super) fn place(journal: &Journal, row: &Row<'_>) -> usize {
    let start = &journal.start;
    let baseline = start.baselines.first();
    let others = start.variants.iter().map(|it| &it.variant).filter(|it| Some(*it) != baseline);
    baseline.into_iter().chain(others).position(|it| it == row.variant).unwrap_or(0)
}

/// The rows that the first screen has. The baseline's second one is in the details.
pub(super) fn is_listed(row: &Row<'_>) -> bool {
    row.role != Role::SecondOfBaseline
}

/// The rows of which the page has figures.
pub(super) fn with_figures<'r, 'a>(
    load: &'r WorkloadRows<'a>,
) -> impl Iterator<Item = &'r Row<'a>> {
    load.rows.iter().filter(|row| is_listed(row) && shown(row) != Shown::Nothing)
}
