//! The view of `tune`: a cell for each combination of a sweep, and one for the rate that a search has found.

use wirebench_stats::Interval;

use super::{SearchReport, Sweep, TuneReport, Tuned, words};
use crate::{
    analysis::{Analysis, Metric, WorkloadRows},
    build::{cell, loads},
    view::{Cell, CellId, FORMAT, Figure, ResultView, Runs, SearchFacts, Source, Verb},
};

pub(super) fn view<'a>(report: &TuneReport<'a>) -> ResultView<'a> {
    let analysis = Analysis::of(report.journal);
    let (sentence, cells, search) = match report.tuned {
        Tuned::Sweep(sweep) => {
            let sentence = words::findings(sweep).into_iter().next().unwrap_or_default();
            (sentence, of_sweep(sweep, &analysis), None)
        }
        Tuned::Search(search) => {
            let closed_loop_requests_per_second = search.closed_loop_requests_per_second;
            let facts = SearchFacts { closed_loop_requests_per_second, rates: &search.rates };
            (search.sentence.clone(), vec![of_search(search)], Some(facts))
        }
    };
    ResultView {
        sentence,
        format: FORMAT,
        verb: Verb::Tune,
        results: vec![Source::of(report.journal)],
        loads: loads(&analysis.workloads),
        cells,
        search,
        gate: report.gate,
        ..ResultView::default()
    }
}

fn of_sweep(sweep: &Sweep, analysis: &Analysis<'_>) -> Vec<Cell> {
    let of_workload = |rows: &WorkloadRows<'_>| {
        let mut cells = match rows.rows.len() {
            0 => Vec::new(),
            _ => cell(analysis.journal, rows, &[0]),
        };
        let place = rows.workload.workers.and_then(|it| sweep.cell(it, rows.workload.connections));
        cells.iter_mut().for_each(|it| it.place = place.map(|it| it.standing));
        cells
    };
    analysis.workloads.iter().flat_map(of_workload).collect()
}

fn of_search(search: &SearchReport) -> Cell {
    let rate = search.found.and_then(|found| {
        let interval = found.low.zip(found.high);
        let interval = interval.map(|(low, high)| Interval { low: low as f64, high: high as f64 });
        let figure = Figure::of(Metric::Throughput, found.requests_per_second? as f64, true);
        Some(Figure { interval, ..figure })
    });
    let sum = |of: fn(&super::ProbedRate) -> usize| search.rates.iter().map(of).sum();
    Cell {
        id: CellId {
            load: search.sought.workload.clone(),
            server: search.variant.to_string(),
            ..CellId::default()
        },
        connections: search.connections,
        workers: search.workers,
        valid: rate.is_some(),
        trouble: rate.is_none().then(|| "no rate was found".to_owned()),
        runs: Runs {
            measured: sum(|it| it.runs - it.failed),
            failed: sum(|it| it.failed),
            ..Runs::default()
        },
        figures: rate.into_iter().collect(),
        ..Cell::default()
    }
}
