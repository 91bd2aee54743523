//! `cargo xtask test`: all checks that must pass before a change lands. CI runs exactly this, with `--nightly`.

mod entries;
pub(crate) mod ledger;
mod programs;

use std::{process::Command, sync::OnceLock, thread, time::Instant};

use self::{
    entries::Entries,
    ledger::{Chosen, Scope},
};
use crate::{
    queue::{Lane, Queue},
    step::{self, CARGO, at_root, cpu_seconds, nice, script, show, target},
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
    let (began, cpu_before) = (Instant::now(), cpu_seconds("self")?);
    show(&mut at_root(CARGO, ["fmt", "--all", "--check"]))?;
    tidy::run()?;
    let lints = if arguments.plain { &[] } else { programs::LINTS };
    let program = OnceLock::new();
    let queue = Queue::default();
    if may_install {
        let words = ["-eu", "xtask/scripts/install.sh"].into_iter();
        let words = words.chain((scope >= Scope::Nightly).then_some("--nightly"));
        add_command(&queue, Lane::Net, "install", at_root("sh", words));
    }
    queue.add(Lane::Build, "build", |queue, _| {
        programs::build(queue, scope, lints, |it| {
            entries.add(queue, program.get_or_init(|| it.display().to_string()));
        })?;
        if scope >= Scope::Nightly {
            let options = ["--no-deps", "--document-private-items", "--locked"];
            let mut docs = nice(&[&[CARGO, "doc", "--workspace"], &options[..]].concat());
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
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds("self")? - cpu_before);
    let share = 100.0 * cpu / seconds / thread::available_parallelism()?.get() as f64;
    println!("\n== {seconds:.0} s, {cpu:.0} s of CPU: the run used {share:.0} % of the CPUs");
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
    let place = ["entries/rust/fiber/Cargo.toml", "--target-dir", "target/fibers"];
    let test =
        [&[CARGO, "test", "--locked", "-p", "wirebench-fiber", "--manifest-path"], &place[..]];
    let test = test.concat();
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
        let build = [CARGO, "build", "--release", "--locked", "-p", "wirebench", "-p", "lab"];
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
            lines.try_for_each(|words| show(&mut at_root(CARGO, words)))
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
        println!("| build and verify {} | Build, Tests | {} | {} |", it.name, it.cpu_s, it.why);
    }
    let unknown = "Versions of tools and missing requirements are known when the program is built. Entries that were \
                   never verified have no time here, and steps of --release none.";
    println!("\n{sum} s of CPU. {unknown}");
}
