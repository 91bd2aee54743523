//! A sweep and a search as documents: a table, pictures, and the result in sentences.

use wirebench_schema::objective::LatencyFigure;

use super::{
    CellRank, ProbedRate, RateSearch, Sweep, Tuned, Tuning, charts, headline,
    sweep::{self, is_limited, rate},
    words,
};
use crate::{
    analysis::{Metric, MetricFacts},
    document::{self, Block, Column, Document, Table},
    gates::words::conditions_block,
    origin::Origin,
    screen::html::servers,
    table_units::{latency, thousands},
    view::Cell,
};

pub(super) fn document(tuned: &Tuned<'_>) -> Document {
    let journal = tuned.analysis.journal;
    let (what, table, rest, pictures) = match &tuned.tuning {
        Tuning::Sweep(sweep) => {
            let what = format!(
                "{}: {} over workers and connections",
                sweep.variant, sweep.workload.scenario
            );
            let table = sweep.best().map(|_| {
                let blocks = vec![
                    Block::line("requests/s (median)"),
                    Block::Table(grid(sweep)),
                    Block::line(key(sweep)),
                ];
                Block::Charted(blocks)
            });
            let rest = [words::findings(sweep), sweep.notes(journal)].concat();
            (what, table.into_iter().collect(), Block::Lines(rest), charts::of_sweep(sweep))
        }
        Tuning::Search(search) => {
            let RateSearch { sought, workload, .. } = search;
            let what = format!(
                "{}: {} at constant rates, latency from the due time",
                sought.variant, workload.scenario
            );
            let closed_loop = search.facts.closed_loop_requests_per_second;
            let closed_loop =
                closed_loop.map(|rate| format!("closed loop: {} requests/s", thousands(rate)));
            let table =
                vec![Block::Table(rates(search)), Block::Lines(closed_loop.into_iter().collect())];
            (what, table, Block::List(None, search.notes(journal)), charts::of_search(search))
        }
    };
    let mut blocks = vec![
        Block::Title(format!("tune {what}")),
        Block::Origin(vec![Origin::of(journal)]),
        Block::line(headline(tuned)),
    ];
    blocks.extend(table);
    blocks.extend([
        Block::Headline(tuned.sentence(), None),
        rest,
        Block::Page(pictures),
        Block::Page(vec![servers(&tuned.analysis)]),
        conditions_block(tuned.gate.as_ref()),
    ]);
    Document { title: "wirebench tune".to_owned(), blocks }
}

fn grid(sweep: &Sweep<'_>) -> Table {
    let heads = ["workers \\ connections".to_owned()].into_iter();
    let heads = heads.chain(sweep.connections.iter().map(ToString::to_string));
    let row = |workers: &u32| -> Vec<String> {
        let cells = sweep.connections.iter().map(|connections| {
            sweep.cell(*workers, *connections).map_or_else(|| "-".to_owned(), shown)
        });
        std::iter::once(workers.to_string()).chain(cells).collect()
    };
    Table::of([""; 0], heads, sweep.workers.iter().map(row))
}

fn key(sweep: &Sweep<'_>) -> String {
    let mut key = vec!["* highest", "= not significantly slower"];
    if sweep.cells().any(is_limited) {
        key.push(">= lower bound: the load generator was saturated");
    }
    if sweep.cells().any(|cell| rate(cell).is_some() && !cell.valid) {
        key.push("! not valid, see below");
    }
    key.join("; ")
}

fn shown(cell: &Cell) -> String {
    let place = match cell.place {
        Some(CellRank::Best) => " *",
        Some(CellRank::Alike) => " =",
        _ => "  ",
    };
    sweep::shown(cell).map_or_else(|| "-".to_owned(), |it| it + place)
}

fn rates(search: &RateSearch<'_>) -> Table {
    let mut figures = vec![LatencyFigure::P50, LatencyFigure::P99, LatencyFigure::P999];
    figures.extend(search.sought.objectives.iter().map(|it| it.figure));
    figures.sort_unstable();
    figures.dedup();
    let names = figures.iter().map(|figure| figure.name());
    let heads = std::iter::once("requests/s").chain(names).chain([Metric::Cpu.title(), "held"]);
    let columns = heads.map(Column::right).chain([Column::left("why not")]).collect();
    let shown = |value: Option<f64>, show: &dyn Fn(f64) -> String| {
        value.map_or_else(|| "-".to_owned(), show)
    };
    let row = |rate: &ProbedRate| -> Vec<document::Cell> {
        let mut row = vec![thousands(rate.requests_per_second as f64)];
        let values = figures.iter().map(|it| rate.latency_ns.get(it.name()).copied());
        row.extend(values.map(|value| shown(value, &latency)));
        row.push(shown(rate.server_cpu_ns_per_request, &|ns| Metric::Cpu.show(ns)));
        row.push(format!("{} of {}", rate.held, rate.runs));
        let excuse = rate.excuse().map_or_else(String::new, |it| format!(", {it}"));
        let first = rate.reasons.first().map(|reason| format!("{reason}{excuse}"));
        let failed = (rate.failed > 0).then(|| format!("{} failed", rate.failed));
        row.push(first.into_iter().chain(failed).collect::<Vec<_>>().join("; "));
        row.into_iter().map(Into::into).collect()
    };
    Table::new(columns, search.facts.rates.iter().map(row))
}
