//! Which entries a run verifies, and `entries/verified.tsv`, the ledger of the last verification of each. It reads no
//! file and runs nothing.

use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};

/// The CPU time in seconds that the rotation adds to a nightly run.
const ROTATION_CPU_S: u32 = 200;
/// The number of commits after which a verification is too old.
pub(crate) const OLDEST: usize = 400;
/// A value that is not known. An entry without a commit was never verified, and does not age.
const NONE: &str = "-";
const HEADER: &str = "# id\tdigest\ttools\tchecks\tcommit\tcpu_s\tlacks: the last verification of each entry, written \
                      by `cargo xtask test`";

/// One entry's last verification.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line {
    /// Git's trees of the entry and of its language's shared sources.
    pub(crate) digest: String,
    /// The versions of the tools that built it.
    pub(crate) tools: String,
    /// Git's trees of what decides a check.
    pub(crate) checks: String,
    pub(crate) commit: String,
    /// CPU time in seconds of the build and the checks.
    pub(crate) cpu_s: u32,
    /// The variants that the machine lacked.
    pub(crate) lacks: Vec<String>,
}

pub(crate) type Ledger = BTreeMap<String, Line>;

pub(crate) fn read(text: &str) -> anyhow::Result<Ledger> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parsed = lines.map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, digest, tools, checks, commit, cpu, lacks] = cells[..] else {
            anyhow::bail!("`{line}` has {} columns instead of 7", cells.len());
        };
        let cpu_s = cpu.parse().with_context(|| format!("`{cpu}` in `{line}`"))?;
        let [digest, tools, checks, commit] = [digest, tools, checks, commit].map(str::to_owned);
        let lacks = lacks.split(',').filter(|it| *it != NONE).map(str::to_owned).collect();
        Ok((id.to_owned(), Line { digest, tools, checks, commit, cpu_s, lacks }))
    });
    parsed.collect()
}

pub(crate) fn write(ledger: &Ledger) -> String {
    let line = |(id, it): (&String, &Line)| {
        let Line { digest, tools, checks, commit, cpu_s, lacks } = it;
        let lacks = if lacks.is_empty() { NONE.to_owned() } else { lacks.join(",") };
        format!("{id}\t{digest}\t{tools}\t{checks}\t{commit}\t{cpu_s}\t{lacks}\n")
    };
    format!("{HEADER}\n{}", ledger.iter().map(line).collect::<String>())
}

/// The extent of a run.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Scope {
    /// Changed entries and the representatives.
    Change,
    /// In addition the stalest entries.
    Nightly,
    All,
}

/// Facts about an entry besides its line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) digest: String,
    /// Empty if the program that asks the tools is not built yet.
    pub(crate) tools: String,
    pub(crate) checks: String,
    /// Commits since its line's; unknown if that is not in the history.
    pub(crate) age: Option<usize>,
    /// A variant of it can be built, and nothing has to be installed before.
    pub(crate) is_ready: bool,
    /// The variants for which something is missing on this machine.
    pub(crate) lacks: Vec<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) id: String,
    pub(crate) why: String,
    /// The variants that are verified; none stands for all.
    pub(crate) names: Vec<String>,
    /// CPU time in seconds by the ledger.
    pub(crate) cpu_s: u32,
}

impl Chosen {
    pub(crate) fn shown(&self) -> String {
        if self.names.is_empty() { self.id.clone() } else { self.names.join(" ") }
    }
}

/// The entries that a run verifies, in the order of their ids. `representatives` are entries and variants.
pub(crate) fn choose(
    entries: &BTreeMap<String, Entry>,
    ledger: &Ledger,
    representatives: &[&str],
    scope: Scope,
) -> Vec<Chosen> {
    let stale = if scope == Scope::Nightly { stalest(entries, ledger) } else { BTreeSet::new() };
    let chosen = entries.iter().filter_map(|(id, entry)| {
        let line = ledger.get(id);
        let of = |name: &&&str| name.split(':').next() == Some(id.as_str());
        let variants: Vec<&str> = representatives.iter().filter(of).copied().collect();
        let whole = Vec::new();
        let (why, names) = if line.is_none_or(|line| line.digest != entry.digest) {
            ("changed".to_owned(), whole)
        } else if scope == Scope::All {
            ("all".to_owned(), whole)
        } else if stale.contains(id) {
            let age = entry.age.map_or("unknown".to_owned(), |age| format!("{age} commits"));
            (format!("stale, age {age}"), whole)
        } else if !variants.is_empty() {
            ("representative".to_owned(), variants)
        } else {
            return None;
        };
        let names = names.into_iter().map(str::to_owned).collect();
        Some(Chosen { id: id.clone(), why, names, cpu_s: line.map_or(0, |line| line.cpu_s) })
    });
    chosen.collect()
}

/// The entries whose verification says least of today, as many as the rotation has CPU time for, and at least one.
/// Entries that were never verified lack a requirement on most machines.
fn stalest(entries: &BTreeMap<String, Entry>, ledger: &Ledger) -> BTreeSet<String> {
    let known = entries.iter().filter_map(|(id, entry)| Some((id, entry, ledger.get(id)?)));
    let mut known: Vec<_> =
        known.filter(|(_, entry, line)| line.commit != NONE || entry.is_ready).collect();
    known.sort_by_key(|(id, entry, line)| {
        let has_old_tools = !entry.tools.is_empty() && entry.tools != line.tools;
        let is_new = |variant| entry.is_ready && !entry.lacks.contains(variant);
        let is_old = has_old_tools || entry.checks != line.checks || line.lacks.iter().any(is_new);
        let is_current = entry.age.is_some() && !is_old;
        (is_current, std::cmp::Reverse(entry.age), *id)
    });
    let mut left = ROTATION_CPU_S;
    let fits = known.iter().enumerate().take_while(|(place, (_, _, line))| {
        let fits = *place == 0 || line.cpu_s <= left;
        left = left.saturating_sub(line.cpu_s);
        fits
    });
    fits.map(|(_, (id, ..))| (*id).clone()).collect()
}

/// The entries whose verification is too old.
pub(crate) fn too_old(entries: &BTreeMap<String, Entry>) -> Vec<String> {
    let old = entries.iter().filter(|(_, it)| it.is_ready && it.age.is_some_and(|it| it > OLDEST));
    old.map(|(id, entry)| format!("{id}: {} commits", entry.age.unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries with a line each: id, age in commits, CPU time in seconds.
    fn known(rows: &[(&str, Option<usize>, u32)]) -> (BTreeMap<String, Entry>, Ledger) {
        let [digest, tools, checks, commit] = ["d", "gcc 12", "c", "abc"].map(str::to_owned);
        let entry = Entry {
            digest: digest.clone(),
            checks: checks.clone(),
            is_ready: true,
            ..Entry::default()
        };
        let lacks = Vec::new();
        let line = Line { digest, tools, checks, commit, cpu_s: 0, lacks };
        let entries =
            rows.iter().map(|(id, age, _)| ((*id).into(), Entry { age: *age, ..entry.clone() }));
        let lines = rows
            .iter()
            .map(|(id, _, cpu_s)| ((*id).into(), Line { cpu_s: *cpu_s, ..line.clone() }));
        (entries.collect(), lines.collect())
    }

    /// The entries that are chosen if `c/b:x` is the representative.
    fn chosen((entries, ledger): &(BTreeMap<String, Entry>, Ledger), scope: Scope) -> Vec<String> {
        let chosen = choose(entries, ledger, &["c/b:x"], scope);
        chosen.iter().map(|it| format!("{}: {}", it.shown(), it.why)).collect()
    }

    #[test]
    fn the_ledger_is_read_as_it_was_written() {
        let (_, mut ledger) = known(&[("c/a", None, 7), ("c/b", None, 0)]);
        ledger.get_mut("c/b").unwrap().lacks = ["c/b:x", "c/b:y"].map(str::to_owned).to_vec();
        let text = write(&ledger);
        let lines = "c/a\td\tgcc 12\tc\tabc\t7\t-\nc/b\td\tgcc 12\tc\tabc\t0\tc/b:x,c/b:y\n";
        assert!(text.ends_with(lines), "{text}");
        assert_eq!(read(&text).unwrap(), ledger);
        let error = read("c/a\td\n").unwrap_err().to_string();
        assert_eq!(error, "`c/a\td` has 2 columns instead of 7");
    }

    #[test]
    fn a_change_verifies_changed_entries_and_representatives() {
        let mut known = known(&[("c/a", Some(300), 9), ("c/b", Some(1), 9), ("c/c", Some(9), 9)]);
        assert_eq!(chosen(&known, Scope::Change), ["c/b:x: representative"]);
        assert_eq!(chosen(&known, Scope::All), ["c/a: all", "c/b: all", "c/c: all"]);
        known.0.get_mut("c/b").unwrap().digest = "other".to_owned();
        known.1.remove("c/c");
        assert_eq!(chosen(&known, Scope::Change), ["c/b: changed", "c/c: changed"]);
    }

    #[test]
    fn the_rotation_takes_the_stalest_until_its_time_is_used() {
        let rows =
            [("c/a", Some(5), 90), ("c/b", Some(40), 90), ("c/c", Some(30), 90), ("c/d", None, 90)];
        let mut known = known(&rows);
        let stalest = ["c/b: stale, age 40 commits", "c/d: stale, age unknown"];
        assert_eq!(chosen(&known, Scope::Nightly), stalest);
        // Another compiler, a variant that no machine had, and an entry that was never verified and cannot be here.
        known.0.get_mut("c/a").unwrap().tools = "gcc 13".to_owned();
        known.0.get_mut("c/b").unwrap().lacks.push("c/b:y".to_owned());
        for (id, variant) in [("c/b", "c/b:y"), ("c/c", "c/c:y")] {
            known.1.get_mut(id).unwrap().lacks.push(variant.to_owned());
        }
        known.1.get_mut("c/d").unwrap().commit = NONE.to_owned();
        known.0.get_mut("c/d").unwrap().is_ready = false;
        let [a, b, c] =
            ["c/a: stale, age 5 commits", "c/b:x: representative", "c/c: stale, age 30 commits"];
        assert_eq!(chosen(&known, Scope::Nightly), [a, b, c]);
        // One that needs more than the whole time.
        known.1.get_mut("c/c").unwrap().cpu_s = 900;
        assert_eq!(chosen(&known, Scope::Nightly), [b, c]);
    }

    #[test]
    fn a_verification_is_too_old_after_more_than_400_commits() {
        let (mut entries, _) =
            known(&[("c/a", Some(400), 1), ("c/b", Some(401), 1), ("c/c", None, 1)]);
        assert_eq!(too_old(&entries), ["c/b: 401 commits"]);
        entries.get_mut("c/b").unwrap().is_ready = false;
        assert!(too_old(&entries).is_empty());
    }
}
