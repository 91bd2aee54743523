//! The tables of a document in its own shape, with the published and the measured figure of each cell.
//!
//! A table about one workload keeps its columns. Tables with the same rows and one column each are
//! columns of one table, as in the document. A table about several workloads has a line for each.

use wirebench_schema::{
    id::VariantId,
    journal::Published,
    suite::{Column, PublishedTable},
};

use super::column::{head, is_lower_bound, latency_unit, measured, metric, show};
use crate::{
    analysis::{Analysis, Role, Row, WorkloadRows},
    document::{self, Align, Block, Table},
    published_rows,
    table_units::thousands,
};

/// Messages from this size on are counted by their bytes.
const LARGE_BYTES: usize = 1 << 20;
/// The columns that name a line.
const KEYS: usize = 2;
/// The head of the ratio to the baseline, which follows its figure.
const RATIO: &str = "ratio";

/// A section for each table that has a workload with figures here, and one with the rows; nothing without a
/// document.
pub(in crate::table) fn sections(analysis: &Analysis<'_>) -> Vec<Block> {
    let Some(published) = published_rows::document(analysis.journal) else { return Vec::new() };
    let mut sections = tables(published, &analysis.workloads);
    sections.push(Block::section("rows of the document", published_rows::lines(analysis.journal)));
    sections
}

pub(super) fn tables(published: &Published, workloads: &[WorkloadRows<'_>]) -> Vec<Block> {
    let find = |name: &String| workloads.iter().find(|rows| rows.workload.name == *name);
    let mut sections = Vec::new();
    let mut tables = published.figures.tables.as_slice();
    while let Some(first) = tables.first() {
        let is_like = |table: &&PublishedTable| {
            let keys = table.rows.keys().eq(first.rows.keys());
            table.columns == first.columns && first.columns.len() == 1 && keys
        };
        let several = first.workloads.len() > 1;
        let number = if several { 1 } else { tables.iter().take_while(is_like).count().max(1) };
        let (these, rest) = tables.split_at(number);
        tables = rest;
        let here: Vec<(&PublishedTable, &WorkloadRows<'_>)> = these
            .iter()
            .flat_map(|table| {
                table.workloads.iter().filter_map(move |name| Some((table, find(name)?)))
            })
            .filter(|(_, rows)| rows.baseline.is_some())
            .collect();
        if here.is_empty() {
            continue;
        }
        let section = if number == 1 { &first.section } else { published_section(first) };
        let unit = first.columns.iter().copied().find_map(latency_unit);
        let unit = unit.map_or_else(String::new, |unit| format!(", latencies in {unit}"));
        let title = format!("{}: {section}{unit}", published.document.title);
        let lines = if several { by_workload(&here) } else { by_entry(published, &here) };
        sections.push(Block::Section(title, vec![Block::Table(table_of(&lines))]));
    }
    sections
}

/// What the sections of joined tables have in common.
fn published_section(table: &PublishedTable) -> &str {
    table.section.split(',').next().unwrap_or(&table.section)
}

/// Two lines for each entry: what was published, and what was measured.
fn by_entry(
    published: &Published,
    here: &[(&PublishedTable, &WorkloadRows<'_>)],
) -> Vec<Vec<String>> {
    let (first, _) = here[0];
    let joined = here.len() > 1;
    let mut heads = vec!["entry".to_owned(), String::new()];
    for (table, rows) in here {
        let reference = reference(table, rows);
        let columns = table.columns.iter().map(|column| match joined {
            true => rows.workload.name.clone(),
            false => head(*column, &reference.map_or_else(String::new, ToString::to_string)),
        });
        heads.extend(columns);
        let has_ratio = table.columns.iter().any(|column| is_relative(*column));
        if !has_ratio && main(table).is_some() {
            heads.push(RATIO.to_owned());
        }
    }
    let mut lines = vec![heads];
    for variant in ordered(first) {
        let mut there = vec![variant.to_string(), "published".to_owned()];
        // A cell below the name costs no width.
        let state = published.figures.rows.get(variant).map_or("", |row| row.state.name());
        let mut own = vec![state.to_owned(), "measured".to_owned()];
        for (table, rows) in here {
            let (of_there, of_own) = cells(published, table, rows, variant);
            there.extend(of_there);
            own.extend(of_own);
        }
        lines.extend([there, own]);
    }
    lines
}

/// The measured cell of a row; `>` marks a lower bound.
fn own_cell(column: Column, row: &Row<'_>) -> Option<String> {
    let sign = if is_lower_bound(column, row) { ">" } else { "" };
    measured(column, row).map(|value| format!("{sign}{}", show(column, value)))
}

/// The published and the measured cells of an entry in one table.
fn cells(
    published: &Published,
    table: &PublishedTable,
    rows: &WorkloadRows<'_>,
    variant: &VariantId,
) -> (Vec<String>, Vec<String>) {
    let dash = || "-".to_owned();
    let row = rows.first_of(variant).map(|row| &rows.rows[row]);
    let numbers = &table.rows[variant];
    let there = table.columns.iter().zip(numbers).map(|(column, number)| show(*column, *number));
    let own = table.columns.iter().map(|column| match is_relative(*column) {
        true => ratio(table, rows, variant, *column).unwrap_or_else(dash),
        false => row.and_then(|row| own_cell(*column, row)).unwrap_or_else(dash),
    });
    let (mut there, mut own): (Vec<String>, Vec<String>) = (there.collect(), own.collect());
    let has_ratio = table.columns.iter().any(|column| is_relative(*column));
    if let Some(main) = main(table).filter(|_| !has_ratio) {
        let base = reference(table, rows);
        let name = &rows.workload.name;
        let published = base.and_then(|base| published.figures.ratio(name, variant, base, main));
        there.push(published.map_or_else(dash, |ratio| format!("{ratio:.2}")));
        own.push(ratio(table, rows, variant, main).unwrap_or_else(dash));
    }
    (there, own)
}

/// A line for each workload: what each entry reached, and both ratios.
fn by_workload(here: &[(&PublishedTable, &WorkloadRows<'_>)]) -> Vec<Vec<String>> {
    let (table, rows) = here[0];
    let base = reference(table, rows);
    let entries: Vec<&VariantId> = base.into_iter().chain(table.rows.keys()).collect();
    let mut heads = vec!["workload".to_owned(), "unit".to_owned()];
    heads.extend(entries.iter().map(ToString::to_string));
    heads.extend(["ratio", "published ratio"].map(str::to_owned));
    let mut lines = vec![heads];
    for (table, rows) in here {
        let size = rows.workload.payload_bytes;
        // Each byte of an echo is sent and received.
        let is_large = size >= LARGE_BYTES;
        let scale = if is_large { 2.0 * size as f64 / 1e6 } else { 1.0 };
        let unit = if is_large { "MB/s" } else { "requests/s" };
        let figure = |variant: &&VariantId| {
            let row = rows.first_of(variant).map(|row| &rows.rows[row]);
            let value = row.and_then(|row| measured(Column::RequestsPerSecond, row));
            value.map_or_else(|| "-".to_owned(), |value| thousands(value * scale))
        };
        let mut line = vec![rows.workload.name.clone(), unit.to_owned()];
        line.extend(entries.iter().map(figure));
        for (variant, numbers) in &table.rows {
            let own = ratio(table, rows, variant, Column::RequestsPerSecondRatio);
            line.push(own.unwrap_or_else(|| "-".to_owned()));
            line.push(show(table.columns[0], numbers[0]));
        }
        lines.push(line);
    }
    lines
}

/// The rows of a document's table: the best first.
fn ordered(table: &PublishedTable) -> Vec<&VariantId> {
    let mut rows: Vec<(&VariantId, &Vec<f64>)> = table.rows.iter().collect();
    let rate = table.columns.iter().position(|column| *column == Column::RequestsPerSecond);
    rows.sort_by(|(_, a), (_, b)| match rate {
        Some(rate) => b[rate].total_cmp(&a[rate]),
        None => a[0].total_cmp(&b[0]),
    });
    rows.into_iter().map(|(variant, _)| variant).collect()
}

/// The column whose ratio is shown.
fn main(table: &PublishedTable) -> Option<Column> {
    table.columns.iter().copied().find(|column| metric(*column).is_some())
}

const fn is_relative(column: Column) -> bool {
    matches!(column, Column::RequestsPerSecondRatio | Column::RequestsPerSecondPercent)
}

/// The row that ratios refer to: the document's, or the baseline.
fn reference<'a>(table: &'a PublishedTable, rows: &WorkloadRows<'a>) -> Option<&'a VariantId> {
    let baseline = rows.baseline.map(|index| rows.rows[index].variant);
    table.relative_to.as_ref().or(baseline)
}

/// The measured ratio of an entry to the baseline, as `column` gives it; none where the document refers
/// to another row.
fn ratio(
    table: &PublishedTable,
    rows: &WorkloadRows<'_>,
    variant: &VariantId,
    column: Column,
) -> Option<String> {
    let index = rows.first_of(variant)?;
    let baseline = rows.rows[rows.baseline?].variant;
    if reference(table, rows) != Some(baseline) {
        return None;
    }
    let comparison = rows.compare(metric(column)?);
    let compared = comparison.rows[index].as_ref()?;
    let scale = if column == Column::RequestsPerSecondPercent { 100.0 } else { 1.0 };
    if rows.rows[index].role == Role::Baseline {
        return Some(format!("{scale:.2}"));
    }
    let ratio = compared.ratio.as_ref()?;
    Some(format!("{}{:.2}", ratio.reads.sign(), ratio.estimate.value * scale))
}

/// A table of lines of cells, the first one as the head. A ratio stays with its figure.
fn table_of(lines: &[Vec<String>]) -> Table {
    let column = |(place, head): (usize, &String)| document::Column {
        align: if place < KEYS { Align::Left } else { Align::Right },
        group: (place >= KEYS && head != RATIO).then(String::new),
        ..document::Column::left(head)
    };
    let rows = lines[1..].iter().map(|line| line.iter().cloned().map(Into::into).collect());
    let columns = lines[0].iter().enumerate().map(column).collect();
    Table { keys: KEYS, ..Table::new(columns, rows) }
}
