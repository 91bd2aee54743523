//! `cargo xtask test`: all checks that must pass before a change lands. CI runs exactly this.

use anyhow::Context;
use std::{process::Command, thread, time::Instant};

use crate::{
    axe, bench_load, bench_truth, conformance, package,
    step::{at_root, attempt_beside, built, step},
    test_programs, tidy,
};

/// The test that needs a machine without other load: its server must become steady.
const ALONE: &str = "a_server_that_becomes_faster";

/// The workspace of the entry `rust/fiber`.
const FIBERS: &str = "entries/rust/fiber/Cargo.toml";

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Install nothing; entries for which something is missing are left out, and listed
    #[arg(long)]
    no_install: bool,
}

/// Debian packages that tests need, besides the load generators.
const TEST_PACKAGES: [&str; 7] =
    ["chromium", "iproute2", "man-db", "munge", "openssh-client", "openssh-server", "slurm-wlm"];

/// Installs, checks the sources, runs the tests, builds and verifies every entry, and runs the
/// smoke suite and the smoke runs of both benches.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let began = Instant::now();
    toolchain()?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let cargo = cargo.as_str();
    step("format", &[cargo, "fmt", "--all", "--check"], &[])?;
    tidy::run()?;
    step("build", &[cargo, "build", "--release", "--locked"], &[])?;
    let program = built("wirebench")?;
    let program = program.to_str().context("the program's path is no text")?;
    if arguments.no_install {
        println!("\n== install: left out (--no-install)");
        lint(cargo)?;
    } else {
        // Registries are waited for while the compiler works.
        thread::scope(|scope| {
            let installing = scope.spawn(|| install(program));
            lint(cargo)?;
            installing.join().ok().context("the installation panicked")?
        })?;
        package::test(cargo)?;
    }
    test_programs::run(cargo, ALONE)?;
    step("examples in the docs", &[cargo, "test", "--workspace", "--locked", "--doc"], &[])?;
    let fibers = of_fibers(&[cargo, "test"]);
    step("fibers", &fibers, &[])?;
    let loom = ["--features", "loom", "--lib", "loom"];
    step("fibers in all orders of their steps", &[&fibers[..], &loom].concat(), &[])?;
    let alone = ["test", "-p", "wirebench", "--test", "it", "--locked", ALONE];
    step("a test that needs the machine", &[&[cargo], &alone[..]].concat(), &[])?;
    step("list", &[program, "list"], &[])?;
    // After setup nothing may be left that setup could bring. What cannot be had on this machine,
    // for want of a registry, a toolchain or a newer kernel, is left out, and listed at the end.
    let strict: &[&str] = if arguments.no_install { &[] } else { &["--strict"] };
    step("build of the entries", &[&[program, "build"], strict].concat(), &[])?;
    conformance::run(program, strict)?;
    let short = ["--rounds", "1", "--slice", "40ms"];
    let smoke = [&[program, "run", "smoke", "--no-verify"], &short[..]].concat();
    step("smoke suite", &smoke, &[])?;
    println!("\n== load generators side by side\n$ cargo xtask bench-load --smoke");
    bench_load::smoke().context("cargo xtask bench-load --smoke")?;
    println!("\n== known delays\n$ cargo xtask bench-truth --smoke");
    bench_truth::smoke().context("cargo xtask bench-truth --smoke")?;
    print_left_out(program)?;
    println!("\nall steps passed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

fn lint(cargo: &str) -> anyhow::Result<()> {
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    step("clippy", &[&[cargo], &clippy[..]].concat(), &[])?;
    let clippy = [&of_fibers(&[cargo, "clippy"])[..], &["--all-targets", "--", "-D", "warnings"]];
    step("clippy of the fibers", &clippy.concat(), &[])?;
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    step("docs", &[&[cargo], &doc[..]].concat(), &[("RUSTDOCFLAGS", "-D warnings")])
}

/// A command of cargo for the fiber runtime, which is a part of its entry.
pub(crate) fn of_fibers<'a>(command: &[&'a str]) -> Vec<&'a str> {
    let of = ["--manifest-path", FIBERS, "--target-dir", "target/fibers", "--locked"];
    [command, &of, &["-p", "wirebench-fiber"]].concat()
}

/// Installs what entries and tests need. It fails where a registry cannot be reached. What is missing then is listed
/// at the end.
fn install(program: &str) -> anyhow::Result<()> {
    attempt_beside("packages of the entries", &[program, "setup"])?;
    attempt_beside("packages of the tests", &bench_load::install::apt_get(&TEST_PACKAGES))?;
    axe::install()
}

/// Lists what the steps above have said nothing about.
fn print_left_out(program: &str) -> anyhow::Result<()> {
    let list = at_root(program, ["list", "--json"]).output()?;
    let variants: Vec<serde_json::Value> = serde_json::from_slice(&list.stdout)
        .context("`wirebench list --json` wrote no list of variants")?;
    let left_out = left_out(&variants);
    if !left_out.is_empty() {
        println!("\n== left out, and neither built nor checked: {} variants", left_out.len());
        left_out.iter().for_each(|line| println!("{line}"));
    }
    Ok(())
}

/// Each variant that is not ready, with its state and the reason.
fn left_out(variants: &[serde_json::Value]) -> Vec<String> {
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
        let lines = super::left_out(variants.as_array().unwrap());
        assert_eq!(lines, ["d/x: not available: no registry"]);
    }
}
