//! Names in documents exist: the tests of known traps, and the repository.
//!
//! A test may still fail to show what the table of traps claims.

use std::collections::HashSet;

use super::sources::{Source, text};

const TRAPS: &str = "docs/methodology.md";
const HEADING: &str = "## Known traps";
const MANIFEST: &str = "Cargo.toml";
/// Documents that repeat the repository's name, and the text in front of it there.
const WITH_REPOSITORY: [&str; 3] = ["README.md", "action/README.md", "docs/ci.md"];
const MARKS: [&str; 2] = ["uses: ", "repository: "];

/// A complaint for each test that the table of traps names and no source has, and for each line of a document that
/// names another repository.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let mut complaints = Vec::new();
    let traps = text(sources, TRAPS).unwrap_or_default();
    let (_, section) = traps.split_once(HEADING).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    if rows.is_empty() {
        complaints.push(format!("{TRAPS}: no table below `{HEADING}`"));
    }
    // A function, or the title of a fault that a test causes.
    let rust = || sources.iter().filter(|it| it.is_rust());
    let functions = rust().flat_map(|it| &it.trimmed).filter_map(|it| it.strip_prefix("fn "));
    let functions = functions.filter_map(|it| it.split('(').next());
    let titles = rust().filter(|it| it.path.contains("/provoke/"));
    let titles = titles.flat_map(|it| it.text.split('"'));
    let known: HashSet<&str> = functions.chain(titles).collect();
    for row in rows.iter().skip(1) {
        let cell = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or_default();
        let unknown = cell.split('`').skip(1).step_by(2).filter(|it| !known.contains(it));
        complaints.extend(unknown.map(|name| format!("{TRAPS}: there is no test `{name}`")));
    }
    let repository = value(sources, "repository");
    for document in WITH_REPOSITORY {
        for (number, line) in (1..).zip(text(sources, document).unwrap_or_default().lines()) {
            let Some((_, name)) = MARKS.iter().find_map(|it| line.split_once(it)) else { continue };
            let name = name.split([' ', '@', '}']).next().unwrap_or_default();
            let name = name.strip_suffix("/action").unwrap_or(name);
            if name.ends_with("/wirebench") && !repository.ends_with(&format!("/{name}")) {
                complaints.push(format!(
                    "{document}:{number}: `{name}` is not the repository of {MANIFEST}: {repository}"
                ));
            }
        }
    }
    complaints
}

/// A line for each key of `[workspace.package]` that a publication must fill in.
pub(super) fn open(sources: &[Source]) -> Vec<String> {
    let keys = [("repository", "/OWNER/"), ("authors", "@localhost")];
    let open = keys.iter().filter(|(key, part)| value(sources, key).contains(part));
    let say = |key| {
        format!("to fill in before publication: `{key}` in [workspace.package] of {MANIFEST}")
    };
    open.map(|(key, _)| say(key)).collect()
}

/// Value of a key of the manifest, as it is written; empty without one.
fn value(sources: &[Source], key: &str) -> &'static str {
    let mut lines = text(sources, MANIFEST).unwrap_or_default().lines();
    let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
    value.unwrap_or_default().trim_matches('"')
}
