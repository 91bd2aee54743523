//! From options to an experiment of two sides and one workload.

use std::{slice, time::Duration};
use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    cohort::instances_that_fit,
    cut::Cut,
    experiment::{Experiment, Knowledge, MOST_BLOCKS_FOR_PRECISION as MOST_BLOCKS},
    measure::RunSettings,
};
use wirebench_report::{
    ab::{Ab, AbOptions, INSTANCES, METRICS, SUITE, has},
    analysis::{Metric, MetricFacts},
    gates,
};
use wirebench_schema::{
    gate::GateScope,
    journal::{Goal, Procedure},
    load::Stop,
    suite::{Phase, ShapePatch, Suite, Workload},
    verification::Verification,
};

use super::Arguments;
use crate::{
    args::{idle::check_both, machine::placement, services::have_processes},
    context::Context,
    exit::usage,
    experiment_of::experiment_of,
    files,
    plan::FEWEST_BLOCKS,
    request_options::set_requests,
    session::Setting,
};

/// The load, unless options change it.
const TEMPLATE: &str = r#"
description = "Made by wirebench ab."
blocks = 3
[[workload]]
name = "ab"
scenario = "hello"
connections = 64
warmup = "200ms"
steady_within = "5s"
duration = "240ms"
"#;

/// Rarely used up, because a comparison ends when it is decided.
const BUDGET: Duration = Duration::from_secs(40);
/// With a process for each run a block takes twice as long as a cohort.
const PROCESS_BUDGET: Duration = Duration::from_secs(120);
/// A precision may need many cohorts.
const PRECISION_BUDGET: Duration = Duration::from_secs(600);
/// The time that a cohort takes at least besides its visits.
const LEAST_START: Duration = Duration::from_secs(1);
/// The part of a visit that is discarded at least.
const LEAST_DISCARD: Duration = Duration::from_millis(5);

/// Start-up time is that of servers which a cohort starts.
fn check_starts(procedure: Procedure, services: &[Subject]) -> anyhow::Result<()> {
    if !services.is_empty() {
        return Err(usage(
            "--metric ready is the time that a server takes to start, and a service runs already: give a command in \
             place of the URL",
        ));
    }
    if procedure == Procedure::Whole {
        return Err(usage(
            "--metric ready is measured in cohorts: omit --procedure process and --scenario hello-timeout",
        ));
    }
    Ok(())
}

/// What conditions may be about.
fn scope(workload: &Workload, sides: &[Subject; 2]) -> GateScope<'static> {
    let phase = workload.phase;
    let is_compared =
        |it: &Metric| it.compared().is_some_and(|metric| has(phase, metric).is_some());
    GateScope {
        verb: "ab",
        values: gates::values_of_load(phase == Phase::Cost, have_processes(sides)),
        changes: Metric::limitable().filter(is_compared).collect(),
        servers: sides.iter().map(|it| it.variant.id.clone()).collect(),
        names: gates::requests([workload]),
        ..GateScope::default()
    }
}

impl Arguments {
    /// The experiment and its two servers.
    pub(super) fn experiment(&self, context: &Context) -> anyhow::Result<Setting> {
        let phase = self.phase()?;
        let words = [&self.a, &self.b].into_iter().flatten();
        let services =
            self.service.find(context, words, ("--rate N", self.shape.patch().has_rate()))?;
        let usual = usual_metric(phase, &services);
        let metric = self.metric(phase, usual)?;
        let workload = self.workload(context, phase, &services)?;
        let procedure = self.procedure(metric, &workload);
        if metric == Metric::Ready {
            check_starts(procedure, &services)?;
        }
        let scenario = workload.scenario;
        let goal = self.goal(procedure);
        self.conditions.require_files(context)?;
        let idle = self.conditions.idle.or_awake(&services);
        let sides = self.sides(context, scenario, services)?;
        self.conditions.check_reach(&sides)?;
        self.results.delivery.gate.check_all(&scope(&workload, &sides), &workload.requests)?;
        let placed = placement(&self.conditions.wish(self.workers))?;
        let settings = self.conditions.settings(context, placed)?;
        let workers = self.workers.unwrap_or(settings.workers);
        let settings = RunSettings { workers, cut: self.cohorts.cut(), idle, ..settings };
        let mut suite = Suite::parse(SUITE, TEMPLATE).map_err(usage)?;
        suite.baselines = vec![sides[0].variant.id.to_string()];
        (suite.copies, suite.baseline_copies) = (INSTANCES, 1);
        suite.blocks = self.blocks(&goal, block_time(procedure, &workload, &settings.cut));
        suite.workloads = vec![workload];
        check_files(&sides, &suite, procedure, &settings)?;
        let why = self.cohorts.why.perf(context, &suite, &sides)?;
        let verification = self.conditions.verification(Verification::AllOrNothing);
        let (measured, plan) = ((suite, settings), (procedure, goal));
        // A budget or a number ends it, whatever the state of the machine.
        let experiment = Experiment {
            margin: self.cohorts.margin,
            metric: self.metric.or(usual).map(|metric| metric.name().to_owned()),
            least_blocks: FEWEST_BLOCKS,
            part: self.cohorts.part()?,
            knowledge: self.knowledge(metric),
            why,
            ..experiment_of(context, &self.results, verification, measured, plan)?
        };
        check_both(&experiment)?;
        Ok(Setting { experiment, subjects: sides.into(), missing: Vec::new() })
    }

    fn phase(&self) -> anyhow::Result<Phase> {
        let is_latency = matches!(self.metric, Some(Metric::Latency(_)));
        let has_rate = self.shape.patch().has_rate();
        let usual = if has_rate || is_latency { Phase::Cost } else { Phase::Saturate };
        match self.phase.unwrap_or(usual) {
            Phase::Idle => Err(usage(
                "`ab` has no idle phase: use `wirebench run --phase idle --server A --server B`",
            )),
            phase @ (Phase::Saturate | Phase::Cost) => Ok(phase),
        }
    }

    /// Rare latencies need one long window, the peak of the memory a whole life, and some loads a window of their own.
    fn procedure(&self, metric: Metric, workload: &Workload) -> Procedure {
        let is_whole = matches!(metric, Metric::P999 | Metric::Memory) || !workload.has_slices();
        let usual = if is_whole { Procedure::Whole } else { Procedure::Short };
        self.cohorts.procedure.unwrap_or(usual)
    }

    /// The metric of the verdict. Conditions must be about figures that are compared, too.
    fn metric(&self, phase: Phase, usual: Option<Metric>) -> anyhow::Result<Metric> {
        let wanted = self.metric.or(usual).unwrap_or(Metric::Cpu);
        let conditions = self.results.delivery.gate.conditions();
        let changes = conditions.iter().filter(|it| it.change().is_some());
        let of_conditions = changes.filter_map(|it| it.figure.compared());
        for metric in std::iter::once(wanted).chain(of_conditions) {
            if has(phase, metric).is_some() {
                continue;
            }
            return Err(usage(if metric == Metric::Throughput {
                "in the cost phase both sides have the same throughput: use --phase saturate, or --metric cpu"
                    .to_owned()
            } else {
                let names = METRICS.map(Metric::name).join(", ");
                format!("`ab` cannot compare `{metric}`: use one of {names}")
            }));
        }
        Ok(wanted)
    }

    fn workload(
        &self,
        context: &Context,
        phase: Phase,
        services: &[Subject],
    ) -> anyhow::Result<Workload> {
        let mut workload = Suite::parse(SUITE, TEMPLATE).map_err(usage)?.workloads.remove(0);
        let entries = [services, &self.entries(context)].concat();
        set_requests(&mut workload, self.scenario, &self.own, &entries)?;
        workload.name = workload.scenario.to_string();
        workload.phase = phase;
        let patch = ShapePatch { steady_within: self.steady, ..self.shape.patch() };
        patch.apply_to_all(slice::from_mut(&mut workload)).map_err(usage)?;
        Ok(workload)
    }

    /// The cohorts that are planned. With a budget that is one more than it can hold, each of which takes
    /// at least `block_time`, so that the budget decides.
    fn blocks(&self, goal: &Goal, block_time: Duration) -> u32 {
        let beyond = |budget: Duration| {
            let held = (budget.as_secs_f64() / block_time.as_secs_f64()) as u32;
            held.clamp(FEWEST_BLOCKS, MOST_BLOCKS).saturating_add(1)
        };
        match (self.cohorts.planned(), goal.precision, goal.budget) {
            (Some(asked), ..) => asked.max(1),
            // A precision is looked at after whole pairs.
            (None, None, Some(budget)) => beyond(budget),
            (None, ..) => FEWEST_BLOCKS.next_multiple_of(2),
        }
    }

    fn goal(&self, procedure: Procedure) -> Goal {
        let usual = match (self.cohorts.planned(), self.cohorts.precision, procedure) {
            (Some(_), ..) => None,
            (None, Some(_), _) => Some(PRECISION_BUDGET),
            (None, None, Procedure::Short) => Some(BUDGET),
            (None, None, Procedure::Whole) => Some(PROCESS_BUDGET),
        };
        let until_decided = self.cohorts.planned().is_none() && self.cohorts.precision.is_none();
        Goal {
            precision: self.cohorts.precision,
            budget: self.cohorts.budget.or(usual),
            until_decided,
        }
    }

    fn knowledge(&self, metric: Metric) -> Knowledge {
        let options = AbOptions { metric: Some(metric), ..self.options() };
        let same = options.clone();
        Knowledge {
            half_width: Box::new(move |journal| Ab::of(journal, &same)?.half_width()),
            is_decided: Box::new(move |journal| {
                Ab::of(journal, &options).is_some_and(|ab| ab.is_decided())
            }),
        }
    }
}

/// The metric of the verdict, unless CPU time is known: what the client sees.
fn usual_metric(phase: Phase, services: &[Subject]) -> Option<Metric> {
    let client = if phase == Phase::Saturate { Metric::Throughput } else { Metric::P50 };
    (!have_processes(services)).then_some(client)
}

/// The least time of a cohort or block, of four instances.
fn block_time(procedure: Procedure, workload: &Workload, cut: &Cut) -> Duration {
    let instances = 2 * INSTANCES;
    match (procedure, workload.stop) {
        (Procedure::Short, _) => {
            let (length, rounds) = cut.of(workload);
            let visits = (length + LEAST_DISCARD).saturating_mul(rounds);
            visits.saturating_mul(instances).saturating_add(LEAST_START)
        }
        (Procedure::Whole, Stop::After(window)) => window.saturating_mul(instances),
        // `ab` has no workload that ends after a count.
        (Procedure::Whole, _) => LEAST_START,
    }
}

/// Refuses more connections than this process may have open.
fn check_files(
    sides: &[Subject],
    suite: &Suite,
    procedure: Procedure,
    settings: &RunSettings,
) -> anyhow::Result<()> {
    let (_, hard) = wirebench_sys::limits::open_files();
    let threads = settings.placement.generator_cpus.len();
    let of_cohort = || match procedure {
        Procedure::Short => instances_that_fit(sides, suite, threads, hard).err(),
        Procedure::Whole => None,
    };
    let shortage = suite.workloads.iter().find_map(|workload| files::shortage(workload, settings));
    shortage.or_else(of_cohort).map_or(Ok(()), |reason| Err(usage(reason)))
}
