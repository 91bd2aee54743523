//! The project's chores. One chore, one file.
//!
//! They are not part of what users run; `cargo xtask` is for developers of the project.
#![forbid(unsafe_code)]

mod lab;
mod lines;
mod package;
mod provoke;
mod queue;
mod reproduce;
mod script;
mod step;
mod test;
mod tidy;

use clap::{Parser, Subcommand};

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
    /// Compare a server with itself and with one that is slowed by a known amount
    #[command(disable_help_flag = true)]
    BenchDifference(lab::Words),
    /// Measure what the workers of each kind of fiber runtime do, and what a switch costs
    #[command(disable_help_flag = true)]
    BenchFiber(lab::Words),
    /// Compare `wirebench load` with wrk, h2load, oha, hey and two bare loops
    #[command(disable_help_flag = true)]
    BenchLoad(lab::Words),
    /// Measure what one side with many agents uses, with agents that generate no load
    #[command(disable_help_flag = true)]
    BenchScale(lab::Words),
    /// Compare what `wirebench load` measures with a server whose delays are known
    #[command(disable_help_flag = true)]
    BenchTruth(lab::Words),
    /// Count the lines of code, comments and tests of each crate
    Lines,
    /// Make a Debian package or a static program
    Package(package::Arguments),
    /// Cause the faults of runs, and print the text that reports each
    Provoke,
    /// Build the last commit in two folders, and compare the programs
    Reproduce,
    /// Check rules beyond the compiler's: headers, lengths, phrases, dependencies between crates,
    /// documents, and limits of counts
    Tidy {
        /// Print the counts of today next to the limits instead
        #[arg(long)]
        counts: bool,
    },
}

fn main() {
    let result = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::BenchDifference(words) => lab::run("bench-difference", &words),
        Chore::BenchFiber(words) => lab::run("bench-fiber", &words),
        Chore::BenchLoad(words) => lab::run("bench-load", &words),
        Chore::BenchScale(words) => lab::run("bench-scale", &words),
        Chore::BenchTruth(words) => lab::run("bench-truth", &words),
        Chore::Lines => lines::run(),
        Chore::Package(arguments) => package::run(&arguments),
        Chore::Provoke => provoke::run(),
        Chore::Reproduce => reproduce::run(),
        Chore::Tidy { counts: false } => tidy::run(),
        Chore::Tidy { counts: true } => tidy::print_counts(),
    };
    if let Err(error) = result {
        eprintln!("error: {error:#}");
        std::process::exit(1);
    }
}
