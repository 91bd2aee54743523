//! Comments on what the entries need and is not there.

use std::collections::BTreeMap;

use super::{Comment, State, fine};
use wirebench_catalogue::setup::Setup;

pub(super) fn examine(setup: &Setup) -> Vec<Comment> {
    let missing = |name, text, remedy: Option<&str>| Comment {
        name,
        state: State::Missing,
        text,
        remedy: remedy.map(str::to_owned),
    };
    let mut comments = Vec::new();
    if setup.packages.is_empty() {
        comments.push(fine("packages", "all packages for the entries are installed"));
    } else {
        let names: Vec<&str> = setup.packages.iter().map(String::as_str).collect();
        let text = format!("missing for some entries: {}", names.join(" "));
        comments.push(missing("packages", text, Some("wirebench setup")));
    }
    if !setup.fetches.is_empty() {
        let names: Vec<&str> = setup.fetches.iter().map(|fetch| fetch.what.as_str()).collect();
        let text = format!("missing for some entries: {}", names.join("; "));
        comments.push(missing("registries", text, Some("wirebench setup")));
    }
    if !setup.checkouts.is_empty() {
        let names: Vec<&str> = setup.checkouts.iter().map(|it| it.entry.as_str()).collect();
        let text = format!("not fetched: those of {}", names.join(", "));
        comments.push(missing("sources", text, Some("wirebench setup")));
    }
    for (entry, reasons) in by_entry(&setup.out_of_reach) {
        comments.push(missing("entry", out_of_reach(entry, &reasons), None));
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
