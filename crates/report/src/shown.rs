//! Which figures of a row a reader may see: those are hidden for which most of its runs are not valid.

use wirebench_schema::journal::{Bound, Reason, ReasonKind, Run, Weight};

use crate::{
    analysis::{Metric, Row},
    distribution::ENOUGH_BEYOND,
    notes::Remark,
};

/// What the reader may see of a row. Causes are shown in this order: what hides most comes first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Shown {
    /// Nothing: the load was another one than the row is about.
    Nothing,
    /// Figures, but neither a comparison nor tail latencies.
    NotCompared,
    /// Everything but tail latencies.
    NoTail,
    All,
}

impl Shown {
    /// Whether a row that is shown so may be compared.
    pub(crate) const fn is_compared(self) -> bool {
        matches!(self, Self::All | Self::NoTail)
    }
}

/// Whether this side was the limit in at least half of the runs.
pub(crate) fn was_bound_by(row: &Row<'_>, side: Bound) -> bool {
    let bound = row.measurements().filter(|it| it.bound == side).count();
    bound > 0 && bound * 2 >= row.measured()
}

/// What may be seen of a row: what holds for at least half of its runs.
pub(crate) fn shown(row: &Row<'_>) -> Shown {
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
pub(crate) fn decisive<'a>(
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

/// Why a row cannot be compared by `metric`, if it cannot.
pub(crate) fn not_compared(row: &Row<'_>, metric: Metric) -> Option<Remark> {
    let shown = shown(row);
    let is_compared = match shown {
        Shown::NoTail => !metric.is_tail(),
        shown => shown.is_compared(),
    };
    let first = || row.runs.iter().flat_map(|run| decisive(run, row, shown)).next();
    (!is_compared).then(|| first().map_or_else(|| Remark::from("too few samples"), Remark::from))
}

/// Whether a run with this reason is not valid. Conditions that the user asked for hold for all rows
/// alike, so they are stated once and hide nothing.
fn spoils_all(reason: &Reason, row: &Row<'_>) -> bool {
    reason.weight == Weight::Invalid && !row.asked_for.contains(&reason.kind)
}

/// Whether so few samples lie beyond a percentile in a run of `row` that single ones decide it.
pub(crate) fn has_few_samples(row: &Row<'_>, metric: Metric) -> bool {
    let share = match metric {
        Metric::LatencyP99 => 0.01,
        Metric::LatencyP999 => 0.001,
        _ => return false,
    };
    let counts = row.measurements().filter_map(|it| it.load.latency.as_ref()).map(|it| it.count);
    // More by a trace, because a hundredth is none in binary.
    let beyond = |count: u64| (count as f64 * share + 1e-6).floor();
    counts.min().is_some_and(|count| beyond(count) < ENOUGH_BEYOND as f64)
}
