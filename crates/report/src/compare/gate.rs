//! Conditions under which a comparison fails, for machines that watch over changes.
//!
//! A condition is violated where the whole interval of a change lies beyond its limit, and kept where
//! none of it does. Otherwise the cell is inconclusive, which fails nothing and passes nothing. So is a
//! bound on the right side of the limit: the true change may lie on the other one.
//!
//! Not here: how a condition is written, what a change is, and what is claimed of it.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::MIN_COHORTS;

use super::{
    Cell, Change, Condition, LeftOut, Presence, condition::LimitSide, judge::looked_at, words,
};
use crate::{
    analysis::{Inconclusive, Metric, Reads},
    interval,
};

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
    /// Of those, cells that keep it.
    #[serde(serialize_with = "super::json::count")]
    #[schemars(with = "usize")]
    pub passed: Vec<Hit>,
    /// Cells that violate it.
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
enum State {
    /// The change is beyond its limit.
    Violated,
    /// It is not.
    Kept,
    /// It may be, for this reason.
    Open(String),
}

/// A cell that a condition concerns.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "HitReport")]
pub struct Hit {
    /// The cell.
    #[serde(flatten)]
    pub cell: Cell,
    /// The figure with its unit.
    #[schemars(with = "String")]
    pub metric: Metric,
    /// The change, and what follows from it.
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
}

/// Looks at all conditions; none without conditions. Cells that were not compared and figures that are
/// in the older result alone count as well.
pub(crate) fn judge(
    conditions: &[Condition],
    changes: &[Change],
    (left_out, lost_figures): (&[LeftOut], &[(Cell, Metric)]),
) -> Option<Gate> {
    if conditions.is_empty() {
        return None;
    }
    let lost = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let lost = lost.map(|it| Lost { cell: it.cell.clone(), reason: it.reason.clone() });
    let is_named = |(cell, metric): &&(Cell, Metric)| {
        conditions.iter().any(|it| looked_at(it.metric, cell.phase) == Some(*metric))
    };
    let figures = lost_figures.iter().filter(is_named).map(|(cell, metric)| Lost {
        cell: cell.clone(),
        reason: format!("{} is missing in the newer result", metric.title()),
    });
    let mut gate =
        Gate { conditions: Vec::new(), lost: lost.chain(figures).collect(), warnings: Vec::new() };
    for condition in conditions {
        let here = |change: &&Change| condition.concerns(change);
        let concerned: Vec<&Change> = changes.iter().filter(here).collect();
        gate.warnings.extend(condition.warning(&concerned));
        gate.warnings.extend(condition.only_bounds(&concerned));
        gate.conditions.push(condition.judge(&concerned));
    }
    Some(gate)
}

impl Condition {
    /// Whether it is about the figure of this change.
    pub(crate) fn concerns(&self, change: &Change) -> bool {
        looked_at(self.metric, change.cell.phase) == Some(change.metric)
    }

    /// What becomes of it in the cells that it concerns.
    fn judge(&self, concerned: &[&Change]) -> ConditionResult {
        let mut result = ConditionResult {
            condition: *self,
            looked_at: concerned.len(),
            passed: Vec::new(),
            failed: Vec::new(),
            inconclusive: Vec::new(),
        };
        for change in concerned {
            match self.state(change) {
                State::Violated => result.failed.push(Hit::of(change, None)),
                State::Kept => result.passed.push(Hit::of(change, None)),
                State::Open(why) => result.inconclusive.push(Hit::of(change, Some(&why))),
            }
        }
        result
    }

    fn state(&self, change: &Change) -> State {
        let Some(interval) = change.estimate.interval else {
            let cohorts = change.estimate.samples;
            return State::Open(format!("too few cohorts for an interval: {cohorts}"));
        };
        if change.inconclusive == Some(Inconclusive::BaselineCheckFailed) {
            return State::Open(Inconclusive::BaselineCheckFailed.words().to_owned());
        }
        let (low, high) = (interval.low - 1.0, interval.high - 1.0);
        // A bound that supports a violation supports nothing else, and the reverse.
        let (near, far, for_violated, for_kept) = match self.beyond {
            LimitSide::Below => (high, low, Reads::AtMost, Reads::AtLeast),
            LimitSide::Above => (low, high, Reads::AtLeast, Reads::AtMost),
        };
        let supports = |bound| change.reads == Reads::Exactly || change.reads == bound;
        if self.is_beyond(near) && supports(for_violated) {
            State::Violated
        } else if !self.is_beyond(far) && supports(for_kept) {
            State::Kept
        } else if change.reads == Reads::Exactly {
            State::Open(format!(
                "the interval includes {}",
                interval::change(1.0 + self.share, None)
            ))
        } else {
            State::Open(self.open_bound(change.reads))
        }
    }

    fn open_bound(&self, reads: Reads) -> String {
        let is = match reads {
            Reads::AtLeast => "is at least that and may be",
            Reads::AtMost => "is at most that and may be",
            Reads::Exactly | Reads::Either => "is unknown and may be",
        };
        let side = match self.beyond {
            LimitSide::Below => "below",
            LimitSide::Above => "above",
        };
        let limit = interval::change(1.0 + self.share, None);
        format!(
            "the load generator was saturated, so the true change {is} {side} {limit}: give it more CPUs, or \
             compare `cpu`"
        )
    }

    /// In how many cells the generator's limit leaves it open.
    fn only_bounds(&self, concerned: &[&Change]) -> Option<String> {
        let is_open = |change: &&&Change| {
            let is_bound = change.reads != Reads::Exactly && change.estimate.interval.is_some();
            is_bound && matches!(self.state(change), State::Open(_))
        };
        let open = concerned.iter().filter(is_open).count();
        (open > 0).then(|| {
            format!(
                "'{self}' is inconclusive in {open} of {} cells: the load generator was saturated",
                concerned.len()
            )
        })
    }

    /// Why it can never be met here, or not in all cells that it concerns.
    fn warning(&self, concerned: &[&Change]) -> Option<String> {
        let all = concerned.len();
        let short: Vec<&&Change> =
            concerned.iter().filter(|it| it.estimate.interval.is_none()).collect();
        if all == 0 {
            return Some(format!("'{self}' cannot fail: no cell has this metric in both results"));
        }
        let shortest = short.iter().map(|it| it.estimate.samples).min()?;
        let scope = if short.len() == all {
            "cannot fail".to_owned()
        } else {
            format!("cannot fail in {} of {all} cells", short.len())
        };
        Some(format!(
            "'{self}' {scope}: it needs {MIN_COHORTS} cohorts with figures on each side and some cells have \
             {shortest}; measure with --cohorts 4"
        ))
    }
}

impl Hit {
    /// A cell that is beyond a limit, or may be for the reason `doubt`.
    pub(crate) fn of(change: &Change, doubt: Option<&str>) -> Self {
        let doubt = doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        let why = format!("{}{doubt}", words::change(change));
        Self { cell: change.cell.clone(), metric: change.metric, why }
    }
}
