//! `wirebench ab`: compares two servers and prints one sentence about B compared with A. This file has
//! its options; the crate `report` decides what counts as a difference.

mod conclude;
mod revision;
mod setting;
mod side;

use std::{path::PathBuf, time::Duration};
use wirebench_experiment::experiment::conduct;
use wirebench_report::{analysis::Metric, compare::Condition};
use wirebench_schema::{scenario::Scenario, suite::Phase};

use crate::{
    cmd::run::Setting,
    context::Context,
    exit::Exit,
    options::{Cohorts, Conditions, EachRun, ProjectOption, Telling},
    preparation::ready,
    value,
};

const AFTER_HELP: &str = "\
Each cohort starts two fresh instances of A and two of B, keeps them alive at the same time, and loads one \
after the other in short slices, so that both sides meet the same machine. The number of cohorts follows \
from --budget, which is fixed before the first run; at least three are made. By default the CPU time per \
request of saturated servers is compared, because it repeats best; --rate compares it at a rate that \
both sides hold.

A program that needs no port in its words can read PORT, if the command sets it: env 'PORT={port}' \
./server.

Exit codes: 0 whatever the verdict is, 1 a server failed or a condition of --fail-if is met, 2 usage, 3 \
with --strict: the figures are not valid or only a bound.

More, with an example for continuous integration: docs/ab.md.";

const COUNT: &str = "Cohorts, or blocks with --procedure process, whatever the time [default: as many as \
                     --budget holds, at least 3]";
const PROCEDURE: &str = "Measure cohorts of servers that live at the same time, or start a process for \
                         each measurement: cohorts or process [default: cohorts; process for --metric \
                         p999 and memory, and for --scenario hello-timeout]";
const MARGIN: &str = "Difference in CPU time or throughput below which A and B count as the same, such as \
                      2% [default: 1%]";

const DURATION: &str =
    "Length of the measured window of each run, which slices fill [default: 800ms]";

/// Arguments of `wirebench ab`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    mut_arg("count", |it| it.help(COUNT).conflicts_with("precision")),
    mut_arg("procedure", |it| it.help(PROCEDURE)),
    mut_arg("margin", |it| it.help(MARGIN)),
    mut_arg("duration", |it| it.help(DURATION))
)]
pub(crate) struct Arguments {
    /// An entry of this project, to be compared between two revisions of it: see --old
    #[arg(value_name = "ENTRY", requires = "old", conflicts_with_all = ["a", "b"])]
    entry: Option<String>,
    /// What B is compared with: a command line, such as './my-server {port}', or an entry
    #[arg(long, value_name = "COMMAND | ENTRY", required_unless_present = "entry", requires = "b")]
    a: Option<String>,
    /// What is compared with A: a command line or an entry
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
    /// Load: saturate (a closed loop) or cost (a rate that both sides hold) [default: saturate; cost
    /// with --rate and for --metric p50, p99 and p999]
    #[arg(long, value_name = "NAME")]
    phase: Option<Phase>,
    /// Figure of the verdict: cpu, throughput, p50, p99, p999 or memory [default: cpu]
    #[arg(long, value_name = "NAME")]
    metric: Option<Metric>,
    /// Requests per second of the phase cost [default: half of what the slower side can do]
    #[arg(long, value_name = "N", value_parser = value::rate)]
    rate: Option<u64>,
    /// Begin no cohort that would end later than this after the first run; three are always made
    /// [default: 40s; 2m with a process per run, 10m with --precision, none with --cohorts]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    budget: Option<Duration>,
    /// Add pairs of cohorts until half of the interval of B/A is this narrow, such as 0.5%; up to 7 %
    /// of equal servers then differ instead of 5 %
    #[arg(long, value_name = "PERCENT", value_parser = value::precision)]
    precision: Option<f64>,
    #[command(flatten)]
    cohorts: Cohorts,
    /// Fail when the change from A to B is beyond this for certain, such as 'cpu > +3%' or
    /// 'throughput < -3%'; repeatable
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Exit with 3 when the figures are not valid, or only a bound
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    each_run: EachRun,
    /// Warm servers up for at most this long, until they are steady; 0s means no such warm-up
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
