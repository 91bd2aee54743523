//! The options of `wirebench run`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_schema::{
    journal::{Generator, Procedure},
    scenario::Scenario,
    suite::{Phase, Scale},
};

use crate::{
    args::{
        cohorts::CohortArgs, filter::ViewOptions, format::GROUP, gate::STRICT, machine::Conditions,
        output::ResultOptions, services::ServiceOptions, shape::ShapeArgs,
    },
    request_options::OwnOptions,
    value,
};

const RATE: &str = "Requests per second in cost phases; A:B is a ramp, A/B/C are steps [default: from the suite, or \
                    half the throughput of the slowest server]";

const COHORTS: &str = "Cohorts of fresh instances, or blocks of runs; until-decided: end when each server has a \
                       verdict in each load, within --budget [default: from the suite]";

/// Options that `--resume` accepts. All others would change the run.
const BESIDE_RESUME: [&str; 5] = ["resume", "budget", "quiet", "strict", "show_secrets"];

#[derive(Clone, Debug, clap::Args)]
#[command(
    mut_arg("strict", |it| it.help(STRICT)),
    mut_arg("connections", |it| it.help("Connections in total [default: from the suite]")),
    mut_arg("rate", |it| it.help(RATE)),
    mut_arg("count", |it| it.help(COHORTS)),
    mut_arg("block", |it| it.conflicts_with("dry_run")),
    mut_arg("dry_run", |it| it.conflicts_with(GROUP)),
    mut_arg("generator", |it| it.conflicts_with("from")),
    mut_arg("why", |it| it.conflicts_with("generator")),
    mut_args(|argument| alone_with_resume(argument))
)]
pub(crate) struct Arguments {
    /// One suite; or entries, variants or languages to measure with the workloads of `quick`; or URLs of
    /// services that run already [default: quick]
    #[arg(value_name = "SUITE | ENTRY | URL")]
    pub(super) names: Vec<String>,
    /// Server command, such as './my-server {port}', to compare with the baseline; repeatable
    #[arg(long = "server", value_name = "COMMAND")]
    pub(super) servers: Vec<String>,
    /// Name of a URL's service or a --server in the output, URLs first; repeatable [default: host and port;
    /// its program, and the words in which commands of one program differ]
    #[arg(long = "name", value_name = "NAME", hide_short_help = true)]
    pub(super) server_names: Vec<String>,
    /// Scale of the suite: paper (as published), machine (reduced to fit this one) or smoke (each load once)
    #[arg(long, value_name = "NAME", default_value_t)]
    pub(super) scale: Scale,
    /// Load generator: wirebench, wrk, hey or h2load; third-party tools run closed loops over HTTP only
    #[arg(long, value_name = "PROGRAM", default_value_t, hide_short_help = true)]
    pub(super) generator: Generator,
    /// Measure only this scenario; repeatable [default: all of the suite; hello with --server]
    #[arg(long = "scenario", value_name = "NAME")]
    pub(super) scenarios: Vec<Scenario>,
    #[command(flatten)]
    pub(super) own: OwnOptions,
    #[command(flatten)]
    pub(super) service: ServiceOptions,
    /// Measure only this phase; repeatable: saturate (maximum throughput), cost (CPU and latency at a rate that
    /// all servers hold) or idle (memory and CPU of idle connections) [default: all of the suite]
    #[arg(long = "phase", value_name = "NAME")]
    pub(super) phases: Vec<Phase>,
    /// Maximum number of servers running at once in a cohort, at least 3; larger cohorts are split
    /// into groups that each contain the baseline [default: 16]
    #[arg(long, value_name = "N", value_parser = value::instances, hide_short_help = true)]
    pub(super) instances: Option<usize>,
    /// Run N copies of each variant; differences between copies are noise
    #[arg(long, value_name = "N", value_parser = value::number::<u32>, hide_short_help = true)]
    pub(super) copies: Option<u32>,
    #[command(flatten)]
    pub(super) view: ViewOptions,
    /// Server threads, processes or event loops [default: one per server CPU]
    #[arg(long, value_name = "N", value_parser = value::number::<u32>, hide_short_help = true)]
    pub(super) workers: Option<u32>,
    /// Maximum warm-up until throughput is steady; 0s disables it [default: from the suite]
    #[arg(long, value_name = "DURATION", value_parser = value::duration, hide_short_help = true)]
    pub(super) steady: Option<Duration>,
    #[command(flatten)]
    pub(super) shape: ShapeArgs,
    /// Print the plan with its needs, and measure nothing; =runs lists all runs in their order, =FILE plans for
    /// the machine of this result or environment.json; repeatable
    #[arg(
        long, value_name = "runs | FILE", num_args = 0..=1, require_equals = true,
        default_missing_value = ""
    )]
    pub(super) dry_run: Vec<String>,
    /// Continue the interrupted run in this folder
    #[arg(long, value_name = "FOLDER")]
    pub(super) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(super) cohorts: CohortArgs,
    #[command(flatten)]
    pub(super) conditions: Conditions,
    #[command(flatten)]
    pub(super) results: ResultOptions,
}

impl Arguments {
    /// The result whose machine is planned for, if it is not this one.
    pub(super) fn machine(&self) -> Option<&Path> {
        let named = self.dry_run.iter().find(|it| !["", "runs"].contains(&it.as_str()));
        named.map(Path::new)
    }

    /// The first option that needs this machine or another host.
    pub(super) fn of_this_machine(&self) -> Option<&'static str> {
        let given = [
            (!self.conditions.fleet.from.is_empty(), "--from"),
            (self.generator != Generator::Wirebench, "--generator"),
            (self.conditions.idle.idle.is_some(), "--idle"),
            (self.cohorts.why.why, "--why"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }

    /// What its document did is repeated as it was done.
    pub(super) fn procedure(&self) -> Procedure {
        let usual = match self.scale {
            Scale::Paper => Procedure::Whole,
            Scale::Machine | Scale::Smoke => Procedure::Short,
        };
        self.cohorts.procedure.unwrap_or(usual)
    }
}

/// What would change a run cannot be given when it goes on.
fn alone_with_resume(argument: clap::Arg) -> clap::Arg {
    let id = argument.get_id().as_str();
    if BESIDE_RESUME.contains(&id) { argument } else { argument.conflicts_with("resume") }
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
