//! The rows of the document that a suite repeats: how the program of each compares with the variant
//! here, and why a row has no figures. What the figures are is in the document's tables.

use std::borrow::Borrow;
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Published},
    suite::{PublishedRow, RowState, Scale},
};

use crate::{not_measured::not_measured, view::PublishedRowReport};

/// Replaces the list of a journal without states.
const NO_STATES: &str = "this journal is from an older wirebench and has no state for any row, so no \
                         conclusion is drawn from them";

/// The document of `journal`; none at the smallest scale, whose figures mean nothing.
pub(crate) fn document(journal: &Journal) -> Option<&Published> {
    let published = journal.start.published.as_deref();
    published.filter(|it| journal.start.scale != Scale::Smoke && !it.figures.tables.is_empty())
}

/// The name of a row as the document prints it.
pub(crate) fn name_of(published: &Published, variant: &VariantId) -> String {
    let name = published.figures.rows.get(variant).and_then(|row| row.name.clone());
    name.unwrap_or_else(|| variant.to_string())
}

/// The name of a row, and its variant unless that is the name.
fn full_name(variant: &VariantId, row: &PublishedRow) -> String {
    row.name.as_ref().map_or_else(|| variant.to_string(), |name| format!("{name} ({variant})"))
}

/// The rows: the most comparable first. None without a document.
pub(crate) fn rows<'j>(journal: &'j Journal) -> Option<Vec<PublishedRowReport<'j>>> {
    let row = |(variant, row): (&'j VariantId, &'j PublishedRow)| PublishedRowReport {
        variant,
        row,
        comparable: row.state.is_comparable(),
        not_measured: reason(journal, variant),
    };
    let mut rows: Vec<_> = document(journal)?.figures.rows.iter().map(row).collect();
    rows.sort_by_key(|it| it.row.state);
    Some(rows)
}

/// A line for each row: its state, its versions or clause, its reason, and why it was not measured.
pub(crate) fn lines(journal: &Journal) -> Vec<String> {
    let Some(rows) = rows(journal) else { return Vec::new() };
    if rows.is_empty() {
        return vec![NO_STATES.to_owned()];
    }
    let line = |PublishedRowReport { variant, row, not_measured, .. }: &PublishedRowReport<'_>| {
        let reason = not_measured.as_ref().filter(|_| row.state != RowState::Missing);
        let reason = reason.map_or_else(String::new, |it| format!("; not measured: {it}"));
        let (name, state) = (full_name(variant, row), row.state.name());
        format!("{name}: {state}; {}{reason}", row.explanation())
    };
    rows.iter().map(line).collect()
}

/// How many rows have which state, then each row of which the figures say nothing about the variant here.
pub(crate) fn summary(journal: &Journal) -> Vec<String> {
    let Some(rows) = rows(journal) else { return Vec::new() };
    if rows.is_empty() {
        return vec![format!("rows of the document: {NO_STATES}")];
    }
    let number = |state| (rows.iter().filter(|it| it.row.state == state).count(), state.name());
    let counts = RowState::ALL.map(number).into_iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counts.map(|(number, name)| format!("{number} {name}")).collect();
    let mut lines = vec![format!("rows of the document: {}", counts.join(", "))];
    let is_apart = |it: &&PublishedRowReport<'_>| {
        matches!(it.row.state, RowState::Different | RowState::Missing)
    };
    lines.extend(rows.iter().filter(is_apart).map(
        |PublishedRowReport { variant, row, .. }| {
            let clause = row.clause.as_deref().unwrap_or_default();
            format!("{}: {}: {clause}", row.state.name(), full_name(variant, row))
        },
    ));
    lines
}

/// Whether `name` is a row of the document that has no variant here.
pub(crate) fn is_missing(journal: &Journal, name: &str) -> bool {
    let rows = document(journal).map(|published| &published.figures.rows);
    let mut missing = rows.into_iter().flatten().filter(|(_, it)| it.state == RowState::Missing);
    missing.any(|(variant, _)| variant.to_string() == name)
}

/// The names of up to `most` things, or how many there are of this `noun`.
pub(crate) fn few<S: Borrow<str>>(names: &[S], most: usize, noun: &str) -> String {
    if names.len() <= most { names.join(", ") } else { format!("{} {noun}", names.len()) }
}

/// Why `variant` has no figures; none if it has some.
pub(crate) fn reason(journal: &Journal, variant: &VariantId) -> Option<String> {
    let mut runs = journal.runs.iter().filter(|run| run.variant == *variant);
    if runs.any(|run| run.outcome.has_figures()) {
        return None;
    }
    let is_part = journal.start.variants.iter().any(|it| it.variant == *variant);
    let other = if is_part { "it has no run" } else { "it is not part of this run" };
    Some(not_measured(journal, variant, None).unwrap_or_else(|| other.to_owned()))
}
