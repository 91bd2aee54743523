//! What changed in each cell, and what may be claimed of it. All changes that are looked at are one
//! family: the more there are, the more of them look like changes by chance.
//!
//! Not here: which cells there are, and whether the results may be compared at all.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{id::VariantId, suite::Phase};
use wirebench_stats::{
    Estimate, Floor, Judgement, MIN_BLOCKS, change_estimate, holm, median, range, welch_p,
};

use super::{
    Basis, Change, Figure, Side, Wishes, Yardstick,
    cells::{Half, Pair, doubts},
    grounds::same_program,
    yardstick::{Baseline, Floors, Values, plain},
};
use crate::analysis::{Claim, Metric, Reads};

/// What was found.
#[derive(Default)]
pub(super) struct Judged {
    /// Those that count first, the largest first.
    pub(super) changes: Vec<Change>,
    pub(super) yardsticks: Vec<Yardstick>,
    pub(super) warnings: Vec<String>,
}

/// A change that is not judged yet.
struct Open<'a> {
    pair: &'a Pair<'a>,
    metric: Metric,
    relative_to: Option<VariantId>,
    estimate: Estimate,
    p: Option<f64>,
    floor: Floor,
}

/// Judges all cells.
pub(super) fn judge(old: &Side<'_>, new: &Side<'_>, pairs: &[Pair<'_>], wishes: &Wishes) -> Judged {
    let floors = Floors::of(old, new);
    let mut judged = Judged::default();
    let mut open = Vec::new();
    let mut without: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (workload, metric, cells) in families(pairs, wishes) {
        let baseline = Baseline::find((old, new), pairs, workload, metric);
        match &baseline {
            Ok(baseline) => judged.add_yardstick(baseline),
            Err(reason) if wishes.basis == Basis::Relative => {
                without.entry(reason.clone()).or_default().insert(workload);
            }
            Err(_) => {}
        }
        let baseline = baseline.as_ref().ok();
        for pair in cells {
            let relative = baseline.filter(|_| wishes.basis == Basis::Relative);
            if relative.is_some_and(|baseline| baseline.is(pair)) {
                continue;
            }
            let floor = |basis| floors.floor(workload, metric, basis, baseline);
            match Open::of(pair, metric, relative, floor) {
                Some(change) => open.push(change),
                None => judged.warnings.extend(no_value(pair, metric)),
            }
        }
    }
    judged.warnings.extend(without.into_iter().map(|(reason, workloads)| {
        let workloads = workloads.into_iter().collect::<Vec<_>>().join(", ");
        format!(
            "in {workloads} figures are compared as they are, with the machine's drift in them: \
             {reason}"
        )
    }));
    judged.changes = settle(open, |variant| same_program(old, new, variant));
    judged
}

/// The cells of each workload that have a figure which is looked at.
fn families<'a>(
    pairs: &'a [Pair<'a>],
    wishes: &Wishes,
) -> Vec<(&'a str, Metric, Vec<&'a Pair<'a>>)> {
    let mut families: BTreeMap<(&str, Metric), Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        for metric in metrics(pair.cell.phase, wishes) {
            families.entry((&pair.cell.workload, metric)).or_default().push(pair);
        }
    }
    families.into_iter().map(|((workload, metric), pairs)| (workload, metric, pairs)).collect()
}

/// What is looked at in a phase.
fn metrics(phase: Phase, wishes: &Wishes) -> BTreeSet<Metric> {
    let mut wanted: Vec<Metric> = match (wishes.metrics.as_slice(), phase) {
        ([], Phase::Cost) => vec![Metric::primary(phase), Metric::LatencyP99],
        ([], Phase::Saturate | Phase::Idle) => vec![Metric::primary(phase)],
        (metrics, _) => metrics.to_vec(),
    };
    wanted.extend(wishes.conditions.iter().map(|condition| condition.metric));
    wanted.into_iter().filter_map(|metric| looked_at(metric, phase)).collect()
}

/// What a metric means in a phase. At a fixed rate all that keep up have the same throughput.
pub(super) fn looked_at(metric: Metric, phase: Phase) -> Option<Metric> {
    let meant = metric.in_phase(phase)?;
    (meant != Metric::Throughput || phase != Phase::Cost).then_some(meant)
}

/// Ratios, and so changes, need values above zero.
fn no_value(pair: &Pair<'_>, metric: Metric) -> Option<String> {
    let has_any = |half: &Half<'_>| !half.row.values(metric).is_empty();
    (has_any(&pair.old) || has_any(&pair.new)).then(|| {
        format!("{}: {} has no value above 0 in both, and no change", pair.cell, metric.title())
    })
}

impl<'a> Open<'a> {
    fn of(
        pair: &'a Pair<'a>,
        metric: Metric,
        baseline: Option<&Baseline<'_>>,
        floor: impl Fn(Basis) -> Floor,
    ) -> Option<Self> {
        let (old, new) = (pair.old.row.values(metric), pair.new.row.values(metric));
        let open = |(old, new): (Vec<f64>, Vec<f64>), relative_to: Option<VariantId>| {
            let estimate = change_estimate(&old, &new)?;
            let enough = estimate.samples >= MIN_BLOCKS;
            let p = if enough { welch_p(&old, &new) } else { None };
            let basis = if relative_to.is_some() { Basis::Relative } else { Basis::Absolute };
            Some(Self { pair, metric, relative_to, estimate, p, floor: floor(basis) })
        };
        let relative = baseline.and_then(|baseline| {
            open(baseline.ratios(&old, &new), Some(baseline.pair.cell.variant.clone()))
        });
        relative.or_else(|| open((plain(&old), plain(&new)), None))
    }
}

/// Adjusts the p values of all changes, claims what may be claimed, and brings them in order.
fn settle(open: Vec<Open<'_>>, same_program: impl Fn(&VariantId) -> Option<bool>) -> Vec<Change> {
    let tested: Vec<f64> = open.iter().filter_map(|it| it.p).collect();
    let mut adjusted = holm(&tested).into_iter();
    let mut changes: Vec<Change> = open
        .into_iter()
        .filter_map(|it| {
            let p_adjusted = it.p.and_then(|_| adjusted.next());
            let judgement = Judgement::of(Some(it.estimate), p_adjusted, &it.floor);
            // The newer result takes the place of the row, the older one that of its baseline. A
            // baseline that both have in common bounds both alike, and so does not bound the
            // change.
            let Pair { cell, old, new } = it.pair;
            let reads = Reads::of(it.metric, new.row.limited(), old.row.limited());
            Some(Change {
                cell: cell.clone(),
                metric: it.metric,
                old: Figure::of(old, it.metric)?,
                new: Figure::of(new, it.metric)?,
                relative_to: it.relative_to,
                estimate: it.estimate,
                p_adjusted,
                floor: it.floor,
                reads,
                claim: Claim::of(&judgement, reads, &it.floor),
                same_program: same_program(&cell.variant),
            })
        })
        .collect();
    changes.sort_by(|one, other| {
        place(one).cmp(&place(other)).then(size(other).total_cmp(&size(one)))
    });
    changes
}

/// What counts comes first, what is the same last.
const fn place(change: &Change) -> u8 {
    match change.claim {
        Claim::Higher | Claim::Lower => 0,
        Claim::CannotTell => 1,
        Claim::NotHigher | Claim::NotLower => 2,
        Claim::Same => 3,
    }
}

/// How large a change is, in whichever direction.
fn size(change: &Change) -> f64 {
    change.estimate.value.ln().abs()
}

impl Figure {
    fn of(half: &Half<'_>, metric: Metric) -> Option<Self> {
        let values: Values = half.row.values(metric);
        let plain = plain(&values);
        let (least, most) = range(&plain)?;
        let doubts = doubts(&half.row);
        Some(Self { median: median(&plain)?, least, most, blocks: values.len(), doubts })
    }
}

impl Judged {
    fn add_yardstick(&mut self, baseline: &Baseline<'_>) {
        let Pair { cell, old, new } = baseline.pair;
        self.yardsticks.push(Yardstick {
            workload: cell.workload.clone(),
            variant: cell.variant.clone(),
            metric: baseline.metric,
            estimate: baseline.drift,
        });
        let doubts = [doubts(&old.row), doubts(&new.row)].concat();
        if let Some(doubt) = doubts.first() {
            let warning = format!(
                "{cell} is the baseline, and runs of it are not what they claim to be: {doubt}"
            );
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }
}
