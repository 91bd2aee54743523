//! The view of a load, a cell for all requests and one for the requests of each name, and the result of its conditions.

use wirebench_judge::load::{not_valid, verdict};
use wirebench_schema::{
    gate::Condition,
    journal::Bound,
    load::{LoadConfig, LoadModel, LoadReport, LoadResult, NamedRequests, Rate},
    suite::Phase,
};

use super::document::sentence;
use crate::{
    build::of_requests,
    by_name::{only_name, requests},
    gates::{self, Evidence},
    view::{Cell, CellId, Gate, ResultView, Runs, Source, Verb},
};

/// The name of every load.
const LOAD: &str = "load";

pub(super) fn view(result: &LoadResult) -> ResultView<'_> {
    let report = &result.report;
    let view = ResultView::of(Verb::Load, sentence(report), cells(report).collect());
    ResultView { results: vec![Source::of_load(result)], ..view }
}

/// The cell of all requests, and then those of each name.
pub(crate) fn cells(report: &LoadReport) -> impl Iterator<Item = Cell> {
    requests(report).map(|it| cell(report, &it))
}

fn cell(report: &LoadReport, requests: &NamedRequests) -> Cell {
    let (verdict, doubts) = (verdict(report), doubts(report));
    let (valid, is_limited) = (doubts.is_empty(), verdict.limit == Bound::Generator);
    let of = cell_of(&report.config);
    let request = Some(requests.name.clone()).filter(|it| !it.is_empty());
    let whole = Some(report).filter(|_| request.is_none());
    let failed = whole.map_or(requests.errors, |it| it.errors.requests());
    let cell = Cell {
        id: CellId { request, ..of.id },
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
        figures: of_requests(requests, whole, is_limited, |_| valid),
        notes: verdict.reasons.into_iter().chain(verdict.cautions).collect(),
        ..of
    };
    cell.with_counts(requests.requests, failed, requests.errors - failed)
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
        only_request: only_name(config.requests.as_ref()),
        connections: config.connections,
        rate: config.model.constant_rate().map(Rate::as_f64),
        ..Cell::default()
    }
}

/// Why the figures are not those of the load that was asked for.
pub(crate) fn doubts(report: &LoadReport) -> Vec<String> {
    match report.requests {
        0 => vec!["no valid reply".to_owned()],
        _ => not_valid(report),
    }
}

/// The conditions on a load.
#[must_use]
pub fn gate(report: &LoadReport, conditions: &[Condition]) -> Option<Gate> {
    let cells: Vec<Cell> = cells(report).collect();
    gates::judge(conditions, Evidence { verb: Verb::Load, cells: &cells, ..Evidence::default() })
}
