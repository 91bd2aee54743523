//! The result of `wirebench load` as a document, and as rows and figures. `load_text` has the lines in wrk's layout.

mod charts;
mod comparison;
mod document;
mod flat;
mod metrics;

pub use self::{
    comparison::{LoadComparison, LoadSide, compare_loads},
    metrics::LoadMetrics,
};

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_judge::load::{not_valid, verdict};
use wirebench_schema::load::{LatencyFigure, LatencySummary, LoadReport, LoadResult, Verdict};

use crate::{
    Report,
    compare::Gate,
    document::Document,
    flat::Flat,
    json::{WithGate, pretty},
};

/// A load and what its file does not know.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    pub result: &'a LoadResult,
    /// The CPU of the generator, if known.
    pub machine: Option<&'a str>,
    /// The result of the conditions that the user set.
    pub gate: Option<&'a Gate>,
}

impl Report for Load<'_> {
    fn document(&self) -> Document {
        document::document(self)
    }

    fn json(&self) -> String {
        pretty(&WithGate { result: judged(self.result), gate: self.gate })
    }

    fn flat(&self) -> Flat {
        flat::flat(self.result)
    }

    fn json_file(&self) -> &'static str {
        LOAD_FILE
    }
}

/// The result, and what follows from it.
#[derive(JsonSchema, Serialize)]
pub(crate) struct JudgedLoad<'a> {
    #[serde(flatten)]
    result: &'a LoadResult,
    verdict: Verdict,
    /// The figures of `latency` and `service` that are lower bounds, because no reply took as long.
    lower_bounds: BTreeMap<&'static str, Vec<LatencyFigure>>,
}

/// All that is known of a load.
pub(crate) fn judged(result: &LoadResult) -> JudgedLoad<'_> {
    let report = &result.report;
    let latencies = [("latency", &report.latency), ("service", &report.service)];
    let bounds = |latency: &Option<LatencySummary>| {
        latency.iter().flat_map(LatencyFigure::lower_bounds).collect()
    };
    let lower_bounds = latencies.map(|(name, latency)| (name, bounds(latency))).into();
    JudgedLoad { result, verdict: verdict(report), lower_bounds }
}

/// The file with the result in a folder.
pub const LOAD_FILE: &str = "load.json";

/// Why the figures are not those of the load that was asked for.
pub(crate) fn doubts(report: &LoadReport) -> Vec<String> {
    match report.requests {
        0 => vec!["no valid reply".to_owned()],
        _ => not_valid(report),
    }
}

#[cfg(test)]
pub(crate) mod tests;
