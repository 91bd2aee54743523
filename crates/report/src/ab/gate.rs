//! The conditions of `--fail-if`, which are those of `compare`: A is the old one, B the new one.

use super::{Figure, Side, Verdict, side::State};
use crate::{
    analysis::{Metric, SideRatio, WorkloadRows},
    compare::{
        Cell, Change, Condition, Figure as SideFigure, Gate, Hit, LeftOut, Movement, Presence,
        gate::judge as decide,
    },
};

/// Looks at all conditions; none without conditions.
pub(super) fn judge<'a>(
    conditions: &[Condition],
    rows: &WorkloadRows<'_>,
    sides: &[Side<'_>; 2],
    figures: &[Figure],
    sides_by: impl Fn(Metric) -> [Side<'a>; 2],
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
        let sides = sides_by(figure.metric);
        let is_valid = sides.iter().all(|side| side.state == State::Valid);
        let change = changes.iter().find(|it| it.metric == figure.metric && !is_valid);
        if let Some(change) = change {
            withhold(&mut gate, change, &Verdict::of(&sides, Some(figure)));
        }
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
fn withhold(gate: &mut Gate, change: &Change, verdict: &Verdict) {
    let stands = matches!(verdict, Verdict::Claimed(_));
    let what = if stands { "pass" } else { "fail; --strict makes this exit code 3" };
    for it in gate.conditions.iter_mut().filter(|it| it.condition.concerns(change)) {
        gate.warnings.push(format!("most runs are not valid, so no condition can {what}"));
        if !stands || it.failed.is_empty() {
            it.inconclusive = vec![Hit::of(change, Some("most runs are not valid"))];
            it.failed.clear();
            it.passed.clear();
        }
    }
}

fn change(
    cell: &Cell,
    sides: &[Side<'_>; 2],
    figure: &Figure,
    ratio: &SideRatio,
) -> Option<Change> {
    let of_side = |index: usize| -> Option<SideFigure> {
        Some(SideFigure { blocks: ratio.estimate.samples, ..figure.values[index].clone()? })
    };
    Some(Change {
        cell: cell.clone(),
        metric: figure.metric,
        verdict: Movement::of(figure.metric, ratio.claim),
        words: ratio.claim.words(figure.metric),
        estimate: ratio.estimate,
        old: of_side(0)?,
        new: of_side(1)?,
        relative_to: Some(sides[0].described.variant.clone()),
        p_adjusted: ratio.p_adjusted,
        margin: ratio.margin,
        reads: ratio.reads,
        claim: ratio.claim,
        inconclusive: ratio.inconclusive,
        same_program: Side::same_program(sides),
    })
}
