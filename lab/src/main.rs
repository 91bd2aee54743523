//! Benches of wirebench itself. They are for developers of the project, who start them by `cargo xtask`.
//!
//! No entry is measured here: the subjects are the load generator, the verdicts, and the side that carries many agents.
#![forbid(unsafe_code)]

mod bare_load;
mod bench;
mod bench_difference;
mod bench_fiber;
mod bench_load;
mod bench_scale;
mod bench_truth;
mod process;
mod table;

use clap::{Parser, Subcommand};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Benches of wirebench itself",
    arg_required_else_help = true
)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Compare a server with itself and with one that is slowed by a known amount
    BenchDifference(bench_difference::Arguments),
    /// Measure what the workers of each kind of fiber runtime do, and what a switch costs
    BenchFiber(bench_fiber::Arguments),
    /// Compare `wirebench load` with wrk, h2load, oha, hey and two bare loops
    BenchLoad(bench_load::Arguments),
    /// Measure what one side with many agents uses, with agents that generate no load
    BenchScale(bench_scale::Arguments),
    /// Compare what `wirebench load` measures with a server whose delays are known
    BenchTruth(bench_truth::Arguments),
    /// Run one bare loop against a server and print one line of JSON (internal)
    #[command(hide = true)]
    BareLoad(bare_load::Arguments),
    /// Answer HTTP/1.1 requests on the loopback interface after known delays, as JSON (internal)
    #[command(hide = true)]
    DelayServer { mode: String },
    /// Answer as an agent does (internal)
    #[command(hide = true)]
    FakeAgent { report: PathBuf, host: String, script: String },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().chore {
        Chore::BenchDifference(arguments) => bench_difference::run(&arguments),
        Chore::BenchFiber(arguments) => bench_fiber::run(&arguments),
        Chore::BenchLoad(arguments) => bench_load::run(&arguments),
        Chore::BenchScale(arguments) => bench_scale::run(&arguments),
        Chore::BenchTruth(arguments) => bench_truth::run(&arguments),
        Chore::BareLoad(arguments) => bare_load::run(&arguments),
        Chore::DelayServer { mode } => bench_truth::delay_server(&mode),
        Chore::FakeAgent { report, script, .. } => bench_scale::fake_agent(&report, &script),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
