//! What changed significantly from one run to the next of the same suite on the same machine.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::{Machine, Summary};
use crate::{
    compare::{self, CompareOptions, Movement, NotComparable, Side, compare},
    figure_text::change_of,
    table_units::percent,
};

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Changes {
    pub old: String,
    pub new: String,
    /// Why they are not compared, if so.
    pub refused: Option<String>,
    pub versions: Vec<String>,
    /// Significant changes, the largest first.
    pub changes: Vec<Change>,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Change {
    pub server: String,
    pub workload: String,
    /// The figure and its change with the interval.
    pub change: String,
    /// The change below which two figures count as the same.
    pub margin: String,
    pub is_better: bool,
}

#[must_use]
pub fn changes(old: &Side<'_>, new: &Side<'_>) -> Changes {
    let (refused, versions, changes) = match compare(old, new, &CompareOptions::default()) {
        Ok(it) => (None, it.facts.versions, it.changes.iter().filter_map(significant).collect()),
        Err(why) => (Some(words_of(&why)), Vec::new(), Vec::new()),
    };
    let (old, new) = (old.name.to_owned(), new.name.to_owned());
    Changes { old, new, refused, versions, changes }
}

fn significant(change: &compare::Change) -> Option<Change> {
    let movement = change.movement()?;
    Some(Change {
        server: change.cell.entry(),
        workload: change.cell.load.clone(),
        change: change_of(change.metric, &change.ratio.judged),
        margin: percent(change.ratio.judged.margin),
        is_better: movement == Movement::Better,
    })
}

fn words_of(why: &NotComparable) -> String {
    match why {
        NotComparable::Differ(differences) => {
            differences.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        }
        NotComparable::NothingInCommon(reasons) => reasons.join("; "),
    }
}

/// Each result of `run` with the one before it of the same suite, workloads and own programs on the same machine:
/// older, newer. `runs` are in the order of their start.
#[must_use]
pub fn pairs(runs: &[Summary]) -> Vec<(&Summary, &Summary)> {
    type Key<'a> = (&'a str, &'a str, BTreeSet<(&'a str, &'a str)>, &'a Machine);
    let mut last: BTreeMap<Key<'_>, &Summary> = BTreeMap::new();
    let mut pairs = Vec::new();
    for run in runs.iter().filter(|run| run.load.is_none() && !run.points.is_empty()) {
        let own = run.points.iter().filter_map(|it| Some((&*it.server, it.program.as_deref()?)));
        let key = (&*run.suite, &*run.workloads, own.collect(), &run.machine);
        let before = last.insert(key, run);
        pairs.extend(before.map(|before| (before, run)));
    }
    pairs
}
