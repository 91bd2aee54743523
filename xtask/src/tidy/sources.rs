//! Files of the project, each read once for all rules. Only Markdown, TOML, Rust, tables and golden files have a text.
//!
//! Results, hidden files and files that git ignores are skipped.

use anyhow::Context;
use std::{fs, path::Path};

use crate::step::{at_root, output};

/// Reports of earlier versions, as these printed them.
const RESULTS: &str = "results/";

/// Ends of files with a text, in addition to golden files.
const TEXTS: [&str; 4] = [".md", ".toml", ".rs", ".tsv"];

/// A file of the project. The path is relative to the project's folder.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: &'static str,
    pub(crate) lines: Vec<&'static str>,
    /// The lines without spaces at their beginning.
    pub(crate) trimmed: Vec<&'static str>,
    /// Number of lines that are Rust code and not a test.
    code: usize,
}

impl Source {
    /// The text is leaked, because all rules share it until the program ends.
    pub(crate) fn new(path: String, text: String) -> Self {
        let text: &'static str = text.leak();
        let lines: Vec<&str> = text.lines().collect();
        let trimmed = lines.iter().map(|line| line.trim_ascii_start()).collect();
        let mut source = Self { path, text, lines, trimmed, code: 0 };
        let is_test = source.path.contains("/tests/") || source.path.contains("/fixtures");
        if !is_test && !source.path.ends_with("tests.rs") && source.is_rust() {
            let is_end = |pair: &[&str]| {
                pair[0].ends_with("#[cfg(test)]")
                    && pair[1].trim_start().starts_with("mod ")
                    && pair[1].ends_with(" {")
            };
            source.code = source.lines.windows(2).position(is_end).unwrap_or(source.lines.len());
        }
        source
    }

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

    /// Rust code that is not a test, without spaces at the beginning of lines: nothing in a file of tests or fixtures,
    /// otherwise the lines above the module of tests.
    pub(crate) fn code(&self) -> &[&'static str] {
        &self.trimmed[..self.code]
    }
}

/// Text of the file with this path.
pub(crate) fn text(sources: &[Source], path: &str) -> Option<&'static str> {
    sources.iter().find(|it| it.path == path).map(|it| it.text)
}

/// All files of the checkout `root`, new ones included.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let files = ["ls-files", "--deduplicate", "-z", "--cached", "--others", "--exclude-standard"];
    let files = output(at_root("git", files).current_dir(root))?;
    let is_kept =
        |path: &&str| ![RESULTS, "."].iter().any(|it| path.starts_with(it)) && !path.contains("/.");
    let mut paths: Vec<&str> = files.split_terminator('\0').filter(is_kept).collect();
    paths.sort_unstable();
    // In a merge a file may be listed several times.
    paths.dedup();
    let mut sources = Vec::new();
    for path in paths {
        // Neither a link nor a file that was removed.
        if fs::symlink_metadata(root.join(path)).is_ok_and(|it| it.is_file()) {
            let is_text = TEXTS.iter().any(|end| path.ends_with(end)) || path.contains("/golden/");
            let text =
                if is_text { fs::read_to_string(root.join(path)) } else { Ok(String::new()) };
            sources.push(Source::new(path.to_owned(), text.context(path.to_owned())?));
        }
    }
    Ok(sources)
}

/// Source of a test.
#[cfg(test)]
pub(crate) fn source(path: &str, text: &str) -> Source {
    Source::new(path.to_owned(), text.to_owned())
}
