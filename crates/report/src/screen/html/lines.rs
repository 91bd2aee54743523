//! A line for each server through the loads of a chart, and the axes that they need.

use wirebench_schema::journal::Journal;

use crate::{
    analysis::{Metric, Row, WorkloadRows},
    chart::{Line, Point},
    order::grouped,
    screen::row::{name, place, with_figures},
    shown::{Shown, shown},
};

/// The figures of each server in the order of the loads, `at` an x, and whether they are of another kind. Rows that had
/// another load have none.
pub(super) fn lines<'m, 'a: 'm>(
    journal: &Journal,
    loads: impl Iterator<Item = &'a WorkloadRows<'a>>,
    metric: Metric,
    at: impl Fn(&WorkloadRows<'a>, &Row<'a>) -> Option<(f64, bool)>,
) -> Vec<Line> {
    let point = |load, row| {
        let (x, is_hollow) = at(load, row)?;
        let is_grey = match shown(row) {
            Shown::All => false,
            Shown::NoTail | Shown::Shifted => metric.is_tail(),
            Shown::NotCompared | Shown::Nothing => true,
        };
        let raw = row.values(metric).into_values().collect();
        let point = Point { at: (x, row.median(metric)?), is_hollow, is_grey, raw };
        Some(((name(row), place(journal, row)), point))
    };
    let rows = loads.flat_map(|load| with_figures(load).map(move |row| (load, row)));
    let points = rows.filter_map(|(load, row)| point(load, row));
    let line = |((name, place), points)| Line { name, place, points };
    grouped(points).into_iter().map(line).collect()
}
