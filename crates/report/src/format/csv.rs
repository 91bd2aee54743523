//! A result as CSV: a line for each row of each workload, with seven columns for each metric.
//!
//! `docs/formats.md` describes the columns. New ones are added at the end.

use crate::{
    analysis::{Metric, MetricFacts},
    flat::{Flat, FlatFigure, FlatRow},
    load_csv::record,
};

type Cell = fn(&Flat, &FlatRow) -> String;

/// Name and content of each column of a row.
const COLUMNS: &[(&str, Cell)] = &[
    ("suite", |flat, _| flat.suite.clone()),
    ("started", |flat, _| flat.started.clone()),
    ("workload", |_, row| row.workload_and_request()),
    ("phase", |_, row| row.phase.to_string()),
    ("entry", |_, row| row.entry.clone()),
    ("copy", |_, row| row.copy.to_string()),
    ("role", |_, row| row.role.to_owned()),
    ("class", |_, row| row.class.map_or_else(String::new, |class| class.to_string())),
    ("valid", |_, row| row.valid.to_string()),
    ("runs", |_, row| row.runs.to_string()),
    ("failed", |_, row| row.failed.to_string()),
    ("errors", |_, row| row.errors.to_string()),
    ("bound_by", |_, row| {
        row.bound_by.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
    }),
];

/// What came later, behind the metrics.
const LAST_COLUMNS: &[(&str, Cell)] = &[
    ("runs_invalid", |_, row| row.invalid.to_string()),
    ("runs_tail_invalid", |_, row| row.tail_invalid.to_string()),
    ("generator_limited", |_, row| row.generator_limited.to_string()),
    ("trouble", |_, row| row.trouble.clone()),
];

type FigureCell = fn(&FlatFigure) -> Option<String>;

/// What follows the metric's name in its columns, and their content.
const FIGURE_COLUMNS: &[(&str, FigureCell)] = &[
    ("", |it| Some(it.value.to_string())),
    ("_low", |it| Some(it.interval?.low.to_string())),
    ("_high", |it| Some(it.interval?.high.to_string())),
    ("_ratio", |it| Some(it.ratio?.estimate.value.to_string())),
    ("_ratio_low", |it| Some(it.ratio?.estimate.interval?.low.to_string())),
    ("_ratio_high", |it| Some(it.ratio?.estimate.interval?.high.to_string())),
    ("_claim", |it| Some(it.ratio?.claim?.name().to_owned())),
];

/// The metrics that came later still, behind [`LAST_COLUMNS`].
const LAST_METRICS: [Metric; 1] = [Metric::Ready];

fn metrics() -> impl Iterator<Item = Metric> {
    Metric::ALL.into_iter().filter(|metric| !LAST_METRICS.contains(metric))
}

/// All of it, with a first line of names.
pub(super) fn text(flat: &Flat) -> String {
    let of_metric = |metric: Metric| {
        FIGURE_COLUMNS.iter().map(move |(suffix, _)| format!("{}{suffix}", metric.field()))
    };
    let names = |columns: &[(&str, Cell)]| {
        columns.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>()
    };
    let head = names(COLUMNS).into_iter().chain(metrics().flat_map(of_metric));
    let head = head.chain(names(LAST_COLUMNS)).chain(LAST_METRICS.into_iter().flat_map(of_metric));
    let rows = flat.rows.iter().map(|row| line(flat, row));
    std::iter::once(record(head)).chain(rows).collect()
}

fn line(flat: &Flat, row: &FlatRow) -> String {
    let of_metric = |metric: Metric| {
        let figure = row.figures.iter().find(|figure| figure.metric == metric);
        FIGURE_COLUMNS.iter().map(move |(_, cell)| figure.and_then(cell).unwrap_or_default())
    };
    let of = |columns: &'static [(&str, Cell)]| columns.iter().map(|(_, cell)| cell(flat, row));
    let figures = of(COLUMNS).chain(metrics().flat_map(of_metric));
    record(figures.chain(of(LAST_COLUMNS)).chain(LAST_METRICS.into_iter().flat_map(of_metric)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_describes_every_column() {
        let manual = include_str!("../../../../docs/formats.md");
        let metrics = Metric::ALL.iter().map(|metric| metric.field());
        let suffixes = FIGURE_COLUMNS.iter().map(|(suffix, _)| *suffix);
        let columns = COLUMNS.iter().chain(LAST_COLUMNS).map(|(name, _)| *name);
        let names = columns.chain(metrics).chain(suffixes);
        for name in names.filter(|name| !name.is_empty()) {
            assert!(manual.contains(&format!("`{name}`")), "docs/formats.md lacks `{name}`");
        }
    }
}
