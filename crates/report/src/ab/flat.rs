//! Both sides as rows: A is the reference, and B's figures have ratios to A's.

use std::collections::BTreeSet;
use wirebench_schema::journal::Bound;

use super::{Ab, Figure};
use crate::{
    analysis::{Metric, Row},
    flat::{Flat, FlatFigure, FlatRatio, FlatRow},
    json,
};

pub(super) fn flat(ab: &Ab<'_>) -> Flat {
    let start = &ab.journal.start;
    let rows = [(json::BASELINE, 0), ("entrant", 1)].map(|(role, side)| row(ab, role, side));
    Flat::of(&start.suite, &start.started, rows.into())
}

fn row(ab: &Ab<'_>, role: &'static str, index: usize) -> FlatRow {
    let side = &ab.sides[index];
    let instances: Vec<&Row<'_>> = side.instances.iter().map(|row| &ab.rows.rows[*row]).collect();
    let figure = |figure: &Figure| {
        let [a, b] = [0, 1].map(|index| is_valid(ab, index, figure.metric));
        let ratio = figure.ratio.as_ref().filter(|_| index == 1);
        let ratio = ratio.map(|it| FlatRatio::of(&it.ratio, a && b));
        Some(FlatFigure {
            metric: figure.metric,
            value: figure.medians()[index]?,
            interval: None,
            valid: if index == 0 { a } else { b },
            ratio,
        })
    };
    let bound: BTreeSet<Bound> = instances.iter().flat_map(|row| row.bound()).collect();
    FlatRow {
        workload: ab.rows.workload.name.clone(),
        phase: ab.rows.workload.phase,
        entry: side.name.to_owned(),
        role,
        class: side.described.class,
        valid: is_valid(ab, index, Metric::Cpu),
        runs: side.runs - side.failed,
        failed: side.failed,
        invalid: side.invalid,
        tail_invalid: instances.iter().map(|row| row.tail_invalid()).sum(),
        trouble: side.trouble(),
        generator_limited: instances.iter().any(|row| row.is_limited()),
        errors: instances.iter().map(|row| row.errors()).sum(),
        bound_by: bound.into_iter().collect(),
        figures: ab.figures.iter().filter_map(figure).collect(),
        ..FlatRow::default()
    }
}

/// Whether a figure of a side is what it claims to be.
pub(super) fn is_valid(ab: &Ab<'_>, index: usize, metric: Metric) -> bool {
    let mut rows = ab.sides[index].instances.iter().map(|row| &ab.rows.rows[*row]);
    rows.any(|row| row.standing(metric).is_compared())
}
