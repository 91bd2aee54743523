//! What a comparison says, as types. Texts and JSON are made of them and of nothing else.
//!
//! Not here: how any of it is found.

use std::borrow::Cow;
use wirebench_schema::{
    environment::Environment,
    id::VariantId,
    journal::{Counts, Journal, Start},
};

use crate::{
    analysis::{Claim, Metric, MetricFacts},
    notes::Remark,
    origin::Origin,
    table::headline::{ended, labels},
    table_units::count,
    view::{Cell, CellId, ComparisonFacts, Gate, Ratio, Source, Verb},
};

#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// What it is called, usually its folder.
    pub name: &'a str,
    pub journal: &'a Journal,
    /// The machine, where it is known.
    pub environment: Option<&'a Environment>,
}

/// Two results of `run`, or two loads, compared with each other.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub(super) verb: Verb,
    /// The older result and the newer one.
    pub(super) results: [Summary; 2],
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
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) source: Source<'static>,
    pub(super) origin: Origin,
    /// Its name, subject and time.
    pub(super) heading: String,
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

impl Comparison {
    pub(super) fn is_of_loads(&self) -> bool {
        self.verb == Verb::CompareLoads
    }
}

impl Change {
    /// False for a change of runs that is not significant.
    pub(super) fn counts(&self) -> bool {
        self.movement().is_some() || self.ratio.judged.claim.is_none()
    }

    pub(super) fn claim(&self) -> Claim {
        self.ratio.judged.claim.unwrap_or(Claim::CannotTell)
    }

    /// In which direction it moved; none without a significant change.
    #[must_use]
    pub fn movement(&self) -> Option<Movement> {
        let is_better = match self.claim() {
            Claim::Higher => self.metric.more_is_better(),
            Claim::Lower => !self.metric.more_is_better(),
            Claim::Same | Claim::NotHigher | Claim::NotLower | Claim::CannotTell => return None,
        };
        Some(if is_better { Movement::Better } else { Movement::Worse })
    }
}

impl Summary {
    pub(super) fn of(Side { name, journal, .. }: &Side<'_>) -> Self {
        let Start { suite, started, labels: own, .. } = &journal.start;
        let (labels, cohorts) = (labels(own), count(blocks(journal), "cohort"));
        Self {
            source: Source {
                name: Some((*name).to_owned()),
                start: Some(Cow::Owned(journal.start.clone())),
                ended: journal.end.as_ref().map(|end| end.reason),
                ..Source::default()
            },
            origin: Origin::of(journal),
            heading: format!(
                "{name}, suite {suite}{labels}, {started}, {cohorts}, {}",
                ended(journal)
            ),
        }
    }
}

/// How many blocks have a run that counts.
pub(super) fn blocks(journal: &Journal) -> usize {
    let counting = journal.runs.iter().filter(|run| run.counts == Counts::Yes);
    counting.map(|run| run.block).collect::<std::collections::BTreeSet<_>>().len()
}
