//! Two servers, A and B: the runs of `wirebench ab` go in, and B compared with A comes out, as one
//! sentence and the figures behind it.
//!
//! Each cohort has two instances of either. All four are rows of one model, B's against A's; the two
//! instances of a side are compared with each other as a check. A journal with one run of either
//! side in each block is compared in the same way, without the check. Nothing is rendered here, and
//! nothing is read from anywhere else.

pub mod detect;
mod document;
mod outlook;
mod sentence;
mod side;
mod verdict;
mod view;

use wirebench_schema::{
    gate::Condition,
    journal::{Journal, Start},
    suite::Phase,
    verification::SAME_REPLIES,
};
use wirebench_stats::MIN_COHORTS;

pub use self::{outlook::outlook, side::Side, verdict::Verdict};
pub use crate::suites::AB as SUITE;
use crate::{
    analysis::{Claim, Metric, MetricFacts, Reads, Row, WorkloadRows, rows},
    view::{Cell, ConditionResult, Figure, Gate, Ratio},
};

/// Instances of each side in a cohort.
pub const INSTANCES: u32 = 2;

/// The metrics that a verdict may be about.
pub const METRICS: [Metric; 7] = [
    Metric::Cpu,
    Metric::Throughput,
    Metric::P50,
    Metric::P99,
    Metric::P999,
    Metric::Memory,
    Metric::Ready,
];

/// The difference in throughput or CPU time below which the sides count as the same, unless the run
/// was given another one. It is smaller than that of a suite, because two servers are compared with
/// more instances in less time.
const MARGIN: f64 = 0.005;

#[derive(Clone, Debug, Default)]
pub struct AbOptions {
    /// The metric of the verdict; the usual one when absent.
    pub metric: Option<Metric>,
    /// When it fails: changes from A to B.
    pub conditions: Vec<Condition>,
}

/// Two servers compared with each other.
#[derive(Debug)]
pub struct Ab<'a> {
    journal: &'a Journal,
    rows: WorkloadRows<'a>,
    /// A, which is what B is compared with, and B.
    pub sides: [Side<'a>; 2],
    pub metric: Metric,
    /// The metric that was asked for, if the phase has no such figure.
    absent: Option<Metric>,
    /// All requests of each side, and then the requests of each name. B's figures have ratios to A's.
    cells: [Vec<Cell>; 2],
    pub verdict: Verdict,
    /// The result of the conditions; none without conditions.
    pub gate: Option<Gate>,
}

impl<'a> Ab<'a> {
    /// The comparison in `journal`; none if it is not a journal of `wirebench ab`.
    #[must_use]
    pub fn of(journal: &'a Journal, options: &AbOptions) -> Option<Self> {
        let rows = of_two(journal)?;
        let phase = rows.workload.phase;
        let of_run = || journal.start.metric.as_deref().and_then(|name| Metric::read(name).ok());
        let wanted = options.metric.or_else(of_run);
        let meant = wanted.and_then(|metric| has(phase, metric));
        let absent = wanted.filter(|_| meant.is_none());
        let metric = meant.unwrap_or(Metric::primary(phase));
        let sides = [0, 1].map(|index| Side::of(journal, &rows, index, metric));
        let cells = view::cells(journal, &rows, &sides, metric);
        let mut failed = journal.verified.iter().flat_map(|it| &it.failed);
        let verdict = match failed.any(|(check, _)| check == SAME_REPLIES) {
            true => Verdict::NotComparable,
            false => Verdict::of(&sides, view::ratio(&cells, metric)),
        };
        let gate = view::gate(&options.conditions, &cells, &sides[1]);
        Some(Self { journal, rows, sides, metric, absent, cells, verdict, gate })
    }

    /// The cohorts, or blocks, with a figure of either side.
    #[must_use]
    pub fn cohorts(&self) -> usize {
        self.ratio().map_or(0, |it| it.judged.estimate.samples)
    }

    /// Whether the verdict is about figures that are what they claim to be.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.sides.iter().all(|side| side.standing.is_compared())
            && self.ratio().is_some_and(|it| it.judged.reads == Reads::Exactly)
    }

    /// True if the answer is known: to each of the conditions, or to the question of `ab` without conditions.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        let is_known = |it: &ConditionResult| it.inconclusive.is_empty() && it.looked_at > 0;
        match &self.gate {
            Some(gate) => gate.conditions.iter().all(is_known),
            // More cohorts may make a side valid.
            None => matches!(self.verdict, Verdict::Claimed(claim) if claim != Claim::CannotTell),
        }
    }

    /// How well B over A is known: half of the width of the interval over the ratio. None as long as there are too few
    /// cohorts; zero when a side has no figure in that many, because waiting for one is useless then.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        let has_none = self.figures(self.metric).iter().any(Option::is_none);
        if has_none && self.rows.blocks as usize >= MIN_COHORTS {
            return Some(0.0);
        }
        Some(self.ratio()?.judged.estimate.interval?.half_width_relative())
    }

    /// B over A by the metric of the verdict.
    #[must_use]
    pub fn ratio(&self) -> Option<&Ratio> {
        view::ratio(&self.cells, self.metric)
    }

    /// The metrics of the phase, that of the verdict first.
    fn metrics(&self) -> impl Iterator<Item = Metric> {
        let main = self.metric;
        let all = Metric::of_phase(self.rows.workload.phase).iter().copied();
        [main].into_iter().chain(all.filter(move |it| *it != main))
    }

    /// The figures of A and of B.
    fn figures(&self, metric: Metric) -> [Option<&Figure>; 2] {
        self.cells.each_ref().map(|cells| cells[0].figure(metric))
    }

    /// The instances of a side.
    fn instances(&self, side: &Side<'_>) -> impl Iterator<Item = &Row<'a>> {
        side.instances.iter().map(|row| &self.rows.rows[*row])
    }

    /// A unit of repetition.
    fn noun(&self) -> &'static str {
        self.journal.start.repetition()
    }
}

/// The metric as it is meant in a phase; none where there is nothing to compare. At a fixed rate
/// both sides do the same number of requests.
#[must_use]
pub fn has(phase: Phase, metric: Metric) -> Option<Metric> {
    metric.changes_in(phase).filter(|meant| METRICS.contains(meant))
}

/// The rows of a journal of two sides.
fn of_two(journal: &Journal) -> Option<WorkloadRows<'_>> {
    let Start { suite, variants, workloads, margin, .. } = &journal.start;
    let is_side = |name: &str| name.split_once('/').is_some_and(|(first, _)| first == SUITE);
    let sides = variants.iter().all(|it| is_side(it.variant.entry()));
    let is_of_two = suite == SUITE && variants.len() == 2 && workloads.len() == 1 && sides;
    let mut rows = is_of_two.then(|| rows(journal).pop()).flatten()?;
    if margin.is_none() {
        (rows.margins.saturated, rows.margins.at_rate) = (MARGIN, MARGIN);
    }
    Some(rows)
}

#[cfg(test)]
pub(crate) mod tests;
