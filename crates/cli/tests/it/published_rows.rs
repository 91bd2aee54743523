//! The rows of the published documents compared with the project's entries: each has a state that agrees
//! with them, and names the versions that they lock.

use crate::suites::{DOCUMENTS, figures, folder, suite};
use std::fs;
use wirebench_schema::{entry::Entry, id::VariantId, suite::RowState};

/// Whether `entry.toml` of the project has this variant.
fn has_variant(id: &VariantId) -> bool {
    let path = folder().join("../entries").join(id.entry()).join("entry.toml");
    let Ok(text) = fs::read_to_string(path) else { return false };
    let entry = Entry::parse(id.entry(), &text).unwrap_or_else(|error| panic!("`{id}`: {error}"));
    entry.variants.iter().any(|it| it.id == *id)
}

#[test]
fn a_suite_names_the_variants_of_the_projects_entries_as_the_entries_do() {
    let mut unknown = Vec::new();
    for name in ["quick"].iter().chain(&DOCUMENTS) {
        let rows = DOCUMENTS.iter().find(|it| *it == name).map(|it| figures(it).rows);
        let rows = rows.unwrap_or_default();
        let state = |id: &VariantId| rows.get(id).map(|row| row.state);
        let entries = suite(name).entries;
        let named = entries.iter().map(|entry| entry.parse::<VariantId>().unwrap());
        let named = named.filter(|id| state(id) != Some(RowState::Missing));
        unknown.extend(
            named
                .filter(|id| !id.entry().starts_with("builtin/") && !has_variant(id))
                .map(|id| format!("{name}: {id}")),
        );
    }
    assert!(unknown.is_empty(), "entries/ has no such variant:\n{}", unknown.join("\n"));
}

#[test]
fn every_published_row_has_a_state_that_agrees_with_the_entries() {
    let mut wrong = Vec::new();
    for name in DOCUMENTS {
        let figures = figures(name);
        assert!(!figures.rows.is_empty(), "{name} has no states");
        for variant in figures.variants() {
            match figures.rows.get(variant).map(|row| row.state) {
                None => wrong.push(format!("{name}: {variant} has no state")),
                Some(RowState::Missing) if has_variant(variant) => {
                    wrong.push(format!("{name}: {variant} is `missing`, but entries/ has it"));
                }
                Some(RowState::Missing) => {}
                Some(state) if !has_variant(variant) => {
                    let state = state.name();
                    wrong.push(format!("{name}: {variant} is `{state}`, but entries/ lacks it"));
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "wrong states of published rows:\n{}", wrong.join("\n"));
}

/// The text of the first lock file of an entry.
fn lock_file(id: &VariantId) -> Option<String> {
    let entry = folder().join("../entries").join(id.entry());
    let files = ["Cargo.lock", "go.mod", "dub.selections.json"];
    files.iter().find_map(|file| fs::read_to_string(entry.join(file)).ok())
}

#[test]
fn the_versions_of_published_rows_are_those_of_the_lock_files() {
    let mut seen = 0;
    for name in DOCUMENTS {
        for (variant, row) in figures(name).rows {
            let (Some(here), Some(lock)) = (row.here, lock_file(&variant)) else { continue };
            let is_version = |word: &&str| {
                word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok())
            };
            let words = here.split([' ', ',']);
            for version in words.filter(is_version) {
                assert!(lock.contains(version), "{name}: {variant}: {version} is not locked");
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "no row names a version of a lock file");
}
