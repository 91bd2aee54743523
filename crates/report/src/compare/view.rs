//! The view of a comparison: the newer result's figures, and their ratios to the older one's.

use std::collections::BTreeMap;

use super::{Cell, Change, Comparison, words};
use crate::{
    analysis::Inconclusive,
    view::{
        self, CellId, ComparisonFacts, FORMAT, Figure, Ratio, Reference, ResultView, Runs, Verb,
    },
};

pub(super) fn view(comparison: &Comparison) -> ResultView<'_> {
    let mut cells: BTreeMap<&Cell, Vec<&Change>> = BTreeMap::new();
    for change in &comparison.changes {
        cells.entry(&change.cell).or_default().push(change);
    }
    ResultView {
        sentence: words::summary(comparison),
        format: FORMAT,
        verb: Verb::Compare,
        results: vec![comparison.old.source(), comparison.new.source()],
        cells: cells.into_iter().map(|(cell, changes)| of_cell(cell, &changes)).collect(),
        comparison: Some(ComparisonFacts {
            forced: &comparison.forced,
            warnings: &comparison.warnings,
            versions: &comparison.versions,
            nothing_differs: comparison.nothing_differs,
            baseline_drift: &comparison.yardsticks,
            left_out: &comparison.left_out,
        }),
        gate: comparison.gate.as_ref(),
        ..ResultView::default()
    }
}

fn of_cell(cell: &Cell, changes: &[&Change]) -> view::Cell {
    let is_valid = |it: &Change| it.ratio.inconclusive != Some(Inconclusive::NotValid);
    let figure = |it: &&Change| {
        let to = if it.relative_to.is_some() { Reference::OlderRatio } else { Reference::Older };
        let ratio = Ratio {
            reference: Some(it.old.median),
            ..Ratio::of(to, it.ratio.clone(), is_valid(it))
        };
        let ratios = vec![ratio];
        Figure { ratios, ..Figure::of(it.metric, it.new.median, is_valid(it)) }
    };
    let doubts = changes.iter().flat_map(|it| it.old.doubts.iter().chain(&it.new.doubts));
    let mut notes: Vec<String> = doubts.map(ToString::to_string).collect();
    notes.dedup();
    view::Cell {
        id: CellId {
            load: cell.workload.clone(),
            request: None,
            phase: cell.phase,
            server: cell.variant.to_string(),
            copy: cell.copy,
        },
        valid: changes.iter().all(|it| is_valid(it)),
        trouble: notes.first().cloned(),
        runs: Runs {
            measured: changes.iter().map(|it| it.new.blocks).max().unwrap_or(0),
            ..Runs::default()
        },
        same_program: changes.iter().find_map(|it| it.same_program),
        figures: changes.iter().map(figure).collect(),
        notes,
        ..view::Cell::default()
    }
}
