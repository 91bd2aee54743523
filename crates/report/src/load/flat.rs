//! A load as rows: the whole, and the requests of each name.

use wirebench_schema::{
    journal::Bound,
    load::{LoadConfig, LoadModel, LoadReport, LoadResult},
    suite::Phase,
};

use super::doubts;
use crate::{
    by_name::{RequestFigures, requests},
    flat::{Flat, FlatRow, figures},
};

/// The name of every load, as its suite and its workload.
const LOAD: &str = "load";

pub(super) fn flat(result: &LoadResult) -> Flat {
    let report = &result.report;
    let rows = requests(report).map(|it| row(report, &it)).collect();
    Flat::of(LOAD, &result.started, rows)
}

fn row(report: &LoadReport, requests: &RequestFigures<'_>) -> FlatRow {
    let bound = wirebench_judge::load::verdict(report).limit;
    let doubts = doubts(report);
    let valid = doubts.is_empty();
    FlatRow {
        request: requests.name.map(str::to_owned),
        valid,
        runs: usize::from(report.requests > 0),
        failed: usize::from(report.requests == 0),
        invalid: usize::from(report.requests > 0 && !valid),
        trouble: doubts.join("; "),
        generator_limited: bound == Bound::Generator,
        bound_by: vec![bound],
        errors: requests.errors,
        figures: figures(requests, |_| valid),
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
