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
    analysis::Reads,
    by_name::{RequestFigures, requests},
    compare::{self, Difference, Differences, Gate, NotComparable, json::GateReport},
    flat::Flat,
    origin::Origin,
};

/// The version of the JSON of a comparison.
const COMPARISON_FORMAT: u32 = 1;

const LATENCIES: [LatencyFigure; 6] = [
    LatencyFigure::Mean,
    LatencyFigure::P50,
    LatencyFigure::P90,
    LatencyFigure::P99,
    LatencyFigure::P999,
    LatencyFigure::Max,
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
    #[serde(serialize_with = "compare::json::gate")]
    #[schemars(with = "Option<GateReport<'static>>")]
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
    figure: String,
    /// In the older load; null if unknown.
    old: Option<f64>,
    /// In the newer one.
    new: Option<f64>,
    /// New over old; null if one is unknown or not above zero.
    ratio: Option<f64>,
    /// How the ratio is to be read where a figure is only a bound.
    reads: Reads,
    #[serde(skip)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Rate,
    Errors,
    Latency(LatencyFigure),
}

/// A figure, and in which direction the true one may differ from it.
#[derive(Clone, Copy, Debug, Default)]
struct Value {
    value: Option<f64>,
    may_be_higher: bool,
    may_be_lower: bool,
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

impl Kind {
    fn name(self) -> String {
        match self {
            Self::Rate => "requests_per_second".to_owned(),
            Self::Errors => "errors".to_owned(),
            Self::Latency(figure) => format!("latency_ns_{figure}"),
        }
    }

    fn of(self, requests: &RequestFigures<'_>, limited: bool) -> Value {
        match (self, requests.latency) {
            (Self::Rate, _) => Value {
                value: Some(requests.requests_per_second),
                may_be_higher: limited,
                ..Value::default()
            },
            (Self::Errors, _) => Value { value: Some(requests.errors as f64), ..Value::default() },
            (Self::Latency(_), None) => Value::default(),
            (Self::Latency(figure), Some(latency)) => Value {
                value: Some(figure.of(latency)),
                may_be_higher: figure.is_lower_bound(latency),
                may_be_lower: limited,
            },
        }
    }
}

fn changes(sides: [(RequestFigures<'_>, bool); 2]) -> Vec<LoadChange> {
    let latencies = LATENCIES.map(Kind::Latency);
    let kinds = [Kind::Rate].into_iter().chain(latencies).chain([Kind::Errors]);
    let change = |kind: Kind| {
        let [old, new] = sides.map(|(side, limited)| kind.of(&side, limited));
        let quotient = |(old, new): (f64, f64)| (old > 0.0 && new > 0.0).then(|| new / old);
        LoadChange {
            request: sides[0].0.name.map(str::to_owned),
            figure: kind.name(),
            old: old.value,
            new: new.value,
            ratio: old.value.zip(new.value).and_then(quotient),
            reads: reads(old, new),
            kind,
        }
    };
    kinds.map(change).collect()
}

const fn reads(old: Value, new: Value) -> Reads {
    let may_be_higher = new.may_be_higher || old.may_be_lower;
    let may_be_lower = new.may_be_lower || old.may_be_higher;
    match (may_be_higher, may_be_lower) {
        (false, false) => Reads::Exactly,
        (true, false) => Reads::AtLeast,
        (false, true) => Reads::AtMost,
        (true, true) => Reads::Either,
    }
}

#[cfg(test)]
mod tests;
