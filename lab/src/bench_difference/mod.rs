//! `cargo xtask bench-difference`: how often wirebench calls equal servers different, and how often it
//! finds a difference of known size.
//!
//! The servers are `c/epoll` and the same sources with a known amount of work before each reply. Each
//! experiment is repeated and counted; the counts are printed, and too many wrong verdicts are an error.

mod measure;
mod slowed;
mod tally;

use anyhow::{Context, ensure};
use std::{path::PathBuf, time::Duration};

use self::{
    measure::{Suite, compare},
    slowed::Workshop,
    tally::{Judged, Tally},
};
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

struct Laboratory {
    bench: Bench,
    workshop: Workshop,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let bench = Bench::open(&arguments.bench)?;
    let target = bench.wirebench.ancestors().nth(2).context("a folder of builds has a parent")?;
    let laboratory = Laboratory { workshop: Workshop::open(target)?, bench };
    let all = <Experiment as clap::ValueEnum>::value_variants();
    let chosen = if arguments.experiments.is_empty() { all } else { &arguments.experiments };
    let mut wrong = Vec::new();
    for experiment in chosen {
        wrong.extend(laboratory.carry_out(*experiment, arguments.tries)?);
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

impl Laboratory {
    /// Repeats an experiment, prints its counts, and returns what was wrong.
    fn carry_out(&self, experiment: Experiment, tries: Option<u32>) -> anyhow::Result<Vec<String>> {
        let equal = matches!(experiment, Experiment::EqualSuites | Experiment::EqualPairs);
        let tries = tries.unwrap_or(if equal { 20 } else { 10 });
        println!("\n== {experiment:?}, {tries} tries");
        let mut tally = Tally::default();
        let mut repeat = |measure: &dyn Fn() -> anyhow::Result<Vec<Judged>>| {
            for number in 1..=tries {
                tally.add(number, measure()?);
            }
            anyhow::Ok(())
        };
        let wirebench = &self.bench.wirebench;
        match experiment {
            Experiment::EqualSuites => repeat(&|| Suite::equal().measure(wirebench))?,
            Experiment::SlowedSuites | Experiment::Neighbour => {
                let suite = self.slowed_suite()?;
                let is_disturbed = experiment == Experiment::Neighbour;
                let _neighbour = is_disturbed.then(|| self.neighbour()).transpose()?;
                repeat(&|| suite.measure(wirebench))?;
            }
            Experiment::States => {
                let suite = self.changing_suite()?;
                repeat(&|| suite.measure(wirebench))?;
            }
            Experiment::EqualPairs => {
                let plain = self.workshop.plain()?;
                repeat(&|| compare(wirebench, [&plain, &plain], BUDGET_OF_EQUAL))?;
            }
            Experiment::SlowedPairs => {
                let (plain, cost_ns) = self.plain()?;
                for (percent, budget) in PAIRS {
                    let slowed = self.slowed(percent, cost_ns)?;
                    repeat(&|| compare(wirebench, [&plain, &slowed], budget))?;
                }
            }
        }
        println!("{}", tally.table());
        Ok(tally.false_differences())
    }

    fn neighbour(&self) -> anyhow::Result<Killed> {
        let mut neighbour = command("sh", ["-c", NEIGHBOUR, "neighbour"]);
        neighbour.args(self.bench.cpus.iter().map(u32::to_string));
        neighbour.spawn().map(Killed).context("the neighbour")
    }

    fn slowed_suite(&self) -> anyhow::Result<Suite> {
        let (plain, cost_ns) = self.plain()?;
        let slowed = SLOWDOWNS.iter().map(|percent| self.slowed(*percent, cost_ns));
        let servers =
            std::iter::once(Ok(plain)).chain(slowed).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Suite::of(&servers))
    }

    /// `c/epoll`, and servers that are as fast and 5 % slower while the machine is near. While it is far they take
    /// 30 and 70 % more.
    fn changing_suite(&self) -> anyhow::Result<Suite> {
        let (_, cost_ns) = self.plain()?;
        let step_ns = self.workshop.step_ns()?;
        let steps = |percent: f64| (cost_ns * percent / 100.0 / step_ns).round() as u64;
        let server = |near, far| {
            let name = format!("changing-{near}");
            self.workshop.slowed(&name, steps(near), Some(steps(far)))
        };
        Ok(Suite::of(&[server(0.0, 30.0)?, server(5.0, 70.0)?]).changing())
    }

    /// `c/epoll` as it is, and its CPU time per request in nanoseconds.
    fn plain(&self) -> anyhow::Result<(PathBuf, f64)> {
        let plain = self.workshop.plain()?;
        let cost_ns = Suite::of(std::slice::from_ref(&plain)).cost_ns(&self.bench.wirebench)?;
        Ok((plain, cost_ns))
    }

    /// The server whose requests take this much more CPU time; prints the instructions that it adds.
    fn slowed(&self, percent: f64, cost_ns: f64) -> anyhow::Result<PathBuf> {
        let step_ns = self.workshop.step_ns()?;
        let steps = (cost_ns * percent / 100.0 / step_ns).round().max(1.0) as u64;
        let server = self.workshop.slowed(&format!("slowed-{percent}"), steps, None)?;
        let counted = slowed::counted(&self.bench, &server)?;
        println!(
            "{percent} % of {cost_ns:.0} ns a request are {steps} steps of {step_ns:.3} ns; callgrind: {counted}"
        );
        Ok(server)
    }
}
