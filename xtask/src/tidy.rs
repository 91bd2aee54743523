//! `cargo xtask tidy`: rules that no compiler checks. Each complaint says what to do.

mod counts;
mod crates;
mod cycles;
mod documents;
pub(crate) mod entries;
mod limits;
mod phrases;
pub(crate) mod sources;
#[cfg(test)]
mod tests;

use anyhow::ensure;

use crate::step::root;
use limits::FILE_LINES;
use sources::{Source, text};

/// Bytes above which a line is too long to read.
const LINE_LENGTH: usize = 120;
/// Files that must exist.
const DOCUMENTS: &str = "README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE \
                         docs/methodology.md entries/README.md entries/verified.tsv";
/// Crates that must be unable to touch clocks, files and sockets, and what would give them away.
const PURE: [&str; 4] = ["schema", "judge", "stats", "report"];
const IMPURE: &str =
    "fs:: {fs net::Tcp net::Udp TcpStream process::Command env::var env::args Instant SystemTime";
/// Written in two halves, so that this file does not complain of itself.
const UNDONE: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

/// Checks the project and lists every complaint.
pub(crate) fn run() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    println!("\n== tidy\n{}", crates::graph(&sources));
    let (cycles, of_verbs) = cycles::find(&sources);
    let of_counts = counts::of(&sources, &cycles).complaints(&counts::limits());
    let complaints = [of_counts, of_verbs, complaints(&sources)].concat();
    for line in documents::open(&sources).iter().chain(&complaints) {
        println!("{line}");
    }
    ensure!(complaints.is_empty(), "tidy: {} complaints", complaints.len());
    println!("== tidy: nothing to complain of");
    Ok(())
}

/// Prints the counts of today as the tables of `limits.rs`, next to limits that differ.
pub(crate) fn print_counts() -> anyhow::Result<()> {
    let sources = sources::read(root())?;
    let counts = counts::of(&sources, &cycles::find(&sources).0);
    println!("{}", counts.shown(&counts::limits()));
    Ok(())
}

/// Complaints about everything but verbs and counts.
fn complaints(sources: &[Source]) -> Vec<String> {
    let missing = DOCUMENTS.split(' ').filter(|document| text(sources, document).is_none());
    let mut complaints: Vec<String> = missing.map(|it| format!("{it} is missing")).collect();
    complaints.extend(sources.iter().filter(|it| it.is_rust()).flat_map(of_source));
    for rule in
        [crates::complaints, entries::complaints, documents::complaints, phrases::complaints]
    {
        complaints.extend(rule(sources));
    }
    complaints
}

fn of_source(source: &Source) -> Vec<String> {
    let Source { path, text, lines, .. } = source;
    let mut complaints = Vec::new();
    if !text.starts_with("//!") {
        complaints.push(format!("{path}: begin with `//!`: what it is, and what it is not"));
    }
    if lines.len() > FILE_LINES {
        let lines = lines.len();
        complaints.push(format!("{path}: {lines} lines, split it (at most {FILE_LINES})"));
    }
    let is_undone = UNDONE.iter().any(|word| text.contains(word));
    for (number, line) in (1..).zip(lines) {
        if line.len() > LINE_LENGTH && !line.contains("://") {
            complaints.push(format!("{path}:{number}: longer than {LINE_LENGTH} bytes"));
        }
        if is_undone && UNDONE.iter().any(|word| line.contains(word)) {
            complaints.push(format!("{path}:{number}: do it, or write down why not"));
        }
    }
    let is_pure = PURE.iter().any(|name| path.starts_with(&format!("crates/{name}/src")));
    for word in IMPURE.split(' ').filter(|word| is_pure && text.contains(word)) {
        complaints.push(format!("{path}: `{word}` has no place in a pure crate"));
    }
    complaints
}
