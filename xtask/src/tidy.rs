//! `cargo xtask tidy`: rules that no compiler checks. Each complaint says what to do.

mod guards;
mod modules;
mod phrases;
mod placeholders;

use anyhow::{Context, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
};
use walkdir::WalkDir;

use crate::step::root;

/// Lines above which a source file must be split.
const FILE_LINES: usize = 400;
/// Bytes above which a line is too long to read.
const LINE_LENGTH: usize = 120;
const DOCUMENTS: [&str; 7] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    ENTRIES,
];
/// The folder next to the entries of a language that has their common sources.
const SHARED: &str = "shared";
/// It has a row for each entry.
const ENTRIES: &str = "entries/README.md";
/// Which crates of the workspace each crate may depend on. An arrow that is not here is not
/// allowed.
const ARROWS: [(&str, &[&str]); 17] = [
    ("schema", &[]),
    ("stats", &[]),
    ("judge", &["schema"]),
    ("sys", &[]),
    ("uring", &[]),
    ("nullserver", &["uring"]),
    ("bundle", &[]),
    ("report", &["judge", "schema", "stats"]),
    ("loadgen", &["schema", "sys", "uring"]),
    ("server", &["schema", "sys"]),
    ("host", &["judge", "schema", "server", "sys"]),
    ("verify", &["host", "loadgen", "schema", "server", "stats", "sys"]),
    ("catalogue", &["schema", "server", "verify"]),
    ("doctor", &["catalogue", "host", "schema", "server", "stats"]),
    ("experiment", &["catalogue", "host", "judge", "schema", "server", "stats", "sys", "verify"]),
    ("agent", &["loadgen", "schema", "server"]),
    (
        "cli",
        &[
            "agent",
            "bundle",
            "catalogue",
            "doctor",
            "host",
            "judge",
            "loadgen",
            "nullserver",
            "report",
            "experiment",
            "schema",
            "server",
            "sys",
            "verify",
        ],
    ),
];
/// Crates that must be unable to touch clocks, files and sockets, and what would give them away.
const PURE: [&str; 4] = ["schema", "judge", "stats", "report"];
const IMPURE: [&str; 10] = [
    "fs::",
    "{fs",
    "net::Tcp",
    "net::Udp",
    "TcpStream",
    "process::Command",
    "env::var",
    "env::args",
    "Instant",
    "SystemTime",
];

/// Checks the project and lists every complaint.
pub(crate) fn run() -> anyhow::Result<()> {
    println!("\n== tidy\n{}", modules::graph(root()));
    let complaints = complaints(root())?;
    for line in placeholders::open(root()).iter().chain(&complaints) {
        println!("{line}");
    }
    ensure!(complaints.is_empty(), "tidy: {} complaints", complaints.len());
    println!("== tidy: nothing to complain of");
    Ok(())
}

fn complaints(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut complaints = Vec::new();
    for document in DOCUMENTS {
        if !root.join(document).is_file() {
            complaints.push(format!("{document} is missing"));
        }
    }
    for path in sources(root) {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        complaints.extend(source_complaints(&shown, &text));
    }
    for folder in fs::read_dir(root.join("crates")).context("crates/")?.flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        if !ARROWS.iter().any(|(known, _)| *known == name) {
            complaints.push(format!("crates/{name} has no line in ARROWS of xtask/src/tidy.rs"));
        }
    }
    for (name, allowed) in ARROWS {
        let path = root.join(format!("crates/{name}/Cargo.toml"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        complaints.extend(arrow_complaints(name, allowed, &text));
    }
    let table = fs::read_to_string(root.join(ENTRIES)).context(ENTRIES)?;
    complaints.extend(entry_complaints(root, &table));
    complaints.extend(guards::complaints(root));
    complaints.extend(modules::complaints(root));
    complaints.extend(phrases::complaints(root));
    complaints.extend(placeholders::complaints(root));
    Ok(complaints)
}

fn sources(root: &Path) -> Vec<PathBuf> {
    let folders = ["crates", "lab", "xtask"].map(|name| root.join(name));
    let files = folders.iter().flat_map(|folder| WalkDir::new(folder).sort_by_file_name());
    files
        .flatten()
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

fn source_complaints(shown: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !text.starts_with("//!") {
        complaints.push(format!("{shown}: begin with `//!`: what it is, and what it is not"));
    }
    let lines = text.lines().count();
    if lines > FILE_LINES {
        complaints.push(format!("{shown}: {lines} lines, split it (at most {FILE_LINES})"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.len() > LINE_LENGTH && !line.contains("://") {
            complaints.push(format!("{shown}:{number}: longer than {LINE_LENGTH} bytes"));
        }
        // Written in two halves, so that this file does not complain of itself.
        if line.contains(concat!("TO", "DO")) || line.contains(concat!("FIX", "ME")) {
            complaints.push(format!("{shown}:{number}: do it, or write down why not"));
        }
    }
    let pure = PURE.iter().any(|name| shown.starts_with(&format!("crates/{name}/src")));
    for word in IMPURE.iter().filter(|word| pure && text.contains(**word)) {
        complaints.push(format!("{shown}: `{word}` has no place in a pure crate"));
    }
    complaints
}

fn arrow_complaints(name: &str, allowed: &[&str], manifest: &str) -> Vec<String> {
    dependencies(manifest)
        .filter(|dependency| !allowed.contains(dependency))
        .map(|dependency| {
            format!("crates/{name} may not depend on {dependency}: see ARCHITECTURE.md")
        })
        .collect()
}

/// The crates of the workspace that a manifest names, without those of its tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let list = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = list.split("\n[").next().unwrap_or_default().lines();
    lines.filter_map(|line| line.strip_prefix("wirebench-")?.split(['.', ' ', '=']).next())
}

/// Each folder of two levels below `entries/`, except those of shared sources, is an entry and has
/// what an entry needs: its files, and its row in `table`. No row is without its entry.
fn entry_complaints(root: &Path, table: &str) -> Vec<String> {
    let folders = WalkDir::new(root.join("entries")).min_depth(2).max_depth(2).sort_by_file_name();
    let folders = folders
        .into_iter()
        .flatten()
        .filter(|folder| folder.file_type().is_dir() && folder.file_name() != SHARED);
    let mut complaints = Vec::new();
    let mut unused: Vec<&str> = table.lines().filter_map(row_id).collect();
    for folder in folders {
        let shown = folder.path().strip_prefix(root).unwrap_or(folder.path()).display();
        for file in ["entry.toml", "README.md"] {
            if !folder.path().join(file).is_file() {
                complaints.push(format!("{shown}: no {file}"));
            }
        }
        match unused.iter().position(|id| format!("entries/{id}") == shown.to_string()) {
            Some(row) => drop(unused.remove(row)),
            None => complaints.push(format!("{shown}: no row in the table of {ENTRIES}")),
        }
    }
    complaints
        .extend(unused.iter().map(|id| format!("{ENTRIES}: `{id}` is no entry, or is twice")));
    complaints
}

/// The entry that a line of the table is about: the row begins with a link to its folder.
fn row_id(line: &str) -> Option<&str> {
    let (id, rest) = line.strip_prefix("| [`")?.split_once("`](")?;
    let (folder, _) = rest.split_once("/)")?;
    (folder == id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_complains_of_what_breaks_it() {
        assert!(source_complaints("crates/a/src/b.rs", "//! A header.\n").is_empty());
        assert_eq!(source_complaints("crates/a/src/b.rs", "fn a() {}\n").len(), 1);
        let long = format!("//! A header.\n{}\n", "x".repeat(LINE_LENGTH + 1));
        assert_eq!(source_complaints("crates/a/src/b.rs", &long).len(), 1);
        let many = format!("//! A header.\n{}", "\n".repeat(FILE_LINES));
        assert_eq!(source_complaints("crates/a/src/b.rs", &many).len(), 1);
        let clock = "//! A header.\nuse std::{fs, time::Instant};\n";
        assert_eq!(source_complaints("crates/stats/src/b.rs", clock).len(), 2);
        assert!(source_complaints("crates/experiment/src/b.rs", clock).is_empty());
    }

    #[test]
    fn an_arrow_that_is_not_allowed_is_named() {
        let manifest = "[dependencies]\nwirebench-schema.workspace = true\nclap.workspace = true\n\
                        [dev-dependencies]\nwirebench-experiment.workspace = true\n";
        assert!(arrow_complaints("report", &["schema"], manifest).is_empty());
        let complaints = arrow_complaints("stats", &[], manifest);
        assert_eq!(
            complaints.join("\n"),
            "crates/stats may not depend on schema: see ARCHITECTURE.md"
        );
    }

    #[test]
    fn an_entry_without_its_description_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["x", SHARED] {
            fs::create_dir_all(folder.path().join("entries/c").join(name)).unwrap();
        }
        let complaints = entry_complaints(folder.path(), "| [`c/x`](c/x/) | x | all |\n");
        assert_eq!(complaints, ["entries/c/x: no entry.toml", "entries/c/x: no README.md"]);
    }

    #[test]
    fn the_table_of_entries_has_a_row_for_each_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let entry = folder.path().join("entries/c/x");
        fs::create_dir_all(&entry).unwrap();
        for file in ["entry.toml", "README.md"] {
            fs::write(entry.join(file), "").unwrap();
        }
        let complaints = |table: &str| entry_complaints(folder.path(), table);
        let row = "| [`c/x`](c/x/) | x | all |\n";
        assert!(complaints(row).is_empty());
        let missing = "entries/c/x: no row in the table of entries/README.md";
        assert_eq!(complaints(""), [missing]);
        assert_eq!(complaints("| [`c/x`](c/y/) | x | all |\n"), [missing]);
        let surplus = |id: &str| format!("entries/README.md: `{id}` is no entry, or is twice");
        assert_eq!(complaints(&format!("{row}| [`c/y`](c/y/) | y | all |\n")), [surplus("c/y")]);
        assert_eq!(complaints(&row.repeat(2)), [surplus("c/x")]);
    }
}
