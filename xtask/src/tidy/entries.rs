//! The folders, the table and the ledger of the entries name the same entries.

use std::{fs, path::Path};
use walkdir::WalkDir;

const TABLE: &str = "entries/README.md";
/// One line per entry: by which state of it and of the checks it was last verified.
const LEDGER: &str = "entries/verified.tsv";
/// Columns of the ledger: id, digest, tools, checks, commit, cpu.
const COLUMNS: usize = 6;
/// Folder of sources that several entries of a language use.
const SHARED: &str = "shared";

/// Each folder of two levels below `entries/`, except those of shared sources, is an entry and has
/// its files, its row in the table and its line in the ledger, and neither has another.
pub(super) fn complaints(root: &Path) -> Vec<String> {
    let folders = WalkDir::new(root.join("entries")).min_depth(2).max_depth(2).sort_by_file_name();
    let folders = folders.into_iter().flatten();
    let ids: Vec<String> = folders
        .filter(|it| it.file_type().is_dir() && it.file_name() != SHARED)
        .filter_map(|it| {
            Some(it.path().strip_prefix(root.join("entries")).ok()?.display().to_string())
        })
        .collect();
    let mut complaints = Vec::new();
    for (id, file) in ids.iter().flat_map(|id| ["entry.toml", "README.md"].map(|it| (id, it))) {
        if !root.join("entries").join(id).join(file).is_file() {
            complaints.push(format!("entries/{id}: no {file}"));
        }
    }
    let read = |path: &str| fs::read_to_string(root.join(path)).ok();
    match read(TABLE) {
        Some(table) => {
            complaints.extend(differences(TABLE, &ids, table.lines().filter_map(row_id).collect()));
        }
        None => complaints.push(format!("{TABLE} is missing")),
    }
    match read(LEDGER) {
        Some(ledger) => complaints.extend(ledger_complaints(&ids, &ledger)),
        None => complaints.push(format!("{LEDGER} is missing")),
    }
    complaints
}

fn ledger_complaints(ids: &[String], ledger: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    if !ledger.starts_with('#') {
        complaints.push(format!("{LEDGER}:1: begin with `#` and the names of the columns"));
    }
    for (number, line) in (1..).zip(ledger.lines()) {
        let columns = line.split('\t').count();
        if columns != COLUMNS {
            complaints.push(format!("{LEDGER}:{number}: {columns} columns, write {COLUMNS}"));
        }
    }
    let lines = ledger.lines().filter(|line| !line.starts_with('#'));
    let listed = lines.filter_map(|line| line.split('\t').next()).collect();
    complaints.extend(differences(LEDGER, ids, listed));
    complaints
}

/// A complaint for each entry that a document lacks, and for each id that it has without an entry or twice.
fn differences(document: &str, ids: &[String], mut listed: Vec<&str>) -> Vec<String> {
    let mut complaints = Vec::new();
    for id in ids {
        match listed.iter().position(|it| it == id) {
            Some(place) => drop(listed.remove(place)),
            None => complaints.push(format!("{document}: no line for `{id}`, add it")),
        }
    }
    let surplus = |id| format!("{document}: `{id}` is not an entry, or is listed twice: remove it");
    complaints.extend(listed.into_iter().map(surplus));
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

    const HEAD: &str = "# id\tdigest\ttools\tchecks\tcommit\tcpu\n";
    const ROW: &str = "| [`c/x`](c/x/) | x | all |\n";
    const LINE: &str = "c/x\t-\t-\t-\t-\t-\n";

    /// Complaints about an entry `c/x` with these files, next to a folder of shared sources.
    fn found(files: &[&str], table: &str, ledger: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let entries = folder.path().join("entries");
        fs::create_dir_all(entries.join("c").join(SHARED)).unwrap();
        fs::create_dir_all(entries.join("c/x")).unwrap();
        for file in files {
            fs::write(entries.join("c/x").join(file), "").unwrap();
        }
        for (path, text) in [("README.md", table), ("verified.tsv", ledger)] {
            fs::write(entries.join(path), text).unwrap();
        }
        complaints(folder.path())
    }

    #[test]
    fn table_and_ledger_have_each_entry_once_and_no_other() {
        let (both, ledger) = (["entry.toml", "README.md"], format!("{HEAD}{LINE}"));
        assert_eq!(found(&both, ROW, &ledger), [""; 0]);
        assert_eq!(
            found(&[], ROW, &ledger),
            ["entries/c/x: no entry.toml", "entries/c/x: no README.md"]
        );
        let missing = |file: &str| format!("entries/{file}: no line for `c/x`, add it");
        let surplus = |file: &str, id: &str| {
            format!("entries/{file}: `{id}` is not an entry, or is listed twice: remove it")
        };
        for (table, expected) in [
            (String::new(), missing("README.md")),
            ("| [`c/x`](c/y/) | x | all |\n".to_owned(), missing("README.md")),
            (format!("{ROW}| [`c/y`](c/y/) | y | all |\n"), surplus("README.md", "c/y")),
            (ROW.repeat(2), surplus("README.md", "c/x")),
        ] {
            assert_eq!(found(&both, &table, &ledger), [expected], "{table}");
        }
        for (ledger, expected) in [
            (HEAD.to_owned(), missing("verified.tsv")),
            (format!("{HEAD}{LINE}{}", LINE.replace('x', "y")), surplus("verified.tsv", "c/y")),
            (format!("{HEAD}{LINE}{LINE}"), surplus("verified.tsv", "c/x")),
            (
                LINE.to_owned(),
                "entries/verified.tsv:1: begin with `#` and the names of the columns".to_owned(),
            ),
            (format!("{HEAD}c/x\t-\n"), "entries/verified.tsv:2: 2 columns, write 6".to_owned()),
        ] {
            assert_eq!(found(&both, ROW, &ledger), [expected], "{ledger}");
        }
    }

    #[test]
    fn missing_documents_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let expected = ["entries/README.md is missing", "entries/verified.tsv is missing"];
        assert_eq!(complaints(folder.path()), expected);
    }
}
