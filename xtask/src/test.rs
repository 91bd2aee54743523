//! `cargo xtask test`: all checks that must pass before a change lands. CI runs exactly this, with `--nightly`.

mod build;
mod entries;
pub(crate) mod ledger;
mod programs;

use anyhow::{Context, ensure};
use std::{fs, process::Command, sync::OnceLock, time::Instant};

use self::{
    entries::Entries,
    ledger::{Chosen, Scope},
};
use crate::{
    queue::{Lane, Queue},
    step::{self, TICKS, at_root, cargo, cpu_seconds, nice, script, show, target},
    tidy,
};

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
    ("tests of cli/it", Lane::Tests, 640, Scope::Change),
    ("other tests", Lane::Tests, 300, Scope::Change),
    ("tests of cli/provoke", Lane::Alone, 65, Scope::Change),
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
    let may_install = !arguments.no_install;
    let entries = Entries::new(scope, may_install)?;
    let chosen = entries.chosen(None)?;
    if arguments.plan {
        plan(scope, may_install, &chosen);
        return Ok(());
    }
    let (began, before) = (Instant::now(), clocks()?);
    show(&mut at_root(cargo(), ["fmt", "--all", "--check"]))?;
    tidy::run()?;
    let lints = if arguments.plain { &[] } else { build::LINTS };
    let program = OnceLock::new();
    let queue = Queue::default();
    if may_install {
        let words = ["-eu", "xtask/scripts/install.sh"].map(str::to_owned).into_iter();
        let nightly = (scope >= Scope::Nightly).then(|| "--nightly".to_owned());
        let words = words.chain(nightly).chain(entries::packages(&chosen)?);
        add_command(&queue, Lane::Net, "install", at_root("sh", words));
    }
    queue.add(Lane::Build, "build", |queue, _| {
        build::run(lints, |it| {
            if it.is_test {
                programs::add(queue, &it, scope)?;
            } else if it.name == "cli/wirebench" {
                let path = it.executable.to_str().context("the program's path is no text")?;
                entries.add(queue, program.get_or_init(|| path.to_owned()));
            }
            Ok(())
        })?;
        if scope >= Scope::Nightly {
            let words = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
            let mut docs = nice(&[&[cargo()], &words[..]].concat());
            docs.env("RUSTDOCFLAGS", "-D warnings");
            add_command(queue, Lane::Build, "docs", docs);
        }
        if scope >= Scope::Nightly || chosen.iter().any(|it| it.id == "rust/fiber") {
            add_fibers(queue, lints, scope);
        }
        Ok(())
    });
    if arguments.release {
        add_release(&queue, may_install);
    }
    let tested = queue.run();
    let finished = program.get().map_or(Ok(()), |program| entries.finish(program));
    print_use(began, before)?;
    tested?;
    finished?;
    println!("\nall steps passed");
    Ok(())
}

fn add_command(queue: &Queue<'_>, lane: Lane, title: &str, mut command: Command) {
    queue.add(lane, title, move |_, title| step::run(title, &mut command).map(drop));
}

/// Adds the tests of the fiber runtime, which is a part of its entry, and needs them when it changes.
fn add_fibers(queue: &Queue<'_>, lints: &[(&str, &str)], scope: Scope) {
    let test = [cargo(), "test", "--locked", "-p", "wirebench-fiber"];
    let place =
        ["--manifest-path", "entries/rust/fiber/Cargo.toml", "--target-dir", "target/fibers"];
    let test = [&test[..], &place].concat();
    let mut fibers = nice(&test);
    fibers.envs(lints.iter().copied());
    add_command(queue, Lane::Build, "fibers", fibers);
    if scope >= Scope::Nightly {
        // Its stand-ins for the operating system are tests, to which lints do not apply.
        let loom = nice(&[&test[..], &["--features", "loom", "--lib", "loom"]].concat());
        add_command(queue, Lane::Build, "loom", loom);
    }
}

/// Adds what needs the program as it is released: its packages, and benches, which run shortly with every generator
/// that is installed. The build takes minutes.
fn add_release(queue: &Queue<'_>, may_install: bool) {
    queue.add(Lane::Build, "release build", move |queue, title| {
        let build = [cargo(), "build", "--release", "--locked", "-p", "wirebench", "-p", "lab"];
        step::run(title, &mut nice(&build))?;
        if may_install {
            queue.add(Lane::Alone, "packages", |_, _| {
                script("package-crates", &["--no-verify"])?;
                script("run-installed", &[])?;
                script("package-deb", &["--no-build", "--if-possible"])
            });
        }
        queue.add(Lane::Alone, "benches", |_, _| {
            // This build is compared with itself.
            let program = target().join("release/wirebench").display().to_string();
            let run = ["run", "--release", "--quiet", "--locked", "-p", "lab", "--"];
            let benches: [&[&str]; 3] =
                [&["bench-load"], &["bench-load", "--against", &program], &["bench-truth"]];
            let mut lines = benches.iter().map(|bench| [&run[..], bench, &["--smoke"]].concat());
            lines.try_for_each(|words| show(&mut at_root(cargo(), words)))
        });
        Ok(())
    });
}

fn plan(scope: Scope, may_install: bool, chosen: &[Chosen]) {
    println!("| step | lane | expected CPU, s | reason |\n|---|---|---|---|");
    let is_made = |title| title != "install" || may_install;
    let mut sum = chosen.iter().map(|it| it.cpu_s).sum::<u32>();
    for (title, lane, cpu, _) in PLAN.iter().filter(|it| scope >= it.3 && is_made(it.0)) {
        println!("| {title} | {lane:?} | {cpu} | |");
        sum += cpu;
    }
    for it in chosen {
        println!("| build and verify {} | Build, Tests | {} | {} |", it.shown(), it.cpu_s, it.why);
    }
    let unknown = "Versions of tools and missing requirements are known when the program is built. Entries that were \
                   never verified have no time here, and steps of --release none.";
    println!("\n{sum} s of CPU. {unknown}");
}

/// CPU time in seconds: of this run, of the machine in all, and what it had idle.
fn clocks() -> anyhow::Result<[f64; 3]> {
    let machine = fs::read_to_string("/proc/stat")?;
    let ticks = machine.split_whitespace().skip(1).take(8).map(str::parse::<f64>);
    let ticks: Vec<f64> = ticks.collect::<Result<_, _>>().context("/proc/stat")?;
    ensure!(ticks.len() == 8, "/proc/stat has {} clocks", ticks.len());
    let all = ticks.iter().sum::<f64>() / TICKS;
    Ok([cpu_seconds("self")?, all, (ticks[3] + ticks[4]) / TICKS])
}

/// Prints the time of the run, its CPU time, and the shares of the CPUs that it and others had.
fn print_use(began: Instant, before: [f64; 3]) -> anyhow::Result<()> {
    let now = clocks()?;
    let [run, all, idle] = std::array::from_fn(|it| now[it] - before[it]);
    let [own, others, idle] = [run, all - idle - run, idle].map(|part| 100.0 * part / all);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "\n== {seconds:.0} s, {run:.0} s of CPU; the run used {own:.0} % of the CPUs, others {others:.0} %, \
         {idle:.0} % were idle"
    );
    Ok(())
}
