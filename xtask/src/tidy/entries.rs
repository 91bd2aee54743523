//! The folders, the table and the ledger of the entries name the same entries.

use super::sources::{Source, text};
use crate::test::ledger;

const TABLE: &str = "entries/README.md";
/// One line per entry: by which state of it and of the checks it was last verified.
pub(crate) const LEDGER: &str = "entries/verified.tsv";

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
    let table = text(sources, TABLE).unwrap_or_default().lines();
    let mut documents = vec![(TABLE, table.filter_map(row_id).map(str::to_owned).collect())];
    match ledger::read(text(sources, LEDGER).unwrap_or_default()) {
        Ok(ledger) => documents.push((LEDGER, ledger.into_keys().collect::<Vec<String>>())),
        Err(error) => complaints.push(format!("{LEDGER}: {error}")),
    }
    for (document, mut listed) in documents {
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
