//! A comparison for programs: one JSON object, described field by field in `docs/compare.md`.
//!
//! Not here: anything that the comparison does not hold; and no figure is rounded.

use serde_json::{Value, json};
use wirebench_stats::Estimate;

use super::{
    Cell, Change, Comparison, ConditionResult, Figure, Gate, GateVerdict, Hit, Movement, Summary,
};
use crate::analysis::{Claim, Inconclusive};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const COMPARISON_FORMAT: u32 = 3;

/// What the changes are claimed of. No variance between sessions is in their intervals.
const SCOPE: &str = "these-two-results";

/// Everything that `comparison` says, as JSON.
#[must_use]
pub fn json(comparison: &Comparison) -> String {
    let forced =
        comparison.forced.iter().map(|it| json!({ "what": it.what, "old": it.old, "new": it.new }));
    let drift = comparison.yardsticks.iter().map(|it| {
        let mut drift = json!({
            "workload": it.workload,
            "variant": it.variant,
            "metric": it.metric.field(),
        });
        add_estimate(&mut drift, &it.estimate);
        drift
    });
    let left_out = comparison.left_out.iter().map(|it| {
        let mut left_out = cell(&it.cell);
        left_out["presence"] = it.presence.name().into();
        left_out["reason"] = it.reason.as_str().into();
        left_out
    });
    let object = json!({
        "format": COMPARISON_FORMAT,
        "scope": SCOPE,
        "old": summary(&comparison.old),
        "new": summary(&comparison.new),
        "forced": forced.collect::<Vec<_>>(),
        "warnings": comparison.warnings,
        "versions": comparison.versions,
        "baseline_drift": drift.collect::<Vec<_>>(),
        "changes": comparison.changes.iter().map(change).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "gate": comparison.gate.as_ref().map(gate),
    });
    format!("{object:#}\n")
}

fn summary(side: &Summary) -> Value {
    json!({
        "name": side.name,
        "suite": side.suite,
        "started": side.started,
        "blocks": side.blocks,
        "end": side.end,
    })
}

fn cell(cell: &Cell) -> Value {
    json!({
        "workload": cell.workload,
        "phase": cell.phase,
        "variant": cell.variant,
        "copy": cell.copy,
    })
}

fn change(it: &Change) -> Value {
    let mut change = cell(&it.cell);
    add_estimate(&mut change, &it.estimate);
    let further = json!({
        "metric": it.metric.field(),
        "old": figure(&it.old),
        "new": figure(&it.new),
        "relative_to": it.relative_to,
        "p_adjusted": it.p_adjusted,
        "margin": it.margin,
        "reads": it.reads.name(),
        "verdict": it.movement().map_or(
            if it.claim == Claim::Same { "same" } else { "inconclusive" },
            |movement: Movement| movement.name(),
        ),
        "claim": it.claim.name(),
        "inconclusive": it.inconclusive.map(Inconclusive::name),
        "words": it.claim.words(it.metric),
        "same_program": it.same_program,
    });
    if let (Value::Object(change), Value::Object(further)) = (&mut change, further) {
        change.extend(further);
    }
    change
}

fn figure(figure: &Figure) -> Value {
    json!({
        "median": figure.median,
        "least": figure.least,
        "most": figure.most,
        "blocks": figure.blocks,
        "doubts": figure.doubts,
    })
}

fn add_estimate(value: &mut Value, estimate: &Estimate) {
    value["ratio"] = estimate.value.into();
    value["ratio_low"] = estimate.interval.map(|it| it.low).into();
    value["ratio_high"] = estimate.interval.map(|it| it.high).into();
    value["samples"] = estimate.samples.into();
}

pub(crate) fn gate(gate: &Gate) -> Value {
    let lost = gate.lost.iter().map(|(lost, reason)| {
        let mut value = cell(lost);
        value["reason"] = reason.as_str().into();
        value
    });
    json!({
        "verdict": gate.verdict().name(),
        "passed": gate.verdict() == GateVerdict::Passed,
        "conditions": gate.conditions.iter().map(condition).collect::<Vec<_>>(),
        "lost": lost.collect::<Vec<_>>(),
        "warnings": gate.warnings,
    })
}

fn condition(it: &ConditionResult) -> Value {
    json!({
        "condition": it.condition.to_string(),
        "looked_at": it.looked_at,
        "passed": it.passed,
        "failed": it.failed.iter().map(hit).collect::<Vec<_>>(),
        "inconclusive": it.inconclusive.iter().map(hit).collect::<Vec<_>>(),
    })
}

fn hit(hit: &Hit) -> Value {
    let mut value = cell(&hit.cell);
    value["metric"] = hit.metric.field().into();
    value["why"] = hit.why.as_str().into();
    value
}
