//! The document that a suite repeats: its rows, its tables, and what became of its conclusions.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use wirebench_schema::{
    id::VariantId,
    suite::{Column, Document, PublishedRow, Relation, RowState},
};
use wirebench_stats::Estimate;

use crate::{
    analysis::{JudgedRatio, Metric, Reads, metric},
    notes::Remark,
};

/// The document that the suite repeats.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedReport<'a> {
    /// Its title, machine and load generator.
    pub document: Document,
    /// Its rows: the most comparable first.
    pub rows: Vec<PublishedRowReport<'a>>,
    /// Its tables, in its order.
    pub(crate) tables: Vec<ComparedTable<'a>>,
    /// What it concludes from them, and what became of each conclusion.
    pub conclusions: Vec<ConclusionReport>,
}

/// A row of the document, and the variant that is measured for it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedRowReport<'a> {
    /// The variant.
    pub variant: &'a VariantId,
    #[serde(flatten)]
    pub row: &'a PublishedRow,
    /// Whether conclusions use the row.
    pub comparable: bool,
    /// Why the variant has no figures; absent if it has some.
    pub not_measured: Option<String>,
}

/// A table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(rename = "PublishedTableReport")]
pub(crate) struct ComparedTable<'a> {
    /// Its section.
    pub(crate) section: &'a str,
    /// The unit that its heads do not have.
    #[serde(skip)]
    pub(crate) unit: Option<String>,
    /// The name of the row that ratios refer to; absent where the document itself gives ratios.
    #[serde(skip)]
    pub(crate) reference: Option<String>,
    /// The columns of each row.
    pub(crate) columns: Vec<ComparedColumn<'a>>,
    /// The rows in the order of the document.
    pub(crate) rows: Vec<ComparedRow<'a>>,
}

/// A column of a table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(rename = "PublishedColumn")]
pub(crate) struct ComparedColumn<'a> {
    /// Its heading.
    pub(crate) head: &'a str,
    /// The workload of its figures.
    pub(crate) workload: &'a str,
    /// What they are, with the unit.
    pub(crate) column: Column,
    /// The metric of its ratios, by the name that it has in `figures` of a row; absent where there are none.
    #[schemars(with = "Option<String>")]
    #[serde(serialize_with = "metric::field")]
    pub(crate) metric: Option<Metric>,
    /// The row that ratios refer to.
    #[serde(rename = "baseline")]
    #[schemars(with = "Option<String>")]
    pub(crate) reference: Option<&'a VariantId>,
}

/// A row of a table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(rename = "PublishedTableRow")]
pub(crate) struct ComparedRow<'a> {
    /// As printed.
    pub(crate) name: String,
    /// The variant that is measured for it.
    #[schemars(with = "String")]
    pub(crate) variant: &'a VariantId,
    /// Absent in a journal of an older wirebench.
    #[serde(skip)]
    pub(crate) state: Option<RowState>,
    /// One for each column.
    pub(crate) cells: Vec<ComparedCell>,
}

/// A published figure and the measured one.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
#[schemars(rename = "PublishedCell")]
pub(crate) struct ComparedCell {
    /// As published.
    pub(crate) published: f64,
    /// The median here; absent where it was not measured or is not valid, and of columns of ratios.
    pub(crate) measured: Option<f64>,
    /// Whether the row may be compared. False without a measured figure.
    #[serde(rename = "valid")]
    pub(crate) is_valid: bool,
    /// Whether the measured figure is a lower bound.
    #[serde(rename = "lower_bound")]
    pub(crate) is_lower_bound: bool,
    /// The published figure relative to the baseline's; absent of columns of ratios.
    pub(crate) published_ratio: Option<f64>,
    /// The ratio here; absent of the baseline itself, and without valid figures of both rows.
    #[serde(rename = "measured_ratio", serialize_with = "estimate")]
    #[schemars(with = "Option<Estimate>")]
    pub(crate) ratio: Option<JudgedRatio>,
    /// True of a valid figure to which ratios refer.
    #[serde(skip)]
    pub(crate) is_reference: bool,
}

/// What became of a conclusion, or of one of its pairs. A conclusion has the first of these that one of its pairs has,
/// and of those that confirm the direction the most frequent one.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The other one has more.
    Reversed,
    /// The document calls the two the same, and they are further apart than there.
    Differs,
    /// The difference is smaller than the margin.
    NoDifference,
    /// The figures show neither.
    Inconclusive,
    /// Less than in the document, in its direction.
    SmallerEffect,
    /// More than in the document, in its direction.
    LargerEffect,
    /// In its direction, and the interval, widened by the margin, contains the published ratio.
    Holds,
    /// A row was not measured, is not valid, or is another program.
    NotMeasured,
}

/// A conclusion of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ConclusionReport {
    /// The document's own sentence in quotation marks, or what its tables show.
    pub sentence: String,
    /// Whether it is the document's own.
    pub is_quote: bool,
    /// What is compared.
    pub column: Column,
    /// How much more or less the document says that it is, such as `by 60 %`.
    pub said: Option<String>,
    /// Whether one pair is enough.
    pub some: bool,
    /// What became of it.
    pub answer: Answer,
    /// Why sizes may differ, each with what shows it, or marked as a guess.
    pub reasons: Vec<String>,
    /// Its pairs of rows.
    pub pairs: Vec<PairReport>,
}

/// Two rows of which a conclusion says which one has more.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PairReport {
    /// The variant of the first row.
    pub row: String,
    /// Which of the two has more.
    pub relation: Relation,
    /// The variant of the second row.
    pub reference: String,
    /// The variant by which both figures are divided first.
    pub relative_to: Option<String>,
    /// The geometric means over the workloads that were measured, or over all where none was.
    #[serde(flatten)]
    pub mean: ComparedRatio,
    /// Each workload.
    pub workloads: Vec<ClaimedWorkload>,
}

/// Two rows in a workload of a conclusion.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ClaimedWorkload {
    /// The workload of the first row.
    pub workload: String,
    /// That of the second row, if it is another one.
    pub against: Option<String>,
    #[serde(flatten)]
    pub ratio: ComparedRatio,
}

/// A published ratio and the measured one.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ComparedRatio {
    /// The first published figure over the second.
    pub published: f64,
    /// The same of the figures here; absent where they cannot be compared.
    pub measured: Option<Estimate>,
    /// How the measured ratio is to be read.
    pub reads: Option<Reads>,
    /// What became of it.
    pub answer: Answer,
    /// Why it is inconclusive or not measured.
    #[schemars(with = "Option<String>")]
    pub(crate) why: Option<Remark>,
}

fn estimate<S: Serializer>(ratio: &Option<JudgedRatio>, serializer: S) -> Result<S::Ok, S::Error> {
    ratio.as_ref().map(|it| it.estimate).serialize(serializer)
}
