//! The project's chores. One chore, one file.
//!
//! They are not part of what users run; `cargo xtask` is for developers of the project.
#![deny(unsafe_code)]

mod axe;
mod bare_load;
mod bench;
mod bench_difference;
mod bench_fiber;
mod bench_load;
mod bench_scale;
mod bench_truth;
mod lines;
mod package;
mod provoke;
mod queue;
mod reproduce;
mod step;
mod test;
mod test_programs;
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
    /// Compare a server with itself and with one that is slowed by a known amount
    BenchDifference(bench_difference::Arguments),
    /// Measure what the workers of each kind of fiber runtime do, and what a switch costs
    BenchFiber(bench_fiber::Arguments),
    /// Compare `wirebench load` with wrk, h2load, oha, hey and two bare loops
    BenchLoad(bench_load::Arguments),
    /// Measure what one side with many agents uses, with agents that make no load
    BenchScale(bench_scale::Arguments),
    /// Answer as an agent does (internal)
    #[command(hide = true)]
    FakeAgent { report: std::path::PathBuf, host: String, script: String },
    /// Run one bare loop against a server and print one line of JSON (internal)
    #[command(hide = true)]
    BareLoad(bare_load::Arguments),
    /// Answer HTTP/1.1 requests on the loopback interface after known delays (internal)
    #[command(hide = true)]
    DelayServer {
        #[command(subcommand)]
        mode: bench_truth::mode::Mode,
    },
    /// Hold what `wirebench load` measures against a server whose delays are known
    BenchTruth(bench_truth::Arguments),
    /// Count the lines of code, comments and tests of each crate
    Lines,
    /// Make a Debian package or a static program
    Package(package::Arguments),
    /// Cause the faults of runs, and print the text that reports each
    Provoke(provoke::Arguments),
    /// Build the last commit in two folders, and compare the programs
    Reproduce,
    /// Check rules beyond the compiler's: headers, lengths, phrases, dependencies between crates,
    /// documents
    Tidy,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().chore {
        Chore::Test(arguments) => test::run(&arguments),
        Chore::BenchDifference(arguments) => bench_difference::run(&arguments),
        Chore::BenchFiber(arguments) => bench_fiber::run(&arguments),
        Chore::BenchLoad(arguments) => bench_load::run(&arguments),
        Chore::BenchScale(arguments) => bench_scale::run(&arguments),
        Chore::FakeAgent { report, script, .. } => bench_scale::fake_agent(&report, &script),
        Chore::BareLoad(arguments) => bare_load::run(&arguments),
        Chore::DelayServer { mode } => bench_truth::server::run(mode),
        Chore::BenchTruth(arguments) => bench_truth::run(&arguments),
        Chore::Lines => lines::run(),
        Chore::Package(arguments) => package::run(&arguments),
        Chore::Provoke(arguments) => provoke::run(&arguments),
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
