//! The rows and the tables of the document that a suite repeats.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::{
    id::VariantId,
    suite::{Document, PublishedRow},
};

use crate::{
    analysis::Analysis,
    conclusions::{self, ConclusionReport},
    published_rows,
    published_table::{ComparedTable, tables},
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

/// The document of `journal` with all of its rows that have a state.
pub(crate) fn published<'a>(analysis: &'a Analysis<'_>) -> Option<PublishedReport<'a>> {
    let journal = analysis.journal;
    let published = published_rows::document(journal)?;
    let rows = published_rows::in_order(published).into_iter();
    let rows = rows.map(|(variant, row)| PublishedRowReport {
        variant,
        row,
        comparable: row.state.is_comparable(),
        not_measured: published_rows::reason(journal, variant),
    });
    let rows = rows.collect();
    let (document, tables) = (published.document.clone(), tables(analysis));
    Some(PublishedReport { document, rows, tables, conclusions: conclusions::judge(analysis) })
}
