//! The rows of a suite's document in `report.json`.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Published},
    suite::{Document, PublishedRow, RowState},
};
use wirebench_stats::Estimate;

use crate::{
    analysis::WorkloadRows,
    published_rows::{self, COLUMNS},
};

/// The document that the suite repeats.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedReport {
    /// Its title, machine and load generator.
    pub document: Document,
    /// Its rows: the most comparable first.
    pub rows: Vec<PublishedRowReport>,
}

/// A row of the document, and the variant that is measured for it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedRowReport {
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
    /// What the published figures show apart from the program's speed.
    pub artefact: Option<String>,
    /// Why the variant has no figures; absent if it has some.
    pub not_measured: Option<String>,
    /// The ratio to the baseline in each workload for which one was published.
    pub ratios: Vec<PublishedRatio>,
}

/// A published ratio and the measured one.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct PublishedRatio {
    /// The workload.
    pub workload: String,
    /// The metric, by the name that it has in `figures` of a row.
    pub metric: &'static str,
    /// The row that both ratios refer to.
    pub baseline: String,
    /// The ratio of the document's figures.
    pub published: f64,
    /// The ratio here; absent of the baseline itself, and without figures of both rows.
    pub measured: Option<Estimate>,
}

/// The document of `journal` with all of its rows that have a state.
pub(super) fn published(
    journal: &Journal,
    workloads: &[WorkloadRows<'_>],
) -> Option<PublishedReport> {
    let published = published_rows::document(journal)?;
    let rows = published_rows::in_order(published).into_iter();
    Some(PublishedReport {
        document: published.document.clone(),
        rows: rows.map(|(variant, it)| row(journal, published, workloads, variant, it)).collect(),
    })
}

fn row(
    journal: &Journal,
    published: &Published,
    workloads: &[WorkloadRows<'_>],
    variant: &VariantId,
    row: &PublishedRow,
) -> PublishedRowReport {
    PublishedRowReport {
        variant: variant.to_string(),
        state: row.state,
        comparable: row.state.is_comparable(),
        published: row.published.clone(),
        here: row.here.clone(),
        clause: row.clause.clone(),
        artefact: row.artefact.clone(),
        not_measured: published_rows::not_measured(journal, variant),
        ratios: workloads.iter().filter_map(|rows| ratio(published, rows, variant)).collect(),
    }
}

fn ratio(
    published: &Published,
    rows: &WorkloadRows<'_>,
    variant: &VariantId,
) -> Option<PublishedRatio> {
    let base = rows.rows[rows.baseline?].variant;
    let name = &rows.workload.name;
    let there =
        |(column, metric)| Some((published.figures.ratio(name, variant, base, column)?, metric));
    let (value, metric) = COLUMNS.into_iter().find_map(there)?;
    let comparison = rows.compare(metric);
    let compared = rows.first_of(variant).and_then(|row| comparison.rows[row].as_ref());
    Some(PublishedRatio {
        workload: name.clone(),
        metric: metric.field(),
        baseline: base.to_string(),
        published: value,
        measured: compared.and_then(|it| it.ratio.as_ref()).map(|it| it.estimate),
    })
}
