//! Which entries a run verifies, and `entries/verified.tsv`, the ledger of the last verification of each. It reads no
//! file and runs nothing.

use anyhow::{Context, bail, ensure};
use std::{cmp::Reverse, collections::BTreeMap};

pub(crate) const FILE: &str = "entries/verified.tsv";
/// The CPU time in seconds that the rotation adds to a nightly run.
const ROTATION_CPU_S: u32 = 200;
/// The number of commits after which a verification is too old.
pub(super) const OLDEST: usize = 400;
/// A value that is not known. An entry without a commit was never verified, and does not age.
const NONE: &str = "-";
const HEADER: &str = "# id\tdigest\ttools\tchecks\tcommit\tcpu_s: the last verification of each entry, written by \
                      `cargo xtask test`";

/// One entry's last verification.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Line {
    /// Git's trees of the entry and of its language's shared sources.
    pub(super) digest: String,
    /// The versions of the tools that built it.
    pub(super) tools: String,
    /// Git's trees of what decides a check.
    pub(super) checks: String,
    pub(super) commit: String,
    /// CPU time in seconds of the build and the checks.
    pub(super) cpu_s: u32,
}

pub(crate) type Ledger = BTreeMap<String, Line>;

/// Reads the ledger. Branches that are merged keep all lines, so that an entry may have two.
pub(crate) fn read(text: &str) -> anyhow::Result<Ledger> {
    let mut ledger = Ledger::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, digest, tools, checks, commit, cpu] = cells[..] else {
            bail!("`{line}` has {} columns, write 6", cells.len());
        };
        let cpu_s = cpu.parse();
        let cpu_s = cpu_s.with_context(|| format!("`{cpu}` are no whole seconds of CPU time"))?;
        let [digest, tools, checks, commit] = [digest, tools, checks, commit].map(str::to_owned);
        let line = Line { digest, tools, checks, commit, cpu_s };
        ensure!(ledger.insert(id.to_owned(), line).is_none(), "`{id}` is listed twice: remove one");
    }
    Ok(ledger)
}

pub(super) fn write(ledger: &Ledger) -> String {
    let lines = ledger.iter().map(|(id, it)| {
        let Line { digest, tools, checks, commit, cpu_s } = it;
        format!("{id}\t{digest}\t{tools}\t{checks}\t{commit}\t{cpu_s}\n")
    });
    format!("{HEADER}\n{}", lines.collect::<String>())
}

/// The extent of a run.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Scope {
    /// Changed entries and the representatives.
    Change,
    /// In addition the stalest entries.
    Nightly,
    All,
}

/// An entry as it is now.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// Its line in the ledger.
    pub(super) last: Option<Line>,
    /// Its line if it were verified now. Its tools are empty until the program that asks them is built.
    pub(super) today: Line,
    /// Commits since its line's; unknown if that is not in the history.
    pub(super) age: Option<usize>,
    /// A variant of it can be built, and nothing has to be installed before.
    pub(super) is_ready: bool,
}

pub(super) type Entries = BTreeMap<String, Entry>;

pub(super) struct Chosen {
    pub(super) id: String,
    pub(super) why: String,
    /// The entry, or its variant that is verified.
    pub(super) name: String,
    pub(super) is_whole: bool,
    /// CPU time in seconds by the ledger.
    pub(super) cpu_s: u32,
}

/// The entries that a run verifies, in the order of their ids. `representatives` are entries and variants.
pub(super) fn choose(entries: &Entries, representatives: &str, scope: Scope) -> Vec<Chosen> {
    let stale = if scope == Scope::Nightly { stalest(entries) } else { Vec::new() };
    let chosen = entries.iter().filter_map(|(id, entry)| {
        let is_changed = entry.last.as_ref().is_none_or(|it| it.digest != entry.today.digest);
        let (why, variant) = if is_changed {
            ("changed".to_owned(), None)
        } else if scope == Scope::All {
            ("all".to_owned(), None)
        } else if stale.contains(id) {
            let age = entry.age.map_or("unknown".to_owned(), |age| format!("{age} commits"));
            (format!("stale, age {age}"), None)
        } else {
            let mut names = representatives.split(' ');
            let variant = names.find(|name| name.split(':').next() == Some(id))?;
            ("representative".to_owned(), Some(variant))
        };
        let cpu_s = entry.last.as_ref().map_or(0, |line| line.cpu_s);
        let (is_whole, name) = (variant.is_none(), variant.unwrap_or(id).to_owned());
        Some(Chosen { id: id.clone(), why, name, is_whole, cpu_s })
    });
    chosen.collect()
}

/// The entries whose verification says least of today, as many as the rotation has CPU time for, and at least one.
/// Entries that were never verified lack a requirement on most machines.
fn stalest(entries: &Entries) -> Vec<String> {
    let known = entries.iter().filter_map(|(id, entry)| {
        let (last, today) = (entry.last.as_ref()?, &entry.today);
        let has_tools = today.tools.is_empty() || today.tools == last.tools;
        let is_current = entry.age.is_some() && has_tools && today.checks == last.checks;
        let place = (is_current, Reverse(entry.age), id);
        (last.commit != NONE || entry.is_ready).then_some((place, last.cpu_s))
    });
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    let (mut stalest, mut left) = (Vec::new(), ROTATION_CPU_S);
    for ((.., id), cpu_s) in known {
        if !stalest.is_empty() && cpu_s > left {
            break;
        }
        left = left.saturating_sub(cpu_s);
        stalest.push(id.clone());
    }
    stalest
}

/// The entries whose verification is too old.
pub(super) fn too_old(entries: &Entries) -> Vec<String> {
    let ready = entries.iter().filter(|(_, entry)| entry.is_ready);
    let ages = ready.filter_map(|(id, entry)| Some((id, entry.age.filter(|age| *age > OLDEST)?)));
    ages.map(|(id, age)| format!("{id}: {age} commits")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries with a line each: id, age in commits, CPU time in seconds.
    fn known(rows: [(&str, Option<usize>, u32); 4]) -> Entries {
        let entry = |(id, age, cpu_s): (&str, _, _)| {
            let [tools, checks] = ["gcc 12", "c"].map(str::to_owned);
            let last = Line { tools, checks, cpu_s, ..Line::default() };
            let today = Line { tools: String::new(), ..last.clone() };
            (id.to_owned(), Entry { last: Some(last), today, age, is_ready: true })
        };
        rows.map(entry).into()
    }

    /// The entries that are chosen if `c/b:x` is the representative.
    fn chosen(entries: &Entries, scope: Scope) -> Vec<String> {
        let chosen = choose(entries, "c/b:x c/bc", scope);
        chosen.iter().map(|it| format!("{}: {}", it.name, it.why)).collect()
    }

    #[test]
    fn the_ledger_is_read_as_it_was_written() {
        let text = format!("{HEADER}\nc/a\td\tgcc 12\tc\tabc\t7\nc/b\td\t-\t-\t-\t0\n");
        assert_eq!(write(&read(&text).unwrap()), text);
        for (lines, expected) in [
            ("c/a\td\n", "`c/a\td` has 2 columns, write 6"),
            ("c/a\td\tt\tc\tabc\tx\n", "`x` are no whole seconds of CPU time"),
            ("c/a\td\tt\tc\tabc\t7\nc/a\td\tt\tc\tabc\t8", "`c/a` is listed twice: remove one"),
        ] {
            assert_eq!(read(lines).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_run_verifies_what_has_changed_and_representatives_or_the_stalest_or_all() {
        let rows =
            [("c/a", Some(5), 90), ("c/b", Some(40), 90), ("c/c", Some(30), 90), ("c/d", None, 90)];
        let mut known = known(rows);
        let [a, b, c] = ["c/a: changed", "c/b:x: representative", "c/c: stale, age 30 commits"];
        assert_eq!(chosen(&known, Scope::Change), [b]);
        assert_eq!(chosen(&known, Scope::All), ["c/a: all", "c/b: all", "c/c: all", "c/d: all"]);
        let stalest = ["c/b: stale, age 40 commits", "c/d: stale, age unknown"];
        assert_eq!(chosen(&known, Scope::Nightly), stalest);
        // Another compiler, and an entry that was never verified and cannot be on this machine.
        known.get_mut("c/a").unwrap().today.tools = "gcc 13".to_owned();
        let unknown = known.get_mut("c/d").unwrap();
        unknown.is_ready = false;
        unknown.last.as_mut().unwrap().commit = NONE.to_owned();
        assert_eq!(chosen(&known, Scope::Nightly), ["c/a: stale, age 5 commits", stalest[0]]);
        // Other checks of one that needs more than the whole time, and other sources.
        let other = known.get_mut("c/c").unwrap();
        other.today.checks = "other".to_owned();
        other.last.as_mut().unwrap().cpu_s = 900;
        known.get_mut("c/a").unwrap().today.digest = "other".to_owned();
        known.get_mut("c/a").unwrap().today.tools = String::new();
        assert_eq!(chosen(&known, Scope::Nightly), [a, b, c]);
        known.get_mut("c/c").unwrap().last = None;
        assert_eq!(chosen(&known, Scope::Change), [a, b, "c/c: changed"]);
    }

    #[test]
    fn a_verification_is_too_old_after_more_than_400_commits() {
        let rows =
            [("c/a", Some(400), 1), ("c/b", Some(401), 1), ("c/c", None, 1), ("c/d", Some(500), 1)];
        let mut entries = known(rows);
        entries.get_mut("c/d").unwrap().is_ready = false;
        assert_eq!(too_old(&entries), ["c/b: 401 commits"]);
    }
}
