//! The steps of entries: their setup, builds and checks, and the ledger's lines that result.

use anyhow::{Context, ensure};
use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{
    checkout::{self, Trees},
    ledger::{self, Chosen, Entry, Ledger, Line, OLDEST, Scope},
};
use crate::{
    queue::{Lane, Queue},
    step::{Shown, at_root, attempt, output, root, step_beside},
};

const FILE: &str = "entries/verified.tsv";
/// A variant of each language and kind of server, which every run verifies.
const REPRESENTATIVES: [&str; 14] = [
    "c/epoll",
    "c/io_uring",
    "c/threads",
    "cpp/boost-asio:shared",
    "d/epoll",
    "dotnet/aspnetcore:minimal-api",
    "erlang/mochiweb",
    "go/net",
    "java/netty:epoll",
    "nginx/return",
    "node/http",
    "ocaml/cohttp",
    "python/asyncio:uvloop",
    "rust/tokio",
];
/// Sources that decide the verdict of a check.
const CHECKS: [&str; 3] =
    ["crates/verify/src", "crates/server/src/guard", "crates/server/src/launch"];

/// The entries of the checkout, and the program that builds and checks them.
pub(super) struct Entries {
    pub(super) scope: Scope,
    pub(super) may_install: bool,
    trees: Trees,
    /// Commits, the newest first.
    history: Vec<String>,
    ledger: Mutex<Ledger>,
}

impl Entries {
    pub(super) fn new(scope: Scope, may_install: bool) -> anyhow::Result<Self> {
        let ledger = fs::read_to_string(root().join(FILE)).unwrap_or_default();
        Ok(Self {
            scope,
            may_install,
            trees: Trees::new()?,
            history: checkout::history()?,
            ledger: Mutex::new(ledger::read(&ledger).context(FILE)?),
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All entries, as far as the checkout knows them.
    fn known(&self) -> anyhow::Result<BTreeMap<String, Entry>> {
        let checks = self.trees.digest(&CHECKS)?;
        let ledger = self.ledger();
        let known = self.trees.entries().map(|id| {
            let (language, _) = id.split_once('/').unwrap_or((id, ""));
            let folders = [format!("entries/{id}"), format!("entries/{language}/shared")];
            let digest = self.trees.digest(&[&folders[0], &folders[1]])?;
            let commit = ledger.get(id).map(|line| &line.commit);
            let age = self.history.iter().position(|it| Some(it) == commit);
            let (tools, checks) = (String::new(), checks.clone());
            Ok((id.to_owned(), Entry { digest, tools, checks, age, is_ready: false }))
        });
        known.collect()
    }

    /// The same with what this machine has, and the variants that it lacks.
    fn known_to(&self, program: &str) -> anyhow::Result<(BTreeMap<String, Entry>, Vec<Variant>)> {
        let mut known = self.known()?;
        let (ready, missing) = variants(program)?.into_iter().partition(|it| it.is_ready);
        let versions = output(&mut at_root(program, ["versions", "--markdown"]))?;
        let ready: Vec<Variant> = ready;
        for variant in ready.iter().rev() {
            if let Some(entry) = known.get_mut(&variant.entry) {
                entry.is_ready = true;
                entry.tools = tools(&versions, &variant.id).unwrap_or_default();
            }
        }
        Ok((known, missing))
    }

    fn choose(&self, known: &BTreeMap<String, Entry>) -> Vec<Chosen> {
        ledger::choose(known, &self.ledger(), &REPRESENTATIVES, self.scope)
    }

    /// The entries that this run verifies, as far as the checkout knows.
    pub(super) fn planned(&self) -> anyhow::Result<Vec<Chosen>> {
        Ok(self.choose(&self.known()?))
    }

    /// The Debian packages that planned entries name.
    pub(super) fn packages(&self) -> anyhow::Result<Vec<String>> {
        let mut packages = Vec::new();
        for it in self.planned()? {
            let file = format!("entries/{}/entry.toml", it.id);
            let entry = fs::read_to_string(root().join(&file)).context(file)?;
            packages.extend(quoted_after(&entry, "\ndebian = [", "]"));
        }
        packages.sort();
        packages.dedup();
        Ok(packages)
    }

    /// Adds the steps of the chosen entries, which begin after the steps `after`.
    pub(super) fn add<'a>(&'a self, queue: &Queue<'a>, program: &'a str, after: &[&str]) {
        queue.add(Lane::Net, "setup of the entries", after, move |queue| {
            let chosen = self.choose(&self.known_to(program)?.0);
            if self.may_install {
                let names = chosen.iter().flat_map(|it| &it.names).map(String::as_str);
                let words: Vec<&str> = [program, "setup"].into_iter().chain(names).collect();
                attempt("setup of the entries", &words, &[], Shown::AtEnd)?;
            }
            let (known, missing) = self.known_to(program)?;
            let ready = chosen.into_iter().filter(|it| known[&it.id].is_ready);
            let steps: Vec<String> =
                ready.map(|it| self.add_one(queue, program, known[&it.id].clone(), it)).collect();
            let has = |name: &&str| {
                let mut of = missing.iter().map(|it| &it.id);
                known.iter().any(|(id, it)| it.is_ready && name.starts_with(id.as_str()))
                    && of.all(|id| id != name)
            };
            let names: Vec<&str> = match self.scope {
                Scope::All => Vec::new(),
                Scope::Change | Scope::Nightly => REPRESENTATIVES.into_iter().filter(has).collect(),
            };
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            queue.add(Lane::Alone, "smoke suite", &steps, move |_| {
                // Replies that wait for a delayed ACK come after 40 ms.
                let options = ["--no-verify", "--rounds", "1", "--slice", "100ms"];
                let words = [&[program, "run", "smoke"], &names[..], &options].concat();
                step_beside("smoke suite", &words, &[]).map(drop)
            });
            Ok(())
        });
    }

    /// Adds the build and the checks of an entry, and returns the title of the last step.
    fn add_one<'a>(
        &'a self,
        queue: &Queue<'a>,
        program: &'a str,
        entry: Entry,
        it: Chosen,
    ) -> String {
        let (build, verify) = (format!("build of {}", it.id), format!("verify {}", it.id));
        let last = verify.clone();
        queue.add(Lane::Build, &build.clone(), &[], move |queue| {
            let strict: &[&str] = if self.may_install { &["--strict"] } else { &[] };
            let names: Vec<&str> = it.names.iter().map(String::as_str).collect();
            // Tests that run meanwhile get the CPUs first, because they have time limits.
            let words = [&["nice", "-n", "10", program, "build"], strict, &names].concat();
            let building = step_beside(&build, &words, &[])?;
            let title = verify.clone();
            queue.add(Lane::Tests, &title, &[], move |_| {
                // It repeats a failed check alone, so that a rare fault blocks no unrelated change.
                let names = it.names.iter().map(String::as_str);
                let words = [program, "verify", "--quiet"].into_iter().chain(names);
                let checking = step_beside(&verify, &words.collect::<Vec<_>>(), &[])?;
                if it.is_whole() { self.record(&it.id, entry, building + checking) } else { Ok(()) }
            });
            Ok(())
        });
        last
    }

    /// Writes the line of an entry of which all variants were verified.
    fn record(&self, id: &str, entry: Entry, cpu: f64) -> anyhow::Result<()> {
        let mut ledger = self.ledger();
        // A build that was made before takes no time.
        let same = ledger.get(id).filter(|line| line.digest == entry.digest);
        let cpu_s = same.map_or(0, |line| line.cpu_s).max(cpu.ceil() as u32);
        let commit = self.history.first().context("there is no commit")?.clone();
        let Entry { digest, tools, checks, .. } = entry;
        ledger.insert(id.to_owned(), Line { digest, tools, checks, commit, cpu_s });
        fs::write(root().join(FILE), ledger::write(&ledger)).context(FILE)
    }

    /// Gives each entry a line, lists the variants that this machine lacks, and fails if a verification is too old.
    pub(super) fn finish(&self, program: &str) -> anyhow::Result<()> {
        let (known, missing) = self.known_to(program)?;
        {
            let mut ledger = self.ledger();
            ledger.retain(|id, _| known.contains_key(id));
            for (id, entry) in &known {
                ledger.entry(id.clone()).or_insert_with(|| Line::unverified(&entry.digest));
            }
            fs::write(root().join(FILE), ledger::write(&ledger)).context(FILE)?;
        }
        println!("\n== neither built nor checked on this machine: {} variants", missing.len());
        missing.iter().for_each(|it| println!("{}: {}", it.id, it.reason));
        if checkout::has_changed(FILE)? {
            println!("\n== {FILE} has new lines: commit it");
        }
        if checkout::is_shallow()? {
            println!("\n== a shallow clone: ages of verifications are not known");
        }
        let old = ledger::too_old(&known);
        let next = format!("run `cargo xtask test --all`, and commit {FILE}");
        ensure!(
            old.is_empty(),
            "verified too long ago ({OLDEST} commits): {}; {next}",
            old.join(", ")
        );
        Ok(())
    }
}

/// A variant as `wirebench list` describes it.
struct Variant {
    id: String,
    entry: String,
    is_ready: bool,
    reason: String,
}

fn variants(program: &str) -> anyhow::Result<Vec<Variant>> {
    let list = output(&mut at_root(program, ["list", "--json"]))?;
    let list: Vec<serde_json::Value> = serde_json::from_str(&list)?;
    let text = |it: &serde_json::Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let variants = list.iter().map(|it| Variant {
        id: text(it, "id"),
        entry: text(it, "entry"),
        is_ready: it["state"] == "ready",
        reason: format!("{}: {}", text(it, "state"), text(it, "reason")),
    });
    Ok(variants.collect())
}

/// The versions of a variant in the table of `wirebench versions`.
fn tools(table: &str, id: &str) -> Option<String> {
    let mut rows = table.lines().map(|row| row.trim_matches(['|', ' ']).split('|').map(str::trim));
    rows.find_map(
        |mut cells| if cells.next()? == id { cells.next().map(str::to_owned) } else { None },
    )
}

/// All texts in quotes between each `start` and the next `end`.
fn quoted_after(text: &str, start: &str, end: &str) -> Vec<String> {
    let lists = text.split(start).skip(1).filter_map(|it| it.split(end).next());
    let lines = lists.flat_map(str::lines).map(|line| line.split('#').next().unwrap_or_default());
    lines.flat_map(|it| it.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn packages_and_representatives_are_found_in_their_files() {
        let text =
            "a = 1\nlist = [\n    \"c/a:x\", # of \"C\"\n    \"go/b\",\n]\nother = [\"d\"]\n";
        assert_eq!(super::quoted_after(text, "\nlist = [", "\n]"), ["c/a:x", "go/b"]);
        assert_eq!(super::quoted_after(text, "\nother = [", "]"), ["d"]);
    }

    #[test]
    fn the_versions_of_a_variant_are_found_in_the_table() {
        let table = "| entry   | versions    |\n|---------|-----|\n| c/a     | cc 12, libc 2 |\n";
        assert_eq!(super::tools(table, "c/a").as_deref(), Some("cc 12, libc 2"));
        assert_eq!(super::tools(table, "c/b"), None);
    }
}
