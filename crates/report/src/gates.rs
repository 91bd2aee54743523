//! Conditions of `--fail-if`: whether the figures of a result keep their limits. All verbs are judged by the cells of
//! their views: conditions on values by figures, in `value`, conditions on changes by ratios, in `change`.
//!
//! A violated condition fails the gate, a kept one passes. A condition that is neither in a cell is inconclusive there,
//! which fails nothing and passes nothing.

mod change;
mod results;
mod scope;
mod value;
mod words;

pub(crate) use self::words::conditions as conditions_block;
pub use self::{
    results::{of_load, of_run, of_tune},
    scope::{HINT, changes, requests, scope, scope_of_load, values},
    words::gate_lines,
};

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::gate::{Condition, Limit};
use wirebench_stats::Interval;

use crate::{
    analysis::{LimitSide, Metric, MetricFacts},
    view::{Cell, CellId, Verb},
};

#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Gate {
    pub verdict: GateVerdict,
    /// In the order in which they were given.
    pub conditions: Vec<ConditionResult>,
    /// Cells that had figures and have none any more, or not one that a condition names. Each fails the
    /// gate: what is worse than any figure must not pass for want of one.
    pub lost: Vec<Lost>,
    /// Why it cannot fail, or not everywhere, each as a sentence.
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

/// The result of a condition in a cell.
enum Kept {
    Yes,
    No,
    /// It may be, for this reason.
    Open(String),
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

/// The part of a result that conditions are about.
#[derive(Default)]
pub(crate) struct Evidence<'a> {
    pub(crate) verb: Verb,
    pub(crate) cells: &'a [Cell],
    /// Cells without figures that they should have.
    pub(crate) lost: Vec<Lost>,
    /// True if nothing can have changed, so that conditions on changes do not apply.
    pub(crate) nothing_differs: bool,
}

/// Looks at all conditions; none without conditions.
pub(crate) fn judge(conditions: &[Condition], evidence: Evidence<'_>) -> Option<Gate> {
    let (mut results, mut warnings) = (Vec::new(), Vec::new());
    for condition in conditions {
        let (result, more) = match &condition.limit {
            Limit::Change(_) if evidence.nothing_differs => continue,
            Limit::Change(limit) => change::judge(condition, limit, evidence.cells),
            Limit::Value(limit) => (value::judge(condition, *limit as f64, &evidence), Vec::new()),
            Limit::Share(share) => (value::judge(condition, *share, &evidence), Vec::new()),
        };
        warnings.extend(more);
        results.push(result);
    }
    (!conditions.is_empty()).then(|| Gate::of(results, evidence.lost, warnings))
}

impl Gate {
    fn of(conditions: Vec<ConditionResult>, lost: Vec<Lost>, warnings: Vec<String>) -> Self {
        let is_kept = |it: &ConditionResult| it.looked_at > 0 && it.kept.len() == it.looked_at;
        let verdict = if !lost.is_empty() || conditions.iter().any(|it| !it.failed.is_empty()) {
            GateVerdict::Failed
        } else if conditions.iter().all(is_kept) {
            GateVerdict::Passed
        } else {
            GateVerdict::Inconclusive
        };
        Self { verdict, conditions, lost, warnings }
    }

    #[must_use]
    pub fn fails(&self) -> bool {
        self.verdict == GateVerdict::Failed
    }

    /// Conditions that concern nothing that was measured, each as a sentence. A lost cell fails the gate anyway, and
    /// a warning says why no change was found.
    #[must_use]
    pub fn unjudged(&self) -> Vec<String> {
        let is_unjudged = |it: &&ConditionResult| {
            let text = it.condition.to_string();
            it.looked_at == 0 && !self.warnings.iter().any(|warning| warning.contains(&text))
        };
        let results = self.conditions.iter().filter(|_| self.lost.is_empty());
        let sentence = |it: &ConditionResult| {
            let what = match &it.condition.of {
                Some(name) => format!("nothing that was measured is called `{name}` and has"),
                None => "nothing that was measured has".to_owned(),
            };
            format!("'{}' cannot be judged: {what} this figure", it.condition)
        };
        results.filter(is_unjudged).map(sentence).collect()
    }
}

impl ConditionResult {
    /// The result in all that a condition concerns, the farthest beyond a limit on this side first.
    fn of(condition: &Condition, side: LimitSide, mut found: Vec<(Hit, Kept)>) -> Self {
        side.sort(&mut found, |(hit, _)| hit.value);
        let mut result = Self {
            condition: condition.clone(),
            looked_at: found.len(),
            kept: Vec::new(),
            failed: Vec::new(),
            inconclusive: Vec::new(),
        };
        for (hit, kept) in found {
            match kept {
                Kept::No => result.failed.push(hit),
                Kept::Yes => result.kept.push(hit),
                Kept::Open(doubt) => {
                    let why = format!("{}: {doubt}", hit.why);
                    result.inconclusive.push(Hit { why, ..hit });
                }
            }
        }
        result
    }
}

impl Hit {
    fn of(
        cell: &Cell,
        metric: Metric,
        value: f64,
        interval: Option<Interval>,
        why: String,
    ) -> Self {
        let (cell, metric) = (Some(cell.id.clone()), metric.field().to_owned());
        Self { cell, metric, value, interval, why }
    }

    /// The cell and what follows from its figure.
    pub(crate) fn sentence(&self) -> String {
        let cell = self.cell.as_ref().map_or_else(String::new, |cell| format!("{cell}: "));
        format!("{cell}{}", self.why)
    }
}

#[cfg(test)]
mod tests;
