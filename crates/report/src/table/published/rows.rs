//! The list of a document's rows below its tables: what each was, and why one has no figures.

use wirebench_schema::journal::Journal;

use crate::{
    published_rows,
    table::{Style, page::Page},
    wrap::{WIDTH, wrap},
};

/// The spaces in front of an item of a list.
const BULLET: usize = 2;

/// Adds the list; text is as wide as a terminal.
pub(in crate::table) fn add_rows(page: &mut Page, journal: &Journal) {
    let lines = published_rows::lines(journal).into_iter();
    let lines: Vec<String> = match page.style {
        Style::Text => lines.map(|line| wrap(&line, WIDTH - BULLET, "      ").join("\n")).collect(),
        Style::Markdown => lines.collect(),
    };
    page.list("rows of the document", &lines);
}
