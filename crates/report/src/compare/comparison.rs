//! What a comparison says, as types. Texts and JSON are made of them and of nothing else.
//!
//! Not here: how any of it is found.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, EndReason, Journal, Start},
    suite::Phase,
};
use wirebench_stats::Estimate;

use super::{Difference, Gate, Side};
use crate::{
    analysis::{Claim, JudgedRatio, Metric, MetricFacts, metric},
    notes::Remark,
    origin::Origin,
    table::headline::ended,
    view::Source,
};

/// Two results compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The older result.
    pub old: Summary,
    /// The newer one.
    pub new: Summary,
    /// Differences that `--force` overruled.
    pub forced: Vec<Difference>,
    /// What may be the cause of changes, or keep them from being seen, each as a sentence.
    pub warnings: Vec<String>,
    /// Versions of entries that differ, each as a sentence. Often they are what is compared.
    pub versions: Vec<String>,
    /// True if every row is the same program, and versions, machine and settings are the same too, so that no figure
    /// is compared.
    pub nothing_differs: bool,
    /// How much the baselines themselves changed that are the same program in both results.
    pub yardsticks: Vec<Yardstick>,
    /// All changes that were looked at: first those that count, the largest first; then what is
    /// inconclusive, and last what is the same.
    pub changes: Vec<Change>,
    /// Cells that were not compared.
    pub left_out: Vec<LeftOut>,
    /// The result of the conditions; null without conditions.
    pub gate: Option<Gate>,
}

/// What a reader must know of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// What it is called.
    pub name: String,
    pub start: Start,
    /// Blocks with a run that counts.
    pub blocks: usize,
    /// How it ended; none if it was cut off.
    ended: Option<EndReason>,
    /// That in a word or two.
    pub end: &'static str,
    pub(super) origin: Origin,
}

/// What was measured, and with what.
#[derive(Clone, Debug, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cell {
    /// The workload's name.
    pub workload: String,
    /// What it is measured for.
    pub phase: Phase,
    /// The variant.
    pub variant: VariantId,
    /// Which of several copies of the same, from 0.
    pub copy: u32,
}

/// One figure of one cell in both results.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub cell: Cell,
    pub metric: Metric,
    pub verdict: Movement,
    /// The claim in the words of the figure, such as `slower`.
    pub words: String,
    /// New over old. It need not be the quotient of the two medians: a relative change is without the machine's drift.
    pub ratio: JudgedRatio,
    /// In the older result.
    pub old: Figure,
    /// In the newer one.
    pub new: Figure,
    /// The baseline whose ratios are compared; null if the figures are.
    pub relative_to: Option<VariantId>,
    /// Whether the variant is the same program in both; null if unknown.
    pub same_program: Option<bool>,
}

/// A figure of one cell in one result.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Over its blocks.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// Blocks that have it.
    pub blocks: usize,
    /// Why runs of the cell failed or are not what they claim to be, each sentence once.
    pub(crate) doubts: Vec<Remark>,
}

/// In which direction something moved.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Movement {
    Worse,
    Better,
    Same,
    Inconclusive,
}

impl Movement {
    fn of(metric: Metric, claim: Claim) -> Self {
        match claim {
            Claim::Higher if metric.more_is_better() => Self::Better,
            Claim::Lower if !metric.more_is_better() => Self::Better,
            Claim::Higher | Claim::Lower => Self::Worse,
            Claim::Same => Self::Same,
            _ => Self::Inconclusive,
        }
    }
}

impl Change {
    /// A change of which it is not known whether the program is the same, and that is relative to no baseline.
    pub(crate) fn of(
        cell: Cell,
        metric: Metric,
        [old, new]: [Figure; 2],
        ratio: JudgedRatio,
    ) -> Self {
        let claim = ratio.claim.unwrap_or(Claim::CannotTell);
        let (verdict, words) = (Movement::of(metric, claim), claim.words(metric));
        let (relative_to, same_program) = (None, None);
        Self { cell, metric, verdict, words, ratio, old, new, relative_to, same_program }
    }

    /// In which direction it moved; none without a significant change.
    #[must_use]
    pub fn movement(&self) -> Option<Movement> {
        let is_significant = matches!(self.verdict, Movement::Worse | Movement::Better);
        is_significant.then_some(self.verdict)
    }
}

/// A baseline that is the same program in both results. What it did is the machine's doing.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Yardstick {
    pub workload: String,
    pub variant: VariantId,
    #[schemars(with = "String")]
    #[serde(serialize_with = "metric::field")]
    pub metric: Metric,
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A cell with a reason.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "LeftOutReport")]
pub struct LeftOut {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// `lost`, `old-only`, `new-only` or `both`.
    #[schemars(with = "String")]
    pub presence: Presence,
    /// Why it was not compared.
    pub reason: String,
}

/// Where a cell that was not compared has figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// In the older result alone, although the newer one was to have them: it broke.
    Lost,
    /// In the older result alone; the newer one did not look.
    OldOnly,
    NewOnly,
    /// In both, which are not alike.
    Both,
}

impl Summary {
    pub(super) fn of(side: &Side<'_>) -> Self {
        let journal = side.journal;
        Self {
            name: side.name.to_owned(),
            start: journal.start.clone(),
            blocks: blocks(journal),
            ended: journal.end.as_ref().map(|end| end.reason),
            end: ended(journal),
            origin: Origin::of(journal),
        }
    }

    pub(super) fn source(&self) -> Source<'_> {
        let (name, start, ended) = (Some(self.name.clone()), Some(&self.start), self.ended);
        Source { name, start, ended, ..Source::default() }
    }
}

/// How many blocks have a run that counts.
pub(super) fn blocks(journal: &Journal) -> usize {
    let counting = journal.runs.iter().filter(|run| run.counts == Counts::Yes);
    counting.map(|run| run.block).collect::<std::collections::BTreeSet<_>>().len()
}
