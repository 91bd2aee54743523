//! The report of a run, for terminals and as Markdown: a table for each workload with what must be
//! known of it, and lists of what was not measured. What the figures are comes from
//! [`crate::analysis`]; nothing is computed here.

mod cells;
mod columns;
pub(crate) mod describe;
pub(crate) mod headline;
mod layout;
mod lists;
pub(crate) mod page;
mod published;
pub(crate) mod states;
pub(crate) mod workload;

use comfy_table::{CellAlignment, Table, presets};
use std::{borrow::Cow, ops::Range};

use crate::{
    analysis::{Analysis, Metric},
    document, generators, pairs, published_rows,
};

pub(crate) use self::{
    columns::has_few_samples,
    describe::{
        describe_model, describe_payload, describe_shape, describe_stop, describe_versions,
    },
    lists::unavailable,
};
use self::{page::Page, states::sentences};
pub(crate) use crate::table_units::count;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    Text,
    Markdown,
}

impl Style {
    /// A text that may be of another program, as it is in this style.
    pub(crate) fn plain(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Text => text.into(),
            Self::Markdown => document::plain(text),
        }
    }

    /// The same for a cell of a table.
    pub(crate) fn cell(self, text: &str) -> String {
        match self {
            Self::Text => text.to_owned(),
            Self::Markdown => document::cell(text),
        }
    }
}

/// Everything that a result says, as text: a table for each workload, its notes, and what could not be
/// measured. Ratios, verdicts and ranks are those of `metric` where a workload has it, and otherwise of
/// what its phase is for. The name of the machine is next to that of a document.
#[must_use]
pub fn report(
    analysis: &Analysis<'_>,
    machine: Option<&str>,
    style: Style,
    metric: Option<Metric>,
) -> String {
    let Analysis { journal, workloads, .. } = analysis;
    let mut page = Page::new(style);
    page.title(&format!("wirebench {}", journal.start.suite));
    page.paragraph(&headline::headline(journal, workloads));
    for line in [sentences(workloads), headline::cautions(journal, workloads)].concat() {
        page.paragraph(&line);
    }
    let published = published_rows::document(journal);
    if let Some(paragraph) = published::paragraph(journal, machine) {
        page.paragraph(&paragraph);
    }
    if let Some(sentence) = conclusion(analysis) {
        page.paragraph(&sentence);
    }
    for rows in workloads {
        workload::add(&mut page, journal, rows, metric);
    }
    if let Some(published) = published {
        published::add(&mut page, published, workloads);
        published::add_rows(&mut page, journal);
        page.list("versions", &lists::versions(journal));
    }
    page.list("pairs of hosts", &pairs::lines(journal));
    page.list("generators", &generators::lines(journal));
    page.list("not measured", &lists::unavailable(journal, |_| true));
    page.list("skipped by entries", &lists::skips(journal));
    page.list("resumed", &lists::resumed(journal));
    let legend = lists::reading_aid(journal, workloads, &page);
    page.list("legend", &legend);
    page.text()
}

/// The document of the suite as Markdown: which of its differences hold, its tables with both figures,
/// and its rows; none without a document.
pub(crate) fn document(analysis: &Analysis<'_>) -> Option<String> {
    let published = published_rows::document(analysis.journal)?;
    let mut page = Page::new(Style::Markdown);
    published::add(&mut page, published, &analysis.workloads);
    published::add_rows(&mut page, analysis.journal);
    let legend = [lists::PUBLISHED, lists::COMPARABLE, lists::NOT_COMPARABLE];
    page.list("legend", &legend.map(str::to_owned));
    Some(page.text())
}

/// The sentence on the differences that the document of the suite published.
pub(crate) fn conclusion(analysis: &Analysis<'_>) -> Option<String> {
    published::conclusion(published_rows::document(analysis.journal)?, &analysis.workloads)
}

/// An empty table in `style` with `head` as its first row.
#[must_use]
pub fn new_table(style: Style, head: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(match style {
        Style::Text => presets::NOTHING,
        Style::Markdown => presets::ASCII_MARKDOWN,
    });
    table.set_header(head);
    table
}

/// A table of rows, with figures in the columns of `figures`.
pub(crate) fn filled_table(
    style: Style,
    head: &[&str],
    rows: &[Vec<String>],
    figures: Range<usize>,
) -> Table {
    let mut table = new_table(style, head);
    for column in table.column_iter_mut().skip(figures.start).take(figures.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.add_rows(rows.iter().map(|row| row.iter().map(|cell| style.cell(cell))));
    table
}

/// A table without spaces at the ends of its lines.
#[must_use]
pub fn table_text(table: &Table) -> String {
    let table = table.to_string();
    table.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
pub(crate) mod tests;
