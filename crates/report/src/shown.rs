//! Which figures of a row a reader may see, by its standing.

use wirebench_judge::standing::{Standing, is_disturbed, standing, voids};
use wirebench_schema::journal::{Bound, Reason, ReasonKind, Run, Weight};

use crate::{
    analysis::{Analysis, Metric, Role, Row},
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
    /// Everything but tail latencies, after other work that shifts ratios of different programs.
    Shifted,
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

/// What may be seen of a row.
pub(crate) fn shown(row: &Row<'_>) -> Shown {
    let tail = row.standing(Metric::P99);
    match row.standing(Metric::Cpu) {
        Standing::Hidden => Shown::Nothing,
        Standing::NotCompared => Shown::NotCompared,
        Standing::NotMeasured => Shown::All,
        _ if !tail.is_compared() || has_few_samples(row, Metric::P99) => Shown::NoTail,
        Standing::Disturbed | Standing::Valid => Shown::All,
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
        Shown::NoTail => {
            voids(reason, true, &row.asked_for) || reason.kind == ReasonKind::FewSamples
        }
        Shown::Shifted => is_disturbed(reason),
        Shown::NotCompared => voids(reason, false, &row.asked_for),
        Shown::Nothing => reason.kind == ReasonKind::BelowRate,
    })
}

/// The first reason of the kind that most of these runs have. Of equally frequent ones, the kind that is listed first
/// explains the others.
pub(crate) fn most_frequent<'a>(runs: &[Vec<&'a Reason>]) -> Option<&'a Reason> {
    let times =
        |kind: ReasonKind| runs.iter().filter(|it| it.iter().any(|it| it.kind == kind)).count();
    let mut all: Vec<&Reason> = runs.iter().flatten().copied().collect();
    all.reverse();
    all.into_iter().max_by_key(|reason| (times(reason.kind), std::cmp::Reverse(reason.kind)))
}

/// A sentence for each row whose figures are void or only a bound, with its first cause. Even conditions that the user
/// asked for count.
#[must_use]
pub fn refused(analysis: &Analysis<'_>) -> Vec<String> {
    let of_row = |workload: &str, row: &Row<'_>| {
        let is_compared = |in_tail| standing(&row.runs, in_tail, &[]).is_compared();
        let (what, is_cause): (_, fn(&Reason) -> bool) = if !is_compared(false) {
            ("not valid", |it| voids(it, false, &[]))
        } else if row.is_limited() {
            ("only a bound", |it| it.weight == Weight::Limit)
        } else if !is_compared(true) {
            ("p99 and above not valid", |it| voids(it, true, &[]))
        } else {
            return None;
        };
        let reasons = row.runs.iter().map(|run| run.outcome.reasons());
        let causes: Vec<&Reason> =
            reasons.filter_map(|it| it.iter().find(|it| is_cause(it))).collect();
        let (of, variant, why) = (row.runs.len(), row.variant, causes.first()?.brief());
        Some(format!("{what} in {} of {of} runs: {variant} {workload}: {why}", causes.len()))
    };
    let rows = analysis.workloads.iter().flat_map(|it| it.rows.iter().map(move |row| (it, row)));
    let rows = rows.filter(|(_, row)| row.role != Role::SecondOfBaseline);
    rows.filter_map(|(it, row)| of_row(&it.workload.name, row)).collect()
}

/// Why a row cannot be compared by `metric`, if it cannot.
pub(crate) fn not_compared(row: &Row<'_>, metric: Metric) -> Option<Remark> {
    let shown = shown(row);
    let is_compared = match shown {
        Shown::NoTail => !metric.is_tail(),
        shown => shown.is_compared(),
    };
    let first = || row.runs.iter().flat_map(|run| decisive(run, row, shown)).next();
    let failure = || row.runs.iter().find_map(|run| run.outcome.failure());
    let other = || Remark::from(failure().unwrap_or("too few samples"));
    (!is_compared).then(|| first().map_or_else(other, Remark::from))
}

/// Whether so few samples lie beyond a percentile in a run of `row` that single ones decide it.
fn has_few_samples(row: &Row<'_>, metric: Metric) -> bool {
    let Metric::Latency(figure) = metric else { return false };
    let share = figure.tail_share();
    let counts = row.measurements().filter_map(|it| it.load.latency.as_ref()).map(|it| it.count);
    // More by a trace, because a hundredth is none in binary.
    let beyond = |count: u64| (count as f64 * share + 1e-6).floor();
    metric.is_tail() && counts.min().is_some_and(|count| beyond(count) < ENOUGH_BEYOND as f64)
}

/// The sign behind a value of `row`: `!` where a run spoils the tail, `?` where single samples decide it. The graver
/// one is less.
pub(crate) fn sign(row: &Row<'_>, metric: Metric) -> &'static str {
    match metric.is_tail() && row.tail_invalid() > 0 {
        true => "!",
        false if has_few_samples(row, metric) => "?",
        false => "",
    }
}

/// The explanation of signs in legends.
pub(crate) const SIGNS: &str =
    "!: the row or figure is not valid, see its notes; ?: fewer than 10 samples beyond it";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{add_reason, pair};

    #[test]
    fn a_strict_run_refuses_rows_and_not_single_runs() {
        let found = |kind: ReasonKind, weight: Weight, blocks: u32| {
            let mut journal = pair(0.9);
            let is_meant = |run: &Run| run.variant.entry() == "go/net" && run.block < blocks;
            add_reason(&mut journal, is_meant, &kind.reason(weight, None, ""));
            refused(&Analysis::of(&journal)).concat()
        };
        let (wrong, neighbour) = (ReasonKind::WrongReplies, ReasonKind::Neighbour);
        assert_eq!(found(wrong, Weight::Invalid, 3), "");
        let all = found(wrong, Weight::Invalid, 9);
        assert!(all.starts_with("not valid in 6 of 6 runs: go/net hello: "), "{all}");
        let tail = found(neighbour, Weight::Invalid, 9);
        assert!(tail.starts_with("p99 and above not valid in 6 of 6 runs: go/net "), "{tail}");
        assert!(
            found(ReasonKind::GeneratorBound, Weight::Limit, 9).starts_with("only a bound in 6")
        );
        assert!(found(ReasonKind::NotPinned, Weight::Invalid, 9).starts_with("not valid in 6"));
    }
}
