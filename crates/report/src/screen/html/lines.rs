//! A line for each server through the loads of a chart, and the axes that they need.

use wirebench_schema::journal::Journal;

use super::super::row::{Shown, is_listed, name, place, shown};
use crate::{
    analysis::{Row, WorkloadRows},
    html::chart::{Axis, Chart, Line, Point},
};

/// The points of each server in the order of the loads. Rows that had another load have none.
pub(super) fn lines<'a>(
    journal: &Journal,
    loads: &[&WorkloadRows<'a>],
    point: impl Fn(&WorkloadRows<'a>, &Row<'a>) -> Option<Point>,
) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for load in loads {
        for row in load.rows.iter().filter(|row| is_listed(row) && shown(row) != Shown::Nothing) {
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

/// A chart with logarithmic axes of these names and labels; none if no server has two points.
pub(super) fn chart(
    words: String,
    lines: Vec<Line>,
    (x_name, show_x): (&str, impl Fn(f64) -> String),
    (y_name, show_y): (&str, impl Fn(f64) -> String),
) -> Option<Chart> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let values = || points().flat_map(|it| it.raw.iter().copied().chain([it.at.1]));
    let x = Axis::logarithmic(x_name, points().map(|it| it.at.0), show_x)?;
    let y = Axis::logarithmic(y_name, values(), show_y)?;
    let is_drawn = lines.iter().any(|line| line.points.len() > 1);
    is_drawn.then_some(Chart { words, x, y, lines })
}
