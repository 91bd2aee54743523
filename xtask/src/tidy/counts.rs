//! Counts of the sources, and their comparison with `limits.rs`: neither more nor fewer.
//!
//! Lines may be up to 3 % below their limit, so that not every commit edits the limits.

use std::collections::BTreeMap;

use super::{
    cycles::Cycles,
    limits::{CRATES, LONG_FILE, OTHERS},
    sources::{Source, text},
};
use crate::lines;

pub(super) const FILE: &str = "xtask/src/tidy/limits.rs";
/// Columns of `CRATES`, and the least share of its limit that a count may be, in percent.
const COLUMNS: [(&str, usize); 8] = [
    ("lines of code", 97),
    ("lines of tests", 97),
    ("lines of golden files", 97),
    (CYCLES, 100),
    ("doc comments that begin with What, That, Whether, Who, It or The same", 100),
    ("files that are too long", 100),
    ("functions that are excepted from the limit of lines", 100),
    ("calls that accept a failed run", 100),
];
const CYCLES: &str = "cycles of modules";
/// First words of a doc comment that has neither a noun nor a verb at its beginning.
const STARTS: [&str; 6] = ["What", "That", "Whether", "Who", "It", "The same"];
/// Helpers of tests that let a run fail without failing the test.
pub(super) const ACCEPTING: [&str; 4] =
    ["assert_reported(", "assert_fine(", "assert_went_through(", "assert_ended("];
pub(super) const EXCEPTION: &str = concat!("clippy::too_many", "_lines");
/// Keywords of types, and a name of types that are not public and that each module of options may have.
const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
const SHARED_NAME: &str = "Arguments";
/// Lines `VERB OPTIONS`, written by a test of the program.
pub(super) const OPTIONS: &str = "crates/cli/tests/golden/options.txt";

/// Rows of both tables: the name of a crate and its counts, or the name of one count and that.
type Rows = Vec<(String, Vec<usize>)>;

/// Everything that has a limit. A count whose file is missing is absent.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) rows: Rows,
    /// Names of counts, and what these consist of.
    pub(super) details: BTreeMap<String, String>,
}

/// Counts everything, with the cycles of each crate.
pub(super) fn of(sources: &[Source], cycles: &Cycles) -> Counts {
    let mut counts = Counts::default();
    for (name, [code, tests, golden]) in lines::of_crates(sources) {
        let of_crate = |it: &&Source| it.is_rust() && it.crate_name() == Some(name);
        let files: Vec<&Source> = sources.iter().filter(of_crate).collect();
        let sum = |count: fn(&Source) -> usize| files.iter().map(|it| count(it)).sum();
        let cycles = cycles.get(name).map_or(&[][..], Vec::as_slice);
        let is_long = |it: &Source| usize::from(it.lines.len() > LONG_FILE);
        // An attribute may have several lines.
        let exceptions = |it: &Source| {
            let of_attributes = it.trimmed.iter().filter(|it| it.starts_with(['#', 'c']));
            of_attributes.filter(|it| it.contains(EXCEPTION)).count()
        };
        let counted = [sum(doc_comments), sum(is_long), sum(exceptions), sum(accepting_calls)];
        let row = [&[code, tests, golden, cycles.len()], &counted[..]].concat();
        counts.details.insert(format!("{CYCLES} of {name}"), cycles.join("; "));
        counts.rows.push((name.to_owned(), row));
    }
    for (name, with_restricted) in [("pub", false), ("pub and pub(..)", true)] {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let types = sources.iter().flat_map(Source::code).filter_map(|line| defined(line));
        for (_, name) in types.filter(|it| it.0 || with_restricted && it.1 != SHARED_NAME) {
            *names.entry(name).or_default() += 1;
        }
        let several = names.iter().filter(|it| *it.1 > 1).map(|(name, n)| format!("{name} {n}"));
        let key = format!("surplus definitions of {name} types with one name");
        counts.details.insert(key.clone(), several.collect::<Vec<_>>().join(", "));
        counts.rows.push((key, vec![names.values().map(|n| n - 1).sum()]));
    }
    let lines = |path| text(sources, path).unwrap_or_default().lines();
    let threshold = lines("clippy.toml").filter_map(|it| {
        let value = it.strip_prefix("too-many-lines-threshold = ")?.parse().ok()?;
        Some(("threshold of lines of a function in clippy.toml".to_owned(), vec![value]))
    });
    let options = lines(OPTIONS).filter_map(|line| {
        let (verb, options) = line.split_once(' ')?;
        Some((format!("options of {verb}"), vec![options.parse().ok()?]))
    });
    counts.rows.extend(threshold.chain(options));
    counts
}

/// Number of doc comments, each of consecutive lines `///` or `//!`, whose first words are in `STARTS`.
fn doc_comments(source: &Source) -> usize {
    let (mut previous, mut count) = ("", 0);
    for line in source.code() {
        let mark = if line.starts_with("//") { line.get(..3).unwrap_or_default() } else { "" };
        if mark != previous && ["///", "//!"].contains(&mark) {
            let text = line[3..].trim_start();
            let rests = STARTS.iter().filter_map(|start| text.strip_prefix(start));
            count += rests.filter(|it| !it.starts_with(char::is_alphanumeric)).count();
        }
        previous = mark;
    }
    count
}

/// Number of calls of `ACCEPTING`, without definitions.
fn accepting_calls(source: &Source) -> usize {
    let is_call = |(at, _): &(usize, &str)| {
        let (before, name) = source.text.split_at(*at);
        let is_part = before.ends_with(|it: char| it.is_alphanumeric() || "_\"".contains(it));
        !is_part && !before.ends_with("fn ") && ACCEPTING.iter().any(|it| name.starts_with(it))
    };
    source.text.match_indices("assert_").filter(is_call).count()
}

/// The name of the type that a line defines with `pub`, and whether that has no restriction.
fn defined(line: &'static str) -> Option<(bool, &'static str)> {
    let rest = line.strip_prefix("pub")?;
    let public = rest.strip_prefix(' ');
    let rest = public.or_else(|| rest.strip_prefix('(')?.split_once(") ").map(|it| it.1))?;
    let (kind, rest) = rest.strip_prefix("unsafe ").unwrap_or(rest).split_once(' ')?;
    let name = rest.split(|it: char| !it.is_alphanumeric() && it != '_').next()?;
    KINDS.contains(&kind).then_some((public.is_some(), name))
}

/// The maximum of each count.
pub(super) fn limits() -> Rows {
    let crates = CRATES.iter().map(|(name, row)| ((*name).to_owned(), row.to_vec()));
    crates.chain(OTHERS.iter().map(|(name, it)| ((*name).to_owned(), vec![*it]))).collect()
}

/// Each count by its name, and the share of its limit that it must reach, in percent.
fn flat(rows: &Rows) -> BTreeMap<String, (usize, usize)> {
    let row = |(name, row): &(String, Vec<usize>)| -> Vec<_> {
        if let [count] = row[..] {
            return vec![(name.clone(), (count, 100))];
        }
        let counts = row.iter().zip(COLUMNS);
        counts.map(|(n, (title, share))| (format!("{title} of {name}"), (*n, share))).collect()
    };
    rows.iter().flat_map(row).collect()
}

impl Counts {
    /// A complaint for each count that is not within its limit, and for each limit that nothing is counted for.
    pub(super) fn complaints(&self, limits: &Rows) -> Vec<String> {
        let how = format!("compare `cargo xtask tidy --counts` with {FILE}");
        let mut limits = flat(limits);
        let mut complaints = Vec::new();
        for (key, (count, share)) in flat(&self.rows) {
            complaints.extend(match limits.remove(&key) {
                None => Some(format!("{key}: {count}, without a limit: {how}")),
                Some((limit, _)) if count > limit => {
                    let details = self.details.get(&key).map(|it| format!(": {it}"));
                    let (surplus, details) = (count - limit, details.unwrap_or_default());
                    Some(format!("{key}: {count}, at most {limit}: reduce by {surplus}{details}"))
                }
                Some((limit, _)) if count * 100 < limit * share => Some(format!(
                    "{key}: {count}, limit {limit}: lower the number to {count} in {FILE}"
                )),
                Some(_) => None,
            });
        }
        complaints.extend(limits.keys().map(|key| format!("{key}: a limit, but no count: {how}")));
        complaints
    }

    /// Both tables with these counts, and the limits of rows that differ.
    pub(super) fn shown(&self, limits: &Rows) -> String {
        let show = |row: &[usize]| match row {
            [count] => count.to_string(),
            _ => format!("{row:?}"),
        };
        let line = |(name, row): &(String, Vec<usize>)| {
            let limit = limits.iter().find(|it| it.0 == *name && it.1 != *row);
            let limit = limit.map(|it| format!(" // limit: {}", show(&it.1)));
            format!("    ({name:?}, {}),{}\n", show(row), limit.unwrap_or_default())
        };
        let (crates, others): (Vec<_>, Vec<_>) = self.rows.iter().partition(|it| it.1.len() > 1);
        format!(
            "pub(super) const CRATES: &[(&str, [usize; 8])] = &[\n{}];\n\
             pub(super) const OTHERS: &[(&str, usize)] = &[\n{}];",
            crates.into_iter().map(line).collect::<String>(),
            others.into_iter().map(line).collect::<String>(),
        )
    }
}
