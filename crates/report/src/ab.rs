//! Two servers in pairs: the runs of `wirebench ab` go in, and what B is beside A comes out, as one
//! sentence and the figures behind it.
//!
//! Each block has one run of either, and the second block of each pair is the mirror image of the
//! first (ABBA), so that what changes evenly over the time of a pair favours nobody. Nothing is
//! rendered here, and nothing is read from anywhere else.

mod figure;
mod gate;
mod json;
mod noise;
mod page;
mod sentence;
mod side;
mod text;
mod verdict;

use wirebench_schema::{
    journal::{Journal, Start},
    suite::Phase,
};
use wirebench_stats::{MIN_BLOCKS, ratio_estimate};

pub use self::{
    figure::{Figure, Ratio},
    side::{Side, State},
    verdict::Verdict,
};
use crate::{
    analysis::{Metric, Row, WorkloadRows, rows},
    compare::{Condition, Gate},
};

/// The suite's name in such a journal, and what stands in front of both sides' names.
pub const SUITE: &str = "ab";

/// What a verdict may be about.
pub const METRICS: [Metric; 6] = [
    Metric::Cpu,
    Metric::Throughput,
    Metric::LatencyP50,
    Metric::LatencyP99,
    Metric::LatencyP999,
    Metric::Memory,
];

/// What is wanted of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// What the verdict is about; what the phase is there for when absent.
    pub metric: Option<Metric>,
    /// When it fails: changes from A to B.
    pub conditions: Vec<Condition>,
}

/// Two servers held against each other.
#[derive(Debug)]
pub struct Ab<'a> {
    journal: &'a Journal,
    rows: WorkloadRows<'a>,
    /// A, which is what B is compared with, and B.
    pub sides: [Side<'a>; 2],
    /// What the verdict is about.
    pub metric: Metric,
    /// What the verdict was to be about, if the phase has no such figure.
    absent: Option<Metric>,
    /// All figures of the phase, that of the verdict first.
    pub figures: Vec<Figure>,
    /// What can be said.
    pub verdict: Verdict,
    /// What became of the conditions; none without conditions.
    pub gate: Option<Gate>,
}

impl<'a> Ab<'a> {
    /// What `journal` says; none if it is no journal of `wirebench ab`.
    #[must_use]
    pub fn of(journal: &'a Journal, wishes: &Wishes) -> Option<Self> {
        let rows = of_two(journal)?;
        let phase = rows.workload.phase;
        let meant = wishes.metric.and_then(|metric| has(phase, metric));
        let absent = wishes.metric.filter(|_| meant.is_none());
        let metric = meant.unwrap_or(Metric::primary(phase));
        let sides = [0, 1].map(|index| Side::of(journal, &rows, index, metric));
        let figures = figure::figures(&rows, [&sides[0], &sides[1]], metric);
        let verdict = Verdict::of(&sides, &figures);
        let gate = gate::judge(&wishes.conditions, &rows, &sides, &figures, &verdict);
        Some(Self { journal, rows, sides, metric, absent, figures, verdict, gate })
    }

    /// The whole blocks: those with a figure of either side.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.main().and_then(|it| it.ratio.as_ref()).map_or(0, |ratio| ratio.estimate.samples)
    }

    /// The figure that the verdict is about.
    fn main(&self) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.metric == self.metric)
    }
}

/// The metric as it is meant in a phase; none where there is nothing to compare. At a fixed rate
/// both sides do the same number of requests.
#[must_use]
pub fn has(phase: Phase, metric: Metric) -> Option<Metric> {
    let meant = metric.in_phase(phase).filter(|meant| METRICS.contains(meant))?;
    (phase != Phase::Cost || meant != Metric::Throughput).then_some(meant)
}

/// How well B over A is known: half of the width of the interval over the ratio. None as long as
/// there are too few pairs; nothing, when a side has no figure in so many runs that there will be
/// none.
#[must_use]
pub fn half_width(journal: &Journal, metric: Metric) -> Option<f64> {
    let rows = of_two(journal)?;
    let [a, b] = [0, 1].map(|index| side::row(journal, &rows, index));
    let measured = |row: Option<&Row<'_>>| row.map_or(0, Row::measured);
    let tried = [a, b].map(|row| row.map_or(0, |row| row.runs.len())).into_iter().max();
    if measured(a).min(measured(b)) == 0 && tried >= Some(MIN_BLOCKS) {
        return Some(0.0);
    }
    let ratios: Vec<f64> = figure::ratios(a?, b?, metric).into_values().collect();
    Some(ratio_estimate(&ratios)?.interval?.half_width_relative())
}

/// The rows of a journal of two sides.
fn of_two(journal: &Journal) -> Option<WorkloadRows<'_>> {
    let Start { suite, variants, workloads, .. } = &journal.start;
    let is_side = |name: &str| name.split_once('/').is_some_and(|(first, _)| first == SUITE);
    let sides = variants.iter().all(|it| is_side(it.variant.entry()));
    let is_of_two = suite == SUITE && variants.len() == 2 && workloads.len() == 1 && sides;
    is_of_two.then(|| rows(journal).pop()).flatten()
}

#[cfg(test)]
mod tests;
