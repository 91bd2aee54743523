//! `wirebench ab`: compares two servers and prints one sentence about B compared with A. This file has
//! its options; the crate `report` decides what counts as a difference.

mod outlook;
mod revision;
mod setting;
mod side;
mod tree;

use anyhow::Context as _;
use std::{path::PathBuf, time::Duration};
use wirebench_experiment::experiment::{Finished, conduct};
use wirebench_report::{
    ab::{Ab, AbOptions},
    analysis::{Metric, MetricFacts},
};
use wirebench_schema::{scenario::Scenario, suite::Phase};

use crate::{
    args::{
        cohorts::CohortArgs, gate::STRICT, machine::Conditions, output::ResultOptions,
        services::ServiceOptions, shape::ShapeArgs,
    },
    context::Context,
    exit::Exit,
    live::interrupt::Interrupt,
    preparation::ready,
    request_options::OwnOptions,
    session::{Resumable, Setting},
    value,
};

const AFTER_HELP: &str = "\
Each cohort starts two fresh instances of A and of B, keeps all four running, and loads them in turn in \
short visits. The default metric is CPU time per request at saturation, which has the narrowest \
interval; --rate compares it at a rate that both sides hold.

A server that reads its port from the environment: env 'PORT={port}' ./server

Exit codes: 0 measured, whatever the verdict; 1 a server failed; 2 usage; 3 with --strict: not valid, only \
a bound, or a condition is inconclusive; 4 --fail-if found a regression; 129/130/143 interrupted.

Manual, with an example for continuous integration: docs/ab.md";

const SIDE: &str = "COMMAND | ENTRY | URL";
const DURATION: &str = "Length of the measurement window, filled by visits [default: 240ms]";
const COHORTS: &str =
    "Cohorts of fresh instances, or blocks of runs [default: 3 or more, until the answer is known]";
const PRECISION: &str = "Add pairs of cohorts until the interval of the ratio is within this, such as 1%; raises \
                         false differences from 5 % to at most 7 %";
const BUDGET: &str = "Start no cohort that would end later than this after the first run [default: 40s; 2m with \
                      --procedure process, 10m with --precision, none with --cohorts]";

#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    group = clap::ArgGroup::new("revised").args(["entry", "server"]).conflicts_with_all(["a", "b"]),
    mut_arg("count", |it| it.conflicts_with("precision").help(COHORTS)),
    mut_arg("precision", |it| it.help(PRECISION)),
    mut_arg("budget", |it| it.help(BUDGET)),
    mut_arg("strict", |it| it.help(STRICT)),
    mut_arg("duration", |it| it.help(DURATION)),
    mut_arg("connections", |it| it.help("Connections in total [default: 64]")),
    // ApacheBench has the name of this verb, and a command with its -n is answered.
    mut_arg("requests", |it| it.short(None))
)]
pub(crate) struct Arguments {
    /// Entry of this project to compare at two git revisions; see --old
    #[arg(value_name = "ENTRY", requires = "old")]
    entry: Option<String>,
    /// Command of a server to compare at two git revisions of the current folder, such as './srv
    /// {port}'; see --old and --build
    #[arg(long, value_name = "COMMAND", requires = "old")]
    server: Option<String>,
    /// Command that builds --server, such as 'make server'; runs in the folder of each revision
    /// [default: nothing is built]
    #[arg(long, value_name = "COMMAND", requires = "server", conflicts_with_all = ["entry", "a", "b"])]
    build: Option<String>,
    /// Server A, the reference: a command, such as './my-server {port}', an entry, or the URL of a service that
    /// runs already
    #[arg(long, value_name = SIDE, required_unless_present = "revised", requires = "b")]
    a: Option<String>,
    /// Server B, compared with A: a command, an entry or a URL
    #[arg(long, value_name = SIDE, required_unless_present = "revised", requires = "a")]
    b: Option<String>,
    /// Working folder of A's command; its program path is relative to it [default: current folder]
    #[arg(long, value_name = "FOLDER", requires = "a", hide_short_help = true)]
    a_folder: Option<PathBuf>,
    /// Working folder of B's command [default: current folder]
    #[arg(long, value_name = "FOLDER", requires = "b", hide_short_help = true)]
    b_folder: Option<PathBuf>,
    /// Git revision of ENTRY or --server used as A, or a branch that only `origin` has
    #[arg(long, value_name = "REVISION", requires = "revised", conflicts_with_all = ["a", "b"])]
    old: Option<String>,
    /// Git revision of ENTRY or --server used as B [default: the working tree]
    #[arg(long, value_name = "REVISION", requires = "revised", conflicts_with_all = ["a", "b"])]
    new: Option<String>,
    /// Name of A in the output, then that of B; repeatable [default: A and B, or old and new]
    #[arg(long = "name", value_name = "NAME", hide_short_help = true)]
    names: Vec<String>,
    /// Scenario of the load: hello, hello-timeout, echo, mutex, channel, skewed or handoff [default:
    /// hello]
    #[arg(long, value_name = "NAME")]
    scenario: Option<Scenario>,
    #[command(flatten)]
    own: OwnOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Phase: saturate (closed loop) or cost (a rate that both sides hold) [default: saturate; cost
    /// with --rate and for --metric p50, p99 and p999]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    phase: Option<Phase>,
    /// Metric of the verdict: cpu, throughput, p50, p99, p999, memory or ready [default: cpu; without the
    /// processes of a service throughput, or p50 at a rate]
    #[arg(long, value_name = "NAME", value_parser = Metric::read)]
    metric: Option<Metric>,
    /// Server threads, processes or event loops [default: one per server CPU]
    #[arg(long, value_name = "N", value_parser = value::number::<u32>, hide_short_help = true)]
    workers: Option<u32>,
    /// Maximum warm-up until throughput is steady; 0s disables it [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    steady: Option<Duration>,
    #[command(flatten)]
    cohorts: CohortArgs,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    results: ResultOptions,
}

impl Resumable for Arguments {
    fn shared(&mut self) -> (&mut Conditions, &mut CohortArgs, &mut ResultOptions) {
        (&mut self.conditions, &mut self.cohorts, &mut self.results)
    }

    fn has_fixed_plan(&self) -> bool {
        true
    }

    fn setting(&self, context: &Context) -> anyhow::Result<Setting> {
        self.experiment(context)
    }

    fn conclude(&self, interrupt: &Interrupt, finished: &Finished) -> anyhow::Result<Exit> {
        let ab = Ab::of(&finished.journal, &self.options())
            .context("the journal does not hold two servers in pairs")?;
        let delivery = &self.results.delivery;
        let of_result = || match () {
            () if !finished.all_well() => Exit::Failed,
            () if delivery.gate.strict && !ab.is_valid() => Exit::NotValid,
            () => Exit::Fine,
        };
        let page = |place| ab.page(Some(place));
        delivery.keep("ab", &ab, ab.gate.as_ref(), (finished, interrupt), page, of_result)
    }
}

impl Arguments {
    fn options(&self) -> AbOptions {
        let conditions = self.results.delivery.gate.conditions();
        AbOptions { metric: self.metric, conditions }
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.results.project)?;
    // Trying perf out takes a moment.
    let setting =
        arguments.experiment(&context).or_else(|it| context.interrupt.check().and(Err(it)))?;
    let Setting { mut experiment, subjects, .. } = setting;
    let mut reporter = arguments.results.reporter();
    let (shared, named) = (tree::shared_files(&subjects), subjects.clone());
    let idle = arguments.conditions.idle;
    let readied = ready(&context, (&mut experiment, idle), subjects, &mut reporter);
    // Two builds that write one file at the same time may also fail.
    if arguments.server.is_some() && context.interrupt.exit().is_none() {
        tree::check(&shared, &named)?;
    }
    let (prepared, _awake) = readied?;
    let subjects = prepared.subjects();
    if let ([old, new], true, None) = (&subjects[..], arguments.old.is_some(), &arguments.new) {
        tree::note_ignored(&context.project.state, [&old.source, &new.source]);
    }
    reporter.outlook = outlook::line(&experiment, &prepared);
    let finished = conduct(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    drop(reporter);
    arguments.conclude(&context.interrupt, &finished?)
}
