//! The pictures of a tuning in HTML: a map of workers and connections, or latency over the rates of a
//! search.

use maud::{Markup, html};

use super::{CellRank, ProbedRate, SearchReport, Sweep, SweepCell};
use crate::{
    html::chart::{Line, Mark, Point, logarithmic, number, plot, svg},
    table::count,
    table_units::{latency, thousands},
};

/// A cell of the map, the space for its labels and that of the legend, in CSS pixels.
const CELL: (f64, f64) = (76.0, 30.0);
const LEFT: f64 = 90.0;
const TOP: f64 = 40.0;
/// The colour of the fastest cell, as a share of the full one: text on it stays readable.
const STRONGEST: f64 = 0.45;

/// The requests per second of each combination, the stronger the colour the more.
pub(super) fn of_sweep(sweep: &Sweep) -> Markup {
    let rates = sweep.cells.iter().filter_map(|cell| cell.requests_per_second);
    let most = rates.fold(0.0, f64::max);
    let size =
        (LEFT + CELL.0 * sweep.connections.len() as f64, TOP + CELL.1 * sweep.workers.len() as f64);
    let x = |column: usize| LEFT + CELL.0 * column as f64;
    let y = |row: usize| TOP + CELL.1 * row as f64;
    let content = html! {
        text.tick x=(number(LEFT)) y="12" { "connections" }
        @for (column, connections) in sweep.connections.iter().enumerate() {
            text.tick x=(number(x(column) + CELL.0 / 2.0)) y=(number(TOP - 8.0)) text-anchor="middle" {
                (connections)
            }
        }
        @for (row, workers) in sweep.workers.iter().enumerate() {
            text.tick x=(number(LEFT - 8.0)) y=(number(y(row) + 19.0)) text-anchor="end" {
                (count(*workers, "worker"))
            }
            @for (column, connections) in sweep.connections.iter().enumerate() {
                (cell(sweep.cell(*workers, *connections), most, (x(column), y(row))))
            }
        }
    };
    let words = format!("{}: requests per second over workers and connections", sweep.variant);
    html! {
        p.legend {
            "Requests per second: the stronger the colour, the more. The frame marks the highest median. "
            ">= is a lower bound, ! is not valid."
        }
        (plot("map", size, &svg("chart", size, &words, &content)))
    }
}

fn cell(cell: Option<&SweepCell>, most: f64, (x, y): (f64, f64)) -> Markup {
    let rate = cell.and_then(|cell| cell.requests_per_second);
    let share = rate.map_or(0.0, |rate| rate / most * STRONGEST);
    let is_best = cell.is_some_and(|cell| cell.standing == CellRank::Best);
    let text = match (cell, rate) {
        (Some(cell), Some(rate)) => {
            let bound = if cell.is_limited() { ">=" } else { "" };
            format!("{}{bound}{}", if cell.invalid { "! " } else { "" }, thousands(rate))
        }
        _ => "-".to_owned(),
    };
    let (width, height) = (number(CELL.0 - 2.0), number(CELL.1 - 2.0));
    html! {
        rect.estimate.heat.best[is_best] x=(number(x + 1.0)) y=(number(y + 1.0)) width=(width) height=(height)
            fill-opacity=(format!("{share:.2}")) {}
        text.name x=(number(x + CELL.0 / 2.0)) y=(number(y + 19.0)) text-anchor="middle" { (text) }
    }
}

/// The latency figures of the objectives at each rate, with their limits.
pub(super) fn of_search(search: &SearchReport) -> Markup {
    let mut lines: Vec<Line> = Vec::new();
    let rates = || search.rates.iter().map(|rate| rate.requests_per_second as f64);
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    for (place, objective) in search.sought.objectives.iter().enumerate() {
        let name = objective.figure.name();
        let point = |rate: &ProbedRate| {
            let at = (rate.requests_per_second as f64, *rate.latency_ns.get(name)?);
            let mark = if rate.held == rate.runs { Mark::Dot } else { Mark::Ring };
            Some(Point { at, mark, is_grey: false, raw: Vec::new() })
        };
        let measured = search.rates.iter().filter_map(point).collect();
        let limit = objective.below.as_nanos() as f64;
        let limit = ends.map(|rate| Point {
            at: (rate, limit),
            mark: Mark::Plain,
            is_grey: true,
            raw: Vec::new(),
        });
        let line = |name: String, points| Line { name, place, points };
        lines.push(line(name.to_owned(), measured));
        lines.push(line(objective.to_string(), limit.to_vec()));
    }
    let words = format!("{}: latency over the rate of requests", search.variant);
    let chart = logarithmic(words, lines, ("requests/s", thousands), ("latency", latency));
    html! {
        @if let Some(chart) = chart {
            p.legend {
                "Medians over the runs at each rate. A hollow mark is a rate at which a run missed an objective. Grey "
                "lines are the limits. Both axes are logarithmic."
            }
            (chart.draw())
        }
    }
}
