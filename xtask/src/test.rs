//! `cargo xtask test`: all checks that must pass before a change lands. CI runs exactly this, with `--nightly`.

mod build;
mod checkout;
mod entries;
pub(crate) mod ledger;
mod programs;

use anyhow::{Context, ensure};
use std::{fs, sync::OnceLock};

use self::{
    entries::Entries,
    ledger::{Chosen, Scope},
};
use crate::{
    lab, package,
    queue::{Lane, Queue},
    step::{Shown, TICKS, cargo, compile, exists, script, stat_seconds, step},
    tidy,
};

/// The workspace of the entry `rust/fiber`.
const FIBERS: &str = "entries/rust/fiber/Cargo.toml";

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Install nothing; skip entries for which something is missing, and list them
    #[arg(long)]
    no_install: bool,
    /// Check more: the stalest entries, the docs, the order of the fibers' steps, several hosts, Slurm
    #[arg(long)]
    nightly: bool,
    /// Check all entries, in addition to the nightly set
    #[arg(long)]
    all: bool,
    /// Build the program as it is released, package it, and try the benches
    #[arg(long)]
    release: bool,
    /// Compile the tests as `cargo test` does, without lints
    #[arg(long)]
    plain: bool,
    /// Print the steps, their lanes and the CPU time that they are expected to use, and run nothing
    #[arg(long)]
    plan: bool,
}

/// The steps besides those of entries, their lanes, and the CPU time in seconds that they used on a quiet machine with
/// two CPUs.
const PLAN: [(&str, Lane, u32, Scope); 9] = [
    ("install", Lane::Net, 80, Scope::Change),
    ("build, with lints", Lane::Build, 420, Scope::Change),
    ("docs", Lane::Build, 140, Scope::Nightly),
    ("fibers", Lane::Build, 75, Scope::Nightly),
    ("loom", Lane::Build, 7, Scope::Nightly),
    ("tests of wirebench/it", Lane::Tests, 640, Scope::Change),
    ("other tests", Lane::Tests, 300, Scope::Change),
    ("tests of wirebench/provoke", Lane::Alone, 65, Scope::Change),
    ("smoke suite", Lane::Alone, 25, Scope::Change),
];

/// Checks the sources, installs the tests' dependencies, runs the tests, builds and verifies entries, and runs the
/// smoke suite.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let scope = match (arguments.all, arguments.nightly) {
        (true, _) => Scope::All,
        (false, true) => Scope::Nightly,
        (false, false) => Scope::Change,
    };
    let entries = Entries::new(scope, !arguments.no_install)?;
    if arguments.plan {
        plan(scope, !arguments.no_install, &entries.chosen(None)?);
        return Ok(());
    }
    let before = clocks()?;
    ensure!(exists("cargo-fmt"), "`cargo-fmt` is missing: rustup component add rustfmt");
    step("format", &[cargo(), "fmt", "--all", "--check"], Shown::AtOnce)?;
    tidy::run()?;
    let lints = if arguments.plain { Vec::new() } else { build::lints()? };
    let program = OnceLock::new();
    let queue = Queue::default();
    let installed: &[&str] = if arguments.no_install { &[] } else { &["install"] };
    if !arguments.no_install {
        queue.add(Lane::Net, "install", &[], |_| {
            let nightly = (scope >= Scope::Nightly).then(|| "--nightly".to_owned());
            let words: Vec<String> = nightly.into_iter().chain(entries.packages()?).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            script("install", &words, Shown::AtEnd).map(drop)
        });
    }
    queue.add(Lane::Build, "build", &[], |queue| {
        build::run(&lints, |it| {
            if it.is_test {
                return programs::add(queue, &it, installed, scope);
            }
            if it.name == "wirebench/wirebench" {
                let path = it.executable.to_str().context("the program's path is no text")?;
                entries.add(queue, program.get_or_init(|| path.to_owned()), installed);
            }
            Ok(())
        })?;
        // The entries' builds come first, because checks wait for them.
        if scope >= Scope::Nightly {
            let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
            add_cargo(queue, "docs", &[], &doc, &[("RUSTDOCFLAGS", "-D warnings")]);
        }
        if scope >= Scope::Nightly || entries.chosen(None)?.iter().any(|it| it.id == "rust/fiber") {
            add_fibers(queue, &lints, scope);
        }
        Ok(())
    });
    if arguments.release {
        add_release(&queue, !arguments.no_install);
    }
    let tested = queue.run();
    let finished = program.get().map_or(Ok(()), |program| entries.finish(program));
    print_use(before)?;
    tested?;
    finished?;
    println!("\nall steps passed");
    Ok(())
}

/// Adds a command of cargo.
fn add_cargo<'a>(
    queue: &Queue<'a>,
    title: &'static str,
    after: &[&str],
    words: &[&'a str],
    env: &[(&'a str, &'a str)],
) {
    let (words, env) = ([&[cargo()], words].concat(), env.to_vec());
    queue.add(Lane::Build, title, after, move |_| compile(title, &words, &env).map(drop));
}

/// Adds the tests of the fiber runtime, which is a part of its entry, and needs them when it changes.
fn add_fibers<'a>(queue: &Queue<'a>, lints: &'a [(&'static str, String)], scope: Scope) {
    let lints: Vec<(&str, &str)> = lints.iter().map(|(name, it)| (*name, it.as_str())).collect();
    let of = ["test", "--manifest-path", FIBERS, "--target-dir", "target/fibers", "--locked"];
    let of = [&of[..], &["-p", "wirebench-fiber"]].concat();
    add_cargo(queue, "fibers", &[], &of, &lints);
    if scope >= Scope::Nightly {
        let loom = [&of[..], &["--features", "loom", "--lib", "loom"]].concat();
        // Its stand-ins for the operating system are tests, to which lints do not apply.
        add_cargo(queue, "loom", &["fibers"], &loom, &[]);
    }
}

/// Adds what needs the program as it is released. Its build takes minutes.
fn add_release(queue: &Queue<'_>, may_install: bool) {
    let build = ["build", "--release", "--locked", "-p", "wirebench", "-p", "lab"];
    add_cargo(queue, "release build", &[], &build, &[]);
    if may_install {
        queue.add(Lane::Alone, "packages", &["release build"], |_| package::test());
    }
    queue.add(Lane::Alone, "benches", &["release build"], |_| lab::smoke());
}

fn plan(scope: Scope, may_install: bool, chosen: &[Chosen]) {
    println!("| step | lane | expected CPU, s | reason |\n|---|---|---|---|");
    let mut sum = 0;
    let is_made = |title| title != "install" || may_install;
    for (title, lane, cpu, _) in PLAN.iter().filter(|it| scope >= it.3 && is_made(it.0)) {
        println!("| {title} | {lane:?} | {cpu} | |");
        sum += cpu;
    }
    for it in chosen {
        println!("| build and verify {} | Build, Tests | {} | {} |", it.shown(), it.cpu_s, it.why);
        sum += it.cpu_s;
    }
    let unknown = "Versions of tools and missing requirements are known when the program is built. Entries that were \
                   never verified have no time here, and steps of --release none.";
    println!("\n{sum} s of CPU. {unknown}");
}

/// CPU time in seconds: of this run, of the machine in all, and what it had idle.
fn clocks() -> anyhow::Result<[f64; 3]> {
    let own = fs::read_to_string("/proc/self/stat")?;
    let run = (14..18).filter_map(|field| stat_seconds(&own, field)).sum();
    let machine = fs::read_to_string("/proc/stat")?;
    let ticks = machine.split_whitespace().skip(1).take(8).map(str::parse::<f64>);
    let ticks: Vec<f64> = ticks.collect::<Result<_, _>>().context("/proc/stat")?;
    ensure!(ticks.len() == 8, "/proc/stat has {} clocks", ticks.len());
    Ok([run, ticks.iter().sum::<f64>() / TICKS, (ticks[3] + ticks[4]) / TICKS])
}

/// Prints the time of the run, its CPU time, and the shares of the CPUs that it and others had.
fn print_use(before: [f64; 3]) -> anyhow::Result<()> {
    let now = clocks()?;
    let [run, all, idle] = std::array::from_fn(|it| now[it] - before[it]);
    let own = fs::read_to_string("/proc/self/stat")?;
    let began = stat_seconds(&own, 22).context("/proc/self/stat")?;
    let uptime = fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime.split(' ').next().unwrap_or_default().parse()?;
    let [own, others, idle] = [run, all - idle - run, idle].map(|part| 100.0 * part / all);
    let (seconds, [cpu, ..], [build, ..]) = (uptime - began, now, before);
    println!(
        "\n== {seconds:.0} s, {cpu:.0} s of CPU, {build:.0} s of it to build this program; the run used {own:.0} % of \
         the CPUs, others {others:.0} %, {idle:.0} % were idle",
    );
    Ok(())
}
