//! Conditions under which a comparison fails, for machines that watch over changes.
//!
//! A condition is met only by a change that counts: what lies beyond it within the noise is told
//! and fails nothing. So a gate that has too few blocks cannot fail, and says so.
//!
//! What cannot be told has not passed either: a change within the noise that is beyond the limit, and
//! a bound that is on its right side and may be far from the true change.
//!
//! Not here: how a condition is written, what a change is, and whether it counts.

use wirebench_stats::MIN_BLOCKS;

use super::{
    Cell, Change, Condition, LeftOut, Presence, condition::Beyond, judge::looked_at, words,
};
use crate::analysis::{Claim, Metric, Reads};

/// What became of all conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// In the order in which they were given.
    pub conditions: Vec<ConditionResult>,
    /// Cells that had figures and have none any more, or not one that a condition names, with the
    /// reason. Each fails the gate: what is worse than any figure must not pass for want of one.
    pub lost: Vec<(Cell, String)>,
    /// Why it cannot fail, or not everywhere, each as a sentence.
    pub warnings: Vec<String>,
}

/// What became of one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionResult {
    /// The condition.
    pub condition: Condition,
    /// Cells that have its figure.
    pub looked_at: usize,
    /// Of those, cells that do not meet it and have blocks enough to have met it.
    pub passed: usize,
    /// Cells that meet it beyond the noise.
    pub failed: Vec<Hit>,
    /// Cells that may meet it or not: beyond its limit, but within the noise; or a bound that does
    /// not exclude that the true change is beyond it.
    pub cannot_tell: Vec<Hit>,
}

/// What a gate says as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GateVerdict {
    /// Every cell that a condition concerns does not meet it, and each condition concerns one.
    Passed,
    /// No cell fails, and of some it cannot be told.
    CannotTell,
    /// A cell fails.
    Failed,
}

/// A cell that is beyond the limit of a condition, or may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The cell.
    pub cell: Cell,
    /// The metric as it is meant in its phase.
    pub metric: Metric,
    /// The change and what it follows from, as a sentence.
    pub why: String,
}

impl Gate {
    /// Whether a cell fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        !self.lost.is_empty() || self.conditions.iter().any(|it| !it.failed.is_empty())
    }

    /// What it says as a whole.
    #[must_use]
    pub fn verdict(&self) -> GateVerdict {
        let is_told = |it: &ConditionResult| it.looked_at > 0 && it.passed == it.looked_at;
        if self.fails() {
            GateVerdict::Failed
        } else if self.conditions.iter().all(is_told) {
            GateVerdict::Passed
        } else {
            GateVerdict::CannotTell
        }
    }
}

impl GateVerdict {
    /// The name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CannotTell => "cannot-tell",
            Self::Failed => "failed",
        }
    }
}

/// Looks at all conditions; none without conditions. Beside the changes it is told of cells that
/// were not compared, and of figures that are in the older result alone.
pub(crate) fn judge(
    conditions: &[Condition],
    changes: &[Change],
    (left_out, lost_figures): (&[LeftOut], &[(Cell, Metric)]),
) -> Option<Gate> {
    if conditions.is_empty() {
        return None;
    }
    let lost = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let lost = lost.map(|it| (it.cell.clone(), it.reason.clone()));
    let is_named = |(cell, metric): &&(Cell, Metric)| {
        conditions.iter().any(|it| looked_at(it.metric, cell.phase) == Some(*metric))
    };
    let figures = lost_figures.iter().filter(is_named).map(|(cell, metric)| {
        (cell.clone(), format!("its {} is not known in the newer result", metric.title()))
    });
    let mut gate =
        Gate { conditions: Vec::new(), lost: lost.chain(figures).collect(), warnings: Vec::new() };
    for condition in conditions {
        let here = |change: &&Change| condition.concerns(change);
        let concerned: Vec<&Change> = changes.iter().filter(here).collect();
        gate.warnings.extend(condition.warning(&concerned));
        gate.warnings.extend(condition.beyond_floor(&concerned));
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
            passed: 0,
            failed: Vec::new(),
            cannot_tell: Vec::new(),
        };
        for change in concerned {
            let is_beyond = self.is_beyond(change.share());
            match (is_beyond, doubt(change)) {
                (true, None) => result.failed.push(Hit::of(change, None)),
                (true, Some(doubt)) => result.cannot_tell.push(Hit::of(change, Some(&doubt))),
                (false, _) if self.is_left_open(change) => {
                    result.cannot_tell.push(Hit::of(change, Some(&self.open_bound(change.reads))));
                }
                (false, _) if change.estimate.interval.is_some() => result.passed += 1,
                // With so few blocks nothing is told of any cell, which is a warning.
                (false, _) => {}
            }
        }
        result
    }

    /// Whether a change that is not beyond its limit is a bound which the true change may pass
    /// towards it.
    fn is_left_open(&self, change: &Change) -> bool {
        let may_be_beyond = match (change.reads, self.beyond) {
            (Reads::Exactly, _)
            | (Reads::AtLeast, Beyond::Below)
            | (Reads::AtMost, Beyond::Above) => false,
            (Reads::Either, _)
            | (Reads::AtLeast, Beyond::Above)
            | (Reads::AtMost, Beyond::Below) => true,
        };
        may_be_beyond && change.estimate.interval.is_some() && !self.is_beyond(change.share())
    }

    fn open_bound(&self, reads: Reads) -> String {
        let is = match reads {
            Reads::AtLeast => "is at least that and may be",
            Reads::AtMost => "is at most that and may be",
            Reads::Exactly | Reads::Either => "may be anything, also",
        };
        let side = match self.beyond {
            Beyond::Below => "below",
            Beyond::Above => "above",
        };
        let limit = words::percent(1.0 + self.share);
        format!(
            "the load generator was at its limit, so that the true change {is} {side} {limit}: give \
             it more CPUs, or compare `cpu`, which it does not bound"
        )
    }

    /// That it cannot be told where the generator was at its limit.
    fn only_bounds(&self, concerned: &[&Change]) -> Option<String> {
        let open = concerned.iter().filter(|it| self.is_left_open(it)).count();
        (open > 0).then(|| {
            format!(
                "'{self}' cannot be told in {open} of {} cells, because the load generator was at \
                 its limit",
                concerned.len()
            )
        })
    }

    /// Why it can never be met here, or not in all cells that it concerns.
    fn warning(&self, concerned: &[&Change]) -> Option<String> {
        let all = concerned.len();
        let short: Vec<&&Change> =
            concerned.iter().filter(|it| it.estimate.samples < MIN_BLOCKS).collect();
        if all == 0 {
            return Some(format!(
                "'{self}' can never fail here: no cell of both results has its figure"
            ));
        }
        let shortest = short.iter().map(|it| it.estimate.samples).min()?;
        let scope = if short.len() == all {
            "can never fail here".to_owned()
        } else {
            format!("cannot fail in {} of {all} cells", short.len())
        };
        Some(format!(
            "'{self}' {scope}: it takes {MIN_BLOCKS} blocks on each side to tell a change from \
             noise, and there are as few as {shortest} with figures: give --blocks 10"
        ))
    }

    /// That changes beyond it must be larger still to count, where the noise is larger than it. A
    /// limit of nothing asks for any change that counts.
    fn beyond_floor(&self, concerned: &[&Change]) -> Option<String> {
        let asked = (1.0 + self.share).ln().abs();
        let higher = |change: &&&Change| asked > 0.0 && change.floor.relative.ln_1p() > asked;
        let hidden: Vec<&&Change> = concerned.iter().filter(higher).collect();
        let floors = hidden.iter().map(|it| it.floor);
        let largest = floors.max_by(|a, b| a.relative.total_cmp(&b.relative))?;
        Some(format!(
            "'{self}' asks for less than the noise floor of {} of {} cells, which is up to {}: what is \
             smaller than that fails nothing",
            hidden.len(),
            concerned.len(),
            words::floor(&largest)
        ))
    }
}

impl Hit {
    /// A cell that is or may be beyond a limit, and why that cannot be told.
    pub(crate) fn of(change: &Change, doubt: Option<&str>) -> Self {
        let doubt = doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        let why = format!("{}{doubt}", words::change(change));
        Self { cell: change.cell.clone(), metric: change.metric, why }
    }
}

/// Why a change that is beyond a limit does not count; none if it does.
fn doubt(change: &Change) -> Option<String> {
    let moved = matches!(change.claim, Claim::Higher | Claim::Lower);
    let Some(interval) = change.estimate.interval else {
        let blocks = change.estimate.samples;
        return Some(format!("{blocks} of the {MIN_BLOCKS} blocks that are needed"));
    };
    if moved {
        return None;
    }
    let is_within_floor = change.floor.band().contains(change.estimate.value);
    Some(if interval.contains(1.0) {
        "the interval includes no change".to_owned()
    } else if is_within_floor {
        format!("within the noise floor of {}", words::floor(&change.floor))
    } else if change.reads != Reads::Exactly {
        "the load generator was at its limit, so that this is only a bound".to_owned()
    } else {
        let p = change.p_adjusted.unwrap_or(1.0);
        format!("not significant among all that was compared, p = {p:.2}")
    })
}
