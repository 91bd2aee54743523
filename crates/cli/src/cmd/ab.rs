//! `wirebench ab`: holds two servers against each other, run by run in mirrored pairs, and says in
//! one sentence what B is beside A. What stands here are its options; what counts as a difference is
//! said in the crate `report`.

mod conclude;
mod revision;
mod setting;
mod side;

use std::{path::PathBuf, time::Duration};
use wirebench_report::{analysis::Metric, compare::Condition};
use wirebench_runner::experiment::{Verification, conduct};
use wirebench_schema::{scenario::Scenario, suite::Phase};

use crate::{
    cmd::run::{bind, prepare_all},
    context::Context,
    exit::Exit,
    progress::{Reporter, Verbosity},
    value::{self, CpuList},
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
    /// Length of the measured window of each run
    #[arg(short, long, value_name = "DURATION", value_parser = value::duration)]
    duration: Option<Duration>,
    /// Load before the window, which is not counted
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    warmup: Option<Duration>,
    /// How long a load before that goes on at most, until the server is steady; 0s means none
    /// [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    steady: Option<Duration>,
    /// Connections in total [default: 64]
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    connections: Option<usize>,
    /// Threads, processes or loops of each server [default: one for each of the server's CPUs]
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    workers: Option<u32>,
    /// Seed of the order of runs and of payloads [default: a new one]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// CPUs of the server, such as 0-3 [default: half of the cores]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    server_cpus: Option<CpuList>,
    /// CPUs of the load generator [default: the rest]
    #[arg(long, value_name = "LIST", value_parser = value::cpu_list)]
    generator_cpus: Option<CpuList>,
    /// Bind nothing to CPUs; every run is flagged
    #[arg(long)]
    no_pin: bool,
    /// Leave the conformance checks out; every run is flagged
    #[arg(long)]
    no_verify: bool,
    /// Where the folder of the results is made [default: target/wirebench]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print Markdown, for a comment below a change
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print one JSON object; docs/ab.md describes it
    #[arg(long)]
    json: bool,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let setting = arguments.setting(&context, arguments.seed)?;
    let verbosity = if arguments.quiet { Verbosity::Quiet } else { Verbosity::Normal };
    let mut reporter = Reporter::new(verbosity);
    let prepared = prepare_all(&context, setting.subjects, &mut reporter);
    if let Some(exit) = context.interrupt.exit() {
        reporter.finish();
        return Ok(exit);
    }
    if let Some(it) = prepared.unavailable.first() {
        reporter.finish();
        anyhow::bail!("{} cannot be measured here: {}", it.variant, it.reason);
    }
    let experiment = setting.experiment;
    bind(&experiment)?;
    let finished = conduct(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    reporter.finish();
    arguments.conclude(&context, &finished?)
}

impl Arguments {
    fn verification(&self) -> Verification {
        if self.no_verify { Verification::LeftOut } else { Verification::AllOrNothing }
    }
}
