//! The pictures of a tuning in HTML: a map of workers and connections with figures over the connections, or figures
//! over the rates of a search.

use wirebench_schema::objective::Objective;

use super::{
    CellRank, ProbedRate, RateSearch, Sweep,
    sweep::{is_limited, p99, rate, shown},
};
use crate::{
    analysis::Metric,
    chart::{Chart, ChartKind, HeatCell, Heatmap, Line, Point},
    document::Block,
    table_units::{count, latency, thousands},
    view::Cell,
};

const OF_MAP: &str = "Medians: the stronger the colour, the more. The frame marks the highest one, = those that are \
                      not significantly slower. >= is a lower bound, ! is not valid.";
const OVER_CONNECTIONS: &str =
    "Medians. A hollow mark is a lower bound, or not valid. Both axes are logarithmic.";
const OF_LATENCY: &str = "Medians over the runs at each rate. A hollow mark is a rate at which a run missed an \
                          objective. Grey lines are the limits. Both axes are logarithmic.";

const OF_CPU: &str = "At a low rate a request also pays for waking the server.";

/// The requests per second of each combination, and figures over the connections.
pub(super) fn of_sweep(sweep: &Sweep<'_>) -> Vec<Block> {
    let cpu = |cell: &Cell| cell.figure(Metric::Cpu).map(|it| it.value);
    let charts = [
        over_connections(sweep, ("requests/s", thousands), rate),
        over_connections(sweep, ("p99 latency", latency), p99),
        over_connections(sweep, ("CPU per request", microseconds), cpu),
    ];
    if sweep.best().is_none() {
        return Vec::new();
    }
    let map = Block::Charts(vec![map(sweep)]);
    let map = Block::Section("Requests per second".to_owned(), vec![map]);
    vec![map, Block::Charts(charts.into_iter().flatten().collect())]
}

/// The dimension with more values goes down, because a page is rather long than wide.
fn map(sweep: &Sweep<'_>) -> Chart {
    let workers: Vec<usize> = sweep.workers.iter().map(|it| *it as usize).collect();
    let both = [("workers", &workers), ("connections", &sweep.connections)];
    let is_turned = sweep.connections.len() > sweep.workers.len();
    let [(down, rows), (right, columns)] = if is_turned { [both[1], both[0]] } else { both };
    let rates = sweep.cells().filter_map(rate);
    let most = rates.fold(0.0, f64::max);
    let row = |row: &usize| {
        let cell = |column: &usize| {
            let (workers, connections) = if is_turned { (*column, *row) } else { (*row, *column) };
            let workers = u32::try_from(workers).unwrap_or(u32::MAX);
            cell(sweep.cell(workers, connections), most)
        };
        (*row, columns.iter().map(cell).collect())
    };
    let rows = rows.iter().map(row).collect();
    let grid = Heatmap { names: [down, right], columns: columns.clone(), rows };
    let title = format!("{}: requests per second over workers and connections", sweep.variant);
    Chart::new(title, ChartKind::Grid(grid)).explained(OF_MAP)
}

fn cell(cell: Option<&Cell>, most: f64) -> HeatCell {
    let place = cell.and_then(|it| it.place);
    let alike = if place == Some(CellRank::Alike) { " =" } else { "" };
    let text = cell.and_then(shown).map_or_else(|| "-".to_owned(), |it| it + alike);
    let share = cell.and_then(rate).map_or(0.0, |it| it / most);
    HeatCell { text, share, is_best: place == Some(CellRank::Best) }
}

/// A figure with a line for each number of workers; none with fewer than two numbers of connections.
fn over_connections(
    sweep: &Sweep<'_>,
    (name, show): (&str, fn(f64) -> String),
    figure: impl Fn(&Cell) -> Option<f64>,
) -> Option<Chart> {
    let point = |cell: &Cell| {
        let at = (cell.connections as f64, figure(cell)?);
        Some(Point { is_hollow: !cell.valid || is_limited(cell), ..Point::new(at) })
    };
    let line = |(place, workers): (usize, &u32)| {
        let cells = sweep.cells().filter(|cell| cell.workers == Some(*workers));
        let mut points: Vec<Point> = cells.filter_map(point).collect();
        points.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
        Line { name: count(*workers, "worker"), place, points }
    };
    let lines = sweep.workers.iter().enumerate().map(line).collect();
    let kind =
        ChartKind::logarithmic(lines, ("connections", |value| value.to_string()), (name, show))?;
    let chart = Chart::new(format!("{}: {name} over connections", sweep.variant), kind);
    Some(chart.headed(format!("{name} over connections")).explained(OVER_CONNECTIONS))
}

/// The latency figures of the objectives at each rate with their limits, and the CPU time.
pub(super) fn of_search(search: &RateSearch<'_>) -> Vec<Block> {
    let x = ("requests/s", thousands);
    let cpu =
        search.facts.rates.iter().filter_map(|rate| at(rate, rate.server_cpu_ns_per_request?));
    let cpu = Line { name: "server".to_owned(), place: 0, points: cpu.collect() };
    let chart = |what: &str, kind: Option<ChartKind>, heading: &str, legend: &str| {
        let title = format!("{}: {what} over the rate of requests", search.sought.variant);
        Some(Chart::new(title, kind?).headed(heading).explained(legend))
    };
    let latency = ChartKind::logarithmic(latencies(search), x, ("latency", latency));
    let cpu = ChartKind::logarithmic(vec![cpu], x, ("CPU per request", microseconds));
    let charts = [
        chart("latency", latency, "Latency over the rate", OF_LATENCY),
        chart("CPU", cpu, "CPU per request over the rate", OF_CPU),
    ];
    let charts = Block::Charts(charts.into_iter().flatten().collect());
    vec![Block::Section("Rates in pictures".to_owned(), vec![charts])]
}

fn latencies(search: &RateSearch<'_>) -> Vec<Line> {
    let rates = || search.facts.rates.iter().map(|rate| rate.requests_per_second as f64);
    let ends = [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)];
    let of_objective = |(place, objective): (usize, &Objective)| {
        let name = objective.figure.name();
        let measured =
            search.facts.rates.iter().filter_map(|rate| at(rate, *rate.latency_ns.get(name)?));
        let limit = objective.below.as_nanos() as f64;
        let limit = ends.map(|rate| Point { is_grey: true, ..Point::new((rate, limit)) });
        let line = |name: String, points| Line { name, place, points };
        [line(name.to_owned(), measured.collect()), line(objective.to_string(), limit.to_vec())]
    };
    search.sought.objectives.iter().enumerate().flat_map(of_objective).collect()
}

/// A figure at a rate.
fn at(rate: &ProbedRate, figure: f64) -> Option<Point> {
    let at = (rate.requests_per_second as f64, figure);
    let is_hollow = rate.held != rate.runs;
    (figure > 0.0).then_some(Point { is_hollow, ..Point::new(at) })
}

fn microseconds(ns: f64) -> String {
    format!("{} us", ns / 1000.0)
}
