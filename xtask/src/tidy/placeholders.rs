//! Values of `[workspace.package]` in Cargo.toml that a publication must fill in, and documents that repeat one.

use super::sources::{Source, text};

const MANIFEST: &str = "Cargo.toml";
const DOCUMENTS: [&str; 3] = ["README.md", "action/README.md", "docs/ci.md"];
/// Parts of values that are not chosen yet, each with the key that has one.
const OPEN: [(&str, &str); 2] = [("repository", "/OWNER/"), ("authors", "@localhost")];
/// Text in front of the repository's name where a document repeats it.
const MARKS: [&str; 2] = ["uses: ", "repository: "];

/// A line for each key that still has a placeholder.
pub(super) fn open(sources: &[Source]) -> Vec<String> {
    let manifest = read(sources, MANIFEST);
    let is_open = |(key, open): &(&str, &str)| value(manifest, key).contains(open);
    let keys = OPEN.into_iter().filter(is_open);
    keys.map(|(key, _)| {
        format!("to fill in before publication: `{key}` in [workspace.package] of {MANIFEST}")
    })
    .collect()
}

/// A complaint for each line of a document that names another repository.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let repository = value(read(sources, MANIFEST), "repository");
    let of = |document: &str| other_names(document, read(sources, document), repository);
    DOCUMENTS.into_iter().flat_map(of).collect()
}

fn other_names(document: &str, text: &str, repository: &str) -> Vec<String> {
    let names = text.lines().enumerate().filter_map(|(number, line)| {
        let mark = MARKS.iter().find_map(|mark| line.split_once(mark))?;
        let name = mark.1.split([' ', '@', '}']).next().unwrap_or_default();
        let name = name.strip_suffix("/action").unwrap_or(name);
        name.ends_with("/wirebench").then_some((number + 1, name))
    });
    let is_other = |(_, name): &(usize, &str)| !repository.ends_with(&format!("/{name}"));
    let say = |(number, name)| {
        format!("{document}:{number}: `{name}` is not the repository of {MANIFEST}: {repository}")
    };
    names.filter(is_other).map(say).collect()
}

/// Value of a key, as it is written; empty without one.
fn value<'t>(manifest: &'t str, key: &str) -> &'t str {
    let start = format!("{key} = ");
    manifest
        .lines()
        .find_map(|line| line.strip_prefix(&start))
        .unwrap_or_default()
        .trim_matches('"')
}

fn read<'s>(sources: &'s [Source], file: &str) -> &'s str {
    text(sources, file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_name_the_repository_of_the_manifest() {
        let text =
            "    uses: me/wirebench/action@main  # run\n  with: { repository: you/wirebench }\n";
        let found = other_names("README.md", text, "https://example.org/me/wirebench");
        let expected = "README.md:2: `you/wirebench` is not the repository of Cargo.toml: \
                        https://example.org/me/wirebench";
        assert_eq!(found, [expected]);
        assert_eq!(value("a = 1\nrepository = \"x\"\n", "repository"), "x");
    }
}
