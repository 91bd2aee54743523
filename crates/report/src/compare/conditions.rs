//! All conditions of `--fail-if` together: which are about changes, which about values, and what was lost.

use wirebench_schema::gate::Condition;

use super::{
    Cell, Change, LeftOut, Presence,
    gate::{Gate, Lost},
    limits::{self, Subject},
    relative::OnChange,
};
use crate::analysis::{Metric, MetricFacts};

/// What conditions are compared with.
#[derive(Default)]
pub(crate) struct Evidence<'a> {
    pub(crate) changes: &'a [Change],
    /// Cells without figures that they should have.
    pub(crate) lost: Vec<Lost>,
    pub(crate) subjects: &'a [Subject<'a>],
    /// True if nothing can have changed, so that conditions on changes do not apply.
    pub(crate) nothing_differs: bool,
}

/// Looks at all conditions; none without conditions.
pub(crate) fn judge(conditions: &[Condition], evidence: Evidence<'_>) -> Option<Gate> {
    let (mut results, mut warnings) = (Vec::new(), Vec::new());
    for condition in conditions {
        let (result, more) = match OnChange::of(condition) {
            Some(_) if evidence.nothing_differs => continue,
            Some(it) => it.judge(evidence.changes),
            None => (limits::judge(condition, evidence.subjects), Vec::new()),
        };
        warnings.extend(more);
        results.push(result);
    }
    (!conditions.is_empty()).then(|| Gate::of(results, evidence.lost, warnings))
}

/// Cells that broke, and those of which a figure that a condition names is in the older result alone.
pub(super) fn lost(
    left_out: &[LeftOut],
    figures: &[(Cell, Metric)],
    conditions: &[Condition],
) -> Vec<Lost> {
    let broke = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let broke = broke.map(|it| Lost { cell: it.cell.clone(), reason: it.reason.clone() });
    let is_named = |(cell, metric): &&(Cell, Metric)| {
        let mut named = conditions.iter().filter_map(OnChange::of);
        named.any(|it| it.metric(cell.phase) == Some(*metric))
    };
    let figures = figures.iter().filter(is_named).map(|(cell, metric)| Lost {
        cell: cell.clone(),
        reason: format!("{} is missing in the newer result", metric.title()),
    });
    broke.chain(figures).collect()
}
