//! A result as CSV: a line for each figure of each row, and one for a row without figures.
//!
//! `docs/formats.md` describes the columns. New ones are added at the end.

use crate::{
    analysis::MetricFacts,
    escape,
    view::{self, ResultView},
};

/// Of a result, of a row, or of a figure.
enum Cell {
    Result(fn(&ResultView<'_>) -> String),
    Row(fn(&view::Cell) -> String),
    Figure(fn(&view::Figure) -> Option<String>),
    Ratio(fn(&view::Ratio) -> Option<String>),
}

use Cell::{Figure, Ratio, Result, Row};

/// Name and content of each column.
const COLUMNS: &[(&str, Cell)] = &[
    ("suite", Result(|it| it.origin().0.to_owned())),
    ("started", Result(|it| it.origin().1.to_owned())),
    ("label", Result(|it| it.origin().2.label.clone().unwrap_or_default())),
    ("revision", Result(|it| it.origin().2.revision.clone().unwrap_or_default())),
    ("load", Row(|it| it.id.load.clone())),
    ("request", Row(|it| it.id.request.clone().unwrap_or_default())),
    ("phase", Row(|it| it.id.phase.to_string())),
    ("connections", Row(|it| it.connections.to_string())),
    ("workers", Row(|it| optional(it.workers))),
    ("rate", Row(|it| optional(it.rate))),
    ("server", Row(|it| it.id.server.clone())),
    ("copy", Row(|it| it.id.copy.to_string())),
    ("role", Row(|it| it.role.name().to_owned())),
    ("class", Row(|it| optional(it.class))),
    ("valid", Row(|it| it.valid.to_string())),
    ("runs", Row(|it| it.runs.measured.to_string())),
    ("failed", Row(|it| it.runs.failed.to_string())),
    ("runs_invalid", Row(|it| it.runs.invalid.to_string())),
    ("runs_tail_invalid", Row(|it| it.runs.tail_invalid.to_string())),
    ("errors", Row(|it| it.errors.to_string())),
    (
        "bound_by",
        Row(|it| it.bound_by.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")),
    ),
    ("generator_limited", Row(|it| it.generator_limited.to_string())),
    ("trouble", Row(|it| it.trouble.clone().unwrap_or_default())),
    ("notes", Row(|it| it.notes.join("; "))),
    ("metric", Figure(|it| Some(it.metric.field().to_owned()))),
    ("unit", Figure(|it| Some(it.unit.to_owned()))),
    ("value", Figure(|it| Some(it.value.to_string()))),
    ("low", Figure(|it| Some(it.interval?.low.to_string()))),
    ("high", Figure(|it| Some(it.interval?.high.to_string()))),
    ("figure_valid", Figure(|it| Some(it.valid.to_string()))),
    ("ratio", Ratio(|it| finite(it.judged.estimate.value))),
    ("ratio_low", Ratio(|it| Some(it.judged.estimate.interval?.low.to_string()))),
    ("ratio_high", Ratio(|it| Some(it.judged.estimate.interval?.high.to_string()))),
    ("reads", Ratio(|it| Some(it.judged.reads.name().to_owned()))),
    ("claim", Ratio(|it| Some(it.judged.claim?.name().to_owned()))),
    ("reference", Ratio(|it| Some(it.reference?.to_string()))),
];

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |it| it.to_string())
}

fn finite(value: f64) -> Option<String> {
    value.is_finite().then(|| value.to_string())
}

/// All of it, with a first line of names.
#[must_use]
pub fn text(result: &ResultView<'_>) -> String {
    header() + &lines(result)
}

/// The first line.
#[must_use]
pub fn header() -> String {
    record(COLUMNS.iter().map(|(name, _)| (*name).to_owned()))
}

/// The other lines.
#[must_use]
pub fn lines(result: &ResultView<'_>) -> String {
    let line = |row: &view::Cell, figure: Option<&view::Figure>| {
        record(COLUMNS.iter().map(|(_, cell)| match cell {
            Result(cell) => cell(result),
            Row(cell) => cell(row),
            Figure(cell) => figure.and_then(cell).unwrap_or_default(),
            Ratio(cell) => figure.and_then(view::Figure::ratio).and_then(cell).unwrap_or_default(),
        }))
    };
    let of_row = |row: &view::Cell| match row.figures.as_slice() {
        [] => line(row, None),
        figures => figures.iter().map(|it| line(row, Some(it))).collect(),
    };
    result.cells.iter().map(of_row).collect()
}

/// A line of CSV.
pub(crate) fn record(cells: impl Iterator<Item = String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail, and there is nothing but UTF-8.
    let _ = writer.write_record(cells.map(|it| escape::csv(&it)));
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_describes_every_column() {
        let manual = include_str!("../../../../docs/formats.md");
        for (name, _) in COLUMNS {
            assert!(manual.contains(&format!("`{name}`")), "docs/formats.md lacks `{name}`");
        }
    }
}
