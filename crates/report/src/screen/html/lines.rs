//! A line for each server through the loads of a chart, and the axes that they need.

use wirebench_schema::journal::Journal;

use super::super::row::{name, place, with_figures};
use crate::{
    analysis::{Row, WorkloadRows},
    chart::{Line, Point},
};

/// The points of each server in the order of the loads. Rows that had another load have none.
pub(super) fn lines<'a>(
    journal: &Journal,
    loads: &[&WorkloadRows<'a>],
    point: impl Fn(&WorkloadRows<'a>, &Row<'a>) -> Option<Point>,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for load in loads {
        for row in with_figures(load) {
            let Some(point) = point(load, row) else { continue };
            let name = name(row);
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name, place: place(journal, row), points: vec![point] }),
            }
        }
    }
    lines
}
