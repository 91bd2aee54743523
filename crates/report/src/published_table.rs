//! The tables of the document that a suite repeats, each cell with what was published and what was measured here.
//! No table is laid out here.
//!
//! The figures of the document are always there. What was not measured, or is not valid, is absent.

mod column;

pub(crate) use column::{measured, published};

use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Published},
    suite::{Column, PublishedTable, RowState},
};

use crate::{
    analysis::{Analysis, CheckState, Limited, Metric, RatioToBaseline, Role, Row, WorkloadRows},
    published_rows::{self, name_of},
    shown::{Shown, shown},
};

use self::column::{head, is_lower_bound, is_relative, is_tail, latency_unit, median_of, metric};

/// A table of the document.
#[derive(Debug)]
pub(crate) struct ComparedTable<'a> {
    /// Its section in the document.
    pub(crate) section: &'a str,
    /// The unit that its heads do not have.
    pub(crate) unit: Option<String>,
    /// The name of the row that ratios refer to; absent where the document itself gives ratios.
    pub(crate) reference: Option<String>,
    pub(crate) columns: Vec<ComparedColumn<'a>>,
    pub(crate) rows: Vec<ComparedRow<'a>>,
}

#[derive(Debug)]
pub(crate) struct ComparedColumn<'a> {
    /// The document's heading.
    pub(crate) head: &'a str,
    /// The workload of the suite that its figures belong to.
    pub(crate) workload: &'a str,
    pub(crate) column: Column,
    /// What its ratios compare; absent where figures have no ratio.
    pub(crate) metric: Option<Metric>,
    /// The row that ratios refer to.
    pub(crate) reference: Option<&'a VariantId>,
}

#[derive(Debug)]
pub(crate) struct ComparedRow<'a> {
    /// As the document prints it.
    pub(crate) name: String,
    pub(crate) variant: &'a VariantId,
    /// Absent in a journal of an older wirebench.
    pub(crate) state: Option<RowState>,
    pub(crate) cells: Vec<ComparedCell>,
}

/// A figure of a row.
#[derive(Debug, Default)]
pub(crate) struct ComparedCell {
    pub(crate) published: f64,
    /// The median over the runs.
    pub(crate) measured: Option<f64>,
    /// Whether the row may be compared.
    pub(crate) is_valid: bool,
    /// What is in front of a measured figure that is a bound.
    pub(crate) sign: &'static str,
    /// The published figure relative to the reference.
    pub(crate) published_ratio: Option<f64>,
    /// The same of the figures here.
    pub(crate) ratio: MeasuredRatio,
}

/// A figure of this run relative to that of the reference.
#[derive(Debug, Default)]
pub(crate) enum MeasuredRatio {
    /// One of the two is absent or not valid.
    #[default]
    Absent,
    /// It is the reference.
    Reference,
    Ratio(RatioToBaseline),
}

impl ComparedColumn<'_> {
    /// Whether its figures are ratios themselves.
    pub(crate) const fn is_relative(&self) -> bool {
        is_relative(self.column)
    }
}

/// The tables of which at least one workload is part of this run; nothing without a document.
pub(crate) fn tables<'a>(analysis: &'a Analysis<'a>) -> Vec<ComparedTable<'a>> {
    let journal = analysis.journal;
    let Some(published) = published_rows::document(journal) else { return Vec::new() };
    let is_part = |table: &&PublishedTable| {
        let names = || journal.start.workloads.iter().map(|it| &it.name);
        table.workloads.iter().any(|workload| names().any(|it| it == workload))
    };
    let tables = published.figures.tables.iter().filter(is_part);
    tables.map(|table| compared(published, table, analysis)).collect()
}

fn compared<'a>(
    published: &'a Published,
    table: &'a PublishedTable,
    analysis: &'a Analysis<'a>,
) -> ComparedTable<'a> {
    let is_several = table.workloads.len() > 1;
    let reference = reference(table, analysis.journal);
    // A document that gives ratios needs no others.
    let has_ratios = table.columns.iter().copied().any(is_relative);
    let column = |(place, (workload, column)): (usize, (&'a str, Column))| ComparedColumn {
        head: match table.heads.get(place) {
            Some(head) => head,
            None if is_several => workload,
            None => head(column),
        },
        workload,
        column,
        metric: metric(column).filter(|_| !has_ratios || is_relative(column)),
        reference,
    };
    let columns: Vec<ComparedColumn<'a>> = table.cells().enumerate().map(column).collect();
    let row = |(variant, numbers): &'a (VariantId, Vec<f64>)| ComparedRow {
        name: name_of(published, variant),
        variant,
        state: published.figures.rows.get(variant).map(|row| row.state),
        cells: columns
            .iter()
            .zip(numbers)
            .map(|(column, number)| cell(published, column, analysis, variant, *number))
            .collect(),
    };
    ComparedTable {
        section: &table.section,
        unit: match table.columns.iter().copied().find_map(latency_unit) {
            Some(unit) => Some(format!("times in {unit}")),
            None => is_several.then(|| head(table.columns[0]).to_owned()),
        },
        reference: reference.filter(|_| !has_ratios).map(|it| name_of(published, it)),
        rows: table.rows.iter().map(row).collect(),
        columns,
    }
}

/// The row that ratios refer to: the document's, or the first baseline that it has.
fn reference<'a>(table: &'a PublishedTable, journal: &'a Journal) -> Option<&'a VariantId> {
    let mut baselines = journal.start.baselines.iter();
    table.relative_to.as_ref().or_else(|| baselines.find(|variant| table.row(variant).is_some()))
}

fn cell(
    published: &Published,
    of: &ComparedColumn<'_>,
    analysis: &Analysis<'_>,
    variant: &VariantId,
    number: f64,
) -> ComparedCell {
    let there = of.reference.zip(of.metric).filter(|_| !of.is_relative());
    let published_ratio = there.and_then(|(reference, _)| {
        published.figures.ratio(of.workload, variant, reference, of.column)
    });
    let mut cell = ComparedCell { published: number, published_ratio, ..Default::default() };
    let mut workloads = analysis.workloads.iter();
    if let Some(rows) = workloads.find(|rows| rows.workload.name == of.workload) {
        fill(&mut cell, of, rows, variant);
    }
    cell
}

/// Adds what was measured, as far as it is valid.
fn fill(
    cell: &mut ComparedCell,
    of: &ComparedColumn<'_>,
    rows: &WorkloadRows<'_>,
    variant: &VariantId,
) {
    let Some(index) = rows.first_of(variant) else { return };
    let row = &rows.rows[index];
    let is_hidden = |shown: Shown| is_tail(of.column) && shown != Shown::All;
    if shown(row) == Shown::Nothing || is_hidden(shown(row)) {
        return;
    }
    if !of.is_relative() {
        cell.measured = median_of(of.column, row);
        cell.is_valid = shown(row).is_compared();
        cell.sign = match of.column {
            column if is_lower_bound(column, row) => ">",
            Column::RequestsPerSecond if row.limited() == Limited::Yes => ">=",
            _ => "",
        };
    }
    let (Some(metric), Some(baseline)) = (of.metric, rows.baseline) else { return };
    let comparison = rows.compare(metric);
    let is_compared = |row: &Row<'_>| shown(row).is_compared() && !is_hidden(shown(row));
    let is_reference = Some(rows.rows[baseline].variant) == of.reference;
    let is_checked = comparison.baseline_check.state != CheckState::Failed;
    if is_reference && is_checked && is_compared(row) && is_compared(&rows.rows[baseline]) {
        let ratio = comparison.rows[index].as_ref().and_then(|it| it.ratio.clone());
        cell.ratio = match row.role {
            Role::Baseline => MeasuredRatio::Reference,
            _ => ratio.map_or(MeasuredRatio::Absent, MeasuredRatio::Ratio),
        };
    }
}
