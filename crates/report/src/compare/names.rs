//! The names of servers in two results. Commands are named after their files and numbered, so the order
//! of the commands must not decide which of them are compared.

use std::collections::BTreeMap;
use wirebench_schema::{
    id::VariantId,
    journal::{Described, Journal},
};

/// The names of the newer result that mean another program in the older one, each with the name under
/// which the older result has the same program.
pub(super) fn exchanged(old: &Journal, new: &Journal) -> BTreeMap<VariantId, VariantId> {
    let same = |one: &Described, other: &Described| {
        one.fingerprint.is_some() && one.fingerprint == other.fingerprint
    };
    let has_own = |journal: &Journal, it: &Described| {
        journal.start.variants.iter().any(|other| other.variant == it.variant && same(it, other))
    };
    let mut names = BTreeMap::new();
    for before in old.start.variants.iter().filter(|it| !has_own(new, it)) {
        let mut now = new.start.variants.iter().filter(|it| same(before, it) && !has_own(old, it));
        if let (Some(now), None) = (now.next(), now.next()) {
            names.entry(now.variant.clone()).or_insert(before.variant.clone());
        }
    }
    // What has lost its name to another one takes the name that became free.
    for (now, before) in names.clone() {
        if names.contains_key(&before) {
            continue;
        }
        let mut free = now;
        while let Some((next, _)) = names.iter().find(|(_, taken)| **taken == free) {
            free = next.clone();
        }
        names.insert(before, free);
    }
    names
}

/// `journal` with other names.
pub(super) fn renamed(journal: &Journal, names: &BTreeMap<VariantId, VariantId>) -> Journal {
    let mut journal = journal.clone();
    let slow = journal.rates.iter_mut().flat_map(|rate| &mut rate.too_slow);
    let ids = slow.map(|(id, _)| id);
    let ids = ids.chain(journal.start.variants.iter_mut().map(|it| &mut it.variant));
    let ids = ids.chain(&mut journal.start.baselines);
    let ids = ids.chain(journal.runs.iter_mut().map(|it| &mut it.variant));
    let ids = ids.chain(journal.verified.iter_mut().map(|it| &mut it.variant));
    for id in ids.chain(journal.unavailable.iter_mut().map(|it| &mut it.variant)) {
        if let Some(name) = names.get(id) {
            *id = name.clone();
        }
    }
    journal
}
