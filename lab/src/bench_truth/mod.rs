//! `cargo xtask bench-truth`: measures a server with known delays by `wirebench load`, and reports
//! the errors.
//!
//! It fails only with `--strict`: the machine is part of every error, and a shared one causes many.

mod case;
mod judge;
pub(crate) mod mode;
pub(crate) mod server;
mod truth;

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use std::{path::PathBuf, time::Duration};
use wirebench_schema::load::{LatencySummary, LoadReport};

use self::{
    case::Case,
    judge::{Comparison, Verdict},
};
use crate::{
    neighbours::Programs,
    process::{Server, finish, on},
    programs::{self, parse_load},
    sides::Sides,
    table,
};

/// The percentiles that are shown, in percent.
const LATENCY_PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];
/// Beyond the window, for connecting and reporting.
const PATIENCE: Duration = Duration::from_secs(30);

const HEAD: [&str; 13] = [
    "server",
    "rate",
    "model",
    "connections",
    "requests",
    "percentile",
    "true us",
    "measured us",
    "error us",
    "error %",
    "within",
    "service us",
    "lag us",
];

const LEGEND: &str = "\
True is what a server with these delays does to requests that come evenly in time. Within is yes up
to 50 us or 2 %, whichever is more; `by chance` is within three standard errors of random arrivals.
`omits` marks a closed model that skips the requests that a stall kept it from sending: that
is coordinated omission. Service counts from the sending, lag is the sending less the due time. The
way through the machine is in every error, and so is the server's own lateness. Each percentile is
the median of those of the rounds; service and lag are those of the same round.";

/// Arguments of `cargo xtask bench-truth`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Length of each window; over stalls it is rounded up to whole periods
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// How often each case is measured; each percentile shown is the median of those of the rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=99))]
    rounds: u32,
    /// Fail when an error exceeds 50 us and 2 %
    #[arg(long)]
    strict: bool,
    /// A few seconds in all: fails only when a result is not understood, is empty, or holds a
    /// latency below the server's least delay
    #[arg(long, conflicts_with_all = ["seconds", "rounds", "strict"])]
    smoke: bool,
    /// CPUs of the server and of the generator [default: two cores under one cache]
    #[arg(long, value_name = "SERVER,GENERATOR")]
    cpus: Option<Sides>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let wirebench = programs::wirebench()?;
    let cases = if arguments.smoke {
        case::smoke()
    } else {
        case::full(Duration::from_secs(arguments.seconds))
    };
    println!();
    let bench = Bench { wirebench, sides: Sides::choose(arguments.cpus)? };
    let mut lines = Vec::new();
    let (mut missed, mut complaints) = (Vec::new(), Vec::new());
    let before = Programs::read();
    let rounds = if arguments.smoke { 1 } else { arguments.rounds };
    let mut stall_ns = 0;
    for case in &cases {
        let results = (0..rounds).map(|_| bench.measure(case));
        let results: Vec<LoadReport> = results.collect::<anyhow::Result<_>>()?;
        let requests: u64 = results.iter().map(|result| result.requests).sum();
        println!("{}: {requests} requests", case.describe());
        stall_ns = results.iter().map(|it| it.stall_ns_max).fold(stall_ns, u64::max);
        for result in &results {
            complaints.extend(complaint(case, result)?);
        }
        for (row, verdict) in rows(case, &results)? {
            if verdict == Verdict::Missed {
                missed.push(format!("{}, p{}", case.describe(), row[5]));
            }
            lines.push(row);
        }
    }
    println!("\n{}\n\n{LEGEND}", table::text(&HEAD, 3, &lines));
    println!("a thread of the generator was at most {:.1} ms late", stall_ns as f64 / 1e6);
    before.warn(&bench.sides.both());
    complaints.iter().for_each(|complaint| println!("{complaint}"));
    if arguments.smoke || arguments.strict {
        ensure!(complaints.is_empty(), "{} of {} cases failed", complaints.len(), cases.len());
    }
    if arguments.strict {
        ensure!(missed.is_empty(), "more than 50 us and 2 % off:\n{}", missed.join("\n"));
    }
    Ok(())
}

struct Bench {
    wirebench: PathBuf,
    sides: Sides,
}

impl Bench {
    /// Measures a server that is fresh, so that its stalls and its counts begin anew.
    fn measure(&self, case: &Case) -> anyhow::Result<LoadReport> {
        let Self { wirebench, sides } = self;
        let words = format!("delay-server {}", case.mode);
        let server = on(&sides.server_cpus, std::env::current_exe()?, words.split(' '));
        let server = Server::start(server)?;
        let mut load = on(&sides.generator_cpus, wirebench, case.options());
        load.arg(format!("http://{}/", server.address));
        parse_load(&finish(load, case.window + PATIENCE)?.output()?)
    }
}

/// Errors of a result that do not depend on the machine.
fn complaint(case: &Case, result: &LoadReport) -> anyhow::Result<Option<String>> {
    let described = case.describe();
    if result.requests == 0 || result.errors.total() > 0 {
        let errors = result.errors.total();
        return Ok(Some(format!("{described}: {} requests, {errors} errors", result.requests)));
    }
    let latency = result.latency.as_ref().context("a result with requests has no latency")?;
    let delay = case.mode.least_delay();
    for (name, latency) in
        [("latencies", Some(latency)), ("service times", result.service.as_ref())]
    {
        let Some(latency) = latency else { continue };
        let below = below(latency, delay).with_context(|| described.clone())?;
        // A request that was due shortly before the end and never sent is known to have waited so
        // long only.
        if below > latency.censored {
            return Ok(Some(format!("{described}: {below} {name} are below {delay:?}")));
        }
    }
    Ok(None)
}

/// One row per percentile, with its verdict.
fn rows(case: &Case, results: &[LoadReport]) -> anyhow::Result<Vec<(Vec<String>, Verdict)>> {
    let mut rounds = Vec::new();
    for result in results {
        if let Some(latency) = &result.latency {
            rounds.push((result, histogram(latency)?));
        }
    }
    if rounds.is_empty() {
        return Ok(Vec::new());
    }
    let middle = rounds.len() / 2;
    let rows = LATENCY_PERCENTILES.map(|percentile| {
        rounds.sort_by_key(|(_, latency)| latency.value_at_percentile(percentile));
        let (result, latency) = &rounds[middle];
        row(case, result, latency, percentile)
    });
    rows.into_iter().collect()
}

fn row(
    case: &Case,
    round: &LoadReport,
    latency: &Histogram<u64>,
    percentile: f64,
) -> anyhow::Result<(Vec<String>, Verdict)> {
    let rate = match case.model {
        case::Model::ClosedLoop => format!("({:.0})", round.requests_per_second),
        _ => case.rate.to_string(),
    };
    let measured = Duration::from_nanos(latency.value_at_percentile(percentile));
    let comparison = Comparison::new(case, percentile, measured, latency.len());
    let absent = || "-".to_owned();
    let beside = |latency: &Option<LatencySummary>| -> anyhow::Result<String> {
        let Some(latency) = latency else { return Ok(absent()) };
        let nanoseconds = histogram(latency)?.value_at_percentile(percentile);
        Ok(format!("{:.0}", nanoseconds as f64 / 1000.0))
    };
    let share = comparison.error_share();
    let cells = vec![
        case.mode.to_string(),
        rate,
        case.model.name().to_owned(),
        case.connections().to_string(),
        round.requests.to_string(),
        comparison.percentile.to_string(),
        format!("{:.0}", comparison.truth.as_secs_f64() * 1e6),
        format!("{:.0}", comparison.measured.as_secs_f64() * 1e6),
        format!("{:+.0}", comparison.error_us()),
        share.map_or_else(absent, |share| format!("{:+.2}", share * 100.0)),
        comparison.verdict.word().to_owned(),
        beside(&round.service)?,
        beside(&round.lag)?,
    ];
    Ok((cells, comparison.verdict))
}

/// How many samples are certainly below this. The histogram keeps three digits, so one counts when
/// all of its bucket is.
fn below(latency: &LatencySummary, bound: Duration) -> anyhow::Result<u64> {
    let histogram = histogram(latency)?;
    ensure!(histogram.len() == latency.count, "the histogram does not hold as many as it says");
    let is_below = |value| u128::from(histogram.highest_equivalent(value)) < bound.as_nanos();
    let recorded = histogram.iter_recorded();
    let below = recorded.filter(|bucket| is_below(bucket.value_iterated_to()));
    Ok(below.map(|bucket| bucket.count_at_value()).sum())
}

/// The whole distribution, in nanoseconds.
fn histogram(latency: &LatencySummary) -> anyhow::Result<Histogram<u64>> {
    latency.decoded().context("the histogram is not understood")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_below_a_bound_are_counted() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=1000).for_each(|millisecond| histogram.record(millisecond * 1_000_000).unwrap());
        let latency = LatencySummary::of(&histogram);
        assert_eq!(below(&latency, Duration::from_micros(10_500)).unwrap(), 10);
        assert_eq!(below(&latency, Duration::from_millis(1)).unwrap(), 0);
    }
}
