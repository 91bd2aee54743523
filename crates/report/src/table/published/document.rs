//! The tables of a document in its own shape: a row has its name and figures as published, and below them the variant
//! and the figures of this run.

use wirebench_schema::suite::{Column, RowState};
use wirebench_stats::Interval;

use crate::{
    analysis::{Analysis, JudgedRatio},
    document::{self, Align, Block, Table},
    figure_text::{ABSENT, factor},
    published_rows,
    published_table::{is_relative, measured, published, tables},
    view::{ComparedCell, ComparedColumn, ComparedRow, ComparedTable},
};

const HEAD: &str = "published /\n  measured";
const RATIO: &str = "ratio";
/// Longer heads have two lines.
const LONG_HEAD: usize = 10;

/// A section for each table; nothing without a document.
pub(crate) fn sections(analysis: &Analysis<'_>) -> Vec<Block> {
    tables(analysis).iter().map(section).collect()
}

/// The rows of the document: how the programs compare.
pub(crate) fn rows(analysis: &Analysis<'_>) -> Block {
    Block::section("rows of the document", published_rows::lines(analysis.journal))
}

fn section(table: &ComparedTable<'_>) -> Block {
    let reference = table.reference.as_ref().map(|name| format!("ratios to {name}"));
    let hints: Vec<String> = table.unit.clone().into_iter().chain(reference).collect();
    let hints = if hints.is_empty() { String::new() } else { format!(" ({})", hints.join("; ")) };
    let mut columns = vec![document::Column::left(HEAD)];
    for column in &table.columns {
        let figure = document::Column {
            align: if is_relative(column.column) { Align::Interval } else { Align::Right },
            group: Some(String::new()),
            ..document::Column::left(broken(column.head))
        };
        columns.push(figure);
        if has_ratio(column) {
            let align = Align::Interval;
            columns.push(document::Column { align, ..document::Column::left(RATIO) });
        }
    }
    let rows = table.rows.iter().map(|row| cells(row, &table.columns));
    let rows = rows.map(|cells| cells.into_iter().map(Into::into).collect());
    let laid_out = Table { keys: 1, ..Table::new(columns, rows) };
    Block::Section(format!("{}{hints}", table.section), vec![Block::Table(laid_out)])
}

/// Whether a column of ratios follows the figures.
const fn has_ratio(column: &ComparedColumn<'_>) -> bool {
    column.metric.is_some() && !is_relative(column.column)
}

/// A head in two lines, if it is long: broken near its middle.
fn broken(head: &str) -> String {
    let middle = head.len() / 2;
    let spaces = head.match_indices(' ').map(|(at, _)| at);
    match spaces.min_by_key(|at| at.abs_diff(middle)) {
        Some(at) if head.len() > LONG_HEAD => format!("{} \n{}", &head[..at], &head[at + 1..]),
        _ => head.to_owned(),
    }
}

/// The cells of a row, each with a line of the document and one of this run.
fn cells(row: &ComparedRow<'_>, columns: &[ComparedColumn<'_>]) -> Vec<String> {
    let state = row.state.filter(|state| !state.is_comparable());
    let variant = match state {
        Some(RowState::Missing) => RowState::Missing.name().to_owned(),
        Some(state) => format!("{}, {}", row.variant, state.name()),
        None => row.variant.to_string(),
    };
    let mut cells = vec![format!("{}\n  {variant}", row.name)];
    for (column, cell) in columns.iter().zip(&row.cells) {
        let published = published(column.column, cell.published);
        cells.push(format!("{published}\n{}", of_this_run(column, cell)));
        if has_ratio(column) {
            let published = cell.published_ratio.map(|ratio| format!("{ratio:.2}"));
            let reference = if cell.is_reference { "1.00" } else { ABSENT };
            let measured = cell.ratio.as_ref().map_or_else(|| reference.to_owned(), factor);
            cells.push(format!("{}\n{measured}", published.as_deref().unwrap_or(ABSENT)));
        }
    }
    cells
}

/// A figure of this run; one of a row that is not valid has a mark.
fn of_this_run(column: &ComparedColumn<'_>, cell: &ComparedCell) -> String {
    let scale = if column.column == Column::RequestsPerSecondPercent { 100.0 } else { 1.0 };
    let mark = if cell.is_valid { "" } else { "!" };
    let sign = match column.column {
        _ if !cell.is_lower_bound => "",
        Column::RequestsPerSecond => ">=",
        _ => ">",
    };
    match (cell.measured, &cell.ratio) {
        (Some(value), _) => format!("{sign}{}{mark}", measured(column.column, value)),
        (None, Some(ratio)) if is_relative(column.column) => relative(column.column, ratio, scale),
        _ if is_relative(column.column) && cell.is_reference => measured(column.column, scale),
        _ => ABSENT.to_owned(),
    }
}

/// A measured ratio in the unit of a column of ratios, with its interval.
fn relative(column: Column, ratio: &JudgedRatio, scale: f64) -> String {
    let show = |value: f64| measured(column, value * scale);
    let ends = |it: Interval| format!(" ({}..{})", show(it.low), show(it.high));
    let interval = ratio.estimate.interval.map_or_else(String::new, ends);
    format!("{}{}{interval}", ratio.reads.sign(), show(ratio.estimate.value))
}
