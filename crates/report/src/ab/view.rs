//! The view of a comparison of two servers: A is the reference, and B's figures have ratios to A's.

use super::{Ab, Figure, Side};
use crate::{
    analysis::{MetricFacts, Role},
    build::{cell, loads},
    view::{self, Cell, CellId, FORMAT, Ratio, Reference, ResultView, Source, Verb},
    why::whys,
};

pub(super) fn view<'a>(ab: &'a Ab<'_>) -> ResultView<'a> {
    let mut loads = loads(std::slice::from_ref(&ab.rows));
    loads.iter_mut().for_each(|it| it.primary_metric = ab.metric.field());
    ResultView {
        sentence: ab.sentence(),
        format: FORMAT,
        verb: Verb::Ab,
        verdict: Some(ab.verdict.name()),
        results: vec![Source::of(ab.journal)],
        loads,
        cells: [0, 1].into_iter().flat_map(|side| cells(ab, side)).collect(),
        why: whys(ab.journal, std::slice::from_ref(&ab.rows)),
        gate: ab.gate.as_ref(),
        ..ResultView::default()
    }
}

fn cells(ab: &Ab<'_>, index: usize) -> Vec<Cell> {
    let side = &ab.sides[index];
    let mut cells = match side.instances.as_slice() {
        [] => vec![Cell::default()],
        instances => cell(ab.journal, &ab.rows, instances),
    };
    for cell in &mut cells {
        let trouble = Some(side.trouble()).filter(|it| !it.is_empty());
        let (load, phase) = (ab.rows.workload.name.clone(), ab.rows.workload.phase);
        let id = CellId { load, phase, server: side.name.to_owned(), copy: 0, ..cell.id.clone() };
        (cell.id, cell.trouble) = (id, trouble);
        cell.role = if index == 0 { Role::Baseline } else { Role::Entrant };
        cell.same_program = if index == 0 { None } else { Side::same_program(&ab.sides) };
    }
    let of_whole = |figure: &view::Figure| {
        let found: &Figure = ab.figures.iter().find(|it| it.metric == figure.metric)?;
        let ratio = found.ratio.as_ref()?;
        let valid = [0, 1].iter().all(|side| ab.is_side_valid(*side, found.metric));
        Some(Ratio {
            reference: found.medians()[0],
            detectable: ratio.detectable,
            checks: ratio.checks.to_vec(),
            ..Ratio::of(Reference::Baseline, ratio.ratio.clone(), valid)
        })
    };
    if let Some(whole) = cells.first_mut().filter(|_| index == 1) {
        whole.figures.iter_mut().for_each(|it| it.ratios.extend(of_whole(it)));
    }
    cells
}
