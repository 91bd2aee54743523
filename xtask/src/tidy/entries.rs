//! The folders, the table and the ledger of the entries name the same entries.

use super::sources::{Source, text};

const TABLE: &str = "entries/README.md";
/// One line per entry: by which state of it and of the checks it was last verified.
const LEDGER: &str = "entries/verified.tsv";
/// Columns of the ledger: id, digest, tools, checks, commit, cpu, lacks.
const COLUMNS: usize = 7;

/// Each folder of two levels below `entries/`, except those of shared sources, is an entry and has its files, its row
/// in the table and its line in the ledger, and neither has another.
pub(super) fn complaints(sources: &[Source]) -> Vec<String> {
    let ids = sources.iter().filter_map(|it| {
        let below = it.path.strip_prefix("entries/")?;
        Some(&below[..below.match_indices('/').nth(1)?.0])
    });
    let mut ids: Vec<&str> = ids.filter(|id| !id.ends_with("/shared")).collect();
    ids.dedup();
    let mut complaints = Vec::new();
    for (id, file) in ids.iter().flat_map(|id| ["entry.toml", "README.md"].map(|it| (id, it))) {
        if text(sources, &format!("entries/{id}/{file}")).is_none() {
            complaints.push(format!("entries/{id}: no {file}"));
        }
    }
    let ledger = text(sources, LEDGER).unwrap_or_default();
    if !ledger.starts_with('#') {
        complaints.push(format!("{LEDGER}:1: begin with `#` and the names of the columns"));
    }
    for (number, line) in (1..).zip(ledger.lines()) {
        let columns = line.split('\t').count();
        if columns != COLUMNS {
            complaints.push(format!("{LEDGER}:{number}: {columns} columns, write {COLUMNS}"));
        }
        let cpu = line.split('\t').nth(5).filter(|_| !line.starts_with('#')).unwrap_or("0");
        if cpu.parse::<u32>().is_err() {
            complaints.push(format!("{LEDGER}:{number}: `{cpu}` are no whole seconds of CPU time"));
        }
    }
    let table = text(sources, TABLE).unwrap_or_default();
    let in_ledger = ledger.lines().filter(|line| !line.starts_with('#'));
    let in_ledger = in_ledger.filter_map(|line| line.split('\t').next()).collect();
    for (document, mut listed) in
        [(TABLE, table.lines().filter_map(row_id).collect::<Vec<_>>()), (LEDGER, in_ledger)]
    {
        for id in &ids {
            match listed.iter().position(|it| it == id) {
                Some(place) => drop(listed.remove(place)),
                None => complaints.push(format!("{document}: no line for `{id}`, add it")),
            }
        }
        complaints.extend(listed.into_iter().map(|id| {
            format!("{document}: `{id}` is not an entry, or is listed twice: remove it")
        }));
    }
    complaints
}

/// The entry that a line of the table is about: the row begins with a link to its folder.
fn row_id(line: &str) -> Option<&str> {
    let (id, rest) = line.strip_prefix("| [`")?.split_once("`](")?;
    rest.strip_prefix(id)?.starts_with("/)").then_some(id)
}
