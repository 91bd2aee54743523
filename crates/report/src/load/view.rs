//! The view of a load: a cell for all requests, and one for the requests of each name.

use wirebench_judge::load::verdict;
use wirebench_schema::{
    journal::Bound,
    load::{LatencyFigure, LoadConfig, LoadModel, LoadReport, LoadResult},
    suite::Phase,
};

use super::doubts;
use crate::{
    analysis::Metric,
    build::{constant_rate, request_figures},
    by_name::{RequestFigures, requests},
    view::{Cell, CellId, FORMAT, ResultView, Runs, Source, Verb},
};

/// The name of every load.
const LOAD: &str = "load";

const METRICS: [Metric; 8] = [
    Metric::Throughput,
    Metric::Latency(LatencyFigure::Mean),
    Metric::P50,
    Metric::Latency(LatencyFigure::P90),
    Metric::P99,
    Metric::P999,
    Metric::Latency(LatencyFigure::Max),
    Metric::Errors,
];

pub(super) fn view(result: &LoadResult) -> ResultView<'_> {
    let report = &result.report;
    ResultView {
        format: FORMAT,
        verb: Verb::Load,
        results: vec![Source::of_load(result, None)],
        cells: requests(report).map(|it| cell(report, &it)).collect(),
        ..ResultView::default()
    }
}

pub(super) fn cell(report: &LoadReport, requests: &RequestFigures<'_>) -> Cell {
    let (verdict, doubts) = (verdict(report), doubts(report));
    let (valid, is_limited) = (doubts.is_empty(), verdict.limit == Bound::Generator);
    let of = cell_of(&report.config);
    Cell {
        id: CellId { request: requests.name.map(str::to_owned), ..of.id },
        valid,
        tail_valid: valid,
        runs: Runs {
            measured: usize::from(report.requests > 0),
            failed: usize::from(report.requests == 0),
            invalid: usize::from(report.requests > 0 && !valid),
            tail_invalid: 0,
        },
        trouble: (!valid).then(|| doubts.join("; ")),
        generator_limited: is_limited,
        bound_by: vec![verdict.limit],
        errors: requests.errors,
        figures: request_figures(requests, &METRICS, is_limited, |_| valid),
        notes: verdict.reasons.into_iter().chain(verdict.cautions).collect(),
        ..of
    }
}

/// What names the cell of a load, finished or not.
pub(super) fn cell_of(config: &LoadConfig) -> Cell {
    let is_rate = matches!(config.model, LoadModel::Rate { .. });
    Cell {
        id: CellId {
            load: LOAD.to_owned(),
            phase: if is_rate { Phase::Cost } else { Phase::Saturate },
            server: config.target.to_string(),
            ..CellId::default()
        },
        connections: config.connections,
        rate: constant_rate(&config.model),
        ..Cell::default()
    }
}
