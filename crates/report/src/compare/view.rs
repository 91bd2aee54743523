//! The view of a comparison: the newer result's figures, and their ratios to the older one's.

use wirebench_schema::journal::Journal;

use super::{Change, Comparison, words};
use crate::{
    analysis::{Metric, MetricFacts, Role, WorkloadRows},
    build::cell,
    view::{Cell, ResultView},
};

/// All cells of the newer result, with these changes.
pub(super) fn cells(
    journal: &Journal,
    workloads: &[WorkloadRows<'_>],
    changes: &[Change],
) -> Vec<Cell> {
    let all = workloads.iter().flat_map(|rows| {
        let primary = Metric::primary(rows.workload.phase);
        (0..rows.rows.len()).flat_map(move |row| cell(journal, rows, &[row], primary))
    });
    let mut all: Vec<Cell> = all.filter(|it| it.role != Role::SecondOfBaseline).collect();
    for change in changes {
        let Some(cell) = all.iter_mut().find(|it| it.id == change.cell) else { continue };
        cell.same_program = change.same_program;
        cell.notes.extend(change.doubts[0].iter().map(ToString::to_string));
        let figure = cell.figures.iter_mut().find(|it| it.metric == change.metric);
        figure.into_iter().for_each(|it| it.ratios.push(change.ratio.clone()));
    }
    all
}

pub(super) fn view(comparison: &Comparison) -> ResultView<'_> {
    let cells = match comparison.is_of_loads() {
        true => comparison.cells.clone(),
        false => comparison.cells.iter().filter_map(compared).collect(),
    };
    ResultView {
        results: comparison.results.iter().map(|it| it.source.clone()).collect(),
        comparison: Some(&comparison.facts),
        gate: comparison.gate.as_ref(),
        ..ResultView::of(comparison.verb, words::summary(comparison), cells)
    }
}

/// The figures of a cell that were compared; none without any.
fn compared(cell: &Cell) -> Option<Cell> {
    let figures = cell.figures.iter().filter(|it| !it.ratios.is_empty()).cloned().collect();
    let cell = Cell { figures, ..cell.clone() };
    (!cell.figures.is_empty()).then_some(cell)
}
