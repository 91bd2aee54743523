//! The conditions of `--fail-if`, which are those of `compare`: A is the old one, B the new one.

use super::{Figure, Side, figure::Spread, side::State, verdict::Support};
use crate::{
    analysis::{SideRatio, WorkloadRows},
    compare::{
        Cell, Change, Condition, Figure as SideFigure, Gate, Hit, LeftOut, Presence,
        gate::judge as decide,
    },
};

/// Looks at all conditions; none without conditions.
pub(super) fn judge(
    conditions: &[Condition],
    rows: &WorkloadRows<'_>,
    sides: &[Side<'_>; 2],
    figures: &[Figure],
    support: impl Fn(&Figure) -> Support,
) -> Option<Gate> {
    let cell = Cell {
        workload: rows.workload.name.clone(),
        phase: rows.workload.phase,
        variant: sides[1].described.variant.clone(),
        copy: 0,
    };
    let of_figure = |figure: &Figure| change(&cell, sides, figure, figure.ratio.as_ref()?);
    let changes: Vec<Change> = figures.iter().filter_map(of_figure).collect();
    let mut gate = decide(conditions, &changes, (&lost(&cell, sides), &[]))?;
    for figure in figures {
        withhold(&mut gate, &changes, figure, support(figure));
    }
    gate.warnings.dedup();
    Some(gate)
}

/// B without figures is worse than any figure.
fn lost(cell: &Cell, sides: &[Side<'_>; 2]) -> Vec<LeftOut> {
    let State::NotMeasured(reason) = &sides[1].state else { return Vec::new() };
    let (cell, reason) = (cell.clone(), format!("{} {reason}", sides[1].name));
    vec![LeftOut { cell, presence: Presence::Lost, reason }]
}

/// Figures that are not valid neither fail nor pass a condition, those of a disturbed machine pass
/// none, and the gate says so.
fn withhold(gate: &mut Gate, changes: &[Change], figure: &Figure, support: Support) {
    let warning = match support {
        Support::All => return,
        Support::Difference => "most runs are disturbed by other work, so no condition can pass",
        Support::Nothing => {
            "most runs are not valid, so no condition can fail; --strict makes this exit code 3"
        }
    };
    let Some(change) = changes.iter().find(|it| it.metric == figure.metric) else { return };
    for it in gate.conditions.iter_mut().filter(|it| it.condition.concerns(change)) {
        gate.warnings.push(warning.to_owned());
        if support == Support::Difference && !it.failed.is_empty() {
            continue;
        }
        it.inconclusive = vec![Hit::of(change, Some("most runs are not valid"))];
        it.failed.clear();
        it.passed.clear();
    }
}

fn change(
    cell: &Cell,
    sides: &[Side<'_>; 2],
    figure: &Figure,
    ratio: &SideRatio,
) -> Option<Change> {
    let of_side = |index: usize| -> Option<SideFigure> {
        let Spread { median, least, most } = figure.values[index]?;
        let blocks = ratio.estimate.samples;
        Some(SideFigure { median, least, most, blocks, doubts: Vec::new() })
    };
    Some(Change {
        cell: cell.clone(),
        metric: figure.metric,
        old: of_side(0)?,
        new: of_side(1)?,
        relative_to: Some(sides[0].described.variant.clone()),
        estimate: ratio.estimate,
        p_adjusted: ratio.p_adjusted,
        margin: ratio.margin,
        reads: ratio.reads,
        claim: ratio.claim,
        inconclusive: ratio.inconclusive,
        same_program: Side::same_program(sides),
    })
}
