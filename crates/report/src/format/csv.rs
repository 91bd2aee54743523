//! A result as CSV: a line for each figure of each row, and one for a row without figures.
//!
//! `docs/formats.md` describes the columns. New ones are added at the end.

use crate::{
    analysis::MetricFacts,
    escape,
    flat::{Flat, FlatFigure, FlatRow},
};

/// Of a result, of a row, or of a figure.
enum Cell {
    Result(fn(&Flat) -> &str),
    Row(fn(&FlatRow) -> String),
    Figure(fn(&FlatFigure) -> Option<String>),
}

use Cell::{Figure, Result, Row};

/// Name and content of each column.
const COLUMNS: &[(&str, Cell)] = &[
    ("suite", Result(|it| &it.suite)),
    ("started", Result(|it| &it.started)),
    ("workload", Row(|it| it.workload.clone())),
    ("request", Row(|it| it.request.clone().unwrap_or_default())),
    ("phase", Row(|it| it.phase.to_string())),
    ("entry", Row(|it| it.entry.clone())),
    ("copy", Row(|it| it.copy.to_string())),
    ("role", Row(|it| it.role.to_owned())),
    ("class", Row(|it| it.class.map_or_else(String::new, |class| class.to_string()))),
    ("valid", Row(|it| it.valid.to_string())),
    ("runs", Row(|it| it.runs.to_string())),
    ("failed", Row(|it| it.failed.to_string())),
    ("runs_invalid", Row(|it| it.invalid.to_string())),
    ("runs_tail_invalid", Row(|it| it.tail_invalid.to_string())),
    ("errors", Row(|it| it.errors.to_string())),
    (
        "bound_by",
        Row(|it| it.bound_by.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")),
    ),
    ("generator_limited", Row(|it| it.generator_limited.to_string())),
    ("trouble", Row(|it| it.trouble.clone())),
    ("metric", Figure(|it| Some(it.metric.field().to_owned()))),
    ("unit", Figure(|it| Some(it.metric.unit().to_owned()))),
    ("value", Figure(|it| Some(it.value.to_string()))),
    ("low", Figure(|it| Some(it.interval?.low.to_string()))),
    ("high", Figure(|it| Some(it.interval?.high.to_string()))),
    ("figure_valid", Figure(|it| Some(it.valid.to_string()))),
    ("ratio", Figure(|it| Some(it.ratio?.estimate.value.to_string()))),
    ("ratio_low", Figure(|it| Some(it.ratio?.estimate.interval?.low.to_string()))),
    ("ratio_high", Figure(|it| Some(it.ratio?.estimate.interval?.high.to_string()))),
    ("reads", Figure(|it| Some(it.ratio?.reads.name().to_owned()))),
    ("claim", Figure(|it| Some(it.ratio?.claim?.name().to_owned()))),
];

/// All of it, with a first line of names.
pub(super) fn text(flat: &Flat) -> String {
    let line = |row: &FlatRow, figure: Option<&FlatFigure>| {
        record(COLUMNS.iter().map(|(_, cell)| match cell {
            Result(cell) => cell(flat).to_owned(),
            Row(cell) => cell(row),
            Figure(cell) => figure.and_then(cell).unwrap_or_default(),
        }))
    };
    let of_row = |row: &FlatRow| match row.figures.as_slice() {
        [] => line(row, None),
        figures => figures.iter().map(|it| line(row, Some(it))).collect(),
    };
    let head = record(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    head + &flat.rows.iter().map(of_row).collect::<String>()
}

/// A line of CSV.
pub(crate) fn record(cells: impl Iterator<Item = String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail, and there is nothing but UTF-8.
    let _ = writer.write_record(cells.map(|it| escape::csv(&it)));
    writer
        .into_inner()
        .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
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
