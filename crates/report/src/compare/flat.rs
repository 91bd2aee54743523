//! A comparison as rows: the newer result's figures, and their ratios to the older one's.

use std::collections::BTreeMap;

use super::{Cell, Change, Comparison};
use crate::{
    analysis::Inconclusive,
    flat::{Flat, FlatFigure, FlatRatio, FlatRow},
};

pub(super) fn flat(comparison: &Comparison) -> Flat {
    let mut cells: BTreeMap<&Cell, Vec<&Change>> = BTreeMap::new();
    for change in &comparison.changes {
        cells.entry(&change.cell).or_default().push(change);
    }
    let rows = cells.into_iter().map(|(cell, changes)| row(cell, &changes)).collect();
    Flat::of(&comparison.new.suite, &comparison.new.started, rows)
}

fn row(cell: &Cell, changes: &[&Change]) -> FlatRow {
    let is_valid = |it: &Change| it.ratio.inconclusive != Some(Inconclusive::NotValid);
    let figure = |it: &&Change| FlatFigure {
        metric: it.metric,
        value: it.new.median,
        interval: None,
        valid: is_valid(it),
        ratio: Some(FlatRatio::of(&it.ratio, is_valid(it))),
    };
    let mut doubts = changes.iter().flat_map(|it| it.old.doubts.iter().chain(&it.new.doubts));
    FlatRow {
        trouble: doubts.next().map(ToString::to_string).unwrap_or_default(),
        workload: cell.workload.clone(),
        phase: cell.phase,
        entry: cell.variant.to_string(),
        copy: cell.copy,
        role: "entrant",
        valid: changes.iter().all(|it| is_valid(it)),
        runs: changes.iter().map(|it| it.new.blocks).max().unwrap_or(0),
        figures: changes.iter().map(figure).collect(),
        ..FlatRow::default()
    }
}
