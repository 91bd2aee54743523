//! A document as text: everything in its order, for terminals and files.

use super::{Block, Document, Paint, Table};
use crate::wrap::wrap;

/// Where the lines of a long note begin.
const NOTE_INDENT: &str = "      ";

impl Document {
    /// The parts with an empty line between them.
    pub(crate) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        let mut is_headline = false;
        for block in self.blocks.iter().filter(|block| !block.is_empty()) {
            let written = block.text(paint);
            if written.is_empty() {
                continue;
            }
            // What qualifies the headline belongs to it.
            let belongs = is_headline && matches!(block, Block::Lines(_) | Block::List(None, _));
            text += match text.is_empty() {
                true => "",
                false if belongs => "\n",
                false => "\n\n",
            };
            text += &written;
            is_headline = matches!(block, Block::Headline(..));
        }
        text + "\n"
    }

    /// The same without empty lines, for the first screen.
    pub(crate) fn brief(&self, paint: Paint) -> String {
        let blocks = self.blocks.iter().filter(|block| !block.is_empty());
        blocks.map(|block| block.text(paint) + "\n").collect()
    }
}

impl Block {
    fn text(&self, paint: Paint) -> String {
        match self {
            Self::Title(text) | Self::Headline(text, _) => text.clone(),
            Self::Lines(lines) | Self::Conditions { lines, .. } => lines.join("\n"),
            Self::List(title, items) => {
                let items = items.iter().map(|item| format!("  {item}"));
                title.iter().cloned().chain(items).collect::<Vec<_>>().join("\n")
            }
            Self::Table(table) => table.text(paint),
            Self::Section(title, blocks) => {
                let blocks = blocks.iter().filter(|block| !block.is_empty());
                let title = wrap(title, paint.1, NOTE_INDENT);
                let parts = blocks.map(|it| it.text(paint)).filter(|it| !it.is_empty());
                title.into_iter().chain(parts).collect::<Vec<_>>().join("\n")
            }
            Self::Preformatted(text) => text.trim_end().to_owned(),
            Self::Details(blocks) | Self::Charted(blocks) => {
                let blocks = blocks.iter().filter(|block| !block.is_empty());
                blocks.map(|block| block.text(paint)).collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        }
    }
}

impl Table {
    pub(crate) fn text(&self, paint: Paint) -> String {
        let rows = self.shown(false);
        let numbered = Self::numbered(&rows);
        let mut lines = match rows.is_empty() {
            true => Vec::new(),
            false => self.lines(&rows, &self.wrapped(&numbered.cells), paint),
        };
        let notes = numbered.notes.iter().map(|note| format!("  {note}"));
        lines.extend(notes.flat_map(|note| wrap(&note, paint.1, NOTE_INDENT)));
        let folded = self.rows.len() - rows.len();
        if folded > 0 {
            lines.extend((!lines.is_empty()).then(String::new));
            lines.push(format!("{folded} {}", self.folded));
        }
        lines.join("\n")
    }
}
