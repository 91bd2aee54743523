//! The conditions of `--fail-if`: changes are those of B against A, and values those of B unless a condition names A.

use wirebench_judge::standing::Standing;
use wirebench_schema::gate::Condition;

use super::{Figure, Side};
use crate::{
    analysis::{JudgedRatio, WorkloadRows},
    compare::{
        Cell, Change, Figure as SideFigure, Gate, Lost,
        conditions::{Evidence, judge as decide},
        limits::Subject,
    },
};

/// Looks at all conditions; none without conditions.
pub(super) fn judge(
    conditions: &[Condition],
    rows: &WorkloadRows<'_>,
    sides: &[Side<'_>; 2],
    figures: &[Figure],
) -> Option<Gate> {
    let cell = Cell::of(&rows.workload, &sides[1].described.variant, 0);
    let of_figure = |figure: &Figure| change(&cell, sides, figure, &figure.ratio.as_ref()?.ratio);
    let changes: Vec<Change> = figures.iter().filter_map(of_figure).collect();
    let subjects = [0, 1].map(|index| subject(rows, &sides[index], index == 0));
    let reason = format!("{} {}", sides[1].name, sides[1].trouble());
    // B without figures is worse than any figure.
    let is_lost = sides[1].standing == Standing::NotMeasured;
    let lost = is_lost.then_some(Lost { cell, reason }).into_iter().collect();
    let evidence = Evidence { changes: &changes, lost, subjects: &subjects, ..Evidence::default() };
    decide(conditions, evidence)
}

/// A side with its instances.
fn subject<'a>(rows: &'a WorkloadRows<'a>, side: &Side<'a>, is_reference: bool) -> Subject<'a> {
    let instances = side.instances.iter().map(|row| &rows.rows[*row]).collect();
    let mut subject = Subject::of_rows(rows, instances);
    (subject.label, subject.is_reference, subject.has_all) = (Some(side.name), is_reference, true);
    subject
}

fn change(
    cell: &Cell,
    sides: &[Side<'_>; 2],
    figure: &Figure,
    ratio: &JudgedRatio,
) -> Option<Change> {
    let of_side = |index: usize| -> Option<SideFigure> {
        Some(SideFigure { blocks: ratio.estimate.samples, ..figure.values[index].clone()? })
    };
    Some(Change {
        relative_to: Some(sides[0].described.variant.clone()),
        same_program: Side::same_program(sides),
        ..Change::of(cell.clone(), figure.metric, [of_side(0)?, of_side(1)?], ratio.clone())
    })
}
