//! The table of a scenario: servers as rows, the figures of each load as columns.

use maud::{Markup, html};
use std::ops::Range;
use wirebench_schema::{
    id::VariantId,
    journal::{Described, Journal},
};
use wirebench_stats::PairLevel;

use crate::{
    analysis::{JudgedRatio, Row, WorkloadRows},
    chart::{Axis, ratio},
    screen::{
        figures::{cell, head, subject},
        model::{Block, Column, Group, Outcome, Value},
        row::{is_listed, name},
    },
    shown::shown,
    table_units::percent,
};

/// The heads of columns may be longer than on a terminal.
const LONGEST_HEAD: usize = 40;
/// What fits a wide screen, a sign of the table and the space around a cell, in CSS pixels.
const PAGE_WIDTH: f64 = 1248.0;
const SIGN_WIDTH: f64 = 8.8;
const CELL_SPACE: f64 = 18.0;
/// Ratios from which a difference is coloured more strongly.
const STRONGER: [f64; 2] = [1.15, 1.5];

/// Behind the name of a server that is known not to keep to its scenario in some point.
pub(super) const KNOWN: &str = "\u{2020}";

/// Whether an entry declares a deviation from its scenario.
pub(super) fn deviates(journal: &Journal, variant: &VariantId) -> bool {
    journal.verified.iter().any(|it| it.variant == *variant && !it.deviates.is_empty())
}

/// A scenario, with as many loads next to each other as fit, and the others below them.
pub(super) fn tables(journal: &Journal, block: &Block, loads: &[&WorkloadRows<'_>]) -> Markup {
    html! {
        @for groups in lines(block) {
            @let part = Block { groups: block.groups[groups.clone()].to_vec(), ..block.clone() };
            (table(journal, &part, &loads[groups.clone()], groups.start > 0))
        }
    }
}

/// The groups of columns that fit next to each other, line by line; each line has at least one.
fn lines(block: &Block) -> Vec<Range<usize>> {
    let names = block.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut lines: Vec<Range<usize>> = Vec::new();
    let mut used = 0.0;
    for (index, group) in block.groups.iter().enumerate() {
        let width = width(group);
        match lines.last_mut() {
            Some(line) if used + width <= PAGE_WIDTH => {
                line.end = index + 1;
                used += width;
            }
            _ => {
                lines.push(index..index + 1);
                used = names as f64 * SIGN_WIDTH + CELL_SPACE + width;
            }
        }
    }
    lines
}

/// About the width of the columns of a load, in CSS pixels.
fn width(group: &Group) -> f64 {
    let column = |(place, column): (usize, &Column)| {
        let head = head(*column, group.baseline.as_deref(), LONGEST_HEAD).chars().count();
        let cells = (0..group.cells.len()).filter_map(|row| {
            let value = group.cells[row].as_ref()?[place];
            Some(text_of(*column, value, group, row).chars().count())
        });
        let signs = cells.chain([head]).max().unwrap_or(0);
        let picture = if *column == Column::Outcome { ratio::WIDTH + CELL_SPACE } else { 0.0 };
        signs as f64 * SIGN_WIDTH + CELL_SPACE + picture
    };
    group.columns.iter().enumerate().map(column).sum()
}

fn table(
    journal: &Journal,
    block: &Block,
    loads: &[&WorkloadRows<'_>],
    is_continued: bool,
) -> Markup {
    let pairs: Vec<Vec<Option<PairLevel>>> =
        loads.iter().zip(&block.groups).map(|(load, group)| pairs(load, group, block)).collect();
    let axes: Vec<Option<Axis>> =
        block.groups.iter().map(|group| ratio::axis(group.ratios.iter().flatten())).collect();
    let caption: Vec<String> = block.groups.iter().map(described).collect();
    let words = format!("{}, {}", block.title, caption.join("; "));
    html! {
            div.scroll tabindex="0" role="region" aria-label=(words) {
                table.results.continued[is_continued] {
                    caption { (caption.join("; ")) }
                    thead {
                        tr {
                            td {}
                            @for (group, axis) in block.groups.iter().zip(&axes) {
                                th scope="colgroup" colspan=(group.columns.len() + usize::from(axis.is_some())) {
                                    (group.title)
                                }
                            }
                        }
                        tr {
                            th scope="col" { "server" }
                            @for (group, axis) in block.groups.iter().zip(&axes) { (heads(group, axis.as_ref())) }
                        }
                    }
                    tbody {
                        @for (row, name) in block.rows.iter().enumerate() {
                            @let described = described_row(journal, name);
                            tr
                                data-class=[described.and_then(|it| it.class)]
                                data-language=[described.and_then(|it| it.variant.entry().split('/').next())]
                                data-mechanism=[described.and_then(|it| it.mechanism)] {
                                th scope="row" {
                                    bdi { (name) }
                                    @if described.is_some_and(|it| deviates(journal, &it.variant)) { " " (KNOWN) }
                                }
                                @for ((group, axis), pairs) in block.groups.iter().zip(&axes).zip(&pairs) {
                                    (cells(group, axis.as_ref(), row, pairs[row]))
                                }
                            }
                        }
                    }
                }
            }
    }
}

/// What a load compares, and from which difference on.
fn described(group: &Group) -> String {
    format!("{}: {}, margin {}", group.title, subject(group.metric), percent(group.margin))
}

fn heads(group: &Group, axis: Option<&Axis>) -> Markup {
    html! {
        @for column in &group.columns {
            th scope="col" data-margin=[(*column == Column::Outcome).then_some(group.margin)] {
                (head(*column, group.baseline.as_deref(), LONGEST_HEAD))
            }
            @if let (Column::Outcome, Some(axis)) = (column, axis) {
                th.picture scope="col" { "ratio" (ratio::labels(axis)) }
            }
        }
    }
}

/// What is needed to compare a row with any other one, for those that may be compared.
fn pairs(load: &WorkloadRows<'_>, group: &Group, block: &Block) -> Vec<Option<PairLevel>> {
    let place = |wanted: &String| {
        let is_meant = |row: &Row<'_>| is_listed(row) && name(row) == *wanted;
        load.rows.iter().position(is_meant).filter(|index| shown(&load.rows[*index]).is_compared())
    };
    let places: Vec<Option<usize>> = block.rows.iter().map(place).collect();
    let known: Vec<usize> = places.iter().flatten().copied().collect();
    let mut levels = load.pairs(group.metric, &known).into_iter();
    places.into_iter().map(|place| place.and_then(|_| levels.next().flatten())).collect()
}

fn cells(group: &Group, axis: Option<&Axis>, row: usize, pair: Option<PairLevel>) -> Markup {
    let values = group.cells[row].as_ref();
    let ratio = group.ratios[row].as_ref();
    html! {
        @for (place, column) in group.columns.iter().enumerate() {
            @let value = values.map_or(Value::Empty, |values| values[place]);
            @let text = text_of(*column, value, group, row);
            @let pair = pair.filter(|_| *column == Column::Outcome).map(packed);
            @let label = head(*column, group.baseline.as_deref(), LONGEST_HEAD);
            @let first = (place == 0).then_some(&group.title);
            td class=(class(place, value)) data-label=(label) data-group=[first]
                data-value=[sorted_by(value, ratio)] data-pair=[pair] { (text) }
            @if let (Column::Outcome, Some(axis)) = (column, axis) {
                td.picture {
                    @if let Some(ratio) = ratio {
                        (ratio::picture(axis, ratio))
                    }
                }
            }
        }
    }
}

/// What the script of the page reads.
fn packed(pair: PairLevel) -> String {
    let PairLevel { level, variance, critical, plain } = pair;
    format!("{level:.6} {variance:.3e} {critical:.4} {plain:.4}")
}

/// A significant difference as a ratio, everything else as on the terminal.
fn text_of(column: Column, value: Value, group: &Group, row: usize) -> String {
    match (value, &group.ratios[row]) {
        (Value::Compared(Outcome::Different { .. }), Some(ratio)) => ratio::text(ratio),
        _ => cell(column, value),
    }
}

/// What its column is sorted by, if it shows a figure.
fn sorted_by(value: Value, ratio: Option<&JudgedRatio>) -> Option<f64> {
    match value {
        Value::Exact(figure) | Value::Bound(figure) => Some(figure),
        Value::Compared(Outcome::Reference) => Some(1.0),
        Value::Compared(_) => Some(ratio?.estimate.value),
        Value::Empty | Value::Hidden => None,
    }
}

/// The variant of a row, of which there may be several copies.
fn described_row<'j>(journal: &'j Journal, name: &str) -> Option<&'j Described> {
    let variant = name.split(' ').next()?;
    journal.start.variants.iter().find(|it| it.variant.to_string() == variant)
}

/// How strongly a cell is coloured, and whether a load begins with it.
fn class(place: usize, value: Value) -> String {
    let shade = match value {
        Value::Compared(Outcome::Different { ratio, .. }) => {
            let far = ratio.max(1.0 / ratio);
            let step = 1 + STRONGER.iter().filter(|from| far >= **from).count();
            format!("{}{step}", if ratio > 1.0 { "more" } else { "less" })
        }
        Value::Compared(_) | Value::Empty | Value::Hidden => "weak".to_owned(),
        Value::Exact(_) | Value::Bound(_) => String::new(),
    };
    let first = if place == 0 { "first " } else { "" };
    format!("{first}{shade}")
}
