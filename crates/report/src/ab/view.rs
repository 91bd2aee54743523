//! The cells of a comparison of two servers: A is the reference, and B's figures have ratios to A's.

use wirebench_judge::standing::Standing;
use wirebench_schema::{gate::Condition, journal::Journal};

use super::{Ab, Side};
use crate::{
    analysis::{Metric, MetricFacts, Role, WorkloadRows},
    build::{cell, loads, of_workload},
    gates::{self, Evidence},
    view::{Cell, Gate, Lost, Ratio, Reference, ResultView, Source, Verb},
    why::whys,
};

/// The cells of each side, with ratios of one family besides that of `main`, which was chosen before the first run.
pub(super) fn cells(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    sides: &[Side<'_>; 2],
    main: Metric,
) -> [Vec<Cell>; 2] {
    let mut cells = [0, 1].map(|index| of_side(journal, rows, sides, index, main));
    let [a, b] = &mut cells;
    let phase = rows.workload.phase;
    // A rate that was given is no result.
    let is_compared = |metric: Metric| metric.changes_in(phase).is_some();
    let both = b[0].figures.iter_mut().filter_map(|it| Some((a[0].figure(it.metric)?, it)));
    let both: Vec<_> = both.filter(|(_, it)| is_compared(it.metric)).collect();
    let others = both.iter().filter(|(_, it)| it.metric != main).count();
    for (before, figure) in both {
        let comparisons = if figure.metric == main { 1 } else { others };
        let instances = sides.each_ref().map(|side| side.instances.as_slice());
        let Some(found) = rows.versus(instances, figure.metric, comparisons) else { continue };
        let valid = before.valid && figure.valid;
        figure.ratios.push(Ratio {
            reference: Some(before.value),
            ..Ratio::of(Reference::Baseline, found, valid)
        });
    }
    cells
}

fn of_side(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    sides: &[Side<'_>; 2],
    index: usize,
    main: Metric,
) -> Vec<Cell> {
    let side = &sides[index];
    let mut cells = match side.instances.as_slice() {
        [] => vec![of_workload(&rows.workload, &side.described.variant, 0)],
        instances => cell(journal, rows, instances, main),
    };
    for cell in &mut cells {
        cell.trouble = Some(side.trouble()).filter(|it| !it.is_empty());
        cell.role = if index == 0 { Role::Baseline } else { Role::Entrant };
        cell.same_program = if index == 0 { None } else { Side::same_program(sides) };
    }
    cells
}

/// B over A.
pub(super) fn ratio(cells: &[Vec<Cell>; 2], metric: Metric) -> Option<&Ratio> {
    cells[1][0].figure(metric)?.ratio()
}

/// The conditions of `--fail-if`: changes are those of B against A, and values those of B unless a condition names A.
pub(super) fn gate(conditions: &[Condition], cells: &[Vec<Cell>; 2], b: &Side<'_>) -> Option<Gate> {
    // B without figures is worse than any figure.
    let is_lost = b.standing == Standing::NotMeasured;
    let reason = format!("{} {}", b.name, b.trouble());
    let lost = is_lost.then(|| Lost { cell: cells[1][0].id.clone(), reason });
    let (lost, cells) = (lost.into_iter().collect(), &cells.concat());
    gates::judge(conditions, Evidence { verb: Verb::Ab, cells, lost, nothing_differs: false })
}

pub(super) fn view<'a>(ab: &'a Ab<'_>) -> ResultView<'a> {
    let mut loads = loads(std::slice::from_ref(&ab.rows));
    loads.iter_mut().for_each(|it| it.primary_metric = ab.metric.field());
    let mut cells = ab.cells.clone();
    for (side, cells) in ab.sides.iter().zip(&mut cells) {
        cells.iter_mut().for_each(|it| side.name.clone_into(&mut it.id.server));
    }
    ResultView {
        verdict: Some(ab.verdict.name()),
        results: vec![Source::of(ab.journal)],
        loads,
        why: whys(ab.journal, std::slice::from_ref(&ab.rows)),
        gate: ab.gate.as_ref(),
        ..ResultView::of(Verb::Ab, ab.sentence(), cells.concat())
    }
}
