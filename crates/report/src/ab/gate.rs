//! The conditions of `--fail-if`: changes are those of B against A, and values those of B unless a condition names A.

use wirebench_schema::gate::Condition;

use super::{Figure, Side, Verdict, side::State};
use crate::{
    analysis::{Metric, PairRatio, SideRatio, WorkloadRows},
    compare::{
        Cell, Change, Figure as SideFigure, Gate, LeftOut, Presence,
        conditions::{Evidence, judge as decide, withhold},
        limits::Subject,
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
    let cell = Cell::of(&rows.workload, &sides[1].described.variant, 0);
    let of_figure = |figure: &Figure| change(&cell, sides, figure, figure.ratio.as_ref()?);
    let changes: Vec<Change> = figures.iter().filter_map(of_figure).collect();
    let subjects = [0, 1].map(|index| subject(rows, &sides[index], index == 0));
    let evidence = Evidence {
        changes: &changes,
        left_out: &lost(&cell, sides),
        subjects: &subjects,
        ..Evidence::default()
    };
    let mut gate = decide(conditions, &evidence)?;
    for figure in figures {
        let sides = sides_by(figure.metric);
        let is_valid = sides.iter().all(|side| side.state == State::Valid);
        let change = changes.iter().find(|it| it.metric == figure.metric && !is_valid);
        if let Some(change) = change {
            let stands = matches!(Verdict::of(&sides, Some(figure)), Verdict::Claimed(_));
            let what = if stands { "pass" } else { "fail; --strict makes this exit code 3" };
            if withhold(&mut gate, change, stands) {
                let warning = format!("most runs are not valid, so no condition can {what}");
                gate.warnings.push(warning);
            }
        }
    }
    gate.warnings.dedup();
    Some(gate)
}

/// A side with its instances.
fn subject<'a>(rows: &'a WorkloadRows<'a>, side: &Side<'a>, is_reference: bool) -> Subject<'a> {
    let instances = side.instances.iter().map(|row| &rows.rows[*row]).collect();
    let mut subject = Subject::of_rows(rows, instances);
    (subject.label, subject.is_reference, subject.has_all) = (Some(side.name), is_reference, true);
    subject
}
/// B without figures is worse than any figure.
fn lost(cell: &Cell, sides: &[Side<'_>; 2]) -> Vec<LeftOut> {
    let State::NotMeasured(reason) = &sides[1].state else { return Vec::new() };
    let (cell, reason) = (cell.clone(), format!("{} {reason}", sides[1].name));
    vec![LeftOut { cell, presence: Presence::Lost, reason }]
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
    let SideRatio { estimate, p_adjusted, margin, reads, claim, inconclusive, .. } = *ratio;
    let ratio = PairRatio { estimate, p_adjusted, margin, reads, claim, inconclusive };
    Some(Change {
        relative_to: Some(sides[0].described.variant.clone()),
        same_program: Side::same_program(sides),
        ..Change::of(cell.clone(), figure.metric, [of_side(0)?, of_side(1)?], &ratio)
    })
}
