//! The project's chores. They are not part of what users run; `cargo xtask` is for developers of the project.
#![forbid(unsafe_code)]

mod queue;
mod step;
mod test;
mod tidy;

use anyhow::{Context as _, ensure};
use clap::{Parser, Subcommand};
use std::{ffi::OsString, os::unix::process::CommandExt as _, process::Command};

use step::{CARGO, root, script};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    about = "The project's own chores",
    after_help = "`bench-difference`, `bench-fiber`, `bench-load`, `bench-scale` and `bench-truth` run a bench of the \
                  lab; `--help` after one describes it.",
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install the tests' dependencies and run the checks for a change; CI adds --nightly
    Test(test::Arguments),
    /// Count the lines of code, tests and golden files of each crate
    Lines,
    /// Make a Debian package or a static program
    Package {
        /// Build one static program with musl instead of a Debian package
        #[arg(long = "static", conflicts_with = "no_build")]
        is_static: bool,
        /// Package every published crate instead, and build each package from its own files
        #[arg(long, conflicts_with_all = ["is_static", "no_build", "check"])]
        crates: bool,
        /// Package the release build that exists
        #[arg(long)]
        no_build: bool,
        /// Install the package, run its program and purge it, or run the static program in an empty root folder;
        /// needs root
        #[arg(long)]
        check: bool,
    },
    /// Cause the faults of runs, and print the text that reports each
    Provoke {
        /// Record the evidence that the tests of `judge` replay, on a machine without other load
        #[arg(long)]
        record: bool,
    },
    /// Build the last commit in two folders, and compare the programs
    Reproduce,
    /// Check rules beyond the compiler's: headers, lengths, phrases, dependencies between crates,
    /// documents, and limits of counts
    Tidy {
        /// Print the counts of today as the tables of limits instead
        #[arg(long)]
        counts: bool,
    },
    #[command(external_subcommand)]
    Bench(Vec<OsString>),
}

fn main() {
    let result = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Bench(words) => bench(&words),
        Chore::Lines => tidy::print_lines(),
        Chore::Package { is_static, crates, no_build, check } => {
            let name = match (crates, is_static) {
                (true, _) => "package-crates",
                (_, true) => "package-static",
                _ => "package-deb",
            };
            let options = [no_build.then_some("--no-build"), check.then_some("--check")];
            script(name, &options.into_iter().flatten().collect::<Vec<_>>())
        }
        Chore::Provoke { record } => script("provoke", if record { &["--record"] } else { &[] }),
        Chore::Reproduce => script("reproduce", &[]),
        Chore::Tidy { counts: false } => tidy::run(),
        Chore::Tidy { counts: true } => tidy::print_counts(),
    };
    if let Err(error) = result {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
}

/// Becomes the bench of the crate `lab` that the first word names, so that its exit code is that of this program. The
/// lab is built only then: it depends on crates that other chores do not need.
fn bench(words: &[OsString]) -> anyhow::Result<()> {
    let bench = words.first().context("no chore")?.to_string_lossy();
    ensure!(bench.starts_with("bench-"), "no chore `{bench}`: `cargo xtask --help` lists all");
    // Without a change of folder, so that paths among the arguments stay valid.
    let mut command = Command::new(CARGO);
    command.args(["run", "--release", "--quiet", "--locked", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).args(["-p", "lab", "--"]).args(words);
    Err(command.exec()).with_context(|| format!("`{CARGO}` cannot be run"))
}
