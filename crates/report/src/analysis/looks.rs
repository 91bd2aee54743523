//! Judgements at looks, of an experiment that may end when its answer is known.

use wirebench_schema::journal::Journal;
use wirebench_stats::{Bounds, MIN_COHORTS, PlannedLook, bounds};

/// The looks so far; none of an experiment whose end does not depend on its figures. Cohorts since the last look are
/// judged as if the experiment had ended with them.
pub(super) fn looks(journal: &Journal, cohorts: u32) -> Vec<PlannedLook> {
    if !journal.start.goal.until_decided {
        return Vec::new();
    }
    let planned = |cohorts: u32, share| PlannedLook { cohorts: cohorts as usize, share };
    let made = journal.looks.iter().map(|look| planned(look.cohorts, look.share));
    let mut looks: Vec<PlannedLook> = made.collect();
    let now = planned(cohorts, 1.0);
    let is_new = looks.last().is_none_or(|last| last.cohorts < now.cohorts);
    if is_new && now.cohorts >= MIN_COHORTS {
        looks.push(now);
    }
    looks
}

/// The levels of the last look, where this many rows or metrics are judged together; none without looks.
pub(super) fn last(looks: &[PlannedLook], comparisons: usize) -> Option<Bounds> {
    bounds(looks, comparisons).pop()
}
