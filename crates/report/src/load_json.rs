//! The report of a load for programs: everything that was measured, and what follows from it.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_judge::load::verdict;
use wirebench_schema::load::{LatencyFigure, LatencySummary, LoadResult, Verdict};

use crate::{
    compare::Gate,
    json::{WithGate, pretty},
};

/// The result, and what follows from it.
#[derive(JsonSchema, Serialize)]
pub(crate) struct JudgedLoad<'a> {
    #[serde(flatten)]
    result: &'a LoadResult,
    verdict: Verdict,
    /// The figures of `latency` and `service` that are lower bounds, because no reply took as long.
    lower_bounds: BTreeMap<&'static str, Vec<LatencyFigure>>,
}

/// The result of a load as one JSON object.
///
/// # Panics
///
/// Never: all keys are words, and a number that JSON does not have becomes null.
#[must_use]
pub fn text(result: &LoadResult, gate: Option<&Gate>) -> String {
    pretty(&WithGate { result: judged(result), gate })
}

/// The result, and what follows from it.
pub(crate) fn judged(result: &LoadResult) -> JudgedLoad<'_> {
    let report = &result.report;
    let latencies = [("latency", &report.latency), ("service", &report.service)];
    let bounds = |latency: &Option<LatencySummary>| {
        latency.iter().flat_map(LatencyFigure::lower_bounds).collect()
    };
    let lower_bounds = latencies.map(|(name, latency)| (name, bounds(latency))).into();
    JudgedLoad { result, verdict: verdict(report), lower_bounds }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{assert_golden, measured};
    use wirebench_schema::{journal::Outcome, load::LoadResult};

    #[test]
    fn a_report_has_its_verdict() {
        let Outcome::Measured(it) = measured(1000.0, 3, &[]) else { panic!("it was measured") };
        let text = super::text(&LoadResult { report: it.load, ..LoadResult::default() }, None);
        assert!(text.contains("\"verdict\": {\n    \"limit\": "), "{text}");
        assert_golden("load/report.json", &text);
    }
}
