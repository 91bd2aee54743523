//! A comparison for programs: one JSON object, described field by field in `docs/compare.md`. No figure is
//! rounded.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::borrow::Borrow;

use super::{Comparison, Gate, GateVerdict, Hit};
use crate::json::pretty;

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const COMPARISON_FORMAT: u32 = 4;

/// What the changes are claimed of. No variance between sessions is in their intervals.
const SCOPE: &str = "these-two-results";

/// The whole of a comparison.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ComparisonReport<'a> {
    /// The version of this object.
    format: u32,
    /// What the changes are claimed of.
    scope: &'static str,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// The result of all conditions.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GateReport<'a> {
    verdict: GateVerdict,
    /// Whether the verdict is `passed`.
    passed: bool,
    #[serde(flatten)]
    gate: &'a Gate,
}

/// A result with that of its conditions.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WithGate<'a, T> {
    #[serde(flatten)]
    pub(crate) result: T,
    /// The result of the conditions; null without conditions.
    #[serde(serialize_with = "gate")]
    #[schemars(with = "Option<GateReport<'static>>")]
    pub(crate) gate: Option<&'a Gate>,
}

/// Everything that `comparison` says, as JSON.
///
/// # Panics
///
/// Never: all keys are words, and a number that JSON does not have becomes null.
#[must_use]
pub fn json(comparison: &Comparison) -> String {
    pretty(&ComparisonReport { format: COMPARISON_FORMAT, scope: SCOPE, comparison })
}

/// The cells that keep a condition.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct KeptReport<'a> {
    /// Of those, cells that keep it.
    passed: usize,
    /// These cells.
    kept: &'a [Hit],
}

pub(super) fn kept<S: Serializer>(hits: &[Hit], serializer: S) -> Result<S::Ok, S::Error> {
    KeptReport { passed: hits.len(), kept: hits }.serialize(serializer)
}

/// What a gate says as a whole is not stored with it, because it follows from its parts.
pub(crate) fn gate<S: Serializer>(
    gate: &Option<impl Borrow<Gate>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let report = gate.as_ref().map(|gate| {
        let gate = gate.borrow();
        let verdict = gate.verdict();
        GateReport { verdict, passed: verdict == GateVerdict::Passed, gate }
    });
    report.serialize(serializer)
}
