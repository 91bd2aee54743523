//! The table of a scenario: servers as rows, the figures of each load as columns.

use maud::{Markup, html};
use wirebench_schema::{
    id::VariantId,
    journal::{Described, Journal},
};
use wirebench_stats::PairLevel;

use crate::{
    chart::{Axis, ratio},
    document::Cell,
    figure_text::ABSENT,
    screen::{
        cells::{Column, Outcome},
        figures::subject,
        model::{Block, Group},
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

/// A load as the table has it.
struct Load<'a> {
    group: &'a Group<'a>,
    /// Of its ratios, if it has some.
    axis: Option<Axis>,
    /// What is needed to compare a row with any other one, for those that may be compared.
    pairs: Vec<Option<PairLevel>>,
}

/// A scenario, with as many loads next to each other as fit, and the others below them.
pub(super) fn tables(journal: &Journal, block: &Block<'_>) -> Markup {
    let names = block.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let names = names as f64 * SIGN_WIDTH + CELL_SPACE;
    let (mut lines, mut used): (Vec<Vec<Load<'_>>>, f64) = (Vec::new(), 0.0);
    for load in block.groups.iter().map(Load::of) {
        let width = load.width();
        match lines.last_mut() {
            Some(line) if used + width <= PAGE_WIDTH => {
                line.push(load);
                used += width;
            }
            _ => {
                lines.push(vec![load]);
                used = names + width;
            }
        }
    }
    let lines = lines.iter().enumerate();
    html! { @for (place, loads) in lines { (table(journal, block, loads, place > 0)) } }
}

fn table(journal: &Journal, block: &Block<'_>, loads: &[Load<'_>], is_continued: bool) -> Markup {
    // What each load compares, and from which difference on.
    let caption = loads.iter().map(|Load { group, .. }| {
        let (metric, margin) = (subject(group.metric()), percent(group.comparison().margin));
        format!("{}: {metric}, margin {margin}", group.title)
    });
    let caption = caption.collect::<Vec<_>>().join("; ");
    html! {
            div.scroll tabindex="0" role="region" aria-label={ (block.title) ", " (caption) } {
                table.results.continued[is_continued] {
                    caption { (caption) }
                    thead {
                        tr {
                            td {}
                            @for Load { group, axis, .. } in loads {
                                th scope="colgroup" colspan=(group.columns.len() + usize::from(axis.is_some())) {
                                    (group.title)
                                }
                            }
                        }
                        tr {
                            th scope="col" { "server" }
                            @for load in loads { (load.heads()) }
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
                                @for load in loads { (load.cells(row)) }
                            }
                        }
                    }
                }
            }
    }
}

/// The variant of a row, of which there may be several copies.
fn described_row<'j>(journal: &'j Journal, name: &str) -> Option<&'j Described> {
    let variant = name.split(' ').next()?;
    journal.start.variants.iter().find(|it| it.variant.to_string() == variant)
}

impl<'a> Load<'a> {
    fn of(group: &'a Group<'a>) -> Self {
        let is_compared = |place: &usize| shown(&group.load.rows[*place]).is_compared();
        let places: Vec<_> = group.places.iter().map(|it| it.filter(is_compared)).collect();
        let known: Vec<usize> = places.iter().flatten().copied().collect();
        let mut levels = group.load.pairs(group.metric(), &known).into_iter();
        let pairs = places.iter().map(|place| place.and_then(|_| levels.next().flatten()));
        let axis = ratio::axis((0..places.len()).filter_map(|row| group.ratio(row)));
        Self { group, axis, pairs: pairs.collect() }
    }

    /// About the width of its columns, in CSS pixels.
    fn width(&self) -> f64 {
        let column = |column: &Column| {
            let cells = (0..self.pairs.len()).filter(|row| self.group.row(*row).is_some());
            let cells = cells.map(|row| self.cell(row, *column).text.chars().count());
            let head = self.group.head(*column, LONGEST_HEAD).chars().count();
            let picture = if *column == Column::Outcome { ratio::WIDTH + CELL_SPACE } else { 0.0 };
            cells.fold(head, usize::max) as f64 * SIGN_WIDTH + CELL_SPACE + picture
        };
        self.group.columns.iter().map(column).sum()
    }

    fn heads(&self) -> Markup {
        let margin =
            |column: Column| (column == Column::Outcome).then(|| self.group.comparison().margin);
        html! {
            @for column in &self.group.columns {
                th scope="col" data-margin=[margin(*column)] { (self.group.head(*column, LONGEST_HEAD)) }
                @if let (Column::Outcome, Some(axis)) = (column, &self.axis) {
                    th.picture scope="col" { "ratio" (ratio::labels(axis)) }
                }
            }
        }
    }

    /// A cell as on the terminal, but for a significant difference, which is a ratio.
    fn cell(&self, row: usize, column: Column) -> Cell {
        let cell = self.group.cell(row, column);
        match (column, self.group.outcome(row)) {
            (Column::Outcome, Some(Outcome::More | Outcome::Less)) => {
                Cell { text: self.group.ratio(row).map(ratio::text).unwrap_or_default(), ..cell }
            }
            _ if self.group.row(row).is_none() => Cell::from(ABSENT),
            _ => cell,
        }
    }

    fn cells(&self, row: usize) -> Markup {
        html! {
            @for (place, column) in self.group.columns.iter().enumerate() {
                @let is_outcome = *column == Column::Outcome;
                @let cell = self.cell(row, *column);
                @let pair = self.pairs[row].filter(|_| is_outcome).map(packed);
                @let label = self.group.head(*column, LONGEST_HEAD);
                @let first = (place == 0).then_some(&self.group.title);
                @let outcome = self.group.outcome(row).filter(|_| is_outcome);
                td class=(class(place == 0, outcome, cell.figure)) data-label=(label) data-group=[first]
                    data-value=[cell.figure] data-pair=[pair] { (cell.text) }
                @if let (Column::Outcome, Some(axis)) = (column, &self.axis) {
                    td.picture {
                        @if let Some(ratio) = self.group.ratio(row) { (ratio::picture(axis, ratio)) }
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

/// How strongly a cell is coloured, and whether a load begins with it.
fn class(is_first: bool, outcome: Option<Outcome>, figure: Option<f64>) -> String {
    let first = if is_first { "first " } else { "" };
    let shade = match (outcome, figure) {
        (Some(Outcome::More), _) => "more",
        (Some(Outcome::Less), _) => "less",
        (None, Some(_)) => return first.to_owned(),
        _ => return format!("{first}weak"),
    };
    let far = figure.map_or(1.0, |ratio| ratio.max(1.0 / ratio));
    let step = 1 + STRONGER.iter().filter(|from| far >= **from).count();
    format!("{first}{shade}{step}")
}
