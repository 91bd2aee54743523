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
    /// Cells that were not compared.
    pub(crate) left_out: &'a [LeftOut],
    /// Figures that are in the older result alone.
    pub(crate) lost_figures: &'a [(Cell, Metric)],
    pub(crate) subjects: &'a [Subject<'a>],
    /// True if nothing can have changed, so that conditions on changes do not apply.
    pub(crate) nothing_differs: bool,
}

/// Looks at all conditions; none without conditions. Cells that were not compared and figures that are
/// in the older result alone count as well.
pub(crate) fn judge(conditions: &[Condition], evidence: &Evidence<'_>) -> Option<Gate> {
    if conditions.is_empty() {
        return None;
    }
    let Evidence { changes, left_out, lost_figures, subjects, .. } = evidence;
    let lost = left_out.iter().filter(|it| it.presence == Presence::Lost);
    let lost = lost.map(|it| Lost { cell: it.cell.clone(), reason: it.reason.clone() });
    let is_named = |(cell, metric): &&(Cell, Metric)| {
        let metrics = conditions.iter().filter_map(OnChange::of);
        metrics.into_iter().any(|it| it.metric(cell.phase) == Some(*metric))
    };
    let figures = lost_figures.iter().filter(is_named).map(|(cell, metric)| Lost {
        cell: cell.clone(),
        reason: format!("{} is missing in the newer result", metric.title()),
    });
    let mut gate =
        Gate { conditions: Vec::new(), lost: lost.chain(figures).collect(), warnings: Vec::new() };
    for condition in conditions {
        let (result, warnings) = match OnChange::of(condition) {
            Some(_) if evidence.nothing_differs => continue,
            Some(it) => it.judge(changes),
            None => (limits::judge(condition, subjects), Vec::new()),
        };
        gate.warnings.extend(warnings);
        gate.conditions.push(result);
    }
    Some(gate)
}
