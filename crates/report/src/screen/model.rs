//! What the first screen of a result shows, as plain values. `adapter` fills it from an analysis;
//! the other files turn it into text and know no analysis.

use wirebench_schema::journal::Start;
use wirebench_stats::Interval;

use crate::analysis::{JudgedRatio, Metric};

/// A result, as far as the first screen shows it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model<'a> {
    pub(super) start: &'a Start,
    /// Variants with at least one figure.
    pub(super) servers: usize,
    /// Repetitions of everything: blocks, or cohorts.
    pub(super) made: u32,
    /// Why there are no more, if the plan was not completed.
    pub(super) ended: Option<&'static str>,
    /// The parts of the table, in the order of the suite.
    pub(super) blocks: Vec<Block>,
    /// What hides or qualifies figures, grouped by cause.
    pub(super) causes: Vec<String>,
    /// How comparable the rows of the suite's document are.
    pub(super) published: Vec<String>,
    /// What differs most in the profiles.
    pub(super) whys: Vec<String>,
    /// What to do about rows that were disturbed, if there are any.
    pub(super) disturbed: Option<&'static str>,
}

/// Rows with the figures of one scenario, under one shape of load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    /// The scenario, and the shape where several blocks have the same scenario.
    pub(super) title: String,
    /// The rows' names, the baseline first, then the best first.
    pub(super) rows: Vec<String>,
    /// Loads of the same scenario and shape: saturated, and at each rate.
    pub(super) groups: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// The load, such as `saturated` or `at 40k/s`.
    pub(super) title: String,
    /// What its rows are compared by.
    pub(super) metric: Metric,
    /// The row that ratios refer to, if it has figures.
    pub(super) baseline: Option<String>,
    /// Differences within this share count as none.
    pub(super) margin: f64,
    /// Its columns, with a figure in at least one row.
    pub(super) columns: Vec<Column>,
    /// For each row of the block its cells; none where the variant does not take part.
    pub(super) cells: Vec<Option<Vec<Value>>>,
    /// For each row of the block its ratio to the baseline, where the two may be compared.
    pub(super) ratios: Vec<Option<JudgedRatio>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Column {
    Figure(Metric),
    /// The outcome of the comparison with the baseline.
    Outcome,
    /// CPU time that waking adds to a request, in nanoseconds.
    Waking,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// There is none.
    Empty,
    Exact(f64),
    /// The load generator was the limit in most runs: the server may do more, and answer sooner.
    Bound(f64),
    /// Not valid, so that the reader must not see it.
    Hidden,
    Compared(Outcome),
}

/// Result of the comparison of a row with the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    Reference,
    /// Any difference lies within the margin.
    Same,
    /// The difference is significant and not within the margin.
    Different {
        /// The row's figure over the baseline's.
        ratio: f64,
        /// Its interval of 95 % confidence.
        interval: Interval,
    },
    Inconclusive,
    /// Figures exist, and may not be compared.
    Withheld,
}

impl Model<'_> {
    /// The load that the first sentence is about: the first saturated one, or else the first.
    pub(super) fn main(&self) -> Option<(&Block, &Group)> {
        self.blocks.iter().find_map(|block| Some((block, block.groups.first()?)))
    }

    /// True if a load was measured in both idle modes.
    pub(super) fn has_waking(&self) -> bool {
        let mut groups = self.blocks.iter().flat_map(|block| &block.groups);
        groups.any(|group| group.columns.contains(&Column::Waking))
    }

    /// How many cells are of this kind.
    pub(super) fn count(&self, is_meant: impl Fn(&Value) -> bool) -> usize {
        let groups = self.blocks.iter().flat_map(|block| &block.groups);
        let cells = groups.flat_map(|group| group.cells.iter().flatten().flatten());
        cells.filter(|value| is_meant(value)).count()
    }
}

impl Block {
    /// The place of a row among the others, from the best to the worst.
    pub(super) fn place(&self, name: &str) -> usize {
        self.rows.iter().position(|row| row == name).unwrap_or(self.rows.len())
    }
}

impl Value {
    /// Whether something is not shown.
    pub(super) const fn is_hidden(&self) -> bool {
        matches!(self, Self::Hidden | Self::Compared(Outcome::Withheld))
    }
}

impl Group {
    /// The outcomes, with the places of their rows.
    pub(super) fn outcomes(&self) -> impl Iterator<Item = (usize, Outcome)> {
        let place = self.columns.iter().position(|it| *it == Column::Outcome);
        self.cells.iter().enumerate().filter_map(move |(row, cells)| {
            match cells.as_ref()?[place?] {
                Value::Compared(outcome) => Some((row, outcome)),
                _ => None,
            }
        })
    }

    /// The places of the rows with this outcome.
    pub(super) fn with(&self, wanted: Outcome) -> impl Iterator<Item = usize> {
        self.outcomes().filter(move |(_, outcome)| *outcome == wanted).map(|(row, _)| row)
    }
}
