//! Conditions under which a comparison fails, for machines that watch over changes. Conditions on changes are judged
//! in `relative`, conditions on values in `limits`.
//!
//! A violated condition fails the gate, a kept one passes. A condition that is neither in a cell is inconclusive there,
//! which fails nothing and passes nothing.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_schema::gate::Condition;
use wirebench_stats::{Estimate, Interval};

use super::{Cell, Change, words};
use crate::analysis::{LimitSide, MetricFacts};

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
    pub cell: Cell,
    /// What is missing, and why.
    pub reason: String,
}

/// What a gate says as a whole.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// Every cell that a condition concerns keeps it, and each condition concerns one.
    Passed,
    /// No cell fails, and some are inconclusive.
    Inconclusive,
    Failed,
}

/// What becomes of a condition in a cell.
pub(super) enum State {
    /// The figure is beyond its limit.
    Violated,
    /// It is not.
    Kept,
    /// It may be, for this reason.
    Open(String),
}

/// A figure that a condition concerns.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "HitReport")]
pub struct Hit {
    /// The cell; absent for a load, which has none.
    #[serde(flatten)]
    pub cell: Option<Cell>,
    /// The figure with its unit.
    pub metric: String,
    /// The value in the unit of the metric, or of a change the ratio.
    pub value: f64,
    /// Its 95 % interval; null with fewer than 3 cohorts.
    pub interval: Option<Interval>,
    /// The change or the value, and what follows from it.
    pub why: String,
}

impl Gate {
    pub(super) fn of(
        conditions: Vec<ConditionResult>,
        lost: Vec<Lost>,
        warnings: Vec<String>,
    ) -> Self {
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
    pub(super) fn of(condition: &Condition, side: LimitSide, mut found: Vec<(Hit, State)>) -> Self {
        side.sort(&mut found, |(hit, _)| hit.value);
        let mut result = Self {
            condition: condition.clone(),
            looked_at: found.len(),
            kept: Vec::new(),
            failed: Vec::new(),
            inconclusive: Vec::new(),
        };
        for (hit, state) in found {
            match state {
                State::Violated => result.failed.push(hit),
                State::Kept => result.kept.push(hit),
                State::Open(doubt) => {
                    let why = format!("{}: {doubt}", hit.why);
                    result.inconclusive.push(Hit { why, ..hit });
                }
            }
        }
        result
    }
}

impl Hit {
    /// The figure of a change.
    pub(crate) fn of(change: &Change) -> Self {
        let Estimate { value, interval, .. } = change.ratio.estimate;
        let (cell, metric) = (Some(change.cell.clone()), change.metric.field().to_owned());
        Self { cell, metric, value, interval, why: words::change(change) }
    }

    /// The cell and what follows from its figure.
    pub(crate) fn sentence(&self) -> String {
        let cell = self.cell.as_ref().map_or_else(String::new, |cell| format!("{cell}: "));
        format!("{cell}{}", self.why)
    }
}
