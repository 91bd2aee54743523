//! The result of the conditions of `--fail-if`.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::gate::Condition;
use wirebench_stats::Interval;

use super::cell::CellId;

#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Gate {
    pub verdict: GateVerdict,
    /// In the order in which they were given.
    pub conditions: Vec<ConditionResult>,
    /// Cells that had figures and have none any more, or not one that a condition names. Each fails the
    /// gate: what is worse than any figure must not pass for want of one.
    pub lost: Vec<Lost>,
    /// Why conditions are inconclusive, each as a sentence.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct ConditionResult {
    /// As in `--fail-if`.
    #[schemars(with = "String")]
    pub condition: Condition,
    /// Cells that have its figure.
    pub looked_at: usize,
    /// Of those, cells that keep it, the nearest to the limit first.
    pub kept: Vec<Hit>,
    /// Cells that violate it, the farthest beyond first.
    pub failed: Vec<Hit>,
    /// All other cells.
    pub inconclusive: Vec<Hit>,
}

/// A cell that lost figures.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Lost {
    #[serde(flatten)]
    pub cell: CellId,
    /// What is missing, and why.
    pub reason: String,
}

/// The result of a gate as a whole.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// Every cell that a condition concerns keeps it, and each condition concerns one.
    Passed,
    /// No cell fails, and some are inconclusive.
    Inconclusive,
    Failed,
}

/// A figure that a condition concerns.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "HitReport")]
pub struct Hit {
    /// The cell; absent for a load, which has none.
    #[serde(flatten)]
    pub cell: Option<CellId>,
    /// The figure with its unit.
    pub metric: String,
    /// The value in the unit of the metric, or of a change the ratio.
    pub value: f64,
    /// Its 95 % interval; null with fewer than 3 cohorts.
    pub interval: Option<Interval>,
    /// The change or the value, and what follows from it.
    pub why: String,
}
