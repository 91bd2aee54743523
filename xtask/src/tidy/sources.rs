//! Texts of the project, each read once for all rules: Markdown, TOML, Rust and golden files.
//!
//! Results, hidden folders and folders that a build writes are skipped.

use anyhow::Context;
use std::{fs, path::Path};
use walkdir::{DirEntry, WalkDir};

/// Reports of earlier versions, as these printed them.
const RESULTS: &str = "results";

/// A file of the project. The path is relative to the project's folder.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Name of the crate that has this file: a folder below `crates/`, or `xtask`, or `lab`.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        let mut folders = self.path.split('/');
        match folders.next()? {
            "crates" => folders.next(),
            name @ ("xtask" | "lab") => Some(name),
            _ => None,
        }
    }

    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && self.crate_name().is_some()
    }

    pub(crate) fn is_golden(&self) -> bool {
        self.path.contains("/golden/")
    }

    /// Rust code that is not a test: nothing in a file of tests or fixtures, otherwise the text above the module of
    /// tests.
    pub(crate) fn code(&self) -> &str {
        let is_test = ["/tests/", "/fixtures"].iter().any(|part| self.path.contains(part));
        if is_test || self.path.ends_with("tests.rs") || !self.is_rust() {
            return "";
        }
        let tests = self.text.match_indices("#[cfg(test)]\n").find(|(at, mark)| {
            let next = self.text[at + mark.len()..].lines().next().unwrap_or_default();
            next.trim_start().strip_prefix("mod ").is_some_and(|it| it.ends_with(" {"))
        });
        &self.text[..tests.map_or(self.text.len(), |(at, _)| at)]
    }
}

/// Text of the file with this path.
pub(crate) fn text<'s>(sources: &'s [Source], path: &str) -> Option<&'s str> {
    sources.iter().find(|it| it.path == path).map(|it| it.text.as_str())
}

/// All texts below `root`, in the order of their paths.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let relative = |entry: &DirEntry| {
        entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string()
    };
    let is_kept = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let path = relative(entry);
        let is_built = name == "node_modules" || name == "target" && !path.contains("/src/");
        entry.depth() == 0 || !is_built && !name.starts_with('.') && path != RESULTS
    };
    let mut sources = Vec::new();
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_kept) {
        let entry = entry?;
        let path = relative(&entry);
        let is_text = [".md", ".toml", ".rs"].iter().any(|end| path.ends_with(end));
        if entry.file_type().is_file() && (is_text || path.contains("/golden/")) {
            let text = fs::read(entry.path()).with_context(|| path.clone())?;
            sources.push(Source { path, text: String::from_utf8_lossy(&text).into_owned() });
        }
    }
    Ok(sources)
}

/// Source of a test.
#[cfg(test)]
pub(crate) fn source(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_ends_at_the_tests_and_test_files_have_none() {
        let text = "#[cfg(test)]\nmod fixtures;\nfn a() {}\n#[cfg(test)]\nmod tests {\n}\n";
        let code = "#[cfg(test)]\nmod fixtures;\nfn a() {}\n";
        let cases = [
            ("crates/a/src/b.rs", code, Some("a")),
            ("xtask/src/b.rs", code, Some("xtask")),
            ("crates/a/src/b/tests.rs", "", Some("a")),
            ("crates/a/tests/it/b.rs", "", Some("a")),
            ("crates/a/src/fixtures.rs", "", Some("a")),
            ("entries/rust/b/src/c.rs", "", None),
        ];
        for (path, code, name) in cases {
            let source = source(path, text);
            assert_eq!((source.code(), source.crate_name()), (code, name), "{path}");
        }
    }

    #[test]
    fn texts_and_golden_files_are_read_outside_of_skipped_folders() {
        let folder = tempfile::tempdir().unwrap();
        let skipped = ["b/e.c", "target/f.md", ".git/g.md", "results/h.md"];
        let kept = ["a.md", "b/c.toml", "b/golden/i.txt", "b/results/d.rs", "b/src/target/j.rs"];
        for path in kept.iter().chain(&skipped) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        let found = read(folder.path()).unwrap();
        assert_eq!(found.iter().map(|it| it.path.as_str()).collect::<Vec<_>>(), kept);
    }
}
