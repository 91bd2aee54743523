//! `cargo xtask bench-truth`: what `wirebench load` measures against a server whose delays are
//! known, and how far off it is.
//!
//! It prints, and fails only when it is asked to: the machine is part of every error, and a shared
//! one has many.

mod case;
mod judge;
mod truth;

use anyhow::{Context, ensure};
use comfy_table::CellAlignment;
use hdrhistogram::Histogram;
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use wirebench_report::table::{Style, new_table};

use self::{
    case::Case,
    judge::{Comparison, Verdict},
};
use crate::bench::{
    LATENCY_PERCENTILES, Latency, LoadResult, Neighbours, REFUSED, Server, Sides, build, command,
    finish, parse_load,
};

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
`omits` stands where a closed model leaves out the requests that a stall kept it from sending: that
is coordinated omission. Service counts from the sending, lag is the sending less the due time. The
way through the machine is in every error, and so is the server's own lateness.";

/// Arguments of `cargo xtask bench-truth`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Length of each window; over stalls it is rounded up to whole periods
    #[arg(long, value_name = "S", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Fail when an error exceeds 50 us and 2 %
    #[arg(long)]
    strict: bool,
    /// A few seconds in all: fails only when a result is not understood, is empty, or holds a
    /// latency below the server's least delay
    #[arg(long, conflicts_with_all = ["seconds", "strict"])]
    smoke: bool,
}

/// The smoke run.
pub(crate) fn smoke() -> anyhow::Result<()> {
    run(&Arguments { seconds: 1, strict: false, smoke: true })
}

/// Measures and prints.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    // Before the build, which is itself the load that would be warned of.
    let sides = Sides::choose()?;
    let programs = build(&["wirebench", "wirebench-delayserver"])?;
    let cases = if arguments.smoke {
        case::smoke()
    } else {
        case::full(Duration::from_secs(arguments.seconds))
    };
    let bench = Bench { programs, sides };
    println!();
    bench.sides.announce();
    let mut table = new_table(Style::Text, &HEAD);
    for column in table.column_iter_mut().skip(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let (mut missed, mut complaints, mut measured) = (Vec::new(), Vec::new(), 0);
    let mut neighbours = Neighbours::watch(&bench.sides);
    for case in &cases {
        match bench.attempt(case, &mut neighbours)? {
            Attempt::Refused(reason) => {
                complaints.push(format!("left out: {}: refused: {reason}", case.describe()));
            }
            Attempt::Measured(result) => {
                measured += 1;
                println!("{}: {} requests", case.describe(), result.requests);
                complaints.extend(complaint(case, &result)?);
                for (row, verdict) in rows(case, &result)? {
                    if verdict == Verdict::Missed {
                        missed.push(format!("{}, p{}", case.describe(), row[5]));
                    }
                    table.add_row(row);
                }
            }
        }
    }
    let complaint = neighbours.complaint();
    println!("\n{table}\n\n{LEGEND}");
    complaint.iter().for_each(|complaint| println!("warning: {complaint}"));
    complaints.iter().for_each(|complaint| println!("{complaint}"));
    ensure!(measured > 0, "nothing was measured");
    if arguments.smoke || arguments.strict {
        ensure!(complaints.is_empty(), "{} of {} cases failed", complaints.len(), cases.len());
    }
    if arguments.strict {
        ensure!(missed.is_empty(), "more than 50 us and 2 % off:\n{}", missed.join("\n"));
    }
    Ok(())
}

struct Bench {
    programs: PathBuf,
    sides: Sides,
}

/// A measurement that was, or one that `wirebench load` would not make.
enum Attempt {
    Measured(LoadResult),
    Refused(String),
}

impl Bench {
    /// Measures a server that is fresh, so that its stalls and its counts begin anew.
    fn attempt(&self, case: &Case, neighbours: &mut Neighbours) -> anyhow::Result<Attempt> {
        let server = self.start_server(case)?;
        let mut options = case.options();
        options.push(format!("http://{}/", server.address));
        let program = self.programs.join("wirebench");
        let limit = case.window + PATIENCE;
        let finished = finish(command(&program, &options), &self.sides.generator_cpus, limit)?;
        neighbours.add_own(finished.cpu + server.cpu()?);
        if finished.status.code() == Some(REFUSED) {
            let reason = finished.stderr.lines().next().unwrap_or("it does not say why");
            return Ok(Attempt::Refused(reason.trim_start_matches("error: ").to_owned()));
        }
        let (shown, status) = (&finished.shown, finished.status);
        ensure!(status.success(), "`{shown}` ended with {status}:\n{}", finished.stderr);
        Ok(Attempt::Measured(parse_load(&finished.stdout)?))
    }

    /// It never sleeps, so that it sees a request when it arrives.
    fn start_server(&self, case: &Case) -> anyhow::Result<Server> {
        let mode = case.mode.to_string();
        let words: Vec<String> = mode.split(' ').chain(["0", "spin"]).map(str::to_owned).collect();
        let program: &Path = &self.programs.join("wirebench-delay-server");
        Server::start(command(program, &words), &self.sides.server_cpus)
    }
}

/// What is wrong with a result, whatever the machine.
fn complaint(case: &Case, result: &LoadResult) -> anyhow::Result<Option<String>> {
    let described = case.describe();
    if result.requests == 0 || result.error_count() > 0 {
        let errors = result.error_count();
        return Ok(Some(format!("{described}: {} requests, {errors} errors", result.requests)));
    }
    let latency = result.latency.as_ref().context("a result with requests has no latency")?;
    let delay = case.mode.least_delay();
    for (name, latency) in
        [("latencies", Some(latency)), ("service times", result.service.as_ref())]
    {
        let Some(latency) = latency else { continue };
        let below = latency.below(delay).with_context(|| described.clone())?;
        // A request that was due shortly before the end and never sent is known to have waited so
        // long only.
        if below > latency.censored {
            return Ok(Some(format!("{described}: {below} {name} are below {delay:?}")));
        }
    }
    Ok(None)
}

/// One row for each percentile, with what it comes to.
fn rows(case: &Case, result: &LoadResult) -> anyhow::Result<Vec<(Vec<String>, Verdict)>> {
    let histogram =
        |latency: &Option<Latency>| latency.as_ref().map(Latency::histogram).transpose();
    let Some(latency) = histogram(&result.latency)? else { return Ok(Vec::new()) };
    let (service, lag) = (histogram(&result.service)?, histogram(&result.lag)?);
    let rate = match case.model {
        case::Model::ClosedLoop => format!("({:.0})", result.requests_per_second),
        _ => case.rate.to_string(),
    };
    let row = |percentile: f64| {
        let measured = Duration::from_nanos(latency.value_at_percentile(percentile));
        let comparison = Comparison::new(case, percentile, measured, latency.len());
        let beside = |histogram: &Option<Histogram<u64>>| {
            histogram.as_ref().map_or_else(
                || "-".to_owned(),
                |histogram| microseconds(histogram.value_at_percentile(percentile)),
            )
        };
        let cells = vec![
            case.mode.to_string(),
            rate.clone(),
            case.model.name().to_owned(),
            case.connections().to_string(),
            result.requests.to_string(),
            comparison.percentile.to_string(),
            format!("{:.0}", comparison.truth.as_secs_f64() * 1e6),
            format!("{:.0}", comparison.measured.as_secs_f64() * 1e6),
            format!("{:+.0}", comparison.error_us()),
            comparison
                .error_share()
                .map_or_else(|| "-".to_owned(), |share| format!("{:+.2}", share * 100.0)),
            comparison.verdict.word().to_owned(),
            beside(&service),
            beside(&lag),
        ];
        (cells, comparison.verdict)
    };
    Ok(LATENCY_PERCENTILES.map(row).to_vec())
}

fn microseconds(nanoseconds: u64) -> String {
    format!("{:.0}", nanoseconds as f64 / 1000.0)
}
