//! `cargo xtask bench-difference`: how often wirebench calls equal servers different, and how often it
//! finds a difference of known size.
//!
//! The servers are `c/epoll` and the same sources with a known amount of work before each reply. Each
//! experiment is repeated and counted; the counts are printed, and too many wrong verdicts are an error.

mod measure;
mod slowed;
mod tally;

use anyhow::{Context, ensure};
use std::time::Duration;

use self::{measure::Subject, slowed::Workshop, tally::Tally};
use crate::{
    bench::{self, Bench},
    process::{Killed, command},
};

/// Another program, busy on the CPU of its first argument in one second and on that of its second one in the next.
const NEIGHBOUR: &str = "while :; do for cpu in \"$@\"; do
    taskset --cpu-list $cpu timeout 0.3 sh -c 'while :; do :; done'; sleep 0.7
done; done";
/// How much more CPU time a request of each slowed server takes, in percent.
const SLOWDOWNS: [f64; 4] = [1.0, 2.0, 3.0, 5.0];
/// How much slower two servers are while a machine is near, in percent, and how much further while it is far.
const STATES: [(f64, f64); 2] = [(0.0, 30.0), (5.0, 70.0)];
/// Pairs of a server and a slowed one: percent and budget.
const PAIRS: [(f64, Duration); 2] =
    [(5.0, Duration::from_secs(20)), (2.0, Duration::from_secs(90))];
const BUDGET_OF_EQUAL: Duration = Duration::from_secs(40);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Experiments to run [default: all]
    #[arg(value_enum)]
    experiments: Vec<Experiment>,
    /// Repetitions of each experiment [default: 20 with equal servers, 10 with slowed ones]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=200))]
    tries: Option<u32>,
    #[command(flatten)]
    bench: bench::Options,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum Experiment {
    /// Suites of ten instances of one server
    EqualSuites,
    /// Suites of one server and the same slowed by 1, 2, 3 and 5 %
    SlowedSuites,
    /// Those of slowed-suites while another program takes 300 ms of each second on either CPU in turn
    Neighbour,
    /// Suites on a synthetic machine: its CPUs are near and far in turn, which costs each server another time
    States,
    /// One server compared with itself by `wirebench ab`
    EqualPairs,
    /// One server compared with slowed ones by `wirebench ab`: 5 % within 20 s, 2 % within 90 s
    SlowedPairs,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let workshop = Workshop::open(Bench::open(&arguments.bench)?)?;
    let all = <Experiment as clap::ValueEnum>::value_variants();
    let chosen = if arguments.experiments.is_empty() { all } else { &arguments.experiments };
    let mut wrong = Vec::new();
    for &experiment in chosen {
        let is_equal = matches!(experiment, Experiment::EqualSuites | Experiment::EqualPairs);
        let tries = arguments.tries.unwrap_or(if is_equal { 20 } else { 10 });
        println!("\n== {experiment:?}, {tries} tries");
        let tally = repeat(&workshop, experiment, tries)?;
        println!("{}", tally.table());
        wrong.extend(tally.false_differences());
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

fn repeat(workshop: &Workshop, experiment: Experiment, tries: u32) -> anyhow::Result<Tally> {
    let subjects = subjects(workshop, experiment)?;
    let is_disturbed = experiment == Experiment::Neighbour;
    let _neighbour = is_disturbed.then(|| neighbour(workshop.bench.cpus)).transpose()?;
    let mut tally = Tally::default();
    for subject in &subjects {
        for _ in 0..tries {
            tally.add(subject.measure(&workshop.bench.wirebench)?);
        }
    }
    Ok(tally)
}

/// Builds what an experiment measures.
fn subjects(workshop: &Workshop, experiment: Experiment) -> anyhow::Result<Vec<Subject>> {
    if experiment == Experiment::EqualSuites {
        return Ok(vec![Subject::Equal]);
    }
    let plain = workshop.plain()?;
    if experiment == Experiment::EqualPairs {
        return Ok(vec![Subject::Pair([plain.clone(), plain], BUDGET_OF_EQUAL)]);
    }
    let cost_ns = Subject::Suite(vec![plain.clone()]).cost_ns(&workshop.bench.wirebench)?;
    match experiment {
        Experiment::States => {
            let states = STATES.map(|(near, far)| workshop.changing(near, far, cost_ns));
            Ok(vec![Subject::Changing(states.into_iter().collect::<Result<_, _>>()?)])
        }
        Experiment::SlowedPairs => {
            let pair = |(percent, budget)| {
                Ok(Subject::Pair([plain.clone(), workshop.slowed(percent, cost_ns)?], budget))
            };
            PAIRS.into_iter().map(pair).collect()
        }
        _ => {
            let slowed = SLOWDOWNS.map(|percent| workshop.slowed(percent, cost_ns));
            let servers = std::iter::once(Ok(plain)).chain(slowed).collect::<Result<_, _>>()?;
            Ok(vec![Subject::Suite(servers)])
        }
    }
}

fn neighbour(cpus: [u32; 2]) -> anyhow::Result<Killed> {
    let mut neighbour = command("sh", ["-c", NEIGHBOUR, "neighbour"]);
    neighbour.args(cpus.map(|cpu| cpu.to_string()));
    neighbour.spawn().map(Killed).context("the neighbour")
}
