//! A load as rows: the whole, and the requests of each name.

use wirebench_schema::{
    journal::Bound,
    load::{LatencySummary, LoadConfig, LoadModel, LoadReport, LoadResult},
    suite::Phase,
};

use super::doubts;
use crate::{
    analysis::Metric,
    by_name::LATENCIES,
    flat::{Flat, FlatFigure, FlatRow},
};

/// The name of every load, as its suite and its workload.
const LOAD: &str = "load";

pub(super) fn flat(result: &LoadResult) -> Flat {
    let report = &result.report;
    let whole = row(report, None, report.requests_per_second, report.latency.as_ref());
    let whole = FlatRow { errors: report.errors.total(), ..whole };
    let named = report.by_name.iter().map(|it| FlatRow {
        errors: it.errors,
        ..row(report, Some(&it.name), it.requests_per_second, it.latency.as_ref())
    });
    let rows = [whole].into_iter().chain(named).collect();
    Flat { suite: LOAD.to_owned(), started: result.started.clone(), rows }
}

fn row(
    report: &LoadReport,
    request: Option<&str>,
    requests_per_second: f64,
    latency: Option<&LatencySummary>,
) -> FlatRow {
    let bound = wirebench_judge::load::verdict(report).limit;
    let doubts = doubts(report);
    let valid = doubts.is_empty();
    let figure =
        |metric, value, valid| FlatFigure { metric, value, interval: None, valid, ratio: None };
    let latencies = latency.into_iter().flat_map(|latency| {
        LATENCIES.map(|(metric, it)| {
            figure(metric, it.of(latency), valid && !it.is_lower_bound(latency))
        })
    });
    let throughput = figure(Metric::Throughput, requests_per_second, valid);
    FlatRow {
        request: request.map(str::to_owned),
        valid,
        runs: usize::from(report.requests > 0),
        failed: usize::from(report.requests == 0),
        invalid: usize::from(report.requests > 0 && !valid),
        trouble: doubts.join("; "),
        generator_limited: bound == Bound::Generator,
        bound_by: vec![bound],
        figures: [throughput].into_iter().chain(latencies).collect(),
        ..row_of(&report.config)
    }
}

/// What names the row of a load, finished or not.
pub(super) fn row_of(config: &LoadConfig) -> FlatRow {
    let is_rate = matches!(config.model, LoadModel::Rate { .. });
    FlatRow {
        workload: LOAD.to_owned(),
        phase: if is_rate { Phase::Cost } else { Phase::Saturate },
        entry: config.target.to_string(),
        role: "entrant",
        ..FlatRow::default()
    }
}
