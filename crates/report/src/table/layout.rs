//! How the cells of a workload's table are laid out: the lines of a head, and how far apart columns
//! stand. What is in the cells is not known here.

use comfy_table::{CellAlignment, Table};

use super::{Style, columns::Column, new_table};
use crate::{analysis::Metric, wrap::length};

/// Characters of a line that most terminals and pages have room for. A wider table is laid out
/// again, as narrow as it can still be read.
const WIDEST: usize = 120;

/// Characters of a line of a Markdown table. A wider one drops columns: forges show long lines with a
/// scroll bar, and text and JSON have everything.
const WIDEST_MARKDOWN: usize = 100;

/// Columns that a Markdown table drops, in this order, until it is narrow enough.
const DISPENSABLE: [Column; 7] = [
    Column::Class,
    Column::Value(Metric::LatencyP50),
    Column::Bound,
    Column::Value(Metric::Switches),
    Column::Value(Metric::LatencyP999),
    Column::Value(Metric::MemoryIdle),
    Column::Rank,
];

/// The columns that a table in `style` has room for.
pub(super) fn fitting(
    style: Style,
    mut columns: Vec<Column>,
    width: impl Fn(&[Column]) -> usize,
) -> Vec<Column> {
    let mut dispensable = DISPENSABLE.iter();
    while style == Style::Markdown && width(&columns) > WIDEST_MARKDOWN {
        let Some(dropped) = dispensable.next() else { break };
        columns.retain(|column| column != dropped);
    }
    columns
}

/// A table with a head and rows for each of `columns`. In a head `\n` is where text may break it.
pub(super) fn table(
    style: Style,
    columns: &[Column],
    heads: &[String],
    rows: &[Vec<String>],
) -> Table {
    let heads = match style {
        Style::Text => broken(heads),
        Style::Markdown => heads.iter().map(|head| head.replace('\n', "")).collect(),
    };
    let mut table = new_table(style, &heads.iter().map(String::as_str).collect::<Vec<_>>());
    for row in rows {
        table.add_row(row.iter().map(|cell| style.cell(cell)));
    }
    for (shown, column) in table.column_iter_mut().zip(columns) {
        if !column.is_words() {
            shown.set_cell_alignment(CellAlignment::Right);
        }
    }
    if style == Style::Text && width(&table) > WIDEST {
        let gaps = gaps(columns, &heads, rows);
        for (column, gap) in table.column_iter_mut().zip(gaps) {
            column.set_padding((gap, 0));
        }
    }
    table
}

/// Heads of two lines where one has two. Those of one line stand in the lower one.
fn broken(heads: &[String]) -> Vec<String> {
    let has_two = heads.iter().any(|head| head.contains('\n'));
    let one = |head: &String| match head.split_once('\n') {
        Some((upper, lower)) => format!("{}\n{lower}", upper.trim_end()),
        None if has_two => format!("\n{head}"),
        None => head.clone(),
    };
    heads.iter().map(one).collect()
}

/// The longest line, as it is shown.
pub(super) fn width(table: &Table) -> usize {
    table.lines().map(|line| length(line.trim_end())).max().unwrap_or(0)
}

/// What must stand in front of each column, so that no two cells beside each other are less than two
/// characters apart, and words, heads and marks not less than one. Columns may overlap where their
/// cells do not.
fn gaps(columns: &[Column], heads: &[String], rows: &[Vec<String>]) -> Vec<u16> {
    let cells = |index: usize| rows.iter().filter_map(move |row| row.get(index));
    let lines: Vec<Vec<&str>> = heads.iter().map(|head| head.split('\n').collect()).collect();
    let width = |index: usize| {
        let all = cells(index).map(String::as_str).chain(lines[index].iter().copied());
        all.map(length).max().unwrap_or(0)
    };
    // How much is missing between two cells if the columns have nothing between them.
    let missing = |index: usize, left: &str, right: &str, apart: usize| {
        let room_left = if columns[index].is_words() { width(index) - length(left) } else { 0 };
        let is_right = !columns[index + 1].is_words();
        let room_right = if is_right { width(index + 1) - length(right) } else { 0 };
        apart.saturating_sub(room_left + room_right)
    };
    let before = |index: usize| {
        let is_beside_words = columns[index].is_words() || columns[index + 1].is_words();
        let of_rows = cells(index).zip(cells(index + 1)).map(|(left, right)| {
            let apart = if is_beside_words || is_marked(right) { 1 } else { 2 };
            missing(index, left, right, apart)
        });
        let of_heads = lines[index].iter().zip(&lines[index + 1]);
        let of_heads = of_heads.filter(|(left, right)| !left.is_empty() && !right.is_empty());
        let of_heads = of_heads.map(|(left, right)| missing(index, left, right, 1));
        let most = of_rows.chain(of_heads).max().unwrap_or(0);
        u16::try_from(most).unwrap_or(u16::MAX)
    };
    (0..columns.len()).map(|index| index.checked_sub(1).map_or(0, before)).collect()
}

/// Whether a figure has a mark behind it.
fn is_marked(figure: &str) -> bool {
    figure.ends_with(|it: char| it.is_ascii_punctuation() && !"%)]-".contains(it))
}
