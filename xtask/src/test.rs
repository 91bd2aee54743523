//! `cargo xtask test`: all checks that must pass before a change lands. CI runs exactly this, with `--nightly`.

use anyhow::Context;
use std::{process::Command, time::Instant};

use crate::{
    axe, lab, package, programs,
    queue::{Group, Queue},
    step::{Shown, at_root, attempt, built_in, cargo, compile, step, step_beside},
    test_programs, tidy,
};

/// The workspace of the entry `rust/fiber`.
const FIBERS: &str = "entries/rust/fiber/Cargo.toml";
/// Servers that are checked in parallel. Most checks wait, so that more than the default of four are quicker.
const CHECKED: &str = "8";

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Install nothing; skip entries for which something is missing, and list them
    #[arg(long)]
    no_install: bool,
    /// Check more: examples in the docs, the order of the fibers' steps, several hosts, Slurm
    #[arg(long)]
    nightly: bool,

    /// Build the program as it is released, package it, and try the benches
    #[arg(long)]
    release: bool,
}

/// Debian packages that tests need, besides the load generators.
const TEST_PACKAGES: [&str; 10] = [
    "chromium",
    "fish",
    "iproute2",
    "linux-perf",
    "man-db",
    "munge",
    "openssh-client",
    "openssh-server",
    "python3-pandas",
    "slurm-wlm",
];

/// Checks the sources, installs the tests' dependencies, runs the tests, builds and verifies every entry, and runs the
/// smoke suite.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let began = Instant::now();
    toolchain()?;
    step("format", &[cargo(), "fmt", "--all", "--check"], &[])?;
    tidy::run()?;
    let tests = test_programs::build()?;
    let program = built_in("debug", "wirebench")?;
    let program = program.to_str().context("the program's path is no text")?;
    let mut queue = Queue::default();
    let installed: &[&str] = if arguments.no_install {
        println!("\n== install: skipped (--no-install)");
        &[]
    } else {
        queue.add(Group::Waiting, "install", &[], || install(program));
        &["install"]
    };
    add_entries(&mut queue, program, installed);
    test_programs::add(&mut queue, &tests, installed, arguments.nightly)?;
    add_lints(&mut queue);
    if arguments.nightly {
        add_nightly(&mut queue);
    }
    if arguments.release {
        add_release(&mut queue, !arguments.no_install);
    }
    queue.run()?;
    print_skipped(program)?;
    println!("\nall steps passed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Adds the checks of the sources.
fn add_lints(queue: &mut Queue<'_>) {
    queue.add(Group::Cpu, "clippy", &[], || {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        compile("clippy", &[&[cargo()], &clippy[..]].concat(), &[])
    });
    queue.add(Group::Cpu, "docs", &[], || {
        let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
        compile("docs", &[&[cargo()], &doc[..]].concat(), &[("RUSTDOCFLAGS", "-D warnings")])
    });
    // Behind what others wait for.
    queue.add(Group::Cpu, "clippy of the fibers", &[], || {
        let clippy = [&of_fibers(&["clippy"])[..], &["--all-targets", "--", "-D", "warnings"]];
        compile("clippy of the fibers", &clippy.concat(), &[])
    });
    queue.add(Group::Cpu, "fibers", &[], || compile("fibers", &of_fibers(&["test"]), &[]));
}

/// Adds the build and the checks of all entries. After the installation nothing may be missing that `setup` installs.
/// What this machine cannot have, for want of a registry, a toolchain or a newer kernel, is skipped and listed.
fn add_entries<'a>(queue: &mut Queue<'a>, program: &'a str, installed: &[&str]) {
    let strict: &[&str] = if installed.is_empty() { &[] } else { &["--strict"] };
    queue.add(Group::Cpu, "entries", installed, move || {
        compile("build of the entries", &[&[program, "build"], strict].concat(), &[])
    });
    // `verify` itself repeats a failed check alone, so that a rare fault does not block an unrelated change.
    queue.add(Group::Waiting, "conformance", &["entries"], move || {
        let verify = [program, "verify", "--quiet", "-j", CHECKED];
        step_beside("conformance", &[&verify[..], strict].concat(), &[])
    });
    queue.add(Group::Alone, "smoke suite", &["entries"], move || {
        // Replies that wait for a delayed ACK come after 40 ms.
        let run = [program, "run", "smoke", "--no-verify", "--rounds", "1", "--slice", "100ms"];
        step_beside("smoke suite", &run, &[])
    });
}

/// Adds what seldom fails.
fn add_nightly(queue: &mut Queue<'_>) {
    queue.add(Group::Cpu, "examples in the docs", &[], || {
        let test = [cargo(), "test", "--workspace", "--locked", "--doc"];
        compile("examples in the docs", &test, &[])
    });
    queue.add(Group::Cpu, "loom", &["fibers"], || {
        let loom = ["--features", "loom", "--lib", "loom"];
        let test = [&of_fibers(&["test"])[..], &loom].concat();
        compile("fibers in all orders of their steps", &test, &[])
    });
}

/// Adds what needs the program as it is released. Its build takes minutes.
fn add_release(queue: &mut Queue<'_>, may_install: bool) {
    queue.add(Group::Cpu, "release build", &[], || {
        let build = ["build", "--release", "--locked", "-p", "wirebench"];
        compile("release build", &[&[cargo()], &build[..]].concat(), &[])
    });
    if may_install {
        queue.add(Group::Alone, "packages", &["release build"], package::test);
    }
    queue.add(Group::Alone, "bench-load", &["release build"], lab::try_bench_load);
    queue.add(Group::Alone, "bench-truth", &["release build"], lab::try_bench_truth);
}

/// A command of cargo for the fiber runtime, which is a part of its entry.
pub(crate) fn of_fibers<'a>(command: &[&'a str]) -> Vec<&'a str> {
    let of = ["--manifest-path", FIBERS, "--target-dir", "target/fibers", "--locked"];
    [&[cargo()], command, &of, &["-p", "wirebench-fiber"]].concat()
}

/// Installs what entries and tests need. It fails where a registry cannot be reached. What is missing then is listed
/// at the end.
fn install(program: &str) -> anyhow::Result<()> {
    attempt("packages of the entries", &[program, "setup"], &[], Shown::AtEnd)?;
    let packages = programs::apt_get(&TEST_PACKAGES);
    attempt("packages of the tests", &packages, &[], Shown::AtEnd)?;
    axe::install()
}

/// Lists the entries that no step has built or checked.
fn print_skipped(program: &str) -> anyhow::Result<()> {
    let list = at_root(program, ["list", "--json"]).output()?;
    let variants: Vec<serde_json::Value> = serde_json::from_slice(&list.stdout)
        .context("`wirebench list --json` wrote no list of variants")?;
    let skipped = skipped(&variants);
    if !skipped.is_empty() {
        println!("\n== skipped, neither built nor checked: {} variants", skipped.len());
        skipped.iter().for_each(|line| println!("{line}"));
    }
    Ok(())
}

/// Each variant that is not ready, with its state and the reason.
fn skipped(variants: &[serde_json::Value]) -> Vec<String> {
    let text = |it: &serde_json::Value, key| it[key].as_str().unwrap_or_default().to_owned();
    let missing = variants.iter().filter(|it| it["state"] != "ready");
    missing
        .map(|it| format!("{}: {}: {}", text(it, "id"), text(it, "state"), text(it, "reason")))
        .collect()
}

/// A toolchain without rustfmt or clippy gives odd errors later; say what to do now.
fn toolchain() -> anyhow::Result<()> {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        let there =
            Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
        anyhow::ensure!(there, "`{program}` is missing: rustup component add {component}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_not_ready_is_listed_with_its_reason() {
        let variants = serde_json::json!([
            {"id": "c/epoll", "state": "ready", "reason": null},
            {"id": "d/x", "state": "not available", "reason": "no registry"},
        ]);
        let lines = super::skipped(variants.as_array().unwrap());
        assert_eq!(lines, ["d/x: not available: no registry"]);
    }
}
