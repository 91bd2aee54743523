//! Files of the project, each read once for all rules. Only Markdown, TOML, Rust, tables and golden files have a text.
//!
//! Results, hidden folders and folders that a build writes are skipped.

use anyhow::Context;
use std::{fs, path::Path};
use walkdir::{DirEntry, WalkDir};

/// Reports of earlier versions, as these printed them.
const RESULTS: &str = "results";

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

/// All files below `root`.
pub(crate) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let relative = |entry: &DirEntry| {
        entry.path().strip_prefix(root).unwrap_or(entry.path()).display().to_string()
    };
    let is_kept = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        let path = relative(entry);
        // Cargo marks its folders by a file.
        let is_built = entry.path().join("CACHEDIR.TAG").exists()
            || name == "node_modules"
            || name == "target" && !path.contains("/src/");
        entry.depth() == 0 || !is_built && !name.starts_with('.') && path != RESULTS
    };
    let mut sources = Vec::new();
    for entry in WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_kept) {
        let entry = entry?;
        let path = relative(&entry);
        if entry.file_type().is_file() {
            let is_text = TEXTS.iter().any(|end| path.ends_with(end)) || path.contains("/golden/");
            let text = if is_text { fs::read_to_string(entry.path()) } else { Ok(String::new()) };
            let text = text.with_context(|| path.clone())?;
            sources.push(Source::new(path, text));
        }
    }
    Ok(sources)
}

/// Source of a test.
#[cfg(test)]
pub(crate) fn source(path: &str, text: &str) -> Source {
    Source::new(path.to_owned(), text.to_owned())
}
