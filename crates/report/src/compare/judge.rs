//! What changed in each cell, and what may be claimed of it. All changes of a figure in a workload are
//! one family: where nothing changed, any change is claimed of at most one family in twenty.
//!
//! Not here: which cells there are, and whether the results may be compared at all.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::suite::Phase;
use wirebench_stats::{Contrast, judge_changes};

use super::{
    Change, CompareOptions, Side, Yardstick,
    cells::{Pair, Results, doubts},
    grounds::same_program,
    yardstick::{Baseline, Fits, of_levels},
};
use crate::{
    analysis::{Claim, Inconclusive, JudgedRatio, Metric, MetricFacts, Reads},
    view::{CellId, Ratio, Reference},
};

#[derive(Default)]
pub(super) struct Judged {
    /// Those that count first, the largest first.
    pub(super) changes: Vec<Change>,
    pub(super) yardsticks: Vec<Yardstick>,
    pub(super) warnings: Vec<String>,
    /// Figures that cells of both results have in the older one alone.
    pub(super) lost: Vec<(CellId, Metric)>,
}

/// A change that is not judged yet.
struct Open<'a> {
    pair: &'a Pair<'a>,
    change: Contrast,
    /// The cell whose ratios are compared; none where figures are.
    relative_to: Option<&'a Pair<'a>>,
}

pub(super) fn judge(
    old: &Side<'_>,
    new: &Side<'_>,
    results: &Results<'_>,
    pairs: &[Pair<'_>],
    options: &CompareOptions,
) -> Judged {
    let mut judged = Judged::default();
    let mut without: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for ((workload, metric), pairs_here) in figures(pairs, options) {
        let baseline = Baseline::find((old, new), pairs, workload, metric);
        match &baseline {
            Ok(baseline) => judged.add_yardstick(baseline),
            Err(reason) if !options.absolute => {
                without.entry(reason.clone()).or_default().insert(workload);
            }
            Err(_) => {}
        }
        let baseline = baseline.ok();
        let Some(fits) = Fits::of(results, workload, metric, baseline.as_ref()) else { continue };
        let relative = baseline.filter(|_| !options.absolute);
        let mut family = Vec::new();
        for pair in pairs_here {
            if relative.as_ref().is_some_and(|baseline| baseline.is(pair)) {
                continue;
            }
            // A cell that shares no cohort with the baseline has no ratio to it.
            let of_ratios = relative.as_ref().and_then(|baseline| {
                let (change, relative_to) = (fits.of_ratios(pair)?, Some(baseline.pair));
                Some(Open { pair, change, relative_to })
            });
            let of_figures =
                || Some(Open { pair, change: of_levels(pair, metric)?, relative_to: None });
            if let Some(open) = of_ratios.or_else(of_figures) {
                family.push(open);
            } else {
                without_change(&mut judged, pair, metric);
            }
        }
        judged.changes.extend(settle((old, new), metric, &fits, &family));
    }
    judged.warnings.extend(without.into_iter().map(|(reason, workloads)| {
        let workloads = workloads.into_iter().collect::<Vec<_>>().join(", ");
        format!("{workloads}: absolute figures are compared, which include machine drift: {reason}")
    }));
    judged.warnings.extend(without_figure(pairs, &options.metrics));
    let size = |it: &Change| it.ratio.judged.estimate.value.ln().abs();
    judged.changes.sort_by(|one, other| {
        place(one).cmp(&place(other)).then(size(other).total_cmp(&size(one)))
    });
    judged
}

/// The figures of each workload that are looked at, and the cells that may have them.
fn figures<'a>(
    pairs: &'a [Pair<'a>],
    options: &CompareOptions,
) -> BTreeMap<(&'a str, Metric), Vec<&'a Pair<'a>>> {
    let mut figures: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for pair in pairs {
        for metric in metrics(pair.cell.phase, options) {
            figures.entry((&*pair.cell.load, metric)).or_default().push(pair);
        }
    }
    figures
}

/// What is looked at in a phase.
fn metrics(phase: Phase, options: &CompareOptions) -> BTreeSet<Metric> {
    let mut wanted: Vec<Metric> = match (options.metrics.as_slice(), phase) {
        ([], Phase::Cost) => vec![Metric::primary(phase), Metric::P99],
        // A server that waits longer, such as for a lock, may use no more CPU time.
        ([], Phase::Saturate) => vec![Metric::primary(phase), Metric::Throughput],
        ([], Phase::Idle) => vec![Metric::primary(phase)],
        (metrics, _) => metrics.to_vec(),
    };
    let of_changes = options.conditions.iter().filter(|it| it.change().is_some());
    wanted.extend(of_changes.map(|it| it.figure));
    wanted.into_iter().filter_map(|metric| metric.changes_in(phase)).collect()
}

/// Metrics that were asked for and that no workload of both results has.
fn without_figure(pairs: &[Pair<'_>], wanted: &[Metric]) -> Vec<String> {
    let phases: BTreeSet<Phase> = pairs.iter().map(|pair| pair.cell.phase).collect();
    let is_nowhere =
        |metric: &&Metric| phases.iter().all(|phase| metric.changes_in(*phase).is_none());
    let names: Vec<&str> = phases.iter().map(|phase| phase.name()).collect();
    let phases = names.join(", ");
    let absent = wanted.iter().filter(is_nowhere);
    absent.map(|metric| format!("{metric} was not measured ({phases})")).collect()
}

/// Ratios, and so changes, need values above zero. The newer result may have no such figure, though it
/// has others.
fn without_change(judged: &mut Judged, pair: &Pair<'_>, metric: Metric) {
    let [old, new] = [&pair.old, &pair.new].map(|half| !half.row.values(metric).is_empty());
    if old || new {
        let (cell, title) = (&pair.cell, metric.title());
        let warning = format!("{cell}: no change, because {title} is 0 in some cohorts");
        judged.warnings.push(warning);
    }
    if old && !new {
        judged.lost.push((pair.cell.clone(), metric));
    }
}

/// Judges all changes of one figure in one workload together.
fn settle(
    (old_side, new_side): (&Side<'_>, &Side<'_>),
    metric: Metric,
    fits: &Fits<'_>,
    family: &[Open<'_>],
) -> Vec<Change> {
    let changes: Vec<Contrast> = family.iter().map(|open| open.change).collect();
    let (margin, differ) = (fits.margin, fits.differ());
    let judged = family.iter().zip(judge_changes(&changes, margin));
    let change = |(open, judged): (&Open<'_>, wirebench_stats::Judged)| {
        let Pair { cell, old, new } = open.pair;
        let reads = reads(metric, open.pair, open.relative_to);
        let is_void = |pair: &Pair<'_>| {
            [&pair.old, &pair.new].iter().any(|half| !half.row.standing(metric).is_compared())
        };
        let is_void = is_void(open.pair) || open.relative_to.is_some_and(is_void);
        let withheld = if is_void { Some(Inconclusive::NotValid) } else { differ };
        let ratio = JudgedRatio::of(&judged, BTreeMap::new(), reads, withheld, margin);
        let to = open.relative_to.map_or(Reference::Older, |_| Reference::OlderRatio);
        let (value, reference) = (new.row.median(metric)?, Some(old.row.median(metric)?));
        Some(Change {
            cell: cell.clone(),
            metric,
            value,
            ratio: Ratio { reference, ..Ratio::of(to, ratio, !is_void) },
            doubts: [(old, "older"), (new, "newer")].map(|(half, which)| {
                let all = doubts(half.row, metric).into_iter();
                all.map(|it| it.prefixed(&format!("in the {which} result: "))).collect()
            }),
            relative_to: open.relative_to.map(|pair| pair.new.row.variant.clone()),
            same_program: same_program(old_side, new_side, open.pair),
        })
    };
    judged.filter_map(change).collect()
}

/// How the change of a cell is to be read.
///
/// The newer result takes the place of the row, the older one that of its baseline. Of a change of
/// ratios, the baseline's newer figure stands below the line with the cell's older one, and its
/// older figure above it. Where the generator was at its limit with the baseline in both results,
/// it bounds both alike, and so does not bound the change.
fn reads(metric: Metric, pair: &Pair<'_>, baseline: Option<&Pair<'_>>) -> Reads {
    let (mut above, mut below) = (pair.new.row.is_limited(), pair.old.row.is_limited());
    let of_baseline = baseline.map(|it| (it.old.row.is_limited(), it.new.row.is_limited()));
    match of_baseline {
        Some((true, false)) => above = true,
        Some((false, true)) => below = true,
        _ => {}
    }
    Reads::of(metric, above, below)
}

/// What counts comes first, what is the same last.
fn place(change: &Change) -> u8 {
    match change.claim() {
        Claim::Higher | Claim::Lower => 0,
        Claim::CannotTell => 1,
        Claim::NotHigher | Claim::NotLower => 2,
        Claim::Same => 3,
    }
}

impl Judged {
    fn add_yardstick(&mut self, baseline: &Baseline<'_>) {
        let Pair { cell, old, new } = baseline.pair;
        self.yardsticks.push(Yardstick {
            workload: cell.load.clone(),
            variant: new.row.variant.clone(),
            metric: baseline.metric,
            estimate: baseline.drift,
        });
        let of = |metric| [old.row, new.row].map(|row| doubts(row, metric)).concat();
        if let Some(doubt) = of(baseline.metric).first() {
            // What spoils only the tail says nothing of the other figures.
            let what = match of(Metric::Throughput).is_empty() {
                true => format!("its {} is invalid in some runs", baseline.metric),
                false => "some of its runs are invalid".to_owned(),
            };
            let warning = format!("{cell} is the baseline, and {what}: {doubt}");
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}
