//! A document as a page for a browser: the result first, pictures, and the details folded away.

use maud::{Markup, PreEscaped, html};
use std::cell::Cell as Counter;

use super::{Align, Block, DETAILS, Document, Parts, Row, Table};
use crate::{
    html::{document, link, safe},
    origin,
};

/// Characters of a line that a page on a screen of 1280 px has room for.
const WIDEST: usize = 148;

/// Numbers what scrolls by itself, because each such region needs a name of its own.
struct Regions(Counter<usize>);

impl Document {
    #[must_use]
    pub fn html(&self) -> String {
        document(&self.title, &self.body())
    }

    /// What is in the frame of a page.
    pub(crate) fn body(&self) -> Markup {
        let Parts { title, origins, headline, conditions, shown, charts, folded } = self.parts();
        let (charted, shown): (Vec<&Block>, Vec<&Block>) =
            shown.into_iter().partition(|it| matches!(it, Block::Charted(_)));
        let regions = Regions(Counter::new(0));
        let body = html! {
            h1 { (title.unwrap_or(&self.title)) }
            @if !origins.is_empty() { (origin::html(origins)) }
            @if let Some((sentence, word)) = headline {
                p.result { strong { (sentence) } @if let Some(word) = word { "; " strong { (word) } } }
            }
            @for block in conditions.into_iter().chain(shown).chain(charts) { (regions.block(block, false)) }
            @if !folded.is_empty() || !charted.is_empty() {
                details {
                    summary { (DETAILS) }
                    @for block in charted.into_iter().chain(folded) { (regions.block(block, true)) }
                }
            }
        };
        // Maud has escaped what has a meaning in HTML; this is for what has one for a reader's eyes.
        PreEscaped(safe(&body.into_string()))
    }
}

impl Regions {
    fn block(&self, block: &Block, is_folded: bool) -> Markup {
        match block {
            Block::Title(text) | Block::Headline(text, _) => html! { p { (text) } },
            Block::Conditions { state, heading, lines } => html! {
                div class={ "conditions " (state) } { p { strong { (heading) } } (list(lines)) }
            },
            Block::Lines(lines) if lines.len() == 1 => html! { p { (lines[0]) } },
            Block::Lines(items) => list(items),
            Block::List(title, items) => html! {
                @if let Some(title) = title { p { (title) ":" } }
                (list(items))
            },
            Block::Table(table) => self.table(table, &table.shown(is_folded)),
            Block::Preformatted(text) => html! {
                div.scroll tabindex="0" role="region" aria-label=(self.name("text")) { pre { (text.trim_end()) } }
            },
            Block::Section(title, blocks) => html! {
                section {
                    h2 { (title) }
                    (self.blocks(blocks, is_folded))
                }
            },
            Block::Origin(_) => html! {},
            Block::Html(part) => PreEscaped(part.clone()),
            Block::Charts(charts) if charts.len() == 1 => charts[0].html(),
            Block::Charts(charts) => html! {
                div.pictures { @for chart in charts { div { (chart.html()) } } }
            },
            Block::Details(blocks) | Block::Charted(blocks) | Block::Page(blocks) => {
                self.blocks(blocks, is_folded)
            }
            Block::Folded(title, blocks) => html! {
                details.part {
                    summary { (title) }
                    (self.blocks(blocks, true))
                }
            },
        }
    }

    fn blocks(&self, blocks: &[Block], is_folded: bool) -> Markup {
        let blocks = blocks.iter().filter(|it| !it.is_empty());
        html! { @for block in blocks { (self.block(block, is_folded)) } }
    }

    /// A table, or several parts of one. Each scrolls by itself where it is wider than the page, and a narrow screen
    /// has a card for each row.
    fn table(&self, table: &Table, rows: &[&Row]) -> Markup {
        let numbered = Table::numbered(rows);
        // A table that cannot repeat the names of its rows is as wide as it takes.
        let most = if table.keys > 0 { table.room(WIDEST) } else { usize::MAX };
        let parts =
            table.parts(&numbered.cells, &[2], most).into_iter().map(|(columns, _)| columns);
        html! {
            @for columns in parts {
                div.scroll tabindex="0" role="region" aria-label=(self.name("table")) {
                    table {
                        thead {
                            tr {
                                @for column in &columns { (head(table, *column)) }
                            }
                        }
                        tbody {
                            @for (row, texts) in rows.iter().zip(&numbered.cells) {
                                tr {
                                    @for column in &columns { (cell(table, *column, row, &texts[*column])) }
                                }
                            }
                        }
                    }
                }
            }
            @if !numbered.notes.is_empty() { (list(&numbered.notes)) }
        }
    }

    fn name(&self, what: &str) -> String {
        self.0.set(self.0.get() + 1);
        format!("{what} {}", self.0.get())
    }
}

/// The class of a column; the first one has the names of the rows, which may be sentences.
fn class(table: &Table, column: usize) -> Option<&'static str> {
    match table.columns[column].align {
        _ if column == 0 => table.columns[0].wrap.map(|_| "words"),
        Align::Left => Some("words"),
        Align::Right => None,
        Align::Interval => Some("interval"),
    }
}

fn head(table: &Table, column: usize) -> Markup {
    html! {
        th class=[class(table, column)] scope="col" {
            @for (place, line) in table.columns[column].head.split('\n').enumerate() {
                @if place > 0 { br; }
                (line)
            }
        }
    }
}

/// Whether a row is named by a number, which says nothing without the head of its column.
fn is_number(cell: &str) -> bool {
    cell.chars().all(|it| it.is_ascii_digit() || " .".contains(it))
}

/// A link, or the lines of a cell below each other.
fn cell(table: &Table, column: usize, row: &Row, text: &str) -> Markup {
    let label = table.columns[column].head.replace('\n', "");
    let content = html! {
        @if let Some(path) = &row.cells[column].link { (link(path, text)) } @else {
            @for (place, line) in text.split('\n').enumerate() {
                @if place == 0 { (line) } @else { br; span.below { (line.trim_start()) } }
            }
        }
    };
    html! {
        @if column == 0 {
            th class=[class(table, column)] scope="row" data-label=[is_number(text).then_some(label)] {
                bdi { (content) }
            }
        } @else {
            td class=[class(table, column)] data-label=(label) { (content) }
        }
    }
}

fn list(items: &[String]) -> Markup {
    html! { ul { @for item in items { li { (item) } } } }
}
