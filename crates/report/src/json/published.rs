//! The rows and the tables of a suite's document in `report.json`.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::{
    id::VariantId,
    journal::Journal,
    suite::{Column, Document, PublishedRow, RowState},
};
use wirebench_stats::Estimate;

use crate::{
    analysis::{Analysis, Metric},
    conclusions::{self, ConclusionReport},
    published_rows,
    published_table::{
        self, ComparedCell, ComparedColumn, ComparedRow, ComparedTable, MeasuredRatio,
    },
};

/// The document that the suite repeats.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedReport {
    /// Its title, machine and load generator.
    pub document: Document,
    /// Its rows: the most comparable first.
    pub rows: Vec<PublishedRowReport>,
    /// Its tables, in its order.
    pub tables: Vec<PublishedTableReport>,
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

/// A table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedTableReport {
    /// Its section.
    pub section: String,
    /// The columns of each row.
    pub columns: Vec<PublishedColumn>,
    /// The rows in the order of the document.
    pub rows: Vec<PublishedTableRow>,
}

/// A column of a table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedColumn {
    /// Its heading.
    pub head: String,
    /// The workload of its figures.
    pub workload: String,
    /// What they are, with the unit.
    pub column: Column,
    /// The metric of its ratios, by the name that it has in `figures` of a row; absent where there are none.
    pub metric: Option<&'static str>,
    /// The row that ratios refer to.
    pub baseline: Option<String>,
}

/// A row of a table of the document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedTableRow {
    /// As printed.
    pub name: String,
    /// The variant that is measured for it.
    pub variant: String,
    /// One for each column.
    pub cells: Vec<PublishedCell>,
}

/// A published figure and the measured one.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedCell {
    /// As published.
    pub published: f64,
    /// The median here; absent where it was not measured or is not valid, and of columns of ratios.
    pub measured: Option<f64>,
    /// Whether the row may be compared. False without a measured figure.
    pub valid: bool,
    /// Whether the measured figure is a lower bound.
    pub lower_bound: bool,
    /// The published figure relative to the baseline's; absent of columns of ratios.
    pub published_ratio: Option<f64>,
    /// The ratio here; absent of the baseline itself, and without valid figures of both rows.
    pub measured_ratio: Option<Estimate>,
}

/// The document of `journal` with all of its rows that have a state.
pub(super) fn published(analysis: &Analysis<'_>) -> Option<PublishedReport> {
    let journal = analysis.journal;
    let published = published_rows::document(journal)?;
    let rows = published_rows::in_order(published).into_iter();
    let rows = rows.map(|(variant, it)| row(journal, variant, it)).collect();
    let tables = published_table::tables(analysis).into_iter().map(table).collect();
    let conclusions = conclusions::judge(analysis);
    Some(PublishedReport { document: published.document.clone(), rows, tables, conclusions })
}

fn table(table: ComparedTable<'_>) -> PublishedTableReport {
    let column = |it: ComparedColumn<'_>| PublishedColumn {
        head: it.head.to_owned(),
        workload: it.workload.to_owned(),
        column: it.column,
        metric: it.metric.map(Metric::field),
        baseline: it.metric.and(it.reference).map(ToString::to_string),
    };
    let cell = |it: ComparedCell| PublishedCell {
        published: it.published,
        measured: it.measured,
        valid: it.is_valid,
        lower_bound: !it.sign.is_empty(),
        published_ratio: it.published_ratio,
        measured_ratio: match it.ratio {
            MeasuredRatio::Ratio(ratio) => Some(ratio.estimate),
            MeasuredRatio::Absent | MeasuredRatio::Reference => None,
        },
    };
    let row = |it: ComparedRow<'_>| PublishedTableRow {
        name: it.name,
        variant: it.variant.to_string(),
        cells: it.cells.into_iter().map(cell).collect(),
    };
    PublishedTableReport {
        section: table.section.to_owned(),
        columns: table.columns.into_iter().map(column).collect(),
        rows: table.rows.into_iter().map(row).collect(),
    }
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
        not_measured: published_rows::not_measured(journal, variant),
    }
}
