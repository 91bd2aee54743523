//! The steps of entries: their setup, builds and checks, and the ledger's lines that result.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    sync::{Mutex, PoisonError},
};

use super::{
    add_command,
    ledger::{self, Chosen, Entry, FILE, Ledger, Line, OLDEST, Scope},
};
use crate::{
    queue::{Lane, Queue},
    step::{at_root, nice, output, root, run},
};

/// A variant of each language and kind of server, which every run verifies.
const REPRESENTATIVES: &str = "c/epoll c/io_uring c/threads cpp/boost-asio:shared d/epoll \
                               dotnet/aspnetcore:minimal-api erlang/mochiweb go/net java/netty:epoll nginx/return \
                               node/http ocaml/cohttp python/asyncio:uvloop rust/tokio";
/// Commits for which a verification is not recorded anew, so that not every run changes the ledger.
const YOUNG: usize = 100;
/// The entry with a link to a crate of the workspace, and that.
const LINK: (&str, &str) = ("rust/fiber", "crates/uring");
/// Sources that decide the verdict of a check.
const CHECKS: [&str; 3] =
    ["crates/verify/src", "crates/server/src/guard", "crates/server/src/launch"];

/// The option that shortens names of commits and trees as in the ledger.
const SHORT: &str = "--abbrev=12";

/// The entries of the checkout.
pub(super) struct Entries {
    scope: Scope,
    may_install: bool,
    /// Names of folders by their paths.
    trees: BTreeMap<String, String>,
    /// Commits, the newest first.
    history: Vec<String>,
    ledger: Mutex<Ledger>,
}

impl Entries {
    pub(super) fn new(scope: Scope, may_install: bool) -> anyhow::Result<Self> {
        let ledger = fs::read_to_string(root().join(FILE)).context(FILE)?;
        let ledger = Mutex::new(ledger::read(&ledger).context(FILE)?);
        let commits = ["rev-list", "--topo-order", "--abbrev-commit", SHORT, "HEAD"];
        let commits = output(&mut at_root("git", commits))?;
        let history = commits.lines().map(str::to_owned).collect();
        Ok(Self { scope, may_install, trees: trees()?, history, ledger })
    }

    /// The entries as far as the checkout knows them and, once there is a program, as this machine has them; also the
    /// variants as `wirebench list` describes them.
    fn known(&self, program: Option<&str>) -> anyhow::Result<(ledger::Entries, Vec<Value>)> {
        let digest = |folders: &[&str]| {
            let names = folders.iter().filter_map(|it| self.trees.get(*it).map(String::as_str));
            names.collect::<Vec<_>>().join("+")
        };
        let ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known = ledger::Entries::new();
        for path in self.trees.keys() {
            let folders: Vec<&str> = path.split('/').collect();
            let ["entries", language, name] = folders[..] else { continue };
            if name == "shared" {
                continue;
            }
            let (id, shared) = (format!("{language}/{name}"), format!("entries/{language}/shared"));
            let linked = if id == LINK.0 { LINK.1 } else { "" };
            let (digest, checks) = (digest(&[path, &shared, linked]), digest(&CHECKS));
            let today = Line { digest, checks, ..Line::default() };
            let last = ledger.get(&id).cloned();
            let commit = last.as_ref().map(|line| &line.commit);
            let age = self.history.iter().position(|it| Some(it) == commit);
            known.insert(id, Entry { last, today, age, is_ready: false });
        }
        drop(ledger);
        let Some(program) = program else { return Ok((known, Vec::new())) };
        let variants = output(&mut at_root(program, ["list", "--json"]))?;
        let variants: Vec<Value> = serde_json::from_str(&variants)?;
        let versions = output(&mut at_root(program, ["versions", "--format", "markdown"]))?;
        for it in variants.iter().rev().filter(|it| is_ready(it)) {
            if let Some(entry) = known.get_mut(text(it, "entry")) {
                let begin = format!("| {} ", text(it, "id"));
                let row = versions.lines().find(|row| row.starts_with(&begin));
                let cell = row.and_then(|row| row.split('|').nth(2)).unwrap_or_default();
                (entry.today.tools, entry.is_ready) = (cell.trim().to_owned(), true);
            }
        }
        Ok((known, variants))
    }

    /// The entries that this run verifies.
    pub(super) fn chosen(&self, program: Option<&str>) -> anyhow::Result<Vec<Chosen>> {
        Ok(ledger::choose(&self.known(program)?.0, REPRESENTATIVES, self.scope))
    }

    /// Adds the steps of the chosen entries.
    pub(super) fn add<'a>(&'a self, queue: &Queue<'a>, program: &'a str) {
        queue.add(Lane::Net, "setup of the entries", move |queue, title| {
            let chosen = self.chosen(Some(program))?;
            if self.may_install {
                let words = ["setup"].into_iter().chain(chosen.iter().map(|it| it.name.as_str()));
                // The states of the variants show what failed.
                run(title, &mut at_root(program, words)).ok();
            }
            let (mut known, variants) = self.known(Some(program))?;
            for it in chosen {
                let key = if it.is_whole { "entry" } else { "id" };
                let variants = variants.iter().filter(|variant| text(variant, key) == it.name);
                let (ready, others): (Vec<_>, Vec<_>) = variants.partition(|it| is_ready(it));
                for other in others {
                    println!("\n== chosen, and not verified: {}", shown(other));
                    // Without its registry a variant is not available; any other state is a fault.
                    let is_fault = self.may_install && other["state"] != "not available";
                    ensure!(!is_fault, "{}", shown(other));
                }
                if !ready.is_empty() {
                    let entry = known.remove(&it.id).filter(|_| it.is_whole);
                    let ready = ready.iter().map(|it| text(it, "id").to_owned()).collect();
                    self.add_one(queue, program, it.id, entry, ready);
                }
            }
            let names_of = |it| [text(it, "id"), text(it, "entry")];
            let has = |name| variants.iter().any(|it| is_ready(it) && names_of(it).contains(&name));
            let names = REPRESENTATIVES.split(' ').filter(|it| self.scope < Scope::All && has(it));
            // Replies that wait for a delayed ACK come after 40 ms.
            let options = ["run", "smoke", "--no-verify", "--rounds", "1", "--visit", "100ms"];
            let smoke = at_root(program, options.into_iter().chain(names));
            add_command(queue, Lane::Alone, "smoke suite", smoke);
            Ok(())
        });
    }

    /// Adds the build and the checks of variants of an entry. The entry is given if these are all variants that the
    /// machine has.
    fn add_one<'a>(
        &'a self,
        queue: &Queue<'a>,
        program: &'a str,
        id: String,
        entry: Option<Entry>,
        variants: Vec<String>,
    ) {
        queue.add(Lane::Build, &format!("build of {id}"), move |queue, title| {
            let names: Vec<&str> = variants.iter().map(String::as_str).collect();
            let building = run(title, &mut nice(&[&[program, "build"], &names[..]].concat()))?;
            // It repeats a failed check alone, so that a rare fault blocks no unrelated change.
            let mut verify = at_root(program, [&["verify", "--quiet"], &names[..]].concat());
            queue.add(Lane::Tests, &format!("verify {id}"), move |_, title| {
                let checking = run(title, &mut verify)?;
                entry.map_or(Ok(()), |entry| self.record(id, entry, building + checking))
            });
            Ok(())
        });
    }

    /// Writes the line of an entry, of which all variants that the machine has were verified, unless it says nothing
    /// new.
    fn record(&self, id: String, entry: Entry, cpu: f64) -> anyhow::Result<()> {
        let Entry { last, mut today, age, .. } = entry;
        let same = last.filter(|line| line.digest == today.digest);
        let now = (&today.tools, &today.checks);
        let is_current = same.as_ref().is_some_and(|it| (&it.tools, &it.checks) == now);
        if is_current && age.is_some_and(|age| age < YOUNG) {
            return Ok(());
        }
        // A build that was made before takes no time.
        today.cpu_s = same.map_or(0, |line| line.cpu_s).max(cpu.ceil() as u32);
        today.commit = self.history.first().context("there is no commit")?.clone();
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        println!("\n== {FILE} has a new line for {id}: commit it");
        ledger.insert(id, today);
        fs::write(root().join(FILE), ledger::write(&ledger)).context(FILE)
    }

    /// Lists the variants that this machine lacks, and fails if a verification is too old.
    pub(super) fn finish(&self, program: &str) -> anyhow::Result<()> {
        let (known, variants) = self.known(Some(program))?;
        println!("\n== not available on this machine:");
        for it in variants.iter().filter(|it| !is_ready(it)) {
            println!("{}", shown(it));
        }
        let is_shallow = ["rev-parse", "--is-shallow-repository"];
        if output(&mut at_root("git", is_shallow))?.trim() == "true" {
            println!("\n== a shallow clone: ages of verifications are not known");
        }
        let old = ledger::too_old(&known).join(", ");
        let next = format!("run `cargo xtask test --all`, and commit {FILE}");
        ensure!(old.is_empty(), "not verified for more than {OLDEST} commits: {old}; {next}");
        Ok(())
    }
}

/// Git's names of folders below `entries/` and `crates/`, as a commit of the whole working tree would have them.
fn trees() -> anyhow::Result<BTreeMap<String, String>> {
    let folder = tempfile::tempdir()?;
    let git = |arguments: &[&str]| {
        output(at_root("git", arguments).env("GIT_INDEX_FILE", folder.path().join("index")))
    };
    git(&["read-tree", "HEAD"])?;
    git(&["add", "--all", "entries", "crates"])?;
    let tree = git(&["write-tree"])?;
    let lines = git(&["ls-tree", "-d", "-r", SHORT, tree.trim(), "entries", "crates"])?;
    let folders = lines.lines().filter_map(|line| {
        let (head, path) = line.split_once('\t')?;
        Some((path.to_owned(), head.rsplit(' ').next()?.to_owned()))
    });
    Ok(folders.collect())
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
