//! What `tune` has found as rows: a row for each combination of a sweep, and one for the rate that a
//! search has found.

use wirebench_stats::Interval;

use super::{SearchReport, Sweep, SweepCell};
use crate::{
    analysis::{Inconclusive, Metric},
    flat::{Flat, FlatFigure, FlatRow},
    table::count,
};

pub(super) fn of_sweep(sweep: &Sweep) -> Flat {
    let rows = sweep.cells.iter().map(|cell| of_cell(sweep, cell)).collect();
    Flat::of(super::SUITE, &sweep.started, rows)
}

fn of_cell(sweep: &Sweep, cell: &SweepCell) -> FlatRow {
    let figures = [
        (Metric::Throughput, cell.requests_per_second),
        (Metric::Cpu, cell.server_cpu_ns_per_request),
        (Metric::P99, cell.latency_ns_p99),
    ];
    let workers = count(cell.workers, "worker");
    let connections = count(cell.connections, "connection");
    FlatRow {
        workload: format!("{}, {workers}, {connections}", sweep.scenario),
        entry: sweep.variant.to_string(),
        role: "entrant",
        valid: cell.runs > 0 && !cell.invalid,
        runs: cell.runs,
        failed: cell.failed,
        trouble: if cell.invalid { Inconclusive::NotValid.words() } else { "" }.to_owned(),
        bound_by: cell.bound.iter().copied().collect(),
        figures: figures
            .into_iter()
            .filter_map(|(metric, value)| Some(FlatFigure::of(metric, value?, !cell.invalid)))
            .collect(),
        ..FlatRow::default()
    }
}

pub(super) fn of_search(search: &SearchReport) -> Flat {
    let objectives: Vec<String> =
        search.sought.objectives.iter().map(ToString::to_string).collect();
    let connections = count(search.connections, "connection");
    let rate = search.found.and_then(|found| {
        let interval = found.low.zip(found.high);
        let interval = interval.map(|(low, high)| Interval { low: low as f64, high: high as f64 });
        let figure = FlatFigure::of(Metric::Throughput, found.requests_per_second? as f64, true);
        Some(FlatFigure { interval, ..figure })
    });
    let row = FlatRow {
        workload: format!("{}, {connections}, {}", search.scenario, objectives.join(", ")),
        entry: search.variant.to_string(),
        role: "entrant",
        valid: rate.is_some(),
        trouble: if rate.is_some() { "" } else { "no rate was found" }.to_owned(),
        runs: search.rates.iter().map(|rate| rate.runs).sum(),
        failed: search.rates.iter().map(|rate| rate.failed).sum(),
        figures: rate.into_iter().collect(),
        ..FlatRow::default()
    };
    Flat::of(super::SUITE, &search.started, vec![row])
}
