//! The parts of a page in both styles: headings, paragraphs, tables, notes and lists. What they say
//! is not known here.

use comfy_table::Table;
use std::fmt::Write;

use super::{Style, table_text};

/// A page that grows from above.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) style: Style,
    text: String,
}

impl Page {
    /// An empty page.
    pub(crate) const fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    pub(crate) fn text(self) -> String {
        self.text
    }

    /// The cells of all Markdown tables so far.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &str> {
        let lines = self.text.lines().filter(|line| line.starts_with('|'));
        lines.flat_map(|line| line.split('|').map(str::trim))
    }

    /// What the page is about. Text has none.
    pub(crate) fn title(&mut self, title: &str) {
        if self.style == Style::Markdown {
            let _ = writeln!(self.text, "# {}\n", self.style.plain(title));
        }
    }

    pub(crate) fn heading(&mut self, heading: &str) {
        let _ = match self.style {
            Style::Text => writeln!(self.text, "{heading}"),
            Style::Markdown => writeln!(self.text, "## {}\n", self.style.plain(heading)),
        };
    }

    pub(crate) fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}\n", self.style.plain(text));
    }

    /// A sentence that belongs to what stands before and behind it.
    pub(crate) fn line(&mut self, text: &str) {
        let gap = if self.style == Style::Markdown { "\n" } else { "" };
        let _ = writeln!(self.text, "{}{gap}", self.style.plain(text));
    }

    /// A table and the notes below it, with their numbers.
    pub(crate) fn table(&mut self, table: &Table, notes: impl Iterator<Item = String>) {
        let _ = writeln!(self.text, "{}", table_text(table));
        // Without an empty line a list of Markdown would be a part of the table.
        let (mut gap, bullet) = match self.style {
            Style::Text => ("", "  "),
            Style::Markdown => ("\n", "- "),
        };
        for (index, note) in notes.enumerate() {
            let _ = writeln!(self.text, "{gap}{bullet}[{}] {}", index + 1, self.style.plain(&note));
            gap = "";
        }
        self.text.push('\n');
    }

    /// A titled list, unless there is nothing in it.
    pub(crate) fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.heading(title);
        self.points(items);
    }

    pub(crate) fn points(&mut self, items: &[String]) {
        let bullet = if self.style == Style::Markdown { "- " } else { "  " };
        for item in items {
            let _ = writeln!(self.text, "{bullet}{}", self.style.plain(item));
        }
        self.text.push('\n');
    }
}
