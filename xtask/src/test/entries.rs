//! The steps of entries: their setup, builds and checks, and the ledger's lines that result.

use anyhow::{Context, bail, ensure};
use serde_json::Value;
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
    step::{Shown, at_root, compile, exists, output, root, step},
    tidy::entries::LEDGER as FILE,
};

/// A variant of each language and kind of server, which every run verifies.
const REPRESENTATIVES: &str = "c/epoll c/io_uring c/threads cpp/boost-asio:shared d/epoll \
                               dotnet/aspnetcore:minimal-api erlang/mochiweb go/net java/netty:epoll nginx/return \
                               node/http ocaml/cohttp python/asyncio:uvloop rust/tokio";
/// Commits for which a verification is not recorded anew, so that not every run changes the ledger.
const YOUNG: usize = 100;
/// Entries with a link to a crate of the workspace.
const LINKS: [(&str, &str); 1] = [("rust/fiber", "crates/uring")];
/// Sources that decide the verdict of a check.
const CHECKS: [&str; 3] =
    ["crates/verify/src", "crates/server/src/guard", "crates/server/src/launch"];

/// The entries of the checkout.
pub(super) struct Entries {
    scope: Scope,
    may_install: bool,
    trees: Trees,
    /// Commits, the newest first.
    history: Vec<String>,
    ledger: Mutex<Ledger>,
}

/// Entries by their ids, and the variants of this machine as `wirebench list` describes them.
type Known = (BTreeMap<String, Entry>, Vec<Value>);

impl Entries {
    pub(super) fn new(scope: Scope, may_install: bool) -> anyhow::Result<Self> {
        let ledger = fs::read_to_string(root().join(FILE)).context(FILE)?;
        let ledger = Mutex::new(ledger::read(&ledger).context(FILE)?);
        let (trees, history) = (Trees::new()?, checkout::history()?);
        Ok(Self { scope, may_install, trees, history, ledger })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries as far as the checkout knows them and, once there is a program, as this machine has them.
    fn known(&self, program: Option<&str>) -> anyhow::Result<Known> {
        let checks = self.trees.digest(&CHECKS)?;
        let mut known = BTreeMap::new();
        for id in self.trees.entries() {
            let language = id.split('/').next().unwrap_or_default();
            let (own, shared) = (format!("entries/{id}"), format!("entries/{language}/shared"));
            let linked = LINKS.iter().filter(|it| it.0 == id).map(|it| it.1);
            let shared = Some(shared.as_str()).filter(|it| self.trees.has(it));
            let folders: Vec<&str> =
                [own.as_str()].into_iter().chain(shared).chain(linked).collect();
            let commit = self.ledger().get(id).map(|line| line.commit.clone());
            let (digest, checks) = (self.trees.digest(&folders)?, checks.clone());
            let age = self.history.iter().position(|it| Some(it) == commit.as_ref());
            let today = Line { digest, checks, ..Line::default() };
            known.insert(id.to_owned(), Entry { today, age, is_ready: false });
        }
        let Some(program) = program else { return Ok((known, Vec::new())) };
        let variants = output(&mut at_root(program, ["list", "--json"]))?;
        let variants: Vec<Value> = serde_json::from_str(&variants)?;
        let versions = output(&mut at_root(program, ["versions", "--markdown"]))?;
        for it in &variants {
            let Some(entry) = known.get_mut(text(it, "entry")) else { continue };
            if !is_ready(it) {
                entry.today.lacks.push(text(it, "id").to_owned());
            } else if !entry.is_ready {
                entry.is_ready = true;
                entry.today.tools = tools(&versions, text(it, "id")).unwrap_or_default();
            }
        }
        Ok((known, variants))
    }

    /// The entries that this run verifies.
    pub(super) fn chosen(&self, program: Option<&str>) -> anyhow::Result<Vec<Chosen>> {
        let known = self.known(program)?.0;
        Ok(ledger::choose(&known, &self.ledger(), REPRESENTATIVES, self.scope))
    }

    /// The Debian packages that chosen entries name.
    pub(super) fn packages(&self) -> anyhow::Result<Vec<String>> {
        let mut packages = Vec::new();
        for it in self.chosen(None)? {
            let file = format!("entries/{}/entry.toml", it.id);
            packages.extend(debian(&fs::read_to_string(root().join(&file)).context(file)?, exists));
        }
        Ok(packages)
    }

    /// Adds the steps of the chosen entries, which begin after the steps `after`.
    pub(super) fn add<'a>(&'a self, queue: &Queue<'a>, program: &'a str, after: &[&str]) {
        queue.add(Lane::Net, "setup of the entries", after, move |queue| {
            let (_, variants) = self.known(Some(program))?;
            let chosen = self.chosen(Some(program))?;
            if self.may_install {
                let names = chosen.iter().flat_map(|it| of(it, &variants)).map(|it| text(it, "id"));
                let words: Vec<&str> = [program, "setup"].into_iter().chain(names).collect();
                // The states of the variants show what failed.
                step("setup of the entries", &words, Shown::AtEnd).ok();
            }
            let (known, variants) = self.known(Some(program))?;
            let mut steps = Vec::new();
            for it in chosen {
                let (ready, others): (Vec<_>, Vec<_>) =
                    of(&it, &variants).partition(|it| is_ready(it));
                for other in &others {
                    println!("\n== chosen, and not verified: {}", shown(other));
                }
                // Without its registry a variant is not available; any other state is a fault.
                let faulty = others.iter().find(|it| text(it, "state") != "not available");
                if let Some(faulty) = faulty.filter(|_| self.may_install) {
                    bail!("{}", shown(faulty));
                }
                if !ready.is_empty() {
                    let entry = it.variant.is_none().then(|| known[&it.id].clone());
                    let ready = ready.iter().map(|it| text(it, "id").to_owned()).collect();
                    steps.push(self.add_one(queue, program, entry, &it.id, ready));
                }
            }
            let names_of = |it| [text(it, "id"), text(it, "entry")];
            let has = |name| variants.iter().any(|it| is_ready(it) && names_of(it).contains(&name));
            let is_all = self.scope == Scope::All;
            let names = REPRESENTATIVES.split(' ').filter(|name| !is_all && has(name));
            // Replies that wait for a delayed ACK come after 40 ms.
            let options = ["--no-verify", "--rounds", "1", "--slice", "100ms"];
            let words: Vec<&str> =
                [program, "run", "smoke"].into_iter().chain(names).chain(options).collect();
            let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
            queue.add(Lane::Alone, "smoke suite", &steps, move |_| {
                step("smoke suite", &words, Shown::AtEnd).map(drop)
            });
            Ok(())
        });
    }

    /// Adds the build and the checks of variants of an entry, and returns the title of the last step. The entry is
    /// given if these are all variants that the machine has.
    fn add_one<'a>(
        &'a self,
        queue: &Queue<'a>,
        program: &'a str,
        entry: Option<Entry>,
        id: &str,
        variants: Vec<String>,
    ) -> String {
        let (build, verify, id) = (format!("build of {id}"), format!("verify {id}"), id.to_owned());
        let last = verify.clone();
        queue.add(Lane::Build, &build.clone(), &[], move |queue| {
            let names = variants.iter().map(String::as_str);
            let words: Vec<&str> = [program, "build"].into_iter().chain(names).collect();
            let building = compile(&build, &words, &[])?;
            queue.add(Lane::Tests, &verify.clone(), &[], move |_| {
                // It repeats a failed check alone, so that a rare fault blocks no unrelated change.
                let names = variants.iter().map(String::as_str);
                let words = [program, "verify", "--quiet"].into_iter().chain(names);
                let checking = step(&verify, &words.collect::<Vec<_>>(), Shown::AtEnd)?;
                entry.map_or(Ok(()), |entry| self.record(&id, entry, building + checking))
            });
            Ok(())
        });
        last
    }

    /// Writes the line of an entry, of which all variants that the machine has were verified, unless it says nothing
    /// new.
    fn record(&self, id: &str, entry: Entry, cpu: f64) -> anyhow::Result<()> {
        let mut ledger = self.ledger();
        let Entry { mut today, age, .. } = entry;
        let same = ledger.get(id).filter(|line| line.digest == today.digest);
        let now = (&today.tools, &today.checks, &today.lacks);
        let is_current = same.is_some_and(|it| (&it.tools, &it.checks, &it.lacks) == now);
        if is_current && age.is_some_and(|age| age < YOUNG) {
            return Ok(());
        }
        // A build that was made before takes no time.
        today.cpu_s = same.map_or(0, |line| line.cpu_s).max(cpu.ceil() as u32);
        today.commit = self.history.first().context("there is no commit")?.clone();
        ledger.insert(id.to_owned(), today);
        fs::write(root().join(FILE), ledger::write(&ledger)).context(FILE)
    }

    /// Lists the variants that this machine lacks, and fails if a verification is too old.
    pub(super) fn finish(&self, program: &str) -> anyhow::Result<()> {
        let (known, variants) = self.known(Some(program))?;
        println!("\n== not available on this machine:");
        for it in variants.iter().filter(|it| !is_ready(it)) {
            println!("{}", shown(it));
        }
        if checkout::has_changed(FILE)? {
            println!("\n== {FILE} has new lines: commit it");
        }
        if checkout::is_shallow()? {
            println!("\n== a shallow clone: ages of verifications are not known");
        }
        let old = ledger::too_old(&known).join(", ");
        let next = format!("run `cargo xtask test --all`, and commit {FILE}");
        ensure!(old.is_empty(), "not verified for more than {OLDEST} commits: {old}; {next}");
        Ok(())
    }
}

/// The variants that a chosen entry stands for.
fn of<'a>(chosen: &Chosen, variants: &'a [Value]) -> impl Iterator<Item = &'a Value> {
    let key = if chosen.variant.is_some() { "id" } else { "entry" };
    let name = chosen.shown().to_owned();
    variants.iter().filter(move |it| text(it, key) == name)
}

fn text<'a>(variant: &'a Value, key: &str) -> &'a str {
    variant[key].as_str().unwrap_or_default()
}

/// Name and state of a variant, and the reason.
fn shown(variant: &Value) -> String {
    ["id", "state", "reason"].map(|it| text(variant, it)).join(": ")
}

fn is_ready(variant: &Value) -> bool {
    variant["state"] == "ready"
}

/// The versions of a variant in the table of `wirebench versions`.
fn tools(table: &str, variant: &str) -> Option<String> {
    let rows = table.lines().filter_map(|row| row.strip_prefix("| ")?.split_once('|'));
    let mut of = rows.filter(|(id, _)| id.trim() == variant);
    of.next().map(|(_, rest)| rest.trim_matches(['|', ' ']).to_owned())
}

/// The packages in an `entry.toml`, without those of commands that this machine has: it may have them elsewhere, and
/// their packages conflict.
fn debian(entry: &str, exists: fn(&str) -> bool) -> Vec<String> {
    let required = entry.split("[[").filter(|block| {
        let command = block.split("\ncommand = \"").nth(1).and_then(|it| it.split('"').next());
        command.is_none_or(|command| !exists(command))
    });
    let lists = required.filter_map(|block| block.split("\ndebian = [").nth(1)?.split(']').next());
    lists.flat_map(|list| list.split('"').skip(1).step_by(2)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_and_versions_are_found() {
        let entry = "[[requires]]\ncommand = \"npm\"\ndebian = [\"npm\"]\n\
                     [[requires]]\nheader = \"a.h\"\ndebian = [\"liba-dev\", \"make\"]\n";
        assert_eq!(debian(entry, |it| it == "npm"), ["liba-dev", "make"]);
        assert_eq!(debian(entry, |_| false), ["npm", "liba-dev", "make"]);
        let table = "| entry   | versions      |\n|---------|-----|\n| c/a     | cc 12, libc 2 |\n";
        assert_eq!(tools(table, "c/a").as_deref(), Some("cc 12, libc 2"));
        assert_eq!(tools(table, "c/b"), None);
    }
}
