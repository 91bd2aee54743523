//! The pictures of a tuning in HTML: a map of workers and connections with figures over the connections, or figures
//! over the rates of a search.

use maud::{Markup, html};
use wirebench_schema::objective::Objective;

use super::{
    CellRank, ProbedRate, RateSearch, Sweep,
    sweep::{is_limited, p99, rate},
};
use crate::{
    analysis::Metric,
    html::chart::{Line, Mark, Point, logarithmic, number, plot, svg, titled},
    table::count,
    table_units::{latency, thousands},
    view::Cell,
};

/// A cell of the map, and the space for its labels, in CSS pixels.
const CELL: (f64, f64) = (84.0, 30.0);
const LEFT: f64 = 90.0;
const TOP: f64 = 40.0;
/// The colour of the fastest cell, as a share of the full one: text on it stays readable.
const STRONGEST: f64 = 0.45;

const OF_LATENCY: &str = "Medians over the runs at each rate. A hollow mark is a rate at which a run missed an \
                          objective. Grey lines are the limits. Both axes are logarithmic.";

/// The requests per second of each combination, and figures over the connections.
pub(super) fn of_sweep(sweep: &Sweep<'_>) -> Markup {
    let cpu = |cell: &Cell| cell.figure(Metric::Cpu).map(|it| it.value);
    let charts = [
        over_connections(sweep, ("requests/s", thousands), rate),
        over_connections(sweep, ("p99 latency", latency), p99),
        over_connections(sweep, ("CPU per request", microseconds), cpu),
    ];
    html! {
        @if sweep.best().is_some() {
            (map(sweep))
            div.pictures { @for chart in charts.into_iter().flatten() { div { (chart) } } }
        }
    }
}

/// The dimension with more values goes down, because a page is rather long than wide.
fn map(sweep: &Sweep<'_>) -> Markup {
    let workers: Vec<usize> = sweep.workers.iter().map(|it| *it as usize).collect();
    let both = [("workers", &workers), ("connections", &sweep.connections)];
    let is_turned = sweep.connections.len() > sweep.workers.len();
    let [(down, rows), (right, columns)] = if is_turned { [both[1], both[0]] } else { both };
    let cell = |row, column| {
        let (workers, connections) = if is_turned { (column, row) } else { (row, column) };
        sweep.cell(u32::try_from(workers).ok()?, connections)
    };
    let rates = sweep.cells().filter_map(rate);
    let most = rates.fold(0.0, f64::max);
    let size = (LEFT + CELL.0 * columns.len() as f64, TOP + CELL.1 * rows.len() as f64);
    let x = |column: usize| LEFT + CELL.0 * column as f64;
    let y = |row: usize| TOP + CELL.1 * row as f64;
    let content = html! {
        text.tick x="2" y=(number(TOP - 8.0)) { (down) }
        text.tick x=(number(LEFT)) y="12" { (right) }
        @for (place, column) in columns.iter().enumerate() {
            text.tick x=(number(x(place) + CELL.0 / 2.0)) y=(number(TOP - 8.0)) text-anchor="middle" { (column) }
        }
        @for (place, row) in rows.iter().enumerate() {
            text.tick x=(number(LEFT - 8.0)) y=(number(y(place) + 19.0)) text-anchor="end" { (row) }
            @for (of, column) in columns.iter().enumerate() {
                (square(cell(*row, *column), most, (x(of), y(place))))
            }
        }
    };
    let words = format!("{}: requests per second over workers and connections", sweep.variant);
    let picture = svg("chart", size, &words, &content);
    html! {
        h2 { "Requests per second" }
        p.legend {
            "Medians: the stronger the colour, the more. The frame marks the highest one, = those that are not "
            "significantly slower. >= is a lower bound, ! is not valid."
        }
        div.scroll tabindex="0" role="region" aria-label="map" { (plot("map", size, &picture)) }
    }
}

fn square(cell: Option<&Cell>, most: f64, (x, y): (f64, f64)) -> Markup {
    let rate = cell.and_then(rate);
    let share = rate.map_or(0.0, |rate| rate / most * STRONGEST);
    let standing = cell.and_then(|cell| cell.place);
    let text = match (cell, rate) {
        (Some(cell), Some(rate)) => {
            let invalid = if cell.valid { "" } else { "! " };
            let bound = if is_limited(cell) { ">=" } else { "" };
            let alike = if standing == Some(CellRank::Alike) { " =" } else { "" };
            format!("{invalid}{bound}{}{alike}", thousands(rate))
        }
        _ => "-".to_owned(),
    };
    let (width, height) = (number(CELL.0 - 2.0), number(CELL.1 - 2.0));
    html! {
        rect.estimate.heat.best[standing == Some(CellRank::Best)] x=(number(x + 1.0)) y=(number(y + 1.0)) width=(width)
            height=(height) fill-opacity=(format!("{share:.2}")) {}
        text.name x=(number(x + CELL.0 / 2.0)) y=(number(y + 19.0)) text-anchor="middle" { (text) }
    }
}

/// A figure with a line for each number of workers; none with fewer than two numbers of connections.
fn over_connections(
    sweep: &Sweep<'_>,
    (name, show): (&str, fn(f64) -> String),
    figure: impl Fn(&Cell) -> Option<f64>,
) -> Option<Markup> {
    let point = |cell: &Cell| {
        let is_doubtful = !cell.valid || is_limited(cell);
        let mark = if is_doubtful { Mark::Ring } else { Mark::Dot };
        Some(Point { mark, ..Point::plain((cell.connections as f64, figure(cell)?)) })
    };
    let line = |(place, workers): (usize, &u32)| {
        let cells = sweep.cells().filter(|cell| cell.workers == Some(*workers));
        let mut points: Vec<Point> = cells.filter_map(point).collect();
        points.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
        Line { name: count(*workers, "worker"), place, points }
    };
    let lines = sweep.workers.iter().enumerate().map(line).collect();
    let words = format!("{}: {name} over connections", sweep.variant);
    let x = |value: f64| value.to_string();
    let chart = logarithmic(words, lines, ("connections", x), (name, show))?;
    let legend =
        "Medians. A hollow mark is a lower bound, or not valid. Both axes are logarithmic.";
    Some(titled(&format!("{name} over connections"), legend, &chart.draw()))
}

/// The latency figures of the objectives at each rate with their limits, and the CPU time.
pub(super) fn of_search(search: &RateSearch<'_>) -> Markup {
    let words = |what: &str| format!("{}: {what} over the rate of requests", search.sought.variant);
    let x = ("requests/s", thousands);
    let latencies = logarithmic(words("latency"), latencies(search), x, ("latency", latency));
    let cpu = search.rates.iter().filter_map(|rate| at(rate, rate.server_cpu_ns_per_request?));
    let cpu = Line { name: "server".to_owned(), place: 0, points: cpu.collect() };
    let cpu = logarithmic(words("CPU"), vec![cpu], x, ("CPU per request", microseconds));
    let charts = [
        ("Latency over the rate", OF_LATENCY, latencies),
        (
            "CPU per request over the rate",
            "At a low rate a request also pays for waking the server.",
            cpu,
        ),
    ];
    html! {
        @if charts.iter().any(|(.., chart)| chart.is_some()) { h2 { "Rates in pictures" } }
        div.pictures {
            @for (heading, legend, chart) in &charts {
                @if let Some(chart) = chart { div { (titled(heading, legend, &chart.draw())) } }
            }
        }
    }
}

fn latencies(search: &RateSearch<'_>) -> Vec<Line> {
    let rates = || search.rates.iter().map(|rate| rate.requests_per_second as f64);
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    let of_objective = |(place, objective): (usize, &Objective)| {
        let name = objective.figure.name();
        let measured = search.rates.iter().filter_map(|rate| at(rate, *rate.latency_ns.get(name)?));
        let limit = objective.below.as_nanos() as f64;
        let limit = ends.map(|rate| Point { is_grey: true, ..Point::plain((rate, limit)) });
        let line = |name: String, points| Line { name, place, points };
        [line(name.to_owned(), measured.collect()), line(objective.to_string(), limit.to_vec())]
    };
    search.sought.objectives.iter().enumerate().flat_map(of_objective).collect()
}

/// A figure at a rate.
fn at(rate: &ProbedRate, figure: f64) -> Option<Point> {
    let mark = if rate.held == rate.runs { Mark::Dot } else { Mark::Ring };
    let at = (rate.requests_per_second as f64, figure);
    (figure > 0.0).then_some(Point { mark, ..Point::plain(at) })
}

fn microseconds(ns: f64) -> String {
    format!("{} us", ns / 1000.0)
}
