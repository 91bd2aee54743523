//! Conditions of `--fail-if`: whether the figures of a result keep their limits. All verbs are judged by the cells of
//! their views: conditions on values by figures, in `value`, conditions on changes by ratios, in `change`.
//!
//! A violated condition fails the gate, a kept one passes. A condition that is neither in a cell is inconclusive there,
//! which fails nothing and passes nothing.

mod change;
mod scope;
mod value;
pub(crate) mod words;

pub use self::{
    scope::{HINT, changes, requests, scope, scope_of_load, values, values_of_load},
    words::gate_lines,
};
pub use crate::view::{Gate, GateVerdict};

use wirebench_schema::{
    gate::{Condition, Limit},
    journal::{Journal, Unavailable},
    suite::Phase,
};
use wirebench_stats::Interval;

use crate::{
    analysis::{Analysis, LimitSide, Metric, MetricFacts, Role},
    build,
    not_measured::{self, is_named},
    view::{Cell, CellId, ConditionResult, Hit, Lost, Verb},
};

/// The result of a condition in a cell.
enum Kept {
    Yes,
    No,
    /// It may be, for this reason.
    Open(String),
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
        // Of `run`, a condition without a change is in `Gate::unjudged`.
        let is_unjudged = evidence.verb == Verb::Run && result.looked_at == 0;
        warnings.extend(more.into_iter().filter(|_| !is_unjudged));
        results.push(result);
    }
    (!conditions.is_empty()).then(|| Gate::of(results, evidence.lost, warnings))
}

/// The conditions on a result of `run`: changes are those of a server against the baseline.
#[must_use]
pub fn of_run(analysis: &Analysis<'_>, conditions: &[Condition]) -> Option<Gate> {
    let cells = if conditions.is_empty() { Vec::new() } else { build::cells(analysis) };
    let evidence = Evidence { verb: Verb::Run, cells: &cells, ..Evidence::default() };
    let lost = lost(analysis.journal, &evidence, conditions);
    judge(conditions, Evidence { lost, ..evidence })
}

/// Servers that a condition concerns and that have no figures: what is worse than any figure must not pass.
fn lost(journal: &Journal, evidence: &Evidence<'_>, conditions: &[Condition]) -> Vec<Lost> {
    let is_concerned = |it: &&Cell| {
        let phase = it.id.phase;
        let by = |condition: &Condition| match condition.limit {
            Limit::Change(_) => condition.figure.changes_in(phase).is_some(),
            Limit::Value(_) | Limit::Share(_) => evidence.concerns(condition, it),
        };
        let is_whole = it.id.request.is_none() && it.role != Role::SecondOfBaseline;
        let is_judged = is_whole && phase != Phase::Idle && !evidence.is_reference(it);
        it.runs.measured == 0 && is_judged && conditions.iter().any(by)
    };
    let lost = evidence.cells.iter().filter(is_concerned).filter_map(|it| {
        let reason = not_measured::lost(journal, &it.id.variant()?, &it.id.load);
        Some(Lost { cell: it.id.clone(), reason })
    });
    // Servers that were named and have no row.
    let is_meant = |it: &&Unavailable| {
        let by = |of: &Condition| of.of.as_ref().is_none_or(|name| it.variant.is_called(name));
        is_named(journal, &it.variant) && conditions.iter().any(by)
    };
    let absent = journal.unavailable.iter().filter(is_meant).filter_map(|it| {
        let workload = journal.start.workloads.first()?;
        Some(Lost { cell: CellId::of(workload, &it.variant, 0), reason: it.reason.clone() })
    });
    lost.chain(absent).collect()
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
