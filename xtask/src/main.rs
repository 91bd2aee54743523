//! The project's chores. One chore, one file.
//!
//! They are not part of what users run; `cargo xtask` is for developers of the project.
#![forbid(unsafe_code)]

mod lab;
mod lines;
mod package;
mod queue;
mod step;
mod test;
mod tidy;

use clap::{Parser, Subcommand};
use std::ffi::OsString;

use step::{Shown, script};

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
    Package(package::Arguments),
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
        /// Print the counts of today next to the limits instead
        #[arg(long)]
        counts: bool,
    },
    #[command(external_subcommand)]
    Bench(Vec<OsString>),
}

fn main() {
    let result = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Bench(words) => lab::run(&words),
        Chore::Lines => lines::run(),
        Chore::Package(arguments) => package::run(&arguments).map(drop),
        Chore::Provoke { record: false } => script("provoke", &[], Shown::AtOnce).map(drop),
        Chore::Provoke { record: true } => {
            script("provoke", &["--record"], Shown::AtOnce).map(drop)
        }
        Chore::Reproduce => script("reproduce", &[], Shown::AtOnce).map(drop),
        Chore::Tidy { counts: false } => tidy::run(),
        Chore::Tidy { counts: true } => tidy::print_counts(),
    };
    if let Err(error) = result {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
}
