//! Counts of the sources, and their comparison with `limits.rs`: neither more nor fewer.
//!
//! Lines may be up to 3 % below their limit, so that not every commit edits the limits.

use std::collections::BTreeMap;

use super::{
    crates::dependencies,
    cycles,
    limits::{CRATES, LONG_FILE, OTHERS},
    sources::{Source, text},
};
use crate::lines;

const FILE: &str = "xtask/src/tidy/limits.rs";
const HOW: &str = "compare `cargo xtask tidy --counts` with xtask/src/tidy/limits.rs";
/// Columns of `CRATES`.
const COLUMNS: [&str; 8] = [
    "lines of code",
    "lines of tests",
    "lines of golden files",
    "cycles of modules",
    "doc comments that begin with What, That, Whether, Who, It or The same",
    "files that are too long",
    "functions that are excepted from the limit of lines",
    "calls that accept a failed run",
];
/// The first columns are lines.
const LINES: usize = 3;
/// Lines may be as few as this share of their limit, in percent.
const BAND: usize = 97;
/// First words of a doc comment that has neither a noun nor a verb at its beginning.
const STARTS: [&str; 6] = ["What", "That", "Whether", "Who", "It", "The same"];
/// Helpers of tests that let a run fail without failing the test.
const ACCEPTING: [&str; 4] =
    ["assert_reported(", "assert_fine(", "assert_went_through(", "assert_ended("];
const EXCEPTION: &str = concat!("clippy::too_many", "_lines");
const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
/// A name of types that are not public and that each module of options may have.
const SHARED_NAME: &str = "Arguments";
/// Lines `VERB OPTIONS`, written by a test of the program.
pub(super) const OPTIONS: &str = "crates/cli/tests/golden/options.txt";

/// Counts in the form of `CRATES` and `OTHERS`, and what some of them consist of.
#[derive(Debug, Default)]
pub(super) struct Counts {
    crates: Vec<(String, [usize; 8])>,
    others: Vec<(String, usize)>,
    details: BTreeMap<String, String>,
}

/// Counts everything that has a limit. A count whose file is missing is absent.
pub(super) fn of(sources: &[Source], cycles: &cycles::Found<'_>) -> Counts {
    let mut counts = Counts::default();
    let mut rows: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for source in sources.iter().filter(|it| it.is_rust()) {
        let row = rows.entry(source.crate_name().unwrap_or_default()).or_default();
        row[1] += doc_comments(source.code());
        row[2] += usize::from(source.text.lines().count() > LONG_FILE);
        row[3] += source.text.matches(EXCEPTION).count();
        row[4] += ACCEPTING.iter().map(|name| calls(&source.text, name)).sum::<usize>();
    }
    for (name, [code, tests, golden]) in lines::of_crates(sources) {
        let [_, rest @ ..] = rows.get(name).copied().unwrap_or_default();
        let of_crate = cycles.cycles.get(name).map_or(&[][..], Vec::as_slice);
        let mut row = [code, tests, golden, of_crate.len(), 0, 0, 0, 0];
        row[4..].copy_from_slice(&rest);
        counts.details.insert(key(COLUMNS[3], name), of_crate.join("; "));
        counts.crates.push((name.to_owned(), row));
    }
    for (name, is_counted) in
        [("pub", (|it| it) as fn(bool) -> bool), ("pub and pub(..)", |_| true)]
    {
        let (surplus, names) = surplus(sources, is_counted);
        let key = format!("surplus definitions of {name} types with one name");
        counts.details.insert(key.clone(), names);
        counts.others.push((key, surplus));
    }
    let manifest = text(sources, "xtask/Cargo.toml").map(|manifest| {
        let of = |section| dependencies(manifest, section).len();
        ("product crates in xtask/Cargo.toml", of("[dependencies]") + of("[dev-dependencies]"))
    });
    let threshold = text(sources, "clippy.toml").and_then(|it| {
        let value = it.lines().find_map(|line| line.strip_prefix("too-many-lines-threshold = "))?;
        Some(("threshold of lines of a function in clippy.toml", value.parse().ok()?))
    });
    counts.others.extend(
        [manifest, threshold].into_iter().flatten().map(|(key, count)| (key.to_owned(), count)),
    );
    let options = text(sources, OPTIONS).unwrap_or_default().lines().filter_map(|line| {
        let (verb, options) = line.split_once(' ')?;
        Some((key("options", verb), options.parse().ok()?))
    });
    counts.others.extend(options);
    counts
}

fn key(name: &str, of: &str) -> String {
    format!("{name} of {of}")
}

/// Number of doc comments, each of consecutive lines `///` or `//!`, whose first words are in `STARTS`.
fn doc_comments(code: &str) -> usize {
    let mut previous = "";
    let mut count = 0;
    for line in code.lines().map(str::trim_start) {
        let mark = ["///", "//!"].into_iter().find(|it| line.starts_with(it)).unwrap_or_default();
        if !mark.is_empty() && mark != previous {
            let text = line[mark.len()..].trim_start();
            let is_start = |start: &&str| {
                text.strip_prefix(*start).is_some_and(|it| !it.starts_with(char::is_alphanumeric))
            };
            count += usize::from(STARTS.iter().any(is_start));
        }
        previous = mark;
    }
    count
}

/// Number of calls of a function, without its definition. The name ends with its bracket.
fn calls(text: &str, name: &str) -> usize {
    let is_call = |(at, _): &(usize, &str)| {
        let before = &text[..*at];
        !before.ends_with("fn ")
            && !before.ends_with(|it: char| it.is_alphanumeric() || "_\"".contains(it))
    };
    text.match_indices(name).filter(is_call).count()
}

/// Definitions of types minus their distinct names, and the names that several have. `is_counted` decides by whether
/// the type is `pub` without a restriction.
fn surplus(sources: &[Source], is_counted: fn(bool) -> bool) -> (usize, String) {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for (is_public, name) in sources.iter().flat_map(|it| it.code().lines()).filter_map(defined) {
        if is_counted(is_public) && (is_public || name != SHARED_NAME) {
            *names.entry(name).or_default() += 1;
        }
    }
    let surplus = names.values().map(|count| count - 1).sum();
    let several = names.iter().filter(|(_, count)| **count > 1);
    (surplus, several.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", "))
}

/// Whether the type that a line defines is `pub` without a restriction, and its name.
fn defined(line: &str) -> Option<(bool, &str)> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let public = rest.strip_prefix(' ');
    let rest = public.or_else(|| rest.strip_prefix('(')?.split_once(") ").map(|it| it.1))?;
    let (kind, rest) = rest.strip_prefix("unsafe ").unwrap_or(rest).split_once(' ')?;
    let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
    KINDS.contains(&kind).then(|| (public.is_some(), &rest[..end]))
}

impl Counts {
    /// A complaint for each count that is not within its limit, and for each limit that nothing is counted for.
    pub(super) fn complaints(&self) -> Vec<String> {
        let crates: Vec<_> = CRATES.iter().map(|(name, row)| ((*name).to_owned(), *row)).collect();
        let others: Vec<_> = OTHERS.iter().map(|(name, it)| ((*name).to_owned(), *it)).collect();
        self.compared(&crates, &others)
    }

    fn compared(&self, crates: &[(String, [usize; 8])], others: &[(String, usize)]) -> Vec<String> {
        let mut limits = flat(crates, others);
        let mut complaints = Vec::new();
        for (key, (count, percent)) in flat(&self.crates, &self.others) {
            let Some((limit, _)) = limits.remove(&key) else {
                complaints.push(format!("{key}: {count}, without a limit: {HOW}"));
                continue;
            };
            if count > limit {
                let details =
                    self.details.get(&key).map(|it| format!(": {it}")).unwrap_or_default();
                let surplus = count - limit;
                complaints
                    .push(format!("{key}: {count}, at most {limit}: reduce by {surplus}{details}"));
            } else if count * 100 < limit * percent {
                complaints.push(format!(
                    "{key}: {count}, limit {limit}: lower the number to {count} in {FILE}"
                ));
            }
        }
        complaints.extend(limits.keys().map(|key| format!("{key}: a limit, but no count: {HOW}")));
        complaints
    }

    /// Both tables with these counts, and the limits of rows that differ.
    pub(super) fn shown(&self) -> String {
        let mut text = String::from("pub(super) const CRATES: &[(&str, [usize; 8])] = &[\n");
        for (name, row) in &self.crates {
            let limit = CRATES.iter().find(|it| it.0 == name).map(|it| it.1);
            text += &shown_row(name, row, limit.as_ref());
        }
        text += "];\npub(super) const OTHERS: &[(&str, usize)] = &[\n";
        for (name, count) in &self.others {
            let limit = OTHERS.iter().find(|it| it.0 == name).map(|it| it.1);
            text += &shown_row(name, count, limit.as_ref());
        }
        text + "];"
    }
}

fn shown_row<T: PartialEq + std::fmt::Debug>(name: &str, count: &T, limit: Option<&T>) -> String {
    let differs = limit.filter(|it| *it != count).map(|it| format!(" // limit: {it:?}"));
    format!("    ({name:?}, {count:?}),{}\n", differs.unwrap_or_default())
}

/// Each count by its name, and the share of the limit that it must reach, in percent.
fn flat(
    crates: &[(String, [usize; 8])],
    others: &[(String, usize)],
) -> BTreeMap<String, (usize, usize)> {
    let of_crate = |(name, row): &(String, [usize; 8])| {
        let counts = row.iter().zip(COLUMNS).enumerate();
        counts
            .map(|(column, (count, title))| {
                (key(title, name), (*count, if column < LINES { BAND } else { 100 }))
            })
            .collect::<Vec<_>>()
    };
    let others = others.iter().map(|(name, count)| (name.clone(), (*count, 100)));
    crates.iter().flat_map(of_crate).chain(others).collect()
}

#[cfg(test)]
mod tests;
