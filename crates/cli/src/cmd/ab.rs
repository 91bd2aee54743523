//! `wirebench ab`: holds two servers against each other, run by run in mirrored pairs, and says in
//! one sentence what B is beside A. What stands here are its options; what counts as a difference is
//! said in the crate `report`.

mod conclude;
mod revision;
mod setting;
mod side;

use std::{path::PathBuf, time::Duration};
use wirebench_report::{analysis::Metric, compare::Condition};
use wirebench_runner::experiment::conduct;
use wirebench_schema::{scenario::Scenario, suite::Phase};

use crate::{
    cmd::run::Setting,
    context::Context,
    exit::Exit,
    options::{Conditions, EachRun, ProjectOption, Telling},
    preparation::ready,
    value,
};

const AFTER_HELP: &str = "\
Each block runs A and B once, and every second block is the mirror image of the one before it (A B B \
A), so that a machine that becomes warmer or slower favours neither. Blocks are made in pairs until B/A \
is known to the --precision or the --budget is used up. By default the cost is compared: CPU time per \
request at one rate that both hold, because it repeats best; throughput takes a load generator that is \
faster than both servers: --phase saturate.

A program that needs no port in its words can read PORT, if the command sets it: env 'PORT={port}' \
./server.

Exit codes: 0 whatever the verdict is, 1 a server failed or a condition of --fail-if is met, 2 usage, 3 \
with --strict: the figures are not valid or only a bound.

More, with an example for continuous integration: docs/ab.md.";

/// Arguments of `wirebench ab`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// An entry of this project, to be compared between two revisions of it: see --old
    #[arg(value_name = "ENTRY", requires = "old", conflicts_with_all = ["a", "b"])]
    entry: Option<String>,
    /// What B is compared with: a command line, such as './my-server {port}', or an entry
    #[arg(long, value_name = "COMMAND | ENTRY", required_unless_present = "entry", requires = "b")]
    a: Option<String>,
    /// What is compared with A: a command line or an entry; the same as A shows the noise
    #[arg(long, value_name = "COMMAND | ENTRY", required_unless_present = "entry", requires = "a")]
    b: Option<String>,
    /// The folder in which the command of A runs, and from which its program is found [default: this
    /// one]
    #[arg(long, value_name = "FOLDER", requires = "a")]
    a_folder: Option<PathBuf>,
    /// The same for B
    #[arg(long, value_name = "FOLDER", requires = "b")]
    b_folder: Option<PathBuf>,
    /// The revision of git whose ENTRY is A
    #[arg(long, value_name = "REVISION", requires = "entry", conflicts_with_all = ["a", "b"])]
    old: Option<String>,
    /// The revision of git whose ENTRY is B [default: what is in the folder now]
    #[arg(long, value_name = "REVISION", requires = "entry", conflicts_with_all = ["a", "b"])]
    new: Option<String>,
    /// What A is called [default: A, or old]
    #[arg(long, value_name = "NAME")]
    name_a: Option<String>,
    /// What B is called [default: B, or new]
    #[arg(long, value_name = "NAME")]
    name_b: Option<String>,
    /// What the servers must do
    #[arg(long, value_name = "NAME", default_value_t = Scenario::Hello)]
    scenario: Scenario,
    /// For --scenario echo: bytes a message, up to 1GiB [default: 64]
    #[arg(long, value_name = "SIZE", value_parser = value::size)]
    payload: Option<usize>,
    /// cost (what a request costs at a rate that both hold) or saturate (how much they can do)
    /// [default: cost; saturate for --metric throughput]
    #[arg(long, value_name = "NAME")]
    phase: Option<Phase>,
    /// What the verdict and the precision are about: cpu, throughput, p50, p99, p999 or memory
    /// [default: cpu; throughput for --phase saturate]
    #[arg(long, value_name = "NAME")]
    metric: Option<Metric>,
    /// Requests per second of the phase cost [default: half of what the slower one can do]
    #[arg(long, value_name = "N", value_parser = value::rate)]
    rate: Option<u64>,
    /// Go on until B/A is known this well [default: 0.5%, so that equal servers can be told to be
    /// the same within 1 %]
    #[arg(long, value_name = "PERCENT", value_parser = value::precision, conflicts_with = "blocks")]
    precision: Option<f64>,
    /// Begin no block that would end later than this after the first run [default: 10m,
    /// none with --blocks]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    budget: Option<Duration>,
    /// Make so many blocks, whatever the precision; an even number of them
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    blocks: Option<u32>,
    /// Fail when a figure of B is so far from A's, beyond the noise, such as 'cpu > +3%' or
    /// 'throughput < -3%'; repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Exit with 3 when the figures are not valid, or only a bound
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    each_run: EachRun,
    /// How long a load before that goes on at most, until the server is steady; 0s means none
    /// [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    steady: Option<Duration>,
    /// Connections in total [default: 64]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    connections: Option<usize>,
    #[command(flatten)]
    pub(crate) conditions: Conditions,
    /// Print Markdown, for a comment below a change
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object; docs/ab.md describes it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(crate) telling: Telling,
    #[command(flatten)]
    pub(crate) project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let Setting { experiment, subjects, .. } = arguments.setting(&context)?;
    let mut reporter = arguments.telling.reporter();
    let prepared = match ready(&context, &experiment, subjects, &mut reporter)? {
        Ok(prepared) => prepared,
        Err(exit) => return Ok(exit),
    };
    let finished = conduct(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    reporter.finish();
    arguments.conclude(&context.interrupt, &finished?)
}
