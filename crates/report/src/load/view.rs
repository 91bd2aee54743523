//! The view of a load: a cell for all requests, and one for the requests of each name.

use wirebench_judge::load::verdict;
use wirebench_schema::{
    journal::Bound,
    load::{LatencyFigure, LoadConfig, LoadModel, LoadReport, LoadResult, RateCurve},
    suite::Phase,
};

use super::doubts;
use crate::{
    analysis::{Metric, Reads},
    by_name::{RequestFigures, only_name, requests},
    view::{Cell, CellId, FORMAT, Figure, ResultView, Runs, Source, Verb},
};

/// The name of every load.
const LOAD: &str = "load";

/// The figures that a comparison of loads shows.
pub(super) const SHOWN: [Metric; 8] = [
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

pub(crate) fn cell(report: &LoadReport, requests: &RequestFigures<'_>) -> Cell {
    let (verdict, doubts) = (verdict(report), doubts(report));
    let (valid, is_limited) = (doubts.is_empty(), verdict.limit == Bound::Generator);
    let of = cell_of(&report.config);
    let figure = |metric| {
        let (value, reads) = value(metric, report, requests, is_limited);
        Some(Figure { reads, ..Figure::of(metric, value?, valid) })
    };
    let failed = requests.name.map_or_else(|| report.errors.requests(), |_| requests.errors);
    let cell = Cell {
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
        figures: Metric::limitable().filter_map(figure).collect(),
        notes: verdict.reasons.into_iter().chain(verdict.cautions).collect(),
        ..of
    };
    cell.with_counts(requests.requests, failed, requests.errors - failed)
}

/// A figure of some requests, if they have it, and how it is to be read.
fn value(
    metric: Metric,
    report: &LoadReport,
    requests: &RequestFigures<'_>,
    is_limited: bool,
) -> (Option<f64>, Reads) {
    let of_generator = Reads::of(metric, is_limited, false);
    let is_whole = requests.name.is_none();
    match (metric, requests.latency) {
        (Metric::Latency(_), None) => (None, Reads::Exactly),
        (Metric::Latency(figure), Some(latency)) => {
            let is_bound = figure.is_lower_bound(latency);
            let of_replies = if is_bound { Reads::AtLeast } else { Reads::Exactly };
            (Some(figure.of(latency)), of_replies.with(of_generator))
        }
        (Metric::Errors, _) => (Some(requests.errors as f64), of_generator),
        (Metric::Throughput, _) => (Some(requests.requests_per_second), of_generator),
        (Metric::Achieved, _) if is_whole => (report.achieved_share(), of_generator),
        (Metric::Unsent, _) if is_whole => {
            (report.offered.map(|it| it.owed_at_end as f64), of_generator)
        }
        _ => (None, of_generator),
    }
}

/// What names the cell of a load, finished or not.
pub(super) fn cell_of(config: &LoadConfig) -> Cell {
    let rate = match &config.model {
        LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(*rate as f64),
        _ => None,
    };
    let is_rate = matches!(config.model, LoadModel::Rate { .. });
    Cell {
        id: CellId {
            load: LOAD.to_owned(),
            phase: if is_rate { Phase::Cost } else { Phase::Saturate },
            server: config.target.to_string(),
            ..CellId::default()
        },
        only_request: only_name(config.requests.as_ref()),
        connections: config.connections,
        rate,
        ..Cell::default()
    }
}
