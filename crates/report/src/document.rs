//! A result as a tree of sentences, tables, lists and pictures, with one writer for each form: text,
//! Markdown and HTML. A result becomes one tree; what a form folds away or skips is decided here.

mod html;
mod markdown;
mod paint;
mod table;
mod text;

pub(crate) use self::{
    paint::{Paint, Shade},
    table::{Align, Cell, Column, Row, Table},
};
pub use paint::Look;

use crate::{chart::Chart, origin::Origin};

/// The title, the parts in the order of the text, and where they are folded away.
#[derive(Debug, Default)]
pub struct Document {
    /// Of the window of a browser, and of the page unless a part is its title.
    pub(crate) title: String,
    pub(crate) blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Title(String),
    /// Where the results come from. Markdown folds it away, and text has nothing of it.
    Origin(Vec<Origin>),
    /// The result in one sentence, and a word that must not be missed. Text has it in its place, and
    /// documents have it first.
    Headline(String, Option<&'static str>),
    /// The result of the conditions that the user set, in a heading and in a sentence each. Text has the sentences in
    /// their place, and documents have all of it after the headline.
    Conditions {
        /// How it looks: `passed`, `inconclusive` or `failed`.
        state: &'static str,
        heading: &'static str,
        lines: Vec<String>,
    },
    /// Sentences that belong together.
    Lines(Vec<String>),
    List(Option<String>, Vec<String>),
    /// A heading and what belongs to it.
    Section(String, Vec<Self>),
    Table(Table),
    Preformatted(String),
    /// Figures that HTML has in a chart, and folds away.
    Charted(Vec<Self>),
    /// Pictures next to each other, which only HTML has.
    Charts(Vec<Chart>),
    /// Parts that only HTML has.
    Page(Vec<Self>),
    /// Parts that only HTML has, and a reader opens.
    Folded(String, Vec<Self>),
    /// A part of a page that has no other form, as HTML.
    Html(String),
    /// What documents fold away.
    Details(Vec<Self>),
}

impl Block {
    pub(crate) fn line(text: impl Into<String>) -> Self {
        Self::Lines(vec![text.into()])
    }

    /// A section with a list; nothing without items.
    pub(crate) fn section(title: &str, items: Vec<String>) -> Self {
        Self::Section(title.to_owned(), vec![Self::List(None, items)])
    }

    pub(crate) fn list(title: &str, items: Vec<String>) -> Self {
        Self::List(Some(title.to_owned()), items)
    }

    /// The cells of all tables in it.
    pub(crate) fn cells(&self) -> Vec<&Cell> {
        match self {
            Self::Table(table) => table.rows.iter().flat_map(|row| &row.cells).collect(),
            Self::Section(_, blocks) | Self::Details(blocks) | Self::Charted(blocks) => {
                blocks.iter().flat_map(Self::cells).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The charts in it, in their order.
    fn charts(&self) -> Vec<&Chart> {
        match self {
            Self::Charts(charts) => charts.iter().collect(),
            Self::Section(_, blocks)
            | Self::Details(blocks)
            | Self::Charted(blocks)
            | Self::Page(blocks)
            | Self::Folded(_, blocks) => blocks.iter().flat_map(Self::charts).collect(),
            _ => Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Lines(lines) | Self::List(_, lines) | Self::Conditions { lines, .. } => {
                lines.is_empty()
            }
            Self::Table(table) => table.rows.is_empty(),
            Self::Preformatted(text) => text.is_empty(),
            Self::Charts(charts) => charts.is_empty(),
            Self::Section(_, blocks) | Self::Charted(blocks) | Self::Page(blocks) => {
                blocks.iter().all(Self::is_empty)
            }
            _ => false,
        }
    }
}

/// The parts of a document as Markdown and HTML order them.
#[derive(Default)]
struct Parts<'a> {
    title: Option<&'a str>,
    origins: &'a [Origin],
    headline: Option<(&'a str, Option<&'static str>)>,
    conditions: Option<&'a Block>,
    shown: Vec<&'a Block>,
    charts: Vec<&'a Block>,
    folded: Vec<&'a Block>,
}

/// What unfolds the rest of a document.
const DETAILS: &str = "How wirebench measured it, and all figures";

impl Document {
    pub(crate) fn charts(&self) -> Vec<&Chart> {
        self.blocks.iter().flat_map(Block::charts).collect()
    }

    fn parts(&self) -> Parts<'_> {
        let mut parts = Parts::default();
        for block in self.blocks.iter().filter(|block| !block.is_empty()) {
            match block {
                Block::Title(title) => parts.title = Some(title),
                Block::Origin(origins) => parts.origins = origins,
                Block::Headline(sentence, word) => parts.headline = Some((sentence, *word)),
                Block::Conditions { .. } => parts.conditions = Some(block),
                Block::Charts(_) | Block::Page(_) => parts.charts.push(block),
                Block::Details(blocks) => {
                    parts.folded.extend(blocks.iter().filter(|block| !block.is_empty()));
                }
                Block::Table(table) if table.folds() => {
                    parts.folded.push(block);
                    if !table.shown(false).is_empty() {
                        parts.shown.push(block);
                    }
                }
                _ => parts.shown.push(block),
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests;
