//! `cargo xtask test`: everything that must hold before a change lands. CI runs exactly this.

use anyhow::Context;
use std::{process::Command, time::Instant};

use crate::{
    bench_load, bench_truth,
    step::{built, step},
    tidy,
};

/// Arguments of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Install nothing; entries for which something is missing are left out, and listed
    #[arg(long)]
    no_install: bool,
}

/// Installs, checks the sources, runs the tests, builds and verifies every entry, and runs the
/// smoke suite and the smoke runs of both benches.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let began = Instant::now();
    toolchain()?;
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let cargo = cargo.as_str();
    step("format", &[cargo, "fmt", "--all", "--check"], &[])?;
    tidy::run()?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    step("clippy", &[&[cargo], &clippy[..]].concat(), &[])?;
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    step("docs", &[&[cargo], &doc[..]].concat(), &[("RUSTDOCFLAGS", "-D warnings")])?;
    step("build", &[cargo, "build", "--release", "--locked"], &[])?;
    let program = built("wirebench")?;
    let program = program.to_str().context("the program's path is no text")?;
    if arguments.no_install {
        println!("\n== install: left out (--no-install)");
    } else {
        step("packages of the entries", &[program, "setup"], &[])?;
    }
    step("tests", &[cargo, "test", "--workspace", "--locked"], &[])?;
    step("list", &[program, "list"], &[])?;
    // On CI's machine every entry must build; elsewhere what is missing is listed and left out.
    let strict: &[&str] = if arguments.no_install { &[] } else { &["--strict"] };
    step("build of the entries", &[&[program, "build"], strict].concat(), &[])?;
    step("conformance", &[&[program, "verify", "--quiet"], strict].concat(), &[])?;
    step("smoke suite", &[program, "run", "smoke", "--no-verify"], &[])?;
    println!("\n== load generators side by side\n$ cargo xtask bench-load --smoke");
    bench_load::smoke().context("cargo xtask bench-load --smoke")?;
    println!("\n== known delays\n$ cargo xtask bench-truth --smoke");
    bench_truth::smoke().context("cargo xtask bench-truth --smoke")?;
    println!("\nall steps passed in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
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
