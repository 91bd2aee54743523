//! A document as a page for a browser: the result first, pictures, and the details folded away.

use maud::{Markup, PreEscaped, html};
use std::cell::Cell as Counter;

use super::{Align, Block, Column, DETAILS, Document, Parts, Row, Table};
use crate::{
    html::{self, Cells, document, safe, text},
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

    fn table(&self, table: &Table, rows: &[&Row]) -> Markup {
        let numbered = Table::numbered(rows);
        let head = |(place, column): (usize, &Column)| {
            let cells = match (place, column.align) {
                (0, _) => Cells::Names,
                (_, Align::Left) => Cells::Words,
                (_, Align::Right) => Cells::Figures,
                (_, Align::Interval) => Cells::Intervals,
            };
            (cells, column.head.clone())
        };
        let heads: Vec<_> = table.columns.iter().enumerate().map(head).collect();
        // A table that cannot repeat the names of its rows is as wide as it takes.
        let most = if table.keys > 0 { table.room(WIDEST) } else { usize::MAX };
        let parts = table.parts(&numbered.cells, &[2], most).into_iter().map(|(columns, _)| {
            let heads: Vec<_> = columns.iter().map(|column| heads[*column].clone()).collect();
            let row =
                |row: &Vec<String>| columns.iter().map(|column| lines(&row[*column])).collect();
            html::table(
                &self.name("table"),
                &heads,
                &numbered.cells.iter().map(row).collect::<Vec<_>>(),
            )
        });
        html! {
            @for part in parts { (part) }
            @if !numbered.notes.is_empty() { (list(&numbered.notes)) }
        }
    }

    fn name(&self, what: &str) -> String {
        self.0.set(self.0.get() + 1);
        format!("{what} {}", self.0.get())
    }
}

/// The lines of a cell below each other.
fn lines(cell: &str) -> Markup {
    html! {
        @for (place, line) in cell.split('\n').enumerate() {
            @if place == 0 { (text(line)) } @else { br; span.below { (text(line.trim_start())) } }
        }
    }
}

fn list(items: &[String]) -> Markup {
    html! { ul { @for item in items { li { (item) } } } }
}
