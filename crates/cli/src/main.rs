//! The program `wirebench`. This file is its table of contents: one verb, one file in `cmd/`.
#![forbid(unsafe_code)]

mod building;
mod cmd;
mod context;
mod exit;
mod files;
mod first_screen;
mod interrupt;
mod options;
mod out;
mod preparation;
mod progress;
mod suites;
mod value;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks network servers: builds, starts, pins, checks, loads and compares them.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 fine, 1 a run, a build or a fetch failed, or a condition of --fail-if is met, \
                  2 usage, 3 not comparable or not valid, 130/143 interrupted with a partial report."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Measure and compare servers; without arguments the suite `quick`
    Run(Box<cmd::run::Arguments>),
    /// Compare two servers and report the difference in one sentence
    Ab(Box<cmd::ab::Arguments>),
    /// Generate load on one server
    Load(Box<cmd::load::Arguments>),
    /// Find with how many workers and connections a server is fastest, or up to which rate it keeps
    /// an objective
    Tune(Box<cmd::tune::Arguments>),
    /// Show a result again; --explain shows all details
    Report(cmd::report::Arguments),
    /// Compare two results and report significant changes
    Compare(cmd::compare::Arguments),
    /// List the entries, and what is missing for those that cannot be built here
    List(cmd::list::Arguments),
    /// Begin a new entry from a template that already works
    New(cmd::new::Arguments),
    /// Build entries
    Build(cmd::build::Arguments),
    /// Check that entries do what their scenarios demand
    Verify(cmd::verify::Arguments),
    /// Start one entry and leave it up until Ctrl-C
    Serve(cmd::serve::Arguments),
    /// Show the versions of languages, frameworks and compilers
    Versions(cmd::versions::Arguments),
    /// Install what the entries need
    Setup(cmd::setup::Arguments),
    /// Look for what is missing or unwise on this machine; changes nothing
    Doctor(cmd::doctor::Arguments),
    /// Make load as standard input says; for wirebench itself
    #[command(hide = true)]
    Agent,
    /// Watch over one server process; for wirebench itself
    #[command(hide = true)]
    Guard(cmd::hidden::Words),
    /// Be a built-in null server; for wirebench itself
    #[command(hide = true)]
    NullServer(cmd::hidden::Words),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Run(arguments) => cmd::run::run(&arguments),
        Verb::Ab(arguments) => cmd::ab::run(&arguments),
        Verb::Load(arguments) => cmd::load::run(&arguments),
        Verb::Tune(arguments) => cmd::tune::run(&arguments),
        Verb::Report(arguments) => cmd::report::run(&arguments),
        Verb::Compare(arguments) => cmd::compare::run(&arguments),
        Verb::List(arguments) => cmd::list::run(&arguments),
        Verb::New(arguments) => cmd::new::run(&arguments),
        Verb::Build(arguments) => cmd::build::run(&arguments),
        Verb::Verify(arguments) => cmd::verify::run(&arguments),
        Verb::Serve(arguments) => cmd::serve::run(&arguments),
        Verb::Versions(arguments) => cmd::versions::run(&arguments),
        Verb::Setup(arguments) => cmd::setup::run(&arguments),
        Verb::Doctor(arguments) => cmd::doctor::run(&arguments),
        Verb::Agent => return cmd::hidden::agent(),
        Verb::Guard(_) => return cmd::hidden::guard(),
        Verb::NullServer(_) => return cmd::hidden::null_server(),
    };
    exit::report(result)
}
