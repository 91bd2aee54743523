//! A line for each server through the loads of a chart, and the axes that they need.

use wirebench_schema::journal::Journal;

use crate::{
    analysis::{Row, WorkloadRows},
    chart::{Line, Point},
    order::grouped,
    screen::row::{name, place, with_figures},
};

/// The points of each server in the order of the loads. Rows that had another load have none.
pub(super) fn lines<'m, 'a: 'm>(
    journal: &Journal,
    loads: impl Iterator<Item = &'m WorkloadRows<'a>>,
    point: impl Fn(&WorkloadRows<'a>, &Row<'a>) -> Option<Point>,
) -> Vec<Line> {
    let point = &point;
    let points = loads.flat_map(|load| {
        let point = move |row| Some(((name(row), place(journal, row)), point(load, row)?));
        with_figures(load).filter_map(point)
    });
    let line = |((name, place), points)| Line { name, place, points };
    grouped(points).into_iter().map(line).collect()
}
