//! `wirebench run`: builds, verifies and measures, prints the table and names the folder with all
//! of it. This file has its options; their meaning is in its modules.

mod carry_out;
mod choice;
mod dry_run;
mod machine;
mod resume;
mod scale;
mod setting;

use std::{path::PathBuf, time::Duration};
use wirebench_experiment::experiment::Finished;
use wirebench_schema::{
    journal::{Generator, Procedure},
    scenario::Scenario,
    suite::{Phase, Scale},
};

use crate::{
    args::shape::ShapeArgs,
    block_options::BlockOptions,
    context::Context,
    embedded,
    exit::Exit,
    format::{FormatOption, GROUP},
    gate::GateOptions,
    interrupt::Interrupt,
    options::{Cohorts, Conditions, ProjectOption, ResultOptions},
    out,
    request_options::OwnOptions,
    service_options::ServiceOptions,
    session::{Original, Resumable, Setting},
    value,
    view_options::ViewOptions,
    why_option::WhyOption,
};

use machine::Machine;

const DEFAULT_SUITE: &str = "quick";

const COUNT: &str = "Cohorts of fresh server instances, or blocks of runs; a minimum with --precision \
                     [default: from the suite]";
const PROCEDURE: &str = "Keep all servers of a cohort running (cohorts), or start one process per run \
                         (process) [default: cohorts; process with --scale paper]";
const MARGIN: &str = "Margin within which servers count as equal, such as 2% [default: 3% saturated, 5% \
                      at a rate]";

const STRICT: &str =
    "Exit with 3 if a row is not valid or only a bound, or a condition is inconclusive";

/// Options that `--resume` accepts. All others would change the run.
const BESIDE_RESUME: [&str; 5] = ["resume", "budget", "quiet", "strict", "show_secrets"];

/// Options that need this machine or another host, which a plan for a recorded machine has not.
const ELSEWHERE: [&str; 4] = ["from", "generator", "idle", "why"];

#[derive(Clone, Debug, clap::Args)]
#[command(
    mut_arg("count", |it| it.help(COUNT)),
    mut_arg("procedure", |it| it.help(PROCEDURE)),
    mut_arg("margin", |it| it.help(MARGIN)),
    mut_arg("strict", |it| it.help(STRICT)),
    mut_arg("block", |it| it.conflicts_with("dry_run")),
    mut_arg("dry_run", |it| it.conflicts_with(GROUP)),
    mut_arg("machine", |it| it.conflicts_with_all(ELSEWHERE)),
    mut_arg("why", |it| it.conflicts_with("generator")),
    mut_args(|argument| alone_with_resume(argument))
)]
pub(crate) struct Arguments {
    /// One suite; or entries, variants or languages to measure with the workloads of `quick`; or URLs of
    /// services that run already [default: quick]
    #[arg(value_name = "SUITE | ENTRY | URL")]
    names: Vec<String>,
    /// Server command, such as './my-server {port}', to compare with the baseline; repeatable
    #[arg(long = "server", value_name = "COMMAND")]
    servers: Vec<String>,
    /// Name of a URL's service or a --server in the output, URLs first; repeatable [default: host and port;
    /// its program, and the words in which commands of one program differ]
    #[arg(long = "name", value_name = "NAME")]
    server_names: Vec<String>,
    /// Scale of the suite: paper (as published), machine (reduced to fit this machine) or smoke
    /// (each load once, to test that it works)
    #[arg(long, value_name = "NAME", default_value_t)]
    scale: Scale,
    /// Load generator: wirebench, wrk, hey or h2load; third-party tools run closed loops over HTTP only
    #[arg(long, value_name = "PROGRAM", default_value_t, conflicts_with = "from")]
    generator: Generator,
    /// Measure only this scenario; repeatable [default: all of the suite; hello with --server]
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<Scenario>,
    #[command(flatten)]
    own: OwnOptions,
    #[command(flatten)]
    service: ServiceOptions,
    /// Measure only this phase; repeatable: saturate (throughput and CPU at saturation), cost (CPU
    /// and latency at a rate that all servers hold) or idle (memory and CPU of idle connections)
    /// [default: all of the suite]
    #[arg(long = "phase", value_name = "NAME")]
    phases: Vec<Phase>,
    #[command(flatten)]
    cohorts: Cohorts,
    /// Maximum number of servers running at once in a cohort, at least 3; larger cohorts are split
    /// into groups that each contain the baseline [default: 16]
    #[arg(long, value_name = "N", value_parser = value::instances)]
    instances: Option<usize>,
    /// Add pairs of cohorts until the interval of every ratio is within this, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = value::precision)]
    precision: Option<f64>,
    /// Start no cohort that would end later than this after the first run; at least one is measured
    #[arg(long, value_name = "DURATION", value_parser = value::budget)]
    budget: Option<Duration>,
    /// End at a look at which every server has a verdict in every load, within --budget, after at least
    /// three cohorts; see docs/ab.md
    #[arg(long, requires = "budget", conflicts_with_all = ["count", "precision", "copies"])]
    until_decided: bool,
    /// Run N copies of each variant; differences between copies are noise
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    copies: Option<u32>,
    #[command(flatten)]
    view: ViewOptions,
    /// Server threads, processes or event loops [default: one per server CPU]
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    workers: Option<u32>,
    /// Maximum warm-up until throughput is steady; 0s disables it [default: from the suite]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    steady: Option<Duration>,
    #[command(flatten)]
    shape: ShapeArgs,
    #[command(flatten)]
    why: WhyOption,
    #[command(flatten)]
    conditions: Conditions,
    #[command(flatten)]
    gate: GateOptions,
    /// Print the plan without measuring: placement, workers, connections, time, memory and open files
    #[arg(long)]
    dry_run: bool,
    /// With --dry-run: plan for the machine of this result or environment.json [default: this machine]
    #[arg(long, value_name = "FILE", requires = "dry_run")]
    machine: Option<PathBuf>,
    /// With --dry-run: list all runs in their order, even if they are many
    #[arg(long, requires = "dry_run")]
    details: bool,
    #[command(flatten)]
    block: BlockOptions,
    /// Continue the interrupted run in this folder
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
    #[command(flatten)]
    telling: ResultOptions,
    #[command(flatten)]
    pub(crate) project: ProjectOption,
}

impl Arguments {
    /// What its document did is repeated as it was done.
    fn procedure(&self) -> Procedure {
        let usual = match self.scale {
            Scale::Paper => Procedure::Process,
            Scale::Machine | Scale::Smoke => Procedure::Cohorts,
        };
        self.cohorts.procedure.unwrap_or(usual)
    }

    fn machine(&self) -> anyhow::Result<Machine> {
        self.machine.as_deref().map_or(Ok(Machine::Here), Machine::recorded)
    }
}

/// What would change a run cannot be given when it goes on.
fn alone_with_resume(argument: clap::Arg) -> clap::Arg {
    let id = argument.get_id().as_str();
    if BESIDE_RESUME.contains(&id) { argument } else { argument.conflicts_with("resume") }
}

impl Resumable for Arguments {
    fn resume(&mut self, seed: u64, strict: bool) {
        self.conditions.seed = Some(seed);
        self.telling.quiet = true;
        self.block.know_rates();
        self.gate.strict |= strict;
    }

    fn has_fixed_plan(&self) -> bool {
        self.until_decided
    }

    fn project(&self) -> &ProjectOption {
        &self.project
    }

    fn setting(&self, context: &Context) -> anyhow::Result<Setting> {
        self.gate.create_file()?;
        self.experiment(context, &Machine::Here)
    }

    fn conclude(&self, interrupt: &Interrupt, finished: &Finished) -> anyhow::Result<Exit> {
        carry_out::conclude(interrupt, finished, self)
    }
}

/// Carries the verb out. `original` parses the command that a journal says began its run.
pub(crate) fn run(arguments: &Arguments, original: Original) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.resume {
        return resume::run(folder, arguments, original);
    }
    arguments.gate.create_file()?;
    let machine = arguments.machine()?;
    let mut context = Context::new(&arguments.project)?;
    if let Machine::Recorded { .. } = machine {
        context = context.elsewhere();
    }
    let setting = match arguments.experiment(&context, &machine) {
        Ok(setting) => setting,
        // Looking for another generator takes a moment.
        Err(error) => return context.interrupt.exit().ok_or(error),
    };
    if !arguments.telling.quiet {
        out::note(&embedded::headline(&context.project));
    }
    if arguments.dry_run {
        dry_run::print(&context, setting, &machine, arguments);
        return Ok(context.interrupt.exit().unwrap_or(Exit::Fine));
    }
    if arguments.scale == Scale::Paper {
        scale::announce(&setting.experiment.suite, &setting.subjects);
    }
    carry_out::begin(&context, setting, arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args as _, Command};

    #[test]
    fn nothing_that_changes_a_run_can_be_given_when_it_goes_on() {
        let command = Arguments::augment_args(Command::new("run"));
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            // A carrier has a place for the host.
            let value = if id == "carrier" { "x {host}" } else { "1" };
            let value = argument.get_action().takes_values().then_some(value);
            let option = argument.get_long().map(|name| format!("--{name}"));
            let words = ["run", "--resume", "x"].map(str::to_owned).into_iter();
            let words = words.chain(option).chain(value.map(str::to_owned));
            let refused =
                Arguments::augment_args(Command::new("run")).try_get_matches_from(words).is_err();
            if id != "resume" {
                assert_eq!(refused, !BESIDE_RESUME.contains(&id), "{id}");
            }
        }
    }
}
