//! The rows and the tables of a suite's document in `report.json`.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::{
    id::VariantId,
    journal::Journal,
    suite::{Document, PublishedRow, RowState},
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
    pub rows: Vec<PublishedRowReport>,
    /// Its tables, in its order.
    pub(crate) tables: Vec<ComparedTable<'a>>,
    /// What it concludes from them, and what became of each conclusion.
    pub conclusions: Vec<ConclusionReport>,
}

/// A row of the document, and the variant that is measured for it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedRowReport {
    /// As the document prints it; absent in a journal of an older wirebench.
    pub name: Option<String>,
    /// The variant.
    pub variant: String,
    /// How the published program and the variant compare.
    pub state: RowState,
    /// Whether conclusions use the row.
    pub comparable: bool,
    /// What produced the published figures, with its version.
    pub published: Option<String>,
    /// What is measured here, with its version.
    pub here: Option<String>,
    /// Why the row is different or missing, or what is newer.
    pub clause: Option<String>,
    /// Why its ratio differs from the published one: what those figures show apart from the program's speed, or
    /// what has changed since.
    pub reason: Option<String>,
    /// What shows the reason; absent of a guess.
    pub measured: Option<String>,
    /// Why the variant has no figures; absent if it has some.
    pub not_measured: Option<String>,
}

/// The document of `journal` with all of its rows that have a state.
pub(super) fn published<'a>(analysis: &'a Analysis<'_>) -> Option<PublishedReport<'a>> {
    let journal = analysis.journal;
    let published = published_rows::document(journal)?;
    let rows = published_rows::in_order(published).into_iter();
    let rows = rows.map(|(variant, it)| row(journal, variant, it)).collect();
    let (document, tables) = (published.document.clone(), tables(analysis));
    Some(PublishedReport { document, rows, tables, conclusions: conclusions::judge(analysis) })
}

fn row(journal: &Journal, variant: &VariantId, row: &PublishedRow) -> PublishedRowReport {
    PublishedRowReport {
        name: row.name.clone(),
        variant: variant.to_string(),
        state: row.state,
        comparable: row.state.is_comparable(),
        published: row.published.clone(),
        here: row.here.clone(),
        clause: row.clause.clone(),
        reason: row.reason.clone(),
        measured: row.measured.clone(),
        not_measured: published_rows::reason(journal, variant),
    }
}
