//! Two loads side by side. Each is one load, so no interval is known and nothing is claimed.

mod grounds;
mod shown;

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_judge::load::verdict;
use wirebench_schema::{
    environment::Environment,
    journal::Bound,
    load::{LatencyFigure, LoadReport, LoadResult},
};

use crate::{
    analysis::{Metric, Reads, metric},
    by_name::{RequestFigures, requests},
    compare::{Difference, Differences, Gate, NotComparable},
    flat::Flat,
    origin::Origin,
};

/// The version of the JSON of a comparison.
const COMPARISON_FORMAT: u32 = 1;

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

#[derive(Clone, Copy, Debug)]
pub struct LoadSide<'a> {
    /// What it is called, usually its folder.
    pub name: &'a str,
    pub result: &'a LoadResult,
    /// The machine of the generator, where it is known.
    pub environment: Option<&'a Environment>,
}

/// Two loads compared.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LoadComparison {
    /// The version of this object.
    format: u32,
    /// The older load.
    old: LoadSummary,
    /// The newer one.
    new: LoadSummary,
    /// Differences that `--force` has overruled.
    forced: Vec<Difference>,
    /// What may be the cause of changes.
    warnings: Vec<String>,
    /// All requests together, and then the requests of each name that both have.
    figures: Vec<LoadChange>,
    /// The result of the conditions on the newer load; null without conditions.
    pub gate: Option<Gate>,
    #[serde(skip)]
    flat: Flat,
}

#[derive(Debug, JsonSchema, Serialize)]
struct LoadSummary {
    /// Its folder or file.
    name: String,
    /// Its target.
    target: String,
    /// When it began; empty if unknown.
    started: String,
    #[serde(skip)]
    origin: Origin,
}

/// One figure of both loads.
#[derive(Debug, JsonSchema, Serialize)]
struct LoadChange {
    /// The name of the requests; null for all of them.
    request: Option<String>,
    /// `requests_per_second`, `errors`, or one of a latency, such as `latency_ns_p99`.
    #[serde(rename = "figure", serialize_with = "metric::field")]
    #[schemars(with = "String")]
    metric: Metric,
    /// In the older load; null if unknown.
    old: Option<f64>,
    /// In the newer one.
    new: Option<f64>,
    /// New over old; null if one is unknown or not above zero.
    ratio: Option<f64>,
    /// How the ratio is to be read where a figure is only a bound.
    reads: Reads,
}

/// Compares two loads. Those of different experiments are refused, or compared anyway.
pub fn compare_loads(
    old: &LoadSide<'_>,
    new: &LoadSide<'_>,
    differences: Differences,
) -> Result<LoadComparison, NotComparable> {
    let found = grounds::differences(old, new);
    if !found.is_empty() && differences == Differences::Refuse {
        return Err(NotComparable::Differ(found));
    }
    let (before, after) = (&old.result.report, &new.result.report);
    let of_name = |it: RequestFigures<'_>| {
        let same = requests(after).find(|other| other.name == it.name)?;
        Some(changes([(it, is_limited(before)), (same, is_limited(after))]))
    };
    let figures: Vec<LoadChange> = requests(before).filter_map(of_name).flatten().collect();
    let summary = |side: &LoadSide<'_>| LoadSummary {
        name: side.name.to_owned(),
        target: side.result.report.config.target.to_string(),
        started: side.result.started.clone(),
        origin: Origin::of_load(side.result, None),
    };
    Ok(LoadComparison {
        format: COMPARISON_FORMAT,
        old: summary(old),
        new: summary(new),
        forced: found,
        warnings: grounds::warnings(old, new),
        flat: shown::flat(new.result, &figures),
        figures,
        gate: None,
    })
}

/// Whether the generator was the limit, so that the server may be better.
fn is_limited(report: &LoadReport) -> bool {
    verdict(report).limit == Bound::Generator
}

/// A figure of some requests, if they have it, and how it is to be read.
fn value(metric: Metric, requests: &RequestFigures<'_>, is_limited: bool) -> (Option<f64>, Reads) {
    let of_generator = Reads::of(metric, is_limited, false);
    match (metric, requests.latency) {
        (Metric::Latency(_), None) => (None, Reads::Exactly),
        (Metric::Latency(figure), Some(latency)) => {
            let is_bound = figure.is_lower_bound(latency);
            let of_replies = if is_bound { Reads::AtLeast } else { Reads::Exactly };
            (Some(figure.of(latency)), of_replies.with(of_generator))
        }
        (Metric::Errors, _) => (Some(requests.errors as f64), of_generator),
        _ => (Some(requests.requests_per_second), of_generator),
    }
}

fn changes(sides: [(RequestFigures<'_>, bool); 2]) -> Vec<LoadChange> {
    let change = |metric: Metric| {
        let [(old, of_old), (new, of_new)] =
            sides.map(|(side, limited)| value(metric, &side, limited));
        let quotient = |(old, new): (f64, f64)| (old > 0.0 && new > 0.0).then(|| new / old);
        let (ratio, reads) = (old.zip(new).and_then(quotient), of_new.with(of_old.inverse()));
        let request = sides[0].0.name.map(str::to_owned);
        LoadChange { request, metric, old, new, ratio, reads }
    };
    METRICS.map(change).into()
}

#[cfg(test)]
mod tests;
