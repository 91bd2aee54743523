//! The rows of the document that a suite repeats: how the program of each compares with the variant
//! here, and why a row has no figures. What the figures are is in the document's tables.

use std::borrow::Borrow;
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Published},
    suite::{PublishedRow, RowState, Scale},
};

use crate::not_measured::not_measured;

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

/// The rows in the order of the lists: the most comparable first.
pub(crate) fn in_order(published: &Published) -> Vec<(&VariantId, &PublishedRow)> {
    let mut rows: Vec<_> = published.figures.rows.iter().collect();
    rows.sort_by_key(|(_, row)| row.state);
    rows
}

/// A line for each row: its state, its versions or clause, its reason, and why it was not measured.
pub(crate) fn lines(journal: &Journal) -> Vec<String> {
    let Some(published) = document(journal) else { return Vec::new() };
    if published.figures.rows.is_empty() {
        return vec![NO_STATES.to_owned()];
    }
    let line = |(variant, row): (&VariantId, &PublishedRow)| {
        let reason = reason(journal, variant).filter(|_| row.state != RowState::Missing);
        let reason = reason.map(|reason| format!("not measured: {reason}"));
        let texts = [Some(row.explanation()), reason];
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        format!("{}: {}; {}", full_name(variant, row), row.state.name(), texts.join("; "))
    };
    in_order(published).into_iter().map(line).collect()
}

/// How many rows have which state, then each row of which the figures say nothing about the variant here.
pub(crate) fn summary(journal: &Journal) -> Vec<String> {
    let Some(published) = document(journal) else { return Vec::new() };
    let rows = in_order(published);
    if rows.is_empty() {
        return vec![format!("rows of the document: {NO_STATES}")];
    }
    let of = |state: RowState| rows.iter().filter(move |(_, row)| row.state == state);
    let counted = RowState::ALL.map(|state| (of(state).count(), state.name()));
    let counted = counted.iter().filter(|(number, _)| *number > 0);
    let counts: Vec<String> = counted.map(|(number, name)| format!("{number} {name}")).collect();
    let mut lines = vec![format!("rows of the document: {}", counts.join(", "))];
    let apart = [RowState::Different, RowState::Missing].into_iter().flat_map(of);
    let clause = |row: &PublishedRow| row.clause.clone().unwrap_or_default();
    lines.extend(apart.map(|(variant, row)| {
        format!("{}: {}: {}", row.state.name(), full_name(variant, row), clause(row))
    }));
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
