//! The report of a run, for terminals and as Markdown: a table for each workload with what must be
//! known of it, and lists of what was not measured. What the figures are comes from
//! [`crate::analysis`]; nothing is computed here.

mod columns;
pub(crate) mod headline;
mod lists;
mod published;
mod start_up;
pub(crate) mod states;
pub(crate) mod workload;

use crate::{
    analysis::{Analysis, Metric},
    by_name, conclusions,
    document::{Block, Column, Document, Look, Paint, Table},
    generators, origin, pairs, published_rows, why,
};

pub(crate) use self::lists::unavailable;
use self::states::sentences;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    Text,
    Markdown,
}

/// Everything that a result says: a table for each workload, its notes, and what could not be measured.
/// Ratios, verdicts and ranks are those of `metric` where a workload has it, and otherwise of what its phase
/// is for. The name of the machine is next to that of a document.
#[must_use]
pub fn document(
    analysis: &Analysis<'_>,
    machine: Option<&str>,
    metric: Option<Metric>,
) -> Document {
    let Analysis { journal, workloads, .. } = analysis;
    let mut blocks = vec![Block::line(headline::headline(journal, workloads))];
    let mut lines = sentences(workloads);
    lines.extend(headline::cautions(journal, workloads));
    if let Some((introduction, tables)) = of_document(analysis, machine) {
        blocks.extend(introduction.map(Block::line));
        blocks.extend(tables);
        blocks.push(Block::section("how it was measured", lines));
        blocks.push(published::rows(analysis));
    } else {
        lines.extend(published::differences_line(journal, machine));
        blocks.extend(lines.into_iter().map(Block::line));
    }
    blocks.extend(workloads.iter().map(|rows| workload::section(journal, rows, metric)));
    let legend = lists::reading_aid(journal, workloads, &blocks);
    blocks.extend(by_name::sections(workloads));
    if metric != Some(Metric::Ready) {
        blocks.extend(start_up::sections(workloads));
    }
    blocks.extend(why::sections(journal, workloads));
    blocks.extend(pairs_of_conclusions(analysis));
    if published_rows::document(journal).is_some() {
        blocks.push(Block::section("versions", origin::versions(journal)));
    }
    blocks.push(Block::section("pairs of hosts", pairs::lines(journal)));
    blocks.push(Block::section("generators", generators::lines(journal)));
    blocks.push(Block::section("not measured", lists::unavailable(journal, |_| true)));
    blocks.push(Block::section("skipped by entries", lists::skips(journal)));
    blocks.push(Block::section("resumed", lists::resumed(journal)));
    blocks.push(Block::section("legend", legend));
    Document { title: journal.start.suite.clone(), blocks }
}

/// The tables of the suite's document, in its order and with both figures, and its conclusions, after what is to be
/// known of them; nothing without a document.
pub(crate) fn of_document(
    analysis: &Analysis<'_>,
    machine: Option<&str>,
) -> Option<([String; 2], Vec<Block>)> {
    let introduction = published::introduction(analysis.journal, machine)?;
    let conclusions = conclusions::table(&conclusions::judge(analysis));
    Some((introduction, published::sections(analysis).into_iter().chain(conclusions).collect()))
}

/// Each pair of rows of the conclusions of the suite's document.
pub(crate) fn pairs_of_conclusions(analysis: &Analysis<'_>) -> Option<Block> {
    let published = published_rows::document(analysis.journal)?;
    conclusions::pairs(published, &conclusions::judge(analysis))
}

/// The rows of the suite's document, and how to read its tables.
pub(crate) fn rows_of_document(analysis: &Analysis<'_>) -> Vec<Block> {
    let legend = lists::OF_DOCUMENT.map(str::to_owned).to_vec();
    vec![
        published::rows(analysis),
        Block::section("how to read the tables of the document", legend),
    ]
}

/// A table of words in text, without a line feed at its end. In less than `width` characters it has all columns, else
/// not those with a number, of which the least goes first.
#[must_use]
pub fn listing_within(width: usize, head: &[(&str, Option<u8>)], rows: &[Vec<String>]) -> String {
    let column = |(head, dispensable): &(&str, _)| Column {
        dispensable: *dispensable,
        ..Column::left(*head)
    };
    let rows = rows.iter().map(|row| row.iter().map(|it| it.as_str().into()).collect());
    Table::new(head.iter().map(column).collect(), rows).text(Paint(Look::Plain, width))
}

/// A table by itself, without a line feed at its end. Columns from `figures` on are aligned to the right.
#[must_use]
pub fn listing(style: Style, head: &[&str], figures: usize, rows: Vec<Vec<String>>) -> String {
    let (words, figures) = head.split_at(figures.min(head.len()));
    let table = Table::of(words.iter().copied(), figures.iter().copied(), rows);
    let document = Document { blocks: vec![Block::Table(table)], ..Document::default() };
    let text = match style {
        Style::Text => document.text(Paint::FILE),
        Style::Markdown => document.markdown(),
    };
    text.trim_end().to_owned()
}

#[cfg(test)]
pub(crate) mod tests;
