//! From options to an experiment: the suite as changed, the servers, the placement. Nothing is built
//! or started here.

use wirebench_catalogue::{requirement::Availability, subject::Subject};
use wirebench_experiment::{
    cohort::{MOST_INSTANCES, instances_that_fit},
    experiment::{Experiment, Knowledge, MOST_BLOCKS_FOR_PRECISION},
    measure::RunSettings,
    plan::{self, Changes},
    tool::{self, Tool},
};
use wirebench_report::{
    analysis::{self, Analysis},
    gates,
};
use wirebench_schema::{
    gate::GateScope,
    journal::{Generator, Goal, LeftOut, Placement, Procedure},
    load::LoadModel,
    scenario::Scenario,
    suite::{DocumentPlacement, Phase, Scale, ShapePatch, Suite, Workload},
    units::write_duration,
    verification::Verification,
};

use super::{choice, machine::Machine, options::Arguments, scale};
use crate::{
    args::{cohorts::CohortArgs, idle::check_both, services::are_limited},
    context::Context,
    exit::usage,
    experiment_of::experiment_of,
    files, out,
    plan::FEWEST_BLOCKS,
    request_options::{CONTRADICTION, of_entries},
    session::Setting,
};

/// Connections of idle phases at smoke scale.
const SMOKE_IDLE_CONNECTIONS: usize = 8;

/// A precision is looked at after whole pairs of blocks, and not before there can be an interval.
fn raise_blocks(suite: &mut Suite, goal: &Goal, arguments: &Arguments) {
    if goal.until_decided {
        suite.blocks = MOST_BLOCKS_FOR_PRECISION;
    }
    if goal.precision.is_none() {
        return;
    }
    let blocks = suite.blocks.max(FEWEST_BLOCKS).next_multiple_of(2);
    let noun = arguments.procedure().repetition();
    if blocks != suite.blocks && !arguments.results.quiet {
        out::note(&format!(
            "--precision needs an even number of {noun}s, at least {FEWEST_BLOCKS}: {blocks} instead of {}",
            suite.blocks
        ));
    }
    suite.blocks = blocks;
}

fn knowledge() -> Knowledge {
    Knowledge {
        half_width: Box::new(|journal| Analysis::of(journal).widest_interval()),
        is_decided: Box::new(|journal| Analysis::of(journal).is_decided()),
    }
}

/// Drops the last loads until the budget has room for the cohorts of a verdict: fewer cohorts of more
/// loads would be measured for nothing.
fn fit_budget(context: &Context, experiment: &mut Experiment, subjects: &[Subject]) {
    let Some(budget) = experiment.goal.budget else { return };
    let survey = context.prober().survey(subjects);
    let there = subjects.iter().zip(survey).filter(|(_, it)| *it == Availability::Ready);
    let subjects: Vec<Subject> = there.map(|(subject, _)| subject.clone()).collect();
    let needed = FEWEST_BLOCKS.min(experiment.suite.blocks);
    while experiment.suite.workloads.len() > 1
        && experiment.forecast(&subjects).block_time.saturating_mul(needed) > budget
        && let Some(Workload { name: what, .. }) = experiment.suite.workloads.pop()
    {
        let noun = experiment.procedure.repetition();
        let budget = write_duration(budget);
        let reason = format!("--budget {budget} has no room for {needed} {noun}s with this load");
        experiment.left_out.push(LeftOut { what, reason });
    }
}

/// Refuses loads without a rate where only those at the stated one were agreed to.
fn check_rates(suite: &Suite, services: &[Subject]) -> anyhow::Result<()> {
    let is_free = |it: &&Workload| !matches!(it.model, LoadModel::Rate { .. });
    match suite.workloads.iter().find(is_free).filter(|_| are_limited(services)) {
        None => Ok(()),
        Some(free) => Err(usage(format!(
            "`{}` has no rate, and a service is not on loopback: use --phase cost alone, or add --yes",
            free.name
        ))),
    }
}

/// Whether the run compares any row with a baseline.
fn has_ratios(subjects: &[Subject], suite: &Suite) -> bool {
    let block = plan::block(subjects, suite, 1, 0);
    (0..suite.workloads.len())
        .any(|workload| block.iter().filter(|step| step.workload == workload).count() > 1)
}

/// What conditions may be about.
fn scope(suite: &Suite, subjects: &[Subject]) -> GateScope<'static> {
    let baselines = suite.baselines.iter().filter_map(|it| it.parse().ok());
    GateScope {
        verb: "run",
        values: gates::values(&suite.workloads),
        changes: gates::changes(),
        hint: gates::HINT,
        servers: subjects.iter().map(|it| it.variant.id.clone()).chain(baselines).collect(),
        names: gates::requests(&suite.workloads),
    }
}

impl Arguments {
    fn goal(&self) -> anyhow::Result<Goal> {
        let until_decided = self.cohorts.is_until_decided();
        let CohortArgs { precision, budget, .. } = self.cohorts;
        if until_decided && (budget.is_none() || precision.is_some() || self.copies.is_some()) {
            return Err(usage(
                "--cohorts until-decided needs --budget, and excludes --precision and --copies",
            ));
        }
        Ok(Goal { precision, budget, until_decided })
    }

    /// The experiment that the options ask for, on `machine`.
    pub(super) fn experiment(
        &self,
        context: &Context,
        machine: &Machine,
    ) -> anyhow::Result<Setting> {
        let (written, names) = choice::suite_and_names(context, self)?;
        self.conditions.require_files(context)?;
        choice::check_baselines(context, &written)?;
        let mut settings = self.conditions.settings(context, self.placement(&written, machine)?)?;
        let server_cpus = settings.workers;
        let mut suite = written.at_scale(self.scale, server_cpus).map_err(usage)?;
        let limit = ("--rate N", self.shape.patch().has_rate());
        let services = self.service.find(context, &self.names, limit)?;
        settings.idle = self.conditions.idle.or_awake(&services);
        choice::change(&mut suite, &self.changes(context, &written, (&names, &services))?)?;
        check_rates(&suite, &services)?;
        let goal = self.goal()?;
        raise_blocks(&mut suite, &goal, self);
        let shortage =
            |workload: &_| files::shortage_within(machine.most_open_files(), workload, &settings);
        self.check_connections(&suite, shortage)?;
        let refusal = |workload: &_| self.refusal(workload).or_else(|| shortage(workload));
        let mut left_out = choice::skip_refused(&mut suite, refusal)?;
        let tool = match self.generator {
            Generator::Wirebench => None,
            other => Some(Tool::find(other, context.interrupt.flag()).map_err(usage)?),
        };
        let chosen = choice::subjects(context, self, &mut suite, &names, services)?;
        self.conditions.check_reach(&chosen.subjects)?;
        left_out.extend(chosen.left_out);
        suite.baselines.extend(choice::own_baselines(&suite, &chosen.subjects));
        if goal.precision.is_some() && !has_ratios(&chosen.subjects, &suite) {
            return Err(usage(
                "--precision needs a ratio to the baseline, and the baseline is the only server: add an \
                 entry or omit --precision",
            ));
        }
        if self.procedure() == Procedure::Short && tool.is_none() {
            let threads = settings.placement.generator_cpus.len();
            let limit = machine.most_open_files();
            let fitting = instances_that_fit(&chosen.subjects, &suite, threads, limit);
            let most = self.instances.unwrap_or(MOST_INSTANCES);
            settings.most_instances = most.min(fitting.map_err(usage)?);
        }
        let why = self.cohorts.why.perf(context, &suite, &chosen.subjects)?;
        let (cut, exact) =
            (self.cohorts.cut(), self.cohorts.count.is_some() && !goal.until_decided);
        let settings =
            RunSettings { tool, cut, workers: suite.workers.unwrap_or(server_cpus), ..settings };
        let verification = self.conditions.verification(Verification::Full);
        let (measured, plan) = ((suite, settings), (self.procedure(), goal));
        let mut experiment = Experiment {
            scale: self.scale,
            // An invalid file of published figures is reported before anything is measured.
            published: scale::published(context, &written)?,
            left_out,
            margin: self.cohorts.margin,
            least_blocks: if goal.until_decided { FEWEST_BLOCKS } else { 1 },
            named: chosen.named,
            part: self.cohorts.part()?,
            knowledge: knowledge(),
            // A number is exact, whatever the state of the machine.
            complete_cohorts: if exact { |_| None } else { analysis::complete_cohorts },
            why,
            ..experiment_of(context, &self.results, verification, measured, plan)?
        };
        check_both(&experiment)?;
        fit_budget(context, &mut experiment, &chosen.subjects);
        let sets = experiment.suite.workloads.iter().flat_map(|it| &it.requests);
        let scope = scope(&experiment.suite, &chosen.subjects);
        self.results.delivery.gate.check_all(&scope, sets)?;
        Ok(Setting { experiment, subjects: chosen.subjects, missing: chosen.missing })
    }

    fn changes(
        &self,
        context: &Context,
        suite: &Suite,
        (names, services): (&[String], &[Subject]),
    ) -> anyhow::Result<Changes> {
        let named = if names.is_empty() { Vec::new() } else { context.select(names)? };
        let asked = self.own.asked(&[services, &named].concat())?;
        let has_requests =
            suite.workloads.iter().any(|workload| workload.scenario == Scenario::Requests);
        if asked.is_some() && self.scenarios.iter().any(|it| *it != Scenario::Requests) {
            return Err(usage(CONTRADICTION));
        }
        let own_default = self.scenarios.is_empty() && !self.servers.is_empty() && !has_requests;
        let mut scenarios = self.scenarios.clone();
        if own_default {
            scenarios.push(Scenario::Hello);
        }
        if asked.is_none() && self.scenarios.is_empty() && !has_requests {
            choice::add_requests(&mut scenarios, suite, &named);
        }
        let is_needed = scenarios.contains(&Scenario::Requests) && !has_requests;
        let requests = if is_needed { of_entries(&named)? } else { None };
        let is_smoke = self.scale == Scale::Smoke && self.phases.contains(&Phase::Idle);
        let idle = self.shape.idle_connections.or(is_smoke.then_some(SMOKE_IDLE_CONNECTIONS));
        Ok(Changes {
            blocks: self.cohorts.planned(),
            copies: self.copies,
            workers: self.workers,
            shape: ShapePatch {
                idle_connections: idle,
                steady_within: self.steady,
                ..self.shape.patch()
            },
            requests,
            scenarios,
            asked,
            // Only a load at the stated rate is within it.
            phases: match self.phases.is_empty() && are_limited(services) {
                true => vec![Phase::Cost],
                false => self.phases.clone(),
            },
        })
    }

    /// Refuses connection counts from the command line that need more open files than are allowed.
    fn check_connections(
        &self,
        suite: &Suite,
        shortage: impl Fn(&Workload) -> Option<String>,
    ) -> anyhow::Result<()> {
        let is_asked = |workload: &&Workload| match workload.phase {
            Phase::Idle => self.shape.idle_connections.is_some(),
            Phase::Saturate | Phase::Cost => self.shape.connections.is_some(),
        };
        let mut asked = suite.workloads.iter().filter(is_asked);
        match asked.find_map(shortage) {
            None => Ok(()),
            Some(shortage) => Err(usage(shortage)),
        }
    }

    /// The reason why a workload of the suite cannot run on this machine with these options.
    fn refusal(&self, workload: &Workload) -> Option<String> {
        let of_tool = match self.generator {
            Generator::Wirebench => None,
            other => tool::check(other, workload).err(),
        };
        let is_idle = workload.phase == Phase::Idle;
        let of_url = self.own.without_idle().filter(|_| is_idle).map(str::to_owned);
        of_tool.or(of_url)
    }

    fn placement(&self, suite: &Suite, machine: &Machine) -> anyhow::Result<Placement> {
        let published = suite.workloads.iter().filter_map(|workload| workload.workers).max();
        let mut wish = self.conditions.wish(self.workers.or(published));
        let names_cpus = wish.server_cpus.is_some() || wish.generator_cpus.is_some();
        // Where the document's sides shared their CPUs, so do those of its own scale.
        let shared =
            suite.document.as_ref().is_some_and(|it| it.placement == DocumentPlacement::Shared);
        wish.no_pin |= self.scale == Scale::Paper && shared && !names_cpus;
        machine.place(&wish)
    }
}
