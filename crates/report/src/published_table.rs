//! The tables of the document that a suite repeats, each cell with what was published and what was measured here.
//! No table is laid out here.
//!
//! The figures of the document are always there. What was not measured, or is not valid, is absent.

mod column;

pub(crate) use column::{is_relative, measured, published};

use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Published},
    suite::{Column, PublishedTable},
};

use crate::{
    analysis::{Analysis, Inconclusive, Role, WorkloadRows},
    published_rows::{self, name_of},
    shown::{Shown, shown},
    view::{ComparedCell, ComparedColumn, ComparedRow, ComparedTable},
};

use self::column::{is_lower_bound, is_tail, median_of, traits};

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
    let column = |(place, (workload, column)): (usize, (&'a str, Column))| {
        let head = match table.heads.get(place) {
            Some(head) => head,
            None if is_several => workload,
            None => traits(column).head,
        };
        let metric = traits(column).metric.filter(|_| !has_ratios || is_relative(column));
        ComparedColumn { head, workload, column, metric, reference: metric.and(reference) }
    };
    let columns: Vec<ComparedColumn<'a>> = table.cells().enumerate().map(column).collect();
    let row = |(variant, numbers): (&'a VariantId, &'a Vec<f64>)| ComparedRow {
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
        unit: match table.columns.iter().copied().find_map(|it| traits(it).unit) {
            Some(unit) => Some(format!("times in {unit}")),
            None => is_several.then(|| traits(table.columns[0]).head.to_owned()),
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
    let there = of.reference.zip(of.metric).filter(|_| !is_relative(of.column));
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
    if !is_relative(of.column) {
        cell.measured = median_of(of.column, row);
        cell.is_valid = shown(row).is_compared();
        cell.is_lower_bound = is_lower_bound(of.column, row);
    }
    let (Some(metric), Some(baseline)) = (of.metric, rows.baseline) else { return };
    let comparison = rows.compare(metric);
    let is_reference = Some(rows.rows[baseline].variant) == of.reference;
    let ratio = comparison.ratios[index].clone();
    let ratio = ratio.filter(|it| !it.inconclusive.is_some_and(Inconclusive::is_withheld));
    let is_hidden = is_hidden(shown(&rows.rows[baseline]));
    let is_checked = rows.withheld([&[baseline], &[]], metric, comparison.baseline_check.state);
    if is_reference && !is_hidden && is_checked.is_none() {
        cell.is_reference = row.role == Role::Baseline;
        cell.ratio = ratio.filter(|_| !cell.is_reference);
    }
}
