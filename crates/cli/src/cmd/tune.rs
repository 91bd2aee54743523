//! `wirebench tune`: with how many workers and connections a server is fastest, or up to which rate
//! it keeps an objective. It builds, places and verifies like `run`; what follows is a sweep or a
//! search.

mod search;
mod sweep;

use anyhow::Context as _;
use std::{slice, time::Duration};
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    experiment::{Experiment, Finished, Prepared},
    measure::RunSettings,
};
use wirebench_report::{
    Report as _, gates,
    tune::{self, SUITE, Tuned},
};
use wirebench_schema::{
    gate::GateScope,
    journal::{Goal, Procedure},
    load::{Rate, Stop},
    objective::Objective,
    scenario::Scenario,
    suite::{Phase, Suite, Workload},
    verification::Verification,
};

use wirebench_sys::awake::AwakeCpus;

use crate::{
    args::{
        gate::VALUES,
        idle::{NATURAL, one_mode},
        machine::{Conditions, placement},
        output::ResultOptions,
        services::{ServiceOptions, have_processes},
        shape::ShapeArgs,
    },
    context::{Context, checked, only_one},
    deliver::DeliveryArgs,
    exit::{Exit, usage},
    experiment_of::experiment_of,
    live::{interrupt::Interrupt, progress::Reporter},
    preparation::ready,
    request_options::{OwnOptions, set_requests},
    value::{self, List, lists},
};

/// The load of a search, but for workers, connections and rate.
const TEMPLATE: &str = r#"
description = "Made by wirebench tune."
baseline = "builtin/epoll"
blocks = 1
[[workload]]
name = "tune"
scenario = "hello"
connections = 64
warmup = "200ms"
duration = "2s"
"#;

const CONNECTIONS: &str = "Connections, such as 10,50,200, 10-1000 (in steps of 1, 2 and 5) or 100-1000/100; one \
                           number with --objective [default: 10-1000; with --objective 64]";
const DURATION: &str = "Length of the measurement window [default: 200ms; with --objective 2s]";
const WARMUP: &str = "Load before the window, not counted; four times as long in the first run of a server in a \
                      sweep [default: 100ms; with --objective 200ms]";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --objective, tune sweeps: it measures every combination of workers and \
                  connections. With --objective, it searches for the highest constant rate that meets \
                  the objective.\n\n\
                  --fail-if applies to the best combination, or to the rate that was found.\n\n\
                  Exit codes: 0 success, 1 a run failed or no rate was found, 2 usage, 3 with --strict: a condition \
                  is inconclusive, 4 a condition of --fail-if is violated, 129/130/143 interrupted.",
    mut_arg("idle", |it| it.value_parser(one_mode).help(NATURAL)),
    mut_arg("fail_if", |it| it.help(VALUES)),
    mut_arg("strict", |it| it.requires("fail_if")),
    mut_arg("connections", |it| it.value_name("LIST").value_parser(lists::connections).help(CONNECTIONS)),
    mut_arg("duration", |it| it.help(DURATION)),
    mut_arg("warmup", |it| it.help(WARMUP))
)]
pub(crate) struct Arguments {
    /// Entry or variant, such as go/net, or the URL of a service that runs already
    #[arg(value_name = "ENTRY | URL", required_unless_present = "server")]
    entry: Option<String>,
    /// Server command instead of an entry, such as './my-server {port}'
    #[arg(long, value_name = "COMMAND", conflicts_with = "entry")]
    server: Option<String>,
    /// Scenario of the load: hello, hello-timeout, echo, mutex, channel, skewed or handoff [default:
    /// hello]
    #[arg(long, value_name = "NAME")]
    scenario: Option<Scenario>,
    #[command(flatten)]
    own: OwnOptions,
    #[command(flatten)]
    service: ServiceOptions,
    /// Server workers, such as 1-4 or 1,2,8; one number with --objective [default: 1-4; with
    /// --objective one per server CPU]
    #[arg(long, value_name = "LIST", value_parser = lists::workers)]
    workers: Option<List<u32>>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Sweep: runs per combination [default: 3]
    #[arg(long, value_name = "N", value_parser = value::positive_count::<u32>, conflicts_with = "objectives")]
    blocks: Option<u32>,
    /// Search for the highest rate that meets this objective, such as 'p99 < 2ms', for p50, p75, p90,
    /// p95, p99, p999, max or mean; repeatable, all must hold
    #[arg(long = "objective", value_name = "OBJECTIVE")]
    objectives: Vec<Objective>,
    /// Search: stop if the half width of the 95 % interval of the rate is at most this [default: 5%]
    #[arg(long, value_name = "PERCENT", value_parser = value::precision, requires = "objectives")]
    precision: Option<f64>,
    /// Search: lowest and highest rate [default: 100-10M]
    #[arg(long, value_name = "LOW-HIGH", value_parser = lists::rates, requires = "objectives")]
    rates: Option<(u64, u64)>,
    /// Search: maximum number of runs at a rate [default: 40]
    #[arg(long, value_name = "N", value_parser = value::positive_count::<u32>, requires = "objectives")]
    runs: Option<u32>,
    /// Stop after about this time and report the result so far
    #[arg(long, value_name = "DURATION", value_parser = value::budget)]
    budget: Option<Duration>,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    results: ResultOptions,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.results.project)?;
    arguments.conditions.require_files(&context)?;
    let has_rate = arguments.rates.is_some() || arguments.shape.patch().has_rate();
    let limit = ("--rate N, or --objective with --rates LOW-HIGH", has_rate);
    let services = arguments.service.find(&context, &arguments.entry, limit)?;
    let model = arguments.model(&context, &services)?;
    let subject = arguments.subject(&context, model.scenario, services)?;
    arguments.conditions.check_reach(std::slice::from_ref(&subject))?;
    let has_rate = model.phase == Phase::Cost || !arguments.objectives.is_empty();
    let has_processes = have_processes(slice::from_ref(&subject));
    let scope = GateScope {
        verb: "tune",
        values: gates::values_of_load(has_rate, has_processes),
        servers: vec![subject.variant.id.clone()],
        names: gates::requests([&model]),
        ..GateScope::default()
    };
    arguments.results.delivery.gate.check_all(&scope, &model.requests)?;
    match arguments.objectives.as_slice() {
        [] => sweep::run(&context, arguments, subject, &model),
        objectives => search::run(&context, arguments, subject, &model, objectives),
    }
}

impl Arguments {
    /// The one server that is tuned.
    fn subject(
        &self,
        context: &Context,
        scenario: Scenario,
        mut services: Vec<Subject>,
    ) -> anyhow::Result<Subject> {
        let mut subject = match (&self.server, &self.entry) {
            _ if !services.is_empty() => services.remove(0),
            (Some(line), _) => {
                only_one(context.own(std::slice::from_ref(line), &[scenario])?, line)?
            }
            (None, entry) => context.select_one(entry.as_deref().unwrap_or_default())?,
        };
        self.own.set_urls(std::slice::from_mut(&mut subject))?;
        checked(subject, scenario)
    }

    /// The workload that all others are like.
    fn model(&self, context: &Context, services: &[Subject]) -> anyhow::Result<Workload> {
        let mut model = Suite::parse(SUITE, TEMPLATE).map_err(usage)?.workloads.remove(0);
        let entry = match (&self.server, &self.entry) {
            _ if !services.is_empty() => services.to_vec(),
            (None, Some(entry)) => vec![context.select_one(entry)?],
            _ => Vec::new(),
        };
        set_requests(&mut model, self.scenario, &self.own, &entry)?;
        let mut patch = self.shape.patch();
        if self.objectives.is_empty() {
            (model.stop, model.warmup) = (Stop::After(sweep::WINDOW), sweep::WARM_UP);
        }
        let has_model = patch.has_rate() || patch.closed.is_some() || patch.delay.is_some();
        if has_model && !self.objectives.is_empty() {
            return Err(usage(
                "with --objective the search chooses the rate: omit --rate and --delay",
            ));
        }
        if patch.has_rate() {
            model.phase = Phase::Cost;
        } else if !self.objectives.is_empty()
            && (patch.arrivals.is_some() || patch.skip_late.is_some())
        {
            // The search replaces it.
            (model.phase, patch.rate) = (Phase::Cost, Some(Rate::per_second(search::RATES.0)));
        }
        patch.apply_to_all(slice::from_mut(&mut model)).map_err(usage)?;
        Ok(model)
    }

    fn settings(&self, context: &Context) -> anyhow::Result<RunSettings> {
        let workers = self.workers.iter().flatten().max().copied();
        self.conditions.settings(context, placement(&self.conditions.wish(workers))?)
    }

    /// An experiment with these workloads, each run so often, whose server is built.
    fn prepared(
        &self,
        (context, reporter): (&Context, &mut Reporter),
        subject: Subject,
        settings: RunSettings,
        (workloads, blocks): (Vec<Workload>, u32),
    ) -> anyhow::Result<(Experiment, Prepared, Option<AwakeCpus>)> {
        let mut suite = Suite::parse(SUITE, TEMPLATE).map_err(usage)?;
        // There is one server: no ratio, and so no baseline that would be run twice.
        (suite.workloads, suite.blocks, suite.baseline_copies) = (workloads, blocks, 1);
        let verification = self.conditions.verification(Verification::Full);
        let plan = (Procedure::Whole, Goal { budget: self.budget, ..Goal::default() });
        let mut experiment =
            experiment_of(context, &self.results, verification, (suite, settings), plan)?;
        let measured = (&mut experiment, self.conditions.idle);
        let (prepared, awake) = ready(context, measured, vec![subject], reporter)?;
        Ok((experiment, prepared, awake))
    }
}

/// Prints the result, and writes the reports. Returns the exit code, `of_result` unless a condition has one.
fn show(
    (finished, interrupt): (&Finished, &Interrupt),
    delivery: &DeliveryArgs,
    of_result: Exit,
) -> anyhow::Result<Exit> {
    let mut tuned =
        Tuned::of(&finished.journal).context("the journal has no sweep and no search")?;
    tuned.gate = tune::gate(&tuned, &delivery.gate.conditions());
    let page = |place| format!("{}{place}", tuned.details());
    delivery.keep("tune", &tuned, tuned.gate.as_ref(), (finished, interrupt), page, || of_result)
}
