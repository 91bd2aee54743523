//! What a comparison says, as types. Texts and JSON are made of them and of nothing else.
//!
//! Not here: how any of it is found.

use wirebench_schema::{
    environment::Environment,
    id::VariantId,
    journal::{Counts, EndReason, Journal, Start},
};

use crate::{
    analysis::{Claim, Metric, MetricFacts},
    notes::Remark,
    origin::Origin,
    table::headline::ended,
    view::{Cell, CellId, ComparisonFacts, Gate, Ratio, Source},
};

#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What it is called, usually its folder.
    pub name: &'a str,
    pub journal: &'a Journal,
    /// The machine, where it is known.
    pub environment: Option<&'a Environment>,
}

/// Two results compared with each other.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The older result.
    pub old: Summary,
    /// The newer one.
    pub new: Summary,
    /// The grounds for and against the comparison.
    pub facts: ComparisonFacts,
    /// All changes that were looked at: first those that count, the largest first; then what is
    /// inconclusive, and last what is the same.
    pub changes: Vec<Change>,
    /// The cells of the newer result, with the ratios that were looked at.
    pub cells: Vec<Cell>,
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

/// One figure of one cell in both results.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub cell: CellId,
    pub metric: Metric,
    /// The value in the newer result.
    pub value: f64,
    /// New over old. It need not be the quotient of the two values: a relative change is without the machine's drift.
    pub ratio: Ratio,
    /// Why runs of the cell in the older and the newer result failed or are not what they claim to be, each sentence
    /// once.
    pub(crate) doubts: [Vec<Remark>; 2],
    /// The baseline whose ratios are compared; none if the figures are.
    pub relative_to: Option<VariantId>,
    /// Whether the variant is the same program in both; none if unknown.
    pub same_program: Option<bool>,
}

/// A significant change as its metric values it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Movement {
    Worse,
    Better,
}

impl Change {
    pub(super) fn claim(&self) -> Claim {
        self.ratio.judged.claim.unwrap_or(Claim::CannotTell)
    }

    /// In which direction it moved; none without a significant change.
    #[must_use]
    pub fn movement(&self) -> Option<Movement> {
        let is_better = match self.claim() {
            Claim::Higher => self.metric.more_is_better(),
            Claim::Lower => !self.metric.more_is_better(),
            _ => return None,
        };
        Some(if is_better { Movement::Better } else { Movement::Worse })
    }
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
