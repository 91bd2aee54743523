//! What the first screen makes of a row: its name, and which of its figures it hides because most
//! of its runs are not valid.

use wirebench_schema::journal::{Bound, Journal, Reason, ReasonKind, Run, Weight};

use crate::{
    analysis::{Metric, Role, Row, WorkloadRows},
    table::has_few_samples,
};

/// What the reader may see of a row. Causes are shown in this order: what hides most comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Shown {
    /// Nothing: the load was another one than the row is about.
    Nothing,
    /// Figures, but neither a comparison nor tail latencies.
    NotCompared,
    /// Everything but tail latencies.
    NoTail,
    All,
}

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

/// Whether this side was the limit in at least half of the runs.
pub(super) fn was_bound_by(row: &Row<'_>, side: Bound) -> bool {
    let bound = row.measurements().filter(|it| it.bound == side).count();
    bound > 0 && bound * 2 >= row.measured()
}

/// What may be seen of a row: what holds for at least half of its runs.
pub(super) fn shown(row: &Row<'_>) -> Shown {
    let most = |is_meant: &dyn Fn(&Reason) -> bool| {
        let runs = row.runs.iter().filter(|run| run.outcome.reasons().iter().any(is_meant));
        let count = runs.count();
        count > 0 && count * 2 >= row.measured()
    };
    if most(&|it| it.kind == ReasonKind::BelowRate && it.weight == Weight::Invalid) {
        Shown::Nothing
    } else if most(&|it| spoils_all(it, row)) {
        Shown::NotCompared
    } else if most(&|it| it.weight == Weight::Tail) || has_few_samples(row, Metric::LatencyP99) {
        Shown::NoTail
    } else {
        Shown::All
    }
}

/// The reasons of a run for which something is hidden.
pub(super) fn decisive<'a>(
    run: &'a Run,
    row: &'a Row<'_>,
    shown: Shown,
) -> impl Iterator<Item = &'a Reason> {
    run.outcome.reasons().iter().filter(move |reason| match shown {
        Shown::All => false,
        Shown::NoTail => reason.weight == Weight::Tail || reason.kind == ReasonKind::FewSamples,
        Shown::NotCompared => spoils_all(reason, row),
        Shown::Nothing => reason.kind == ReasonKind::BelowRate,
    })
}

/// Whether a run with this reason is not valid. Conditions that the user asked for hold for all rows
/// alike, so they are stated once and hide nothing.
fn spoils_all(reason: &Reason, row: &Row<'_>) -> bool {
    reason.weight == Weight::Invalid && !row.asked_for.contains(&reason.kind)
}
