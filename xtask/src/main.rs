//! The project's chores. One chore, one file.
//!
//! They are not part of what users run; `cargo xtask` is for developers of the project.
#![deny(unsafe_code)]

mod bench;
mod lines;
mod package;
mod provoke;
mod queue;
mod reproduce;
mod step;
mod test;
mod tidy;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "The project's own chores", arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install the tests' dependencies and run all tests, as CI does
    Test(test::Arguments),
    /// Count the lines of code, comments and tests of each crate
    Lines,
    /// Make a Debian package or a static program
    Package(package::Arguments),
    /// Cause the faults of runs, and print the text that reports each
    Provoke,
    /// Build the last commit in two folders, and compare the programs
    Reproduce,
    /// Check rules beyond the compiler's: headers, lengths, phrases, dependencies between crates,
    /// documents
    Tidy,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::Lines => lines::run(),
        Chore::Package(arguments) => package::run(&arguments),
        Chore::Provoke => provoke::run(),
        Chore::Reproduce => reproduce::run(),
        Chore::Tidy => tidy::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
