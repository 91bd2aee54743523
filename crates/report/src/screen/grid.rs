//! A block of the first screen as a table: servers as rows, and the figures of each load next to each other.

use super::{
    cells::Column,
    figures::subject,
    model::{Block, Group},
};
use crate::{
    analysis::Metric,
    document::{self, Align, Cell, Table},
    wrap::cut_apart,
};

const LONGEST_NAME: usize = 36;
/// The widest outcome, and so the widest head of its column.
const OUTCOME_WIDTH: usize = "inconclusive".len();

pub(super) fn table(block: &Block<'_>) -> Table {
    let is_cpu = block.groups.iter().all(|group| group.metric() == Metric::Cpu);
    let unit = if is_cpu { ": CPU us/request" } else { "" };
    let title = Some(format!("{}{unit}", block.title));
    let names = document::Column { group: title, ..document::Column::left("") };
    let columns = block.groups.iter().enumerate().flat_map(|(place, group)| {
        let columns = group.columns.iter().enumerate();
        columns.map(move |(at, column)| {
            let title = (at == 0).then(|| title_of(group, place == 0));
            of_column(*column, group, title)
        })
    });
    let row = |(row, name): (usize, String)| {
        let cells = block.groups.iter().flat_map(|group| group.cells(row));
        [Cell::from(name)].into_iter().chain(cells).collect()
    };
    let all: Vec<&str> = block.rows.iter().map(String::as_str).collect();
    let rows = cut_apart(&all, LONGEST_NAME).into_iter().enumerate().map(row);
    Table { keys: 1, ..Table::new([names].into_iter().chain(columns).collect(), rows) }
}

fn title_of(group: &Group<'_>, is_first: bool) -> String {
    match is_first && group.metric() != Metric::Cpu {
        true => format!("{}: {}", group.title, subject(group.metric())),
        false => group.title.clone(),
    }
}

fn of_column(column: Column, group: &Group<'_>, title: Option<String>) -> document::Column {
    let is_latency = [Metric::P50, Metric::P99].map(Column::Figure).contains(&column);
    let align = if column == Column::Outcome { Align::Left } else { Align::Right };
    let head = document::Column::left(group.head(column, OUTCOME_WIDTH));
    document::Column { align, group: title, dispensable: is_latency.then_some(0), ..head }
}
