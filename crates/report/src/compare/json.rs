//! A comparison for programs: one JSON object, described field by field in `docs/compare.md`.
//!
//! Not here: anything that the comparison does not hold; and no figure is rounded.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::Estimate;

use super::{
    Cell, Change, Comparison, ConditionResult, Difference, Figure, Gate, GateVerdict, Hit, LeftOut,
    Movement, Summary,
};
use crate::{
    analysis::{Claim, Inconclusive},
    json::pretty,
};

/// The version of the object. It grows whenever a field changes its meaning or goes away.
const COMPARISON_FORMAT: u32 = 3;

/// What the changes are claimed of. No variance between sessions is in their intervals.
const SCOPE: &str = "these-two-results";

/// The whole of a comparison.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct ComparisonReport<'a> {
    /// The version of this object.
    format: u32,
    /// What the changes are claimed of.
    scope: &'static str,
    /// The older result.
    old: &'a Summary,
    /// The newer one.
    new: &'a Summary,
    /// Differences that `--force` overruled.
    forced: &'a [Difference],
    /// What may be the cause of changes, or keep them from being seen, each as a sentence.
    warnings: &'a [String],
    /// Versions of entries that differ, each as a sentence.
    versions: &'a [String],
    /// How much the baselines themselves changed.
    baseline_drift: Vec<DriftReport<'a>>,
    /// The changes, in the order of the table.
    changes: Vec<ChangeReport<'a>>,
    /// Cells that were not compared.
    left_out: &'a [LeftOut],
    /// The result of the conditions; null without conditions.
    gate: Option<GateReport<'a>>,
}

/// New over old.
#[derive(Clone, Copy, Debug, JsonSchema, Serialize)]
struct RatioReport {
    /// The ratio.
    ratio: f64,
    /// The lower end of its interval; null with fewer than 3 cohorts.
    ratio_low: Option<f64>,
    /// The upper end.
    ratio_high: Option<f64>,
    /// Cohorts on the side that has fewer.
    samples: usize,
}

/// How much a baseline changed.
#[derive(Debug, JsonSchema, Serialize)]
struct DriftReport<'a> {
    /// The workload.
    workload: &'a str,
    /// The baseline.
    variant: String,
    /// The figure.
    metric: &'static str,
    #[serde(flatten)]
    ratio: RatioReport,
}

/// One figure of one cell in both results.
#[derive(Debug, JsonSchema, Serialize)]
struct ChangeReport<'a> {
    #[serde(flatten)]
    cell: &'a Cell,
    /// The figure with its unit.
    metric: &'static str,
    /// `worse`, `better`, `same` or `inconclusive`.
    verdict: &'static str,
    /// The claim in the words of the figure, such as `slower`.
    words: String,
    #[serde(flatten)]
    ratio: RatioReport,
    /// In the older result.
    old: &'a Figure,
    /// In the newer one.
    new: &'a Figure,
    /// The baseline whose ratios are compared; null if the figures are.
    relative_to: Option<String>,
    /// The p value of "no change", adjusted for all changes of the figure in the workload.
    p_adjusted: Option<f64>,
    /// The change below which the two count as the same: 0.03 is 3 %.
    margin: f64,
    /// `exactly`, `at-least`, `at-most` or `either`.
    reads: &'static str,
    /// `higher`, `lower`, `same`, `not-higher`, `not-lower` or `inconclusive`.
    claim: &'static str,
    /// Why the claim is `inconclusive`; otherwise null.
    inconclusive: Option<&'static str>,
    /// Whether the variant is the same program in both; null if unknown.
    same_program: Option<bool>,
}

/// The result of all conditions.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct GateReport<'a> {
    /// `failed`, `inconclusive` or `passed`.
    verdict: &'static str,
    /// Whether the verdict is `passed`.
    passed: bool,
    /// The conditions, as given.
    conditions: Vec<ConditionReport<'a>>,
    /// Cells that lost all figures, or one that a condition names.
    lost: Vec<LostReport<'a>>,
    /// Why it cannot fail, or not everywhere, each as a sentence.
    warnings: &'a [String],
}

/// The result of one condition.
#[derive(Debug, JsonSchema, Serialize)]
struct ConditionReport<'a> {
    /// The condition, as in `--fail-if`.
    condition: String,
    /// Cells that have its figure.
    looked_at: usize,
    /// Cells that passed.
    passed: usize,
    /// Cells that violate it.
    failed: &'a [Hit],
    /// All other cells.
    inconclusive: &'a [Hit],
}

/// A cell that lost figures.
#[derive(Debug, JsonSchema, Serialize)]
struct LostReport<'a> {
    #[serde(flatten)]
    cell: &'a Cell,
    /// What is missing, and why.
    reason: &'a str,
}

/// Everything that `comparison` says, as JSON.
///
/// # Panics
///
/// Never: all keys are words, and a number that JSON does not have becomes null.
#[must_use]
pub fn json(comparison: &Comparison) -> String {
    pretty(&report(comparison))
}

fn report(comparison: &Comparison) -> ComparisonReport<'_> {
    let drift = comparison.yardsticks.iter().map(|it| DriftReport {
        workload: &it.workload,
        variant: it.variant.to_string(),
        metric: it.metric.field(),
        ratio: ratio(&it.estimate),
    });
    ComparisonReport {
        format: COMPARISON_FORMAT,
        scope: SCOPE,
        old: &comparison.old,
        new: &comparison.new,
        forced: &comparison.forced,
        warnings: &comparison.warnings,
        versions: &comparison.versions,
        baseline_drift: drift.collect(),
        changes: comparison.changes.iter().map(change).collect(),
        left_out: &comparison.left_out,
        gate: comparison.gate.as_ref().map(gate),
    }
}

fn ratio(estimate: &Estimate) -> RatioReport {
    RatioReport {
        ratio: estimate.value,
        ratio_low: estimate.interval.map(|it| it.low),
        ratio_high: estimate.interval.map(|it| it.high),
        samples: estimate.samples,
    }
}

fn change(it: &Change) -> ChangeReport<'_> {
    let unmoved = if it.claim == Claim::Same { "same" } else { "inconclusive" };
    ChangeReport {
        cell: &it.cell,
        metric: it.metric.field(),
        verdict: it.movement().map_or(unmoved, Movement::name),
        words: it.claim.words(it.metric),
        ratio: ratio(&it.estimate),
        old: &it.old,
        new: &it.new,
        relative_to: it.relative_to.as_ref().map(ToString::to_string),
        p_adjusted: it.p_adjusted,
        margin: it.margin,
        reads: it.reads.name(),
        claim: it.claim.name(),
        inconclusive: it.inconclusive.map(Inconclusive::name),
        same_program: it.same_program,
    }
}

pub(crate) fn gate(gate: &Gate) -> GateReport<'_> {
    GateReport {
        verdict: gate.verdict().name(),
        passed: gate.verdict() == GateVerdict::Passed,
        conditions: gate.conditions.iter().map(condition).collect(),
        lost: gate.lost.iter().map(|(cell, reason)| LostReport { cell, reason }).collect(),
        warnings: &gate.warnings,
    }
}

fn condition(it: &ConditionResult) -> ConditionReport<'_> {
    ConditionReport {
        condition: it.condition.to_string(),
        looked_at: it.looked_at,
        passed: it.passed.len(),
        failed: &it.failed,
        inconclusive: &it.inconclusive,
    }
}
