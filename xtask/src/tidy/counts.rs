//! Counts of the sources, and their comparison with `limits.rs`: neither more nor fewer.
//!
//! Lines may be up to 3 % below their limit, so that not every commit edits the limits.

use std::collections::BTreeMap;

use super::sources::{Source, text};

pub(super) const FILE: &str = "xtask/src/tidy/limits.rs";
/// Columns of the limits of crates.
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
/// The share of its limit that a number of lines must reach, in percent.
const LEAST_SHARE: usize = 97;
/// Lines above which a source file is counted as too long.
pub(super) const LONG_FILE: usize = 300;
/// First words of a doc comment that has neither a noun nor a verb at its beginning.
const STARTS: [&str; 6] = ["What", "That", "Whether", "Who", "It", "The same"];
/// Helpers of tests that let a run fail without failing the test.
pub(super) const ACCEPTING: [&str; 4] =
    ["assert_reported", "assert_fine", "assert_went_through", "assert_ended"];
pub(super) const EXCEPTION: &str = concat!("clippy::too_many", "_lines");
/// Keywords of types, and a name of types that are not public and that each module of options may have.
const KINDS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];
const SHARED_NAME: &str = "Arguments";
/// Lines `VERB OPTIONS`, written by a test of the program.
pub(super) const OPTIONS: &str = "crates/cli/tests/golden/options.txt";

/// Counts of each crate, with its cycles.
pub(super) fn of_crates<'a>(
    sources: &'a [Source],
    cycles: &BTreeMap<&str, Vec<String>>,
) -> Vec<(&'a str, [usize; 8])> {
    let mut crates: BTreeMap<&str, [usize; 8]> = BTreeMap::new();
    for source in sources {
        let Some(name) = source.crate_name() else { continue };
        let counts = crates.entry(name).or_default();
        counts[3] = cycles.get(name).map_or(0, Vec::len);
        if source.path.contains("/golden/") {
            counts[2] += source.lines.len();
        } else if source.is_rust() {
            let is_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
            counts[0] += source.code().iter().filter(is_code).count();
            counts[1] += source.test_lines();
            counts[4] += doc_comments(source);
            counts[5] += usize::from(source.lines.len() > LONG_FILE);
            // An attribute may have several lines.
            let attributes = source.lines.iter().filter(|it| it.starts_with(['#', 'c']));
            counts[6] += attributes.filter(|it| it.contains(EXCEPTION)).count();
            let calls = |name| source.text.matches(&format!("{name}(")).count();
            let definitions = |name| source.text.matches(&format!("fn {name}(")).count();
            counts[7] += ACCEPTING.iter().map(|it| calls(it) - definitions(it)).sum::<usize>();
        }
    }
    crates.into_iter().collect()
}

/// Counts of the workspace, and the names of the types that it counts. A count whose file is missing is absent.
pub(super) fn of_workspace(sources: &[Source]) -> (Vec<(&'static str, usize)>, Vec<String>) {
    let (mut counts, mut details) = (Vec::new(), Vec::new());
    for (count, with_restricted) in [
        ("surplus definitions of pub types with one name", false),
        ("surplus definitions of pub and pub(..) types with one name", true),
    ] {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let types = sources.iter().flat_map(Source::code).filter_map(|line| defined(line));
        for (_, name) in types.filter(|it| it.0 || with_restricted && it.1 != SHARED_NAME) {
            *names.entry(name).or_default() += 1;
        }
        names.retain(|_, definitions| *definitions > 1);
        counts.push((count, names.values().map(|it| it - 1).sum()));
        details.extend(names.iter().map(|(name, it)| format!("{name}: {it} definitions")));
    }
    let options = text(sources, OPTIONS).lines().filter_map(|line| {
        let (verb, options) = line.split_once(' ')?;
        Some((&*format!("options of {verb}").leak(), options.parse().ok()?))
    });
    counts.extend(options);
    (counts, details)
}

/// Number of doc comments, each of consecutive lines `///` or `//!`, whose first words are in `STARTS`.
fn doc_comments(source: &Source) -> usize {
    let lines = source.code().iter().zip([""].iter().chain(source.code()));
    let begin = |(line, previous): (&&'static str, &&str)| {
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark))?;
        (!previous.starts_with(mark)).then(|| line[mark.len()..].trim_start())
    };
    let is_wrong = |text: &&str| {
        let mut rests = STARTS.iter().filter_map(|start| text.strip_prefix(start));
        rests.any(|it| !it.starts_with(char::is_alphanumeric))
    };
    lines.filter_map(begin).filter(is_wrong).count()
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

/// Each count by its name.
pub(super) fn flat(
    crates: &[(&str, [usize; 8])],
    others: &[(&str, usize)],
) -> BTreeMap<String, usize> {
    let of_crates = crates.iter().flat_map(|(name, counts)| {
        COLUMNS.iter().zip(counts).map(move |(column, it)| (format!("{column} of {name}"), *it))
    });
    of_crates.chain(others.iter().map(|(name, it)| ((*name).to_owned(), *it))).collect()
}

/// A complaint for each count that is not within its limit, and for each limit that nothing is counted for.
pub(super) fn complaints(
    counts: BTreeMap<String, usize>,
    mut limits: BTreeMap<String, usize>,
) -> Vec<String> {
    let how = format!("compare `cargo xtask tidy --counts` with {FILE}");
    let mut complaints = Vec::new();
    for (name, count) in counts {
        let least = if name.starts_with("lines of ") { LEAST_SHARE } else { 100 };
        complaints.extend(match limits.remove(&name) {
            None => Some(format!("{name}: {count}, without a limit: {how}")),
            Some(limit) if count > limit => {
                let surplus = count - limit;
                Some(format!("{name}: {count}, at most {limit}: reduce by {surplus}"))
            }
            Some(limit) if count * 100 < limit * least => Some(format!(
                "{name}: {count}, limit {limit}: lower the number to {count} in {FILE}"
            )),
            Some(_) => None,
        });
    }
    complaints.extend(limits.keys().map(|name| format!("{name}: a limit, but no count: {how}")));
    complaints
}
