//! A document as Markdown, for pull requests and other documents: the result first, and the details
//! folded away.

use super::{
    Align, Block, DETAILS, Document, Parts, Table,
    table::{Row, in_lines},
};
use crate::{
    escape::{markdown, markdown_block, markdown_cell},
    origin::Origin,
    wrap::length,
};

/// Forges show wider tables with a scroll bar, so they drop what may be dropped.
const WIDEST: usize = 100;

impl Document {
    pub(crate) fn markdown(&self) -> String {
        let Parts { title, origins, headline, conditions, shown, folded, .. } = self.parts();
        let title = title.map(|title| format!("# {}", markdown(title)));
        let headline = headline.map(|(sentence, word)| {
            let word = word.map_or_else(String::new, |word| format!("; **{word}**"));
            format!("**{}**{word}", markdown(sentence))
        });
        let mut parts: Vec<String> = title.into_iter().chain(headline).collect();
        let shown = conditions.into_iter().chain(shown);
        parts.extend(shown.map(|block| block.markdown(false)));
        if !folded.is_empty() || !origins.is_empty() {
            parts.push(format!("<details><summary>{DETAILS}</summary>"));
            parts.extend(origins.iter().map(origin));
            parts.extend(folded.iter().map(|block| block.markdown(true)));
            parts.push("</details>".to_owned());
        }
        parts.join("\n\n") + "\n"
    }
}

impl Block {
    fn markdown(&self, is_folded: bool) -> String {
        match self {
            Self::Title(text) | Self::Headline(text, _) => markdown(text),
            Self::Conditions { heading, lines, .. } => {
                format!("**{}**\n\n{}", markdown(heading), list(lines))
            }
            Self::Lines(lines) if lines.len() == 1 => markdown(&lines[0]),
            Self::Lines(items) | Self::List(None, items) => list(items),
            Self::List(Some(title), items) => format!("{}:\n\n{}", markdown(title), list(items)),
            Self::Table(table) => table.markdown(&table.shown(is_folded)),
            Self::Section(title, blocks) => {
                let blocks = blocks.iter().filter(|block| !block.is_empty());
                let parts = blocks.map(|block| block.markdown(is_folded));
                let parts = parts.filter(|part| !part.is_empty());
                let head = format!("## {}", markdown(title));
                [head].into_iter().chain(parts).collect::<Vec<_>>().join("\n\n")
            }
            Self::Preformatted(text) => markdown_block(text),
            Self::Details(blocks) | Self::Charted(blocks) => {
                let blocks = blocks.iter().map(|block| block.markdown(is_folded));
                blocks.collect::<Vec<_>>().join("\n\n")
            }
            _ => String::new(),
        }
    }
}

fn origin(origin: &Origin) -> String {
    let title = origin.title().map(|title| format!("{}:\n\n", markdown(title)));
    title.unwrap_or_default() + &list(&origin.lines())
}

fn list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("- {}", markdown(item))).collect();
    items.join("\n")
}

impl Table {
    fn markdown(&self, rows: &[&Row]) -> String {
        let numbered = Self::numbered(rows);
        let heads = self.columns.iter().map(|column| markdown_cell(&column.head.replace('\n', "")));
        let rows = numbered.cells.iter().flat_map(|row| in_lines(row));
        let rows = rows.map(|row| row.into_iter().map(markdown_cell).collect());
        let rows: Vec<Vec<String>> = std::iter::once(heads.collect()).chain(rows).collect();
        let parts = self
            .parts(&numbered.cells, &[" | ".len()], self.room(WIDEST - "|  |".len()))
            .into_iter();
        let parts = parts.map(|(columns, _)| self.part_in_markdown(&rows, &columns));
        // Without an empty line the list would be a part of the table.
        let notes = (!numbered.notes.is_empty()).then(|| list(&numbered.notes));
        parts.chain(notes).collect::<Vec<_>>().join("\n\n")
    }

    /// Some columns of a table; the first row is the head.
    fn part_in_markdown(&self, rows: &[Vec<String>], columns: &[usize]) -> String {
        let width = |column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cell = |column: &usize| {
                let room = width(*column) - length(&row[*column]);
                match self.columns[*column].align {
                    Align::Left | Align::Interval => format!(" {}{:room$} |", row[*column], ""),
                    Align::Right => format!(" {:room$}{} |", "", row[*column]),
                }
            };
            format!("|{}", columns.iter().map(cell).collect::<String>())
        };
        let mut lines: Vec<String> = rows.iter().map(line).collect();
        let rule = |column: &usize| format!("{}|", "-".repeat(width(*column) + 2));
        lines.insert(1, format!("|{}", columns.iter().map(rule).collect::<String>()));
        lines.join("\n")
    }
}
