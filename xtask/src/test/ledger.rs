//! Which entries a run verifies, and `entries/verified.tsv`, the ledger of the last verification of each. It reads no
//! file and runs nothing.

use anyhow::{Context, bail, ensure};
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
#[derive(Clone, Debug, Default, Eq, PartialEq)]
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

/// Reads the ledger. Branches that are merged keep all lines, so that an entry may have two.
pub(crate) fn read(text: &str) -> anyhow::Result<Ledger> {
    let (header, text) = text.split_once('\n').unwrap_or((text, ""));
    ensure!(header.starts_with('#'), "begin with `#` and the names of the columns");
    let mut ledger = Ledger::new();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let [id, digest, tools, checks, commit, cpu, lacks] = cells[..] else {
            bail!("`{line}` has {} columns, write 7", cells.len());
        };
        let cpu_s = cpu.parse();
        let cpu_s = cpu_s.with_context(|| format!("`{cpu}` are no whole seconds of CPU time"))?;
        let [digest, tools, checks, commit] = [digest, tools, checks, commit].map(str::to_owned);
        let lacks = lacks.split(',').filter(|it| *it != NONE).map(str::to_owned).collect();
        let line = Line { digest, tools, checks, commit, cpu_s, lacks };
        ensure!(ledger.insert(id.to_owned(), line).is_none(), "`{id}` is listed twice: remove one");
    }
    Ok(ledger)
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

/// An entry as it is now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// Its line if it were verified now. Its tools are empty until the program that asks them is built.
    pub(crate) today: Line,
    /// Commits since its line's; unknown if that is not in the history.
    pub(crate) age: Option<usize>,
    /// A variant of it can be built, and nothing has to be installed before.
    pub(crate) is_ready: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) id: String,
    pub(crate) why: String,
    /// The variant that is verified, unless all are.
    pub(crate) variant: Option<String>,
    /// CPU time in seconds by the ledger.
    pub(crate) cpu_s: u32,
}

impl Chosen {
    pub(crate) fn shown(&self) -> &str {
        self.variant.as_ref().unwrap_or(&self.id)
    }
}

/// The entries that a run verifies, in the order of their ids. `representatives` are entries and variants.
pub(crate) fn choose(
    entries: &BTreeMap<String, Entry>,
    ledger: &Ledger,
    representatives: &str,
    scope: Scope,
) -> Vec<Chosen> {
    let stale = if scope == Scope::Nightly { stalest(entries, ledger) } else { BTreeSet::new() };
    let chosen = entries.iter().filter_map(|(id, entry)| {
        let line = ledger.get(id);
        let of = |name: &&str| name.split(':').next() == Some(id);
        let mut variants = representatives.split(' ').filter(of);
        let (why, variant) = if line.is_none_or(|line| line.digest != entry.today.digest) {
            ("changed".to_owned(), None)
        } else if scope == Scope::All {
            ("all".to_owned(), None)
        } else if stale.contains(id) {
            let age = entry.age.map_or("unknown".to_owned(), |age| format!("{age} commits"));
            (format!("stale, age {age}"), None)
        } else {
            ("representative".to_owned(), Some(variants.next()?.to_owned()))
        };
        let cpu_s = line.map_or(0, |line| line.cpu_s);
        Some(Chosen { id: id.clone(), why, variant, cpu_s })
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
        let Line { tools, checks, lacks, .. } = &entry.today;
        let has_old_tools = !tools.is_empty() && *tools != line.tools;
        let is_new = |variant| entry.is_ready && !lacks.contains(variant);
        let is_old = has_old_tools || *checks != line.checks || line.lacks.iter().any(is_new);
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
        let line = Line { digest, tools, checks, commit, ..Line::default() };
        let today = Line { tools: String::new(), ..line.clone() };
        let entry = Entry { today, age: None, is_ready: true };
        let entries =
            rows.iter().map(|(id, age, _)| ((*id).into(), Entry { age: *age, ..entry.clone() }));
        let lines = rows
            .iter()
            .map(|(id, _, cpu_s)| ((*id).into(), Line { cpu_s: *cpu_s, ..line.clone() }));
        (entries.collect(), lines.collect())
    }

    /// The entries that are chosen if `c/b:x` is the representative.
    fn chosen((entries, ledger): &(BTreeMap<String, Entry>, Ledger), scope: Scope) -> Vec<String> {
        let chosen = choose(entries, ledger, "c/b:x c/bc", scope);
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
        let line = "c/a\td\tt\tc\tabc\t7\t-\n";
        for (lines, expected) in [
            (line.to_owned(), "begin with `#` and the names of the columns"),
            ("# id\nc/a\td\n".to_owned(), "`c/a\td` has 2 columns, write 7"),
            (format!("# id\n{}", line.replace('7', "x")), "`x` are no whole seconds of CPU time"),
            (format!("# id\n{line}{line}"), "`c/a` is listed twice: remove one"),
        ] {
            assert_eq!(read(&lines).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_change_verifies_changed_entries_and_representatives() {
        let mut known = known(&[("c/a", Some(300), 9), ("c/b", Some(1), 9), ("c/c", Some(9), 9)]);
        assert_eq!(chosen(&known, Scope::Change), ["c/b:x: representative"]);
        assert_eq!(chosen(&known, Scope::All), ["c/a: all", "c/b: all", "c/c: all"]);
        known.0.get_mut("c/b").unwrap().today.digest = "other".to_owned();
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
        known.0.get_mut("c/a").unwrap().today.tools = "gcc 13".to_owned();
        known.0.get_mut("c/b").unwrap().today.lacks.push("c/b:y".to_owned());
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
