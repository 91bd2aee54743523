//! Files of the project, each read once for all rules. Only Markdown, TOML, Rust, tables and golden files have a text.
//!
//! Results, hidden files and files that git ignores are skipped.

use anyhow::Context;
use std::{fs, path::Path};

use crate::step::{at_root, output};

/// Ends of files with a text, in addition to golden files.
const TEXTS: [&str; 4] = [".md", ".toml", ".rs", ".tsv"];

/// A file of the project. The path is relative to the project's folder.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: &'static str,
    /// The lines without spaces at their beginning.
    pub(super) lines: Vec<&'static str>,
    /// Number of lines that are Rust code and not a test.
    code: usize,
}

impl Source {
    /// The text is leaked, because all rules share it until the program ends.
    pub(super) fn new(path: &str, text: String) -> Self {
        let (path, text): (_, &'static str) = (path.to_owned(), text.leak());
        let lines: Vec<&str> = text.lines().map(str::trim_ascii_start).collect();
        let mut source = Self { path, text, lines, code: 0 };
        let path = &source.path;
        let is_test = path.contains("/tests/") || path.contains("/fixtures");
        if source.is_rust() && !is_test && !path.ends_with("tests.rs") {
            let is_end = |pair: &[&str]| {
                pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with(" {")
            };
            source.code = source.lines.windows(2).position(is_end).unwrap_or(source.lines.len());
        }
        source
    }

    /// Name of the crate that has this file: a folder below `crates/`, or `xtask`, or `lab`.
    pub(super) fn crate_name(&self) -> Option<&str> {
        let mut folders = self.path.split('/');
        match folders.next()? {
            "crates" => folders.next(),
            name @ ("xtask" | "lab") => Some(name),
            _ => None,
        }
    }

    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs") && self.crate_name().is_some()
    }

    /// Rust code that is not a test: nothing in a file of tests or fixtures, otherwise the lines above the module of
    /// tests.
    pub(super) fn code(&self) -> &[&'static str] {
        &self.lines[..self.code]
    }

    /// Number of lines of tests with their comments: of a whole file, or of a module up to the first line without an
    /// indent that ends a statement.
    pub(super) fn test_lines(&self) -> usize {
        let lines: Vec<&str> = self.text.lines().skip(self.code).collect();
        let is_end = |line: &&str| !line.starts_with(' ') && line.ends_with([';', '}']);
        let end = lines.iter().position(is_end).filter(|_| self.code > 0);
        lines[..end.map_or(lines.len(), |it| it + 1)].iter().filter(|it| !it.is_empty()).count()
    }
}

/// Text of the file with this path, empty without one.
pub(super) fn text(sources: &[Source], path: &str) -> &'static str {
    sources.iter().find(|it| it.path == path).map_or("", |it| it.text)
}

/// All files of the checkout `root`, new ones included.
pub(super) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    // In a merge a file would be listed several times.
    let files = ["ls-files", "--deduplicate", "-z", "--cached", "--others", "--exclude-standard"];
    let files = output(at_root("git", files).current_dir(root))?;
    let mut paths: Vec<&str> = files.split_terminator('\0').collect();
    paths.retain(|it| !it.starts_with("results/") && !it.starts_with('.') && !it.contains("/."));
    // Neither links nor files that were removed.
    paths.retain(|it| fs::symlink_metadata(root.join(it)).is_ok_and(|it| it.is_file()));
    let source = |path: &str| {
        let is_text = TEXTS.iter().any(|end| path.ends_with(end)) || path.contains("/golden/");
        let text = if is_text { fs::read_to_string(root.join(path)) } else { Ok(String::new()) };
        Ok(Source::new(path, text.with_context(|| path.to_owned())?))
    };
    paths.into_iter().map(source).collect()
}
