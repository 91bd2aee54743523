//! Comments on what the entries need and is not there.

use std::collections::BTreeMap;

use super::{Named, change, fine, missing};
use wirebench_catalogue::setup::Setup;

pub(super) fn examine(setup: &Setup) -> Vec<Named> {
    let mut comments = Vec::new();
    if setup.packages.is_empty() {
        comments.push(("packages", fine("all packages for the entries are installed")));
    }
    let mut lack = |name, text, names: Vec<&str>, separator, undo: String| {
        if !names.is_empty() {
            let remedy = Some(change("wirebench setup", undo));
            comments.push((name, missing(format!("{text} {}", names.join(separator)), remedy)));
        }
    };
    let missing_for_some = "missing for some entries:";
    let packages: Vec<&str> = setup.packages.iter().map(String::as_str).collect();
    let undo = format!("apt-get remove {}", packages.join(" "));
    lack("packages", missing_for_some, packages, " ", undo);
    let fetches = setup.fetches.iter().map(|fetch| fetch.what.as_str()).collect();
    let undo = "remove what the commands of `wirebench setup --dry-run` have fetched";
    lack("registries", missing_for_some, fetches, "; ", undo.to_owned());
    let checkouts = setup.checkouts.iter().map(|it| it.entry.as_str()).collect();
    let folders = setup.checkouts.iter().map(|it| it.folder.display().to_string());
    let undo = format!("rm -r {}", folders.collect::<Vec<_>>().join(" "));
    lack("sources", "not fetched: those of", checkouts, ", ", undo);
    for (entry, reasons) in by_entry(&setup.out_of_reach) {
        comments.push(("entry", missing(out_of_reach(entry, &reasons), None)));
    }
    comments
}

/// The reasons of the variants of each entry.
fn by_entry(variants: &[(String, String)]) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut entries: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (variant, reason) in variants {
        let entry = variant.split_once(':').map_or(variant.as_str(), |(entry, _)| entry);
        entries.entry(entry).or_default().push((variant, reason));
    }
    entries
}

/// One sentence for all variants of an entry.
fn out_of_reach(entry: &str, reasons: &[(&str, &str)]) -> String {
    let (variant, reason) = reasons[0];
    match reasons.iter().any(|(_, other)| *other != reason) {
        false if reasons.len() == 1 => format!("{variant} cannot be measured: {reason}"),
        false => format!("{entry}, {} variants, cannot be measured: {reason}", reasons.len()),
        true => format!(
            "{entry}, {} variants, cannot be measured for several reasons: `wirebench list {entry}` shows them",
            reasons.len()
        ),
    }
}
