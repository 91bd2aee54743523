//! `cargo xtask bench-truth`: measures a server with known delays by `wirebench load`, and reports the errors.
//!
//! The bench fails only with `--strict`: the machine is part of every error, and a shared one causes many.

mod case;
mod mode;
mod server;

pub(crate) use self::server::run as delay_server;

use anyhow::{Context, ensure};
use std::time::Duration;
use wirebench_schema::load::{LatencySummary, LoadReport};

use self::case::{Case, MISSED, Model};
use crate::{
    bench::{self, Bench, until_answered},
    table::{self, figure},
};

/// A row, and the word in its column `within`.
type Judged = (Vec<String>, &'static str);
/// A percentile that is shown, in percent, and its nanoseconds.
type Percentile = (f64, fn(&LatencySummary) -> u64);
const PERCENTILES: [Percentile; 3] = [
    (50.0, |it| it.latency_ns_p50),
    (90.0, |it| it.latency_ns_p90),
    (99.0, |it| it.latency_ns_p99),
];

const HEAD: &str = "server | rate | model | connections | requests | percentile | true us | measured us | \
    error us | error % | within | service us | lag us";

const LEGEND: &str = "\
True is what a server with these delays does to requests that come evenly in time. Within is yes up
to 50 us or 2 %, whichever is more; `by chance` is within three standard errors of random arrivals.
`omits` marks a closed model that skips the requests that a stall kept it from sending: that
is coordinated omission. Service counts from the sending, lag is the sending less the due time. The
way through the machine is in every error, and so is the server's own lateness. Each percentile is
the median of those of the rounds; service and lag are those of the same round.";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Length of each window
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
    #[command(flatten)]
    bench: bench::Options,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let bench = Bench::open(&arguments.bench)?;
    let (cases, rounds) = match arguments.smoke {
        true => (case::smoke(), 1),
        false => (case::full(arguments.seconds), arguments.rounds),
    };
    let (mut lines, mut missed, mut complaints) = (Vec::new(), Vec::new(), Vec::new());
    let mut stall_ns = 0;
    for case in &cases {
        let described = case.describe();
        let line = format!("delay-server {}", serde_json::to_string(&case.mode)?);
        let measured = |window| {
            // Fresh, so that its stalls and its counts begin anew.
            let server = bench.serve(std::env::current_exe()?, &line)?;
            bench.load(window, &case.options(), &server)
        };
        let round = |_| until_answered(arguments.smoke, case.window, measured, |it| it.requests);
        let results = (0..rounds).map(round).collect::<anyhow::Result<Vec<LoadReport>>>()?;
        let requests: u64 = results.iter().map(|result| result.requests).sum();
        println!("{described}: {requests} requests");
        for result in &results {
            stall_ns = stall_ns.max(result.stall_ns_max);
            let complaint = check(case, result).err();
            complaints.extend(complaint.map(|it| format!("{described}: {it:#}")));
        }
        for percentile in PERCENTILES {
            let Some((row, verdict)) = row(case, &results, percentile) else { continue };
            lines.push(row);
            if verdict == MISSED {
                missed.push(format!("{described}, p{}", percentile.0));
            }
        }
    }
    println!("\n{}\n\n{LEGEND}", table::text(HEAD, 3, lines));
    println!("a thread of the generator was at most {:.1} ms late", stall_ns as f64 / 1e6);
    bench.warn();
    complaints.iter().for_each(|complaint| println!("{complaint}"));
    if arguments.smoke || arguments.strict {
        ensure!(complaints.is_empty(), "{} of {} cases failed", complaints.len(), cases.len());
    }
    if arguments.strict {
        ensure!(missed.is_empty(), "more than 50 us and 2 % off:\n{}", missed.join("\n"));
    }
    Ok(())
}

/// Finds errors of a result that do not depend on the machine.
fn check(case: &Case, result: &LoadReport) -> anyhow::Result<()> {
    let (requests, errors) = (result.requests, result.errors.total());
    ensure!(requests > 0 && errors == 0, "{requests} requests, {errors} errors");
    ensure!(result.latency.is_some(), "a result with requests has no latency");
    let delay = case.mode.quantile(0.0);
    for latency in result.latency.iter().chain(&result.service) {
        // Without the ages of requests that were not answered.
        let replies = latency.samples().context("a histogram is not understood")?.replies;
        // The histogram keeps three digits, so the least one is somewhere within its bucket.
        let least = Duration::from_nanos(replies.highest_equivalent(replies.min()));
        ensure!(least >= delay, "a latency or service time of {least:?} is below {delay:?}");
    }
    Ok(())
}

/// The row of a percentile, from the round with the median of it, and its verdict; none without latencies.
fn row(case: &Case, results: &[LoadReport], percentile: Percentile) -> Option<Judged> {
    let (percent, nanoseconds) = percentile;
    let known = results.iter().filter_map(|it| Some((it, it.latency.as_ref()?)));
    let mut rounds: Vec<_> = known.collect();
    rounds.sort_by_key(|(_, latency)| nanoseconds(latency));
    let (round, latency) = rounds.get(rounds.len() / 2)?;
    let measured = Duration::from_nanos(nanoseconds(latency));
    let truth = case.mode.quantile(percent / 100.0);
    let verdict = case.judge(percent / 100.0, measured, latency.count);
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    let error_us = us(measured) - us(truth);
    // Nothing is a share of a truth that is zero.
    let share = (!truth.is_zero()).then(|| error_us / us(truth) * 100.0);
    let beside = |latency: &Option<LatencySummary>| {
        figure(latency.as_ref().map(|it| nanoseconds(it) as f64 / 1e3), 0)
    };
    let row = vec![
        case.mode.to_string(),
        match case.model {
            Model::ClosedLoop => format!("({:.0})", round.requests_per_second),
            _ => case.rate.to_string(),
        },
        case.model.name().to_owned(),
        case.connections().to_string(),
        round.requests.to_string(),
        percent.to_string(),
        format!("{:.0}", us(truth)),
        format!("{:.0}", us(measured)),
        format!("{error_us:+.0}"),
        share.map_or("-".to_owned(), |it| format!("{it:+.2}")),
        verdict.to_owned(),
        beside(&round.service),
        beside(&round.lag),
    ];
    Some((row, verdict))
}
