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
use crate::analysis::MetricFacts;

#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct Gate {
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
    #[serde(flatten, serialize_with = "super::json::kept")]
    #[schemars(with = "super::json::KeptReport<'static>")]
    pub passed: Vec<Hit>,
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
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.lost.is_empty() || self.conditions.iter().any(|it| !it.failed.is_empty())
    }

    /// What it says as a whole.
    #[must_use]
    pub fn verdict(&self) -> GateVerdict {
        let is_kept = |it: &ConditionResult| it.looked_at > 0 && it.passed.len() == it.looked_at;
        if self.fails() {
            GateVerdict::Failed
        } else if self.conditions.iter().all(is_kept) {
            GateVerdict::Passed
        } else {
            GateVerdict::Inconclusive
        }
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
    pub(super) fn new(condition: &Condition) -> Self {
        Self {
            condition: condition.clone(),
            looked_at: 0,
            passed: Vec::new(),
            failed: Vec::new(),
            inconclusive: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, hit: Hit, state: &State) {
        self.looked_at += 1;
        let hits = match state {
            State::Violated => &mut self.failed,
            State::Kept => &mut self.passed,
            State::Open(_) => &mut self.inconclusive,
        };
        hits.push(hit);
    }
}

impl Hit {
    /// A cell that is beyond a limit, or may be for the reason `doubt`.
    pub(crate) fn of(change: &Change, doubt: Option<&str>) -> Self {
        let doubt = doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        let why = format!("{}{doubt}", words::change(change));
        let Estimate { value, interval, .. } = change.ratio.estimate;
        let (cell, metric) = (Some(change.cell.clone()), change.metric.field().to_owned());
        Self { cell, metric, value, interval, why }
    }

    /// The cell and what follows from its figure.
    pub(crate) fn sentence(&self) -> String {
        let cell = self.cell.as_ref().map_or_else(String::new, |cell| format!("{cell}: "));
        format!("{cell}{}", self.why)
    }
}
