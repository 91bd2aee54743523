//! Rules about single files and about names that two files have in common. Each complaint says what to do.

use std::collections::{BTreeSet, HashSet};

use super::sources::{Source, text};
use crate::test::ledger;

/// Bytes above which a line is too long to read.
pub(super) const LINE_LENGTH: usize = 120;
/// Lines above which a source file must be split.
pub(super) const FILE_LINES: usize = 400;
/// Words that have no place in some files, such as those of clocks in a pure crate.
const PLACES: &str = include_str!("places.txt");
/// Each crate, and those that it may depend on.
const ARROWS: &str = include_str!("arrows.txt");
const RETIRED: &str = include_str!("phrases.txt");
const TABLE: &str = "entries/README.md";
const TRAPS: &str = "docs/methodology.md";

/// Complaints about everything but verbs and counts.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let of_files = sources.iter().flat_map(|it| [rust(it), phrases(it)].concat());
    of_files.chain(crates(sources)).chain(entries(sources)).chain(traps(sources)).collect()
}

fn rust(source: &Source) -> Vec<String> {
    let Source { path, text, lines, .. } = source;
    let mut complaints = Vec::new();
    if !source.is_rust() {
        return complaints;
    }
    if !text.starts_with("//!") {
        complaints.push(format!("{path}: begin with `//!`: what it is, and what it is not"));
    }
    if lines.len() > FILE_LINES {
        complaints.push(format!("{path}: {} lines, split it (at most {FILE_LINES})", lines.len()));
    }
    let long = (1..).zip(text.lines()).filter(|it| it.1.len() > LINE_LENGTH);
    for (number, _) in long.filter(|it| !it.1.contains("://")) {
        complaints.push(format!("{path}:{number}: longer than {LINE_LENGTH} bytes"));
    }
    for (places, words) in PLACES.lines().filter_map(|line| line.split_once(" => ")) {
        let Some((what, places)) = places.split_once(": ") else { continue };
        let is_place = places.split(' ').any(|place| path.starts_with(place));
        let words = words.split(' ').filter(|word| is_place && text.contains(word));
        complaints.extend(words.map(|it| format!("{path}: `{it}` has no place in {what}")));
    }
    complaints
}

/// A complaint for each phrase that the project's plain English has replaced, in Markdown, TOML and Rust. A phrase is
/// on the list only if every use of it can be rewritten.
fn phrases(source: &Source) -> Vec<String> {
    if ![".md", ".toml", ".rs"].iter().any(|end| source.path.ends_with(end)) {
        return Vec::new();
    }
    // No phrase goes across the end of a part of a sentence. Other signs, such as line breaks, comment markers and the
    // underscores of identifiers, separate words.
    let text = source.text.to_lowercase().replace(|sign| ".:;,!?(){}|".contains(sign), " . ");
    let is_of_word = |sign: char| sign.is_ascii_alphanumeric() || "-'.".contains(sign);
    let words = text.split(|sign| !is_of_word(sign)).map(|word| word.trim_matches('\''));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let text = format!(" {} ", words.join(" "));
    let lines = RETIRED.lines().filter_map(|line| line.split_once(" => "));
    let found = lines.filter(|(phrase, _)| text.contains(&format!(" {phrase} ")));
    found
        .map(|(it, instead)| format!("{}: instead of `{it}` write: {instead}", source.path))
        .collect()
}

/// A complaint for each dependency on a crate of the project that is not in the list of arrows.
fn crates(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        let Some(name) = source.crate_name() else { continue };
        let path = source.path.strip_prefix("crates/").unwrap_or(&source.path);
        if path != format!("{name}/Cargo.toml") {
            continue;
        }
        let section = source.text.split("[dependencies]").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        // A chore starts before other crates are compiled, also for its tests.
        let section = if name == "xtask" { source.text } else { section };
        let mut arrows = ARROWS.lines().filter_map(|line| line.split_once(" ->"));
        let allowed = arrows.find(|it| it.0 == name).map_or("", |it| it.1);
        let used = section.lines().filter_map(|it| it.strip_prefix("wirebench-"));
        let used = used.filter_map(|it| it.split(['.', ' ', '=']).next());
        for other in used.filter(|used| !allowed.split(' ').any(|it| it == *used)) {
            complaints.push(format!("{name} may not depend on {other}: see ARCHITECTURE.md"));
        }
    }
    complaints
}

/// Each folder of two levels below `entries/`, except those of shared sources, is an entry and has its row in the table
/// and its line in the ledger, and neither has another.
fn entries(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let folders = sources.iter().filter_map(|it| {
        let below = it.path.strip_prefix("entries/")?;
        Some(&below[..below.match_indices('/').nth(1)?.0])
    });
    let ids: BTreeSet<&str> = folders.filter(|id| !id.ends_with("/shared")).collect();
    // A row of the table begins with a link to the entry's folder.
    let row = |line: &'static str| line.strip_prefix("| [`")?.split_once("`](");
    let rows = text(sources, TABLE).lines().filter_map(row);
    let is_link = |(id, rest): &(&str, &str)| rest.starts_with(&format!("{id}/)"));
    let mut lists = vec![(TABLE, rows.filter(is_link).map(|it| it.0.to_owned()).collect())];
    match ledger::read(text(sources, ledger::FILE)) {
        Ok(ledger) => lists.push((ledger::FILE, ledger.into_keys().collect::<Vec<_>>())),
        Err(error) => complaints.push(format!("{}: {error}", ledger::FILE)),
    }
    for (document, listed) in lists {
        let listed: BTreeSet<&str> = listed.iter().map(String::as_str).collect();
        for id in ids.difference(&listed) {
            complaints.push(format!("{document}: no line for `{id}`, add it"));
        }
        for id in listed.difference(&ids) {
            complaints.push(format!("{document}: `{id}` is not an entry, remove it"));
        }
    }
    complaints
}

/// A complaint for each test that the table of known traps names and no source has. It may still fail to show what the
/// table claims.
fn traps(sources: &[Source]) -> Vec<String> {
    let section = text(sources, TRAPS).split("## Known traps").nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    if rows.is_empty() {
        return vec![format!("{TRAPS}: no table below `## Known traps`")];
    }
    // A function, or the title of a fault that a test causes.
    let rust = || sources.iter().filter(|it| it.is_rust());
    let functions = rust().flat_map(|it| &it.lines).filter_map(|it| it.strip_prefix("fn "));
    let functions = functions.filter_map(|it| it.split('(').next());
    let titles =
        rust().filter(|it| it.path.contains("/provoke/")).flat_map(|it| it.text.split('"'));
    let known: HashSet<&str> = functions.chain(titles).collect();
    let cells =
        rows.iter().skip(1).filter_map(|row| row.trim_end_matches(['|', ' ']).rsplit('|').next());
    let unknown =
        cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|it| !known.contains(it));
    unknown.map(|name| format!("{TRAPS}: there is no test `{name}`")).collect()
}
