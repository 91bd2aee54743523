//! From options to an experiment: the suite as changed, the servers, the placement. Nothing is built
//! or started here.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::{
    cohort::{MOST_INSTANCES, instances_that_fit},
    experiment::Experiment,
    measure::Bench,
    plan::{self, Changes},
    tool::{self, Tool},
};
use wirebench_report::analysis::widest_interval;
use wirebench_schema::{
    journal::{Generator, Goal, Placement, Procedure, Unavailable},
    scenario::Scenario,
    suite::{DocumentPlacement, Phase, Scale, Suite, Workload},
    verification::Verification,
};

use super::{Arguments, FEWEST_BLOCKS, choice, scale};
use crate::{
    context::{Context, command_line},
    exit::usage,
    files, options, out,
};

/// Silent connections at the smallest scale, like the others of that scale.
const SMOKE_SILENT_CONNECTIONS: usize = 8;

/// What is to be carried out, and with whom.
#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) experiment: Experiment,
    pub(crate) subjects: Vec<Subject>,
    /// What the suite names in vain.
    pub(crate) missing: Vec<Unavailable>,
}

impl Setting {
    /// What `arguments` mean here and now.
    pub(super) fn new(context: &Context, arguments: &Arguments) -> anyhow::Result<Self> {
        let project = arguments.telling.project(context)?;
        let (written, names) = choice::suite_and_names(context, arguments)?;
        if project.root.is_none() {
            out::note(
                "no folder here or above has entries/ and suites/: only built-in servers are known",
            );
        }
        context.require_files()?;
        choice::check_baselines(context, &written)?;
        let conditions = &arguments.conditions;
        let mut bench = conditions.bench(context, arguments.placement(&written)?)?;
        let server_cpus = bench.workers;
        let mut suite = written.at_scale(arguments.scale, server_cpus).map_err(usage)?;
        plan::change(&mut suite, &arguments.changes()).map_err(usage)?;
        let goal = arguments.goal()?;
        raise_blocks(&mut suite, &goal, arguments);
        arguments.check_connections(&suite, &bench)?;
        let refusal = |workload: &_| arguments.refusal(workload, &bench);
        let mut left_out = choice::leave_out(&mut suite, refusal)?;
        let tool = match arguments.generator {
            Generator::Wirebench => None,
            other => Some(Tool::find(other, context.interrupt.flag()).map_err(usage)?),
        };
        let chosen = choice::subjects(context, arguments, &suite, &names)?;
        left_out.extend(chosen.left_out);
        if goal.precision.is_some() && !has_ratios(&chosen.subjects, &suite) {
            return Err(usage(
                "--precision is about ratios to the baseline, and there is nothing beside it: name \
                 another entry, or leave --precision away",
            ));
        }
        if arguments.procedure() == Procedure::Cohorts && tool.is_none() {
            let threads = bench.placement.generator_cpus.len();
            let (_, hard) = wirebench_sys::limits::open_files();
            let fitting = instances_that_fit(&chosen.subjects, &suite, threads, hard);
            let most = arguments.instances.unwrap_or(MOST_INSTANCES);
            bench.most_instances = most.min(fitting.map_err(usage)?);
        }
        let cut = arguments.cohorts.cut();
        let bench = Bench { tool, cut, workers: suite.workers.unwrap_or(server_cpus), ..bench };
        let experiment = Experiment {
            scale: arguments.scale,
            // A file of figures that is wrong is told before anything is measured.
            published: scale::published(context, &written)?,
            left_out,
            suite,
            bench,
            project,
            procedure: arguments.procedure(),
            margin: arguments.cohorts.margin,
            least_blocks: 1,
            command: command_line(),
            verification: conditions.verification(Verification::Full),
            goal,
            precision: widest_interval,
        };
        Ok(Self { experiment, subjects: chosen.subjects, missing: chosen.missing })
    }
}

/// A precision is looked at after whole pairs of blocks, and not before there can be an interval.
fn raise_blocks(suite: &mut Suite, goal: &Goal, arguments: &Arguments) {
    if goal.precision.is_none() {
        return;
    }
    let blocks = suite.blocks.max(FEWEST_BLOCKS).next_multiple_of(2);
    let noun = match arguments.procedure() {
        Procedure::Cohorts => "cohort",
        Procedure::Process => "block",
    };
    if blocks != suite.blocks && !arguments.telling.quiet {
        out::note(&format!(
            "--precision takes whole pairs of {noun}s, and at least {FEWEST_BLOCKS} {noun}s: \
             {blocks} instead of {}",
            suite.blocks
        ));
    }
    suite.blocks = blocks;
}

/// Whether anything is put in relation to anything.
fn has_ratios(subjects: &[Subject], suite: &Suite) -> bool {
    let block = plan::block(subjects, suite, 1, 0);
    (0..suite.workloads.len())
        .any(|workload| block.iter().filter(|step| step.workload == workload).count() > 1)
}

impl Arguments {
    fn changes(&self) -> Changes {
        let own_default = self.scenarios.is_empty() && !self.servers.is_empty();
        let is_smoke = self.scale == Scale::Smoke && self.phases.contains(&Phase::Idle);
        Changes {
            blocks: self.cohorts.count,
            copies: self.copies,
            workers: self.each_run.workers,
            connections: self.connections,
            silent: self.silent.or(is_smoke.then_some(SMOKE_SILENT_CONNECTIONS)),
            duration: self.each_run.duration,
            warmup: self.each_run.warmup,
            steady_within: self.steady,
            rate: self.rate,
            scenarios: if own_default { vec![Scenario::Hello] } else { self.scenarios.clone() },
            phases: self.phases.clone(),
        }
    }

    /// What was asked for in so many words is refused when it cannot be had.
    fn check_connections(&self, suite: &Suite, bench: &Bench) -> anyhow::Result<()> {
        let is_asked = |workload: &&Workload| match workload.phase {
            Phase::Idle => self.silent.is_some(),
            Phase::Saturate | Phase::Cost => self.connections.is_some(),
        };
        let mut asked = suite.workloads.iter().filter(is_asked);
        match asked.find_map(|workload| files::shortage(workload, bench)) {
            None => Ok(()),
            Some(shortage) => Err(usage(shortage)),
        }
    }

    /// Why a workload of the suite cannot be carried out here with what was asked for.
    fn refusal(&self, workload: &Workload, bench: &Bench) -> Option<String> {
        let of_tool = match self.generator {
            Generator::Wirebench => None,
            other => tool::check(other, workload).err(),
        };
        of_tool.or_else(|| files::shortage(workload, bench))
    }

    fn goal(&self) -> anyhow::Result<Goal> {
        if self.budget.is_some_and(|budget| budget.is_zero()) {
            return Err(usage("a budget of 0s leaves no time: give one such as --budget 20m"));
        }
        Ok(Goal { precision: self.precision, budget: self.budget })
    }

    fn placement(&self, suite: &Suite) -> anyhow::Result<Placement> {
        let mut wish = self.conditions.wish();
        let names_cpus = wish.server_cpus.is_some() || wish.generator_cpus.is_some();
        // Where the document's sides shared their CPUs, so do those of its own scale.
        let shared =
            suite.document.as_ref().is_some_and(|it| it.placement == DocumentPlacement::Shared);
        wish.no_pin |= self.scale == Scale::Paper && shared && !names_cpus;
        options::placement(&wish)
    }
}
