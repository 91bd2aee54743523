//! `wirebench run`: builds, verifies and measures, prints the table and names the folder with all
//! of it. What stands here are its options; what they mean is in the files beside.

mod carry_out;
mod choice;
mod original;
mod plan_text;
mod resume;
mod scale;
mod setting;
mod strict;

use std::{path::PathBuf, time::Duration};
use wirebench_schema::{
    journal::{Generator, Procedure},
    scenario::Scenario,
    suite::{Phase, Scale},
};

use crate::{
    context::Context,
    exit::Exit,
    options::{Cohorts, Conditions, EachRun, ProjectOption, Telling},
    value,
};
pub(crate) use setting::Setting;

pub(crate) use plan_text::{outlook_lines, percent};

/// The suite without which nothing is asked.
const DEFAULT_SUITE: &str = "quick";

/// The fewest blocks with intervals and verdicts: the noise of two blocks is known from a single
/// difference.
pub(crate) const FEWEST_BLOCKS: u32 = 3;

const COUNT: &str = "Cohorts of fresh servers that are measured, or blocks of runs; with --precision \
                     at least [default: the suite's]";
const PROCEDURE: &str = "Measure cohorts of servers that live at the same time, or start a process for \
                         each measurement: cohorts or process [default: cohorts; process with --scale \
                         paper]";
const MARGIN: &str = "Difference below which two servers count as the same, such as 2% [default: 3% \
                      saturated, 5% at a rate]";

/// What may be given beside `--resume`: nothing else can be changed in the middle of a run.
const BESIDE_RESUME: [&str; 4] = ["resume", "budget", "quiet", "strict"];

/// Arguments of `wirebench run`.
#[derive(Clone, Debug, clap::Args)]
#[command(
    mut_arg("count", |it| it.help(COUNT)),
    mut_arg("procedure", |it| it.help(PROCEDURE)),
    mut_arg("margin", |it| it.help(MARGIN)),
    mut_args(|argument| alone_with_resume(argument))
)]
pub(crate) struct Arguments {
    /// A suite, or entries, variants or languages to measure with the workloads of `quick`
    #[arg(value_name = "SUITE | ENTRY")]
    names: Vec<String>,
    /// Measure a command line of your own, such as './my-server {port}', beside the baseline; may
    /// be given more than once
    #[arg(long = "server", value_name = "COMMAND")]
    servers: Vec<String>,
    /// How much of a suite is carried out: paper (exactly what its document published), machine (made
    /// to fit by the rule in its file) or smoke (everything once, to see that it works)
    #[arg(long, value_name = "NAME", default_value_t)]
    scale: Scale,
    /// Who makes the load: wirebench, wrk, hey or h2load; the others do closed loops over HTTP only
    #[arg(long, value_name = "PROGRAM", default_value_t)]
    generator: Generator,
    /// Only this scenario; may be given more than once [default: all of the suite, hello for
    /// --server]
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<Scenario>,
    /// Only this phase: saturate (how much it can do), cost (what it costs at a rate that all can
    /// hold) or idle (what silent connections cost); may be given more than once [default: all of
    /// the suite]
    #[arg(long = "phase", value_name = "NAME")]
    phases: Vec<Phase>,
    #[command(flatten)]
    cohorts: Cohorts,
    /// Servers of a cohort that are alive together, at least 3; a larger cohort is measured in groups,
    /// each with the baseline [default: 16]
    #[arg(long, value_name = "N", value_parser = value::instances)]
    instances: Option<usize>,
    /// Go on, in pairs of cohorts, until every ratio is known this well, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = value::precision)]
    precision: Option<f64>,
    /// Begin no cohort that would end later than this after the first run; one is always made
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    budget: Option<Duration>,
    /// Measure each variant as though it were so many: what differs then is noise
    #[arg(long, value_name = "N", value_parser = value::small_count)]
    copies: Option<u32>,
    #[command(flatten)]
    each_run: EachRun,
    /// Warm servers up for at most this long, until they are steady; 0s means no such warm-up
    /// [default: the suite's]
    #[arg(long, value_name = "DURATION", value_parser = value::duration)]
    steady: Option<Duration>,
    /// Connections in total
    #[arg(short, long, value_name = "N", value_parser = value::connections)]
    connections: Option<usize>,
    /// Silent connections of idle phases
    #[arg(long, value_name = "N", value_parser = value::connections)]
    silent: Option<usize>,
    /// Requests per second of cost phases [default: the suite's, or half of what the slowest can do]
    #[arg(long, value_name = "N", value_parser = value::rate)]
    rate: Option<u64>,
    #[command(flatten)]
    conditions: Conditions,
    /// Exit with 3 when the figures of a run that counts are a bound, or not what they claim to be
    #[arg(long)]
    strict: bool,
    /// Print the plan and measure nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on with a run that was cut off, in the folder that it named
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    telling: Telling,
    #[command(flatten)]
    pub(crate) project: ProjectOption,
}

/// How strictly the figures of a run are looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Strictness {
    /// What speaks against them is in the report.
    Usual,
    /// It decides on the exit code too.
    Strict,
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

    const fn strictness(&self) -> Strictness {
        if self.strict { Strictness::Strict } else { Strictness::Usual }
    }
}

/// What would change a run cannot be given when it goes on.
fn alone_with_resume(argument: clap::Arg) -> clap::Arg {
    let id = argument.get_id().as_str();
    if BESIDE_RESUME.contains(&id) { argument } else { argument.conflicts_with("resume") }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.resume {
        return resume::run(folder, arguments);
    }
    let context = Context::new(&arguments.project)?;
    let setting = match Setting::new(&context, arguments) {
        Ok(setting) => setting,
        // Looking for another generator takes a moment.
        Err(error) => return context.interrupt.exit().ok_or(error),
    };
    if arguments.dry_run {
        plan_text::print(&context, setting);
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
            let value = if argument.get_action().takes_values() { Some("1") } else { None };
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
