//! `cargo xtask tidy`: rules that no compiler checks. Each complaint says what to do.

mod counts;
mod crates;
mod cycles;
mod entries;
mod guards;
mod limits;
mod phrases;
mod placeholders;
pub(crate) mod sources;

use anyhow::ensure;
use std::path::Path;

use crate::step::root;
use limits::FILE_LINES;
use sources::Source;

/// Bytes above which a line is too long to read.
const LINE_LENGTH: usize = 120;
const DOCUMENTS: [&str; 6] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
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
    let sources = sources::read(root())?;
    println!("\n== tidy\n{}", crates::graph(&sources));
    let complaints = complaints(root(), &sources);
    for line in placeholders::open(&sources).iter().chain(&complaints) {
        println!("{line}");
    }
    ensure!(complaints.is_empty(), "tidy: {} complaints", complaints.len());
    println!("== tidy: nothing to complain of");
    Ok(())
}

/// Prints the counts of today as the tables of `limits.rs`, next to limits that differ.
pub(crate) fn print_counts() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    println!("{}", counts::of(&sources, &cycles::find(&sources)).shown());
    Ok(())
}

fn complaints(root: &Path, sources: &[Source]) -> Vec<String> {
    let missing = DOCUMENTS.iter().filter(|document| !root.join(document).is_file());
    let mut complaints: Vec<String> = missing.map(|it| format!("{it} is missing")).collect();
    for source in sources.iter().filter(|it| it.is_rust()) {
        complaints.extend(source_complaints(&source.path, &source.text));
    }
    let cycles = cycles::find(sources);
    complaints.extend(counts::of(sources, &cycles).complaints());
    complaints.extend(cycles.complaints);
    complaints.extend(crates::complaints(sources));
    complaints.extend(entries::complaints(root));
    complaints.extend(guards::complaints(sources));
    complaints.extend(phrases::complaints(sources));
    complaints.extend(placeholders::complaints(sources));
    complaints
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
    // Written in two halves, so that this file does not complain of itself.
    let undone = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let is_undone = undone.iter().any(|word| text.contains(word));
    for (number, line) in (1..).zip(text.lines()) {
        if line.len() > LINE_LENGTH && !line.contains("://") {
            complaints.push(format!("{shown}:{number}: longer than {LINE_LENGTH} bytes"));
        }
        if is_undone && undone.iter().any(|word| line.contains(word)) {
            complaints.push(format!("{shown}:{number}: do it, or write down why not"));
        }
    }
    let pure = PURE.iter().any(|name| shown.starts_with(&format!("crates/{name}/src")));
    for word in IMPURE.iter().filter(|word| pure && text.contains(**word)) {
        complaints.push(format!("{shown}: `{word}` has no place in a pure crate"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_a_file_complains_of_what_breaks_it() {
        let long = format!("//! A header.\n{}\n", "x".repeat(LINE_LENGTH + 1));
        let many = format!("//! A header.{}", "\n".repeat(FILE_LINES + 1));
        let clock = "//! A header.\nuse std::time::Instant;\n";
        let cases = [
            ("a", "//! A header.\n", ""),
            (
                "a",
                "fn a() {}\n",
                "crates/a/src/b.rs: begin with `//!`: what it is, and what it is not",
            ),
            ("a", &long, "crates/a/src/b.rs:2: longer than 120 bytes"),
            ("a", &many, "crates/a/src/b.rs: 401 lines, split it (at most 400)"),
            ("a", concat!("//! TO", "DO\n"), "crates/a/src/b.rs:1: do it, or write down why not"),
            ("stats", clock, "crates/stats/src/b.rs: `Instant` has no place in a pure crate"),
            ("experiment", clock, ""),
        ];
        for (name, text, expected) in cases {
            let found = source_complaints(&format!("crates/{name}/src/b.rs"), text);
            assert_eq!(found.join("\n"), expected);
        }
    }
}
