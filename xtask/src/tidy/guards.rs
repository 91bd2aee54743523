//! The table of known traps in `docs/methodology.md` names the test of each guard;
//! this file finds tests that no longer exist.
//!
//! It does not check that the test shows what the table claims.

use std::collections::HashSet;

use super::sources::{Source, text};

const DOCUMENT: &str = "docs/methodology.md";
const HEADING: &str = "## Known traps";

/// A complaint for each test that the table names and no source has.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let Some(document) = text(sources, DOCUMENT) else {
        return vec![format!("{DOCUMENT} is missing")];
    };
    let rust = || sources.iter().filter(|it| it.is_rust()).map(|it| it.text.as_str());
    let functions: HashSet<&str> = rust()
        .flat_map(|text| text.split("fn ").skip(1))
        .filter_map(|text| text.split('(').next())
        .collect();
    // A test by its name, or a fault that is provoked by its title.
    let is_title = |name: &str| rust().any(|text| text.contains(&format!("\"{name}\"")));
    missing(document, |name| functions.contains(name) || is_title(name))
}

fn missing(document: &str, is_test: impl Fn(&str) -> bool) -> Vec<String> {
    let Some((_, rest)) = document.split_once(HEADING) else {
        return vec![format!("{DOCUMENT}: there is no heading `{HEADING}`")];
    };
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    let names = rows.iter().skip(1).flat_map(|row| named_tests(row));
    let unknown = names.filter(|name| !is_test(name));
    let complaints = unknown.map(|name| format!("{DOCUMENT}: there is no test `{name}`"));
    let empty = rows.is_empty().then(|| format!("{DOCUMENT}: no table below `{HEADING}`"));
    complaints.chain(empty).collect()
}

/// The words in backquotes in the last cell of a row.
fn named_tests(row: &str) -> Vec<&str> {
    let cell = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or("");
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# T\n## Known traps, and\n\n| trap | guard | test |\n|---|---|---|\n\
                         | a | `not` this | `first`, `second` |\n| b | c | |\n## Next\n| `x` |\n";

    #[test]
    fn a_missing_test_is_named() {
        assert_eq!(missing(TABLE, |_| true), [""; 0]);
        let complaints = missing(TABLE, |name| name == "first");
        assert_eq!(complaints, ["docs/methodology.md: there is no test `second`"]);
    }

    #[test]
    fn a_missing_table_is_reported() {
        assert_eq!(
            missing("# T", |_| true).join("\n"),
            "docs/methodology.md: there is no heading `## Known traps`"
        );
        assert_eq!(
            missing("## Known traps\nnone", |_| true).join("\n"),
            "docs/methodology.md: no table below `## Known traps`"
        );
    }
}
