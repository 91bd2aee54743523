//! A sweep and a search as documents: a table, pictures, and the result in sentences.

use wirebench_schema::objective::LatencyFigure;

use super::{CellRank, ProbedRate, SearchReport, Sweep, SweepCell, charts, words::findings};
use crate::{
    document::{Block, Cell, Column, Document, Table},
    table_units::{latency, thousands},
};

const TITLE: &str = "wirebench tune";

pub(super) fn of_sweep(sweep: &Sweep) -> Document {
    let title = format!("tune {}: {} over workers and connections", sweep.variant, sweep.scenario);
    let origin = Block::Origin(vec![sweep.origin.clone()]);
    let mut blocks = vec![Block::Title(title), origin, Block::line(&sweep.headline)];
    if sweep.best().is_some() {
        blocks.push(Block::Charted(vec![
            Block::line("requests/s (median)"),
            Block::Table(grid(sweep)),
            Block::line(key(sweep)),
        ]));
    }
    let mut findings = findings(sweep).into_iter();
    blocks.extend(findings.next().map(|first| Block::Headline(first, None)));
    blocks.push(Block::Lines(findings.chain(sweep.notes.iter().cloned()).collect()));
    blocks.push(Block::Page(charts::of_sweep(sweep)));
    blocks.push(Block::Page(sweep.server.iter().cloned().collect()));
    Document { title: TITLE.to_owned(), blocks }
}

fn grid(sweep: &Sweep) -> Table {
    let mut columns = vec![Column::right("workers \\ connections")];
    columns.extend(sweep.connections.iter().map(|it| Column::right(it.to_string())));
    let row = |workers: &u32| -> Vec<Cell> {
        let cells = sweep.connections.iter().map(|connections| {
            sweep.cell(*workers, *connections).map_or_else(|| "-".to_owned(), shown)
        });
        std::iter::once(workers.to_string()).chain(cells).map(Into::into).collect()
    };
    Table::new(columns, sweep.workers.iter().map(row))
}

fn key(sweep: &Sweep) -> String {
    let mut key = vec!["* highest", "= not significantly slower"];
    if sweep.cells.iter().any(SweepCell::is_limited) {
        key.push(">= lower bound: the load generator was saturated");
    }
    if sweep.cells.iter().any(|cell| cell.invalid) {
        key.push("! not valid, see below");
    }
    key.join("; ")
}

fn shown(cell: &SweepCell) -> String {
    let Some(rate) = cell.requests_per_second else { return "-".to_owned() };
    let invalid = if cell.invalid { "!" } else { "" };
    let limited = if cell.is_limited() { ">=" } else { "" };
    let standing = match cell.standing {
        CellRank::Best => " *",
        CellRank::Alike => " =",
        CellRank::Slower | CellRank::Unknown => "  ",
    };
    format!("{invalid}{limited}{}{standing}", thousands(rate))
}

pub(super) fn of_search(search: &SearchReport) -> Document {
    let title = format!(
        "tune {}: {} at constant rates, latency from the due time",
        search.variant, search.scenario
    );
    let closed_loop = search
        .closed_loop_requests_per_second
        .map(|rate| format!("closed loop: {} requests/s", thousands(rate)));
    let blocks = vec![
        Block::Title(title),
        Block::Origin(vec![search.origin.clone()]),
        Block::line(&search.headline),
        Block::Table(rates(search)),
        Block::Lines(closed_loop.into_iter().collect()),
        Block::Headline(search.sentence.clone(), None),
        Block::List(None, search.notes.clone()),
        Block::Page(charts::of_search(search)),
        Block::Page(search.server.iter().cloned().collect()),
    ];
    Document { title: TITLE.to_owned(), blocks }
}

fn rates(search: &SearchReport) -> Table {
    let mut figures = vec!["p50", "p99", "p999"];
    figures.extend(search.sought.objectives.iter().map(|it| it.figure.name()));
    let is_shown = |figure: &&LatencyFigure| figures.contains(&figure.name());
    let figures: Vec<LatencyFigure> = LatencyFigure::ALL.iter().filter(is_shown).copied().collect();
    let names = figures.iter().map(|figure| figure.name());
    let heads = std::iter::once("requests/s").chain(names).chain(["server CPU us/request", "held"]);
    let columns = heads.map(Column::right).chain([Column::left("why not")]).collect();
    let shown =
        |value: Option<f64>, unit: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), unit);
    let row = |rate: &ProbedRate| -> Vec<Cell> {
        let mut row = vec![thousands(rate.requests_per_second as f64)];
        let values = figures.iter().map(|it| rate.latency_ns.get(it.name()).copied());
        row.extend(values.map(|value| shown(value, latency)));
        row.push(shown(rate.server_cpu_ns_per_request, |ns| format!("{:.2}", ns / 1000.0)));
        row.push(format!("{} of {}", rate.held, rate.runs));
        let excuse = rate.excuse().map_or_else(String::new, |it| format!(", {it}"));
        let first = rate.reasons.first().map(|reason| format!("{reason}{excuse}"));
        let failed = (rate.failed > 0).then(|| format!("{} failed", rate.failed));
        row.push(first.into_iter().chain(failed).collect::<Vec<_>>().join("; "));
        row.into_iter().map(Into::into).collect()
    };
    Table::new(columns, search.rates.iter().map(row))
}
