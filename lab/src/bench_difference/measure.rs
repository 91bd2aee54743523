//! Servers measured by `wirebench run` and `wirebench ab`, and the verdicts in the JSON of both.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    slowed::{FAR_SECONDS, NEAR_SECONDS},
    tally::Judged,
};
use crate::process::{command, finish};

/// The variable from which wirebench takes distances between CPUs instead of measuring them.
const SYNTHETIC: &str = "WIREBENCH_SYNTHETIC_DISTANCES";
const FIGURE: &str = "server_cpu_ns_per_request";
/// A run of wirebench that lasts longer has failed.
const LIMIT: Duration = Duration::from_secs(3600);

/// A measurement that is repeated.
pub(super) enum Subject {
    /// Ten instances of `c/epoll` in each cohort of `wirebench run`; two of them are the baseline.
    Equal,
    /// These servers, measured by `wirebench run`.
    Suite(Vec<PathBuf>),
    /// A suite on a machine whose CPUs are near and far in turn.
    Changing(Vec<PathBuf>),
    /// Two servers compared by `wirebench ab` within the budget.
    Pair([PathBuf; 2], Duration),
}

impl Subject {
    pub(super) fn measure(&self, wirebench: &Path) -> anyhow::Result<Vec<Judged>> {
        let began = Instant::now();
        let mut judged = match self {
            Self::Pair([a, b], budget) => vec![compare(wirebench, a, b, *budget)?],
            _ => verdicts(&self.run(wirebench)?)?,
        };
        judged.iter_mut().for_each(|it| it.seconds = began.elapsed().as_secs_f64());
        Ok(judged)
    }

    /// CPU time per request of a suite's servers, in nanoseconds: the median of their medians.
    pub(super) fn cost_ns(&self, wirebench: &Path) -> anyhow::Result<f64> {
        let report = self.run(wirebench)?;
        let medians = items(&report, "cells").filter_map(|cell| figure(cell)["value"].as_f64());
        wirebench_stats::median(&medians.collect::<Vec<_>>()).context("the report has no CPU time")
    }

    /// The report of a suite.
    fn run(&self, wirebench: &Path) -> anyhow::Result<Value> {
        let mut command = command(wirebench, ["run", "--scenario", "hello", "--phase", "saturate"]);
        command.args(["--cohorts", "4", "--no-verify", "--quiet", "--json"]);
        // Apart from results that the user may look for.
        command.args(["--output", "target/wirebench/bench-difference"]);
        match self {
            Self::Suite(servers) | Self::Changing(servers) => {
                servers.iter().for_each(|it| _ = command.args(["--server", &template(it)]));
            }
            _ => _ = command.args(["c/epoll", "--copies", "10"]),
        }
        if let Self::Changing(_) = self {
            command.env(SYNTHETIC, format!("80,400,{NEAR_SECONDS},{FAR_SECONDS}"));
        }
        let report = finish(command, LIMIT)?.output()?;
        serde_json::from_str(&report).context("`wirebench run --json`")
    }
}

/// The verdicts of `wirebench run`.
fn verdicts(report: &Value) -> anyhow::Result<Vec<Judged>> {
    let mut judged = Vec::new();
    // The baseline's second instance is a check of the machine, not a row.
    for cell in items(report, "cells").filter(|cell| cell["role"] == "entrant") {
        let ratio = &figure(cell)["ratios"][0];
        let copy = cell["copy"].as_u64().context("a cell has no number of its copy")?;
        let name = format!("{} #{}", text(&cell["server"]), copy + 1);
        judged.extend(Judged::read(name, text(&ratio["claim"]), ratio));
    }
    ensure!(!judged.is_empty(), "no row was judged: the report has no claims");
    Ok(judged)
}

/// Compares two servers by `wirebench ab` and prints the sentence.
fn compare(wirebench: &Path, a: &Path, b: &Path, budget: Duration) -> anyhow::Result<Judged> {
    let budget = format!("{}s", budget.as_secs());
    let mut command = command(wirebench, ["ab", "--a", &template(a), "--b", &template(b)]);
    command.args(["--json", "--quiet", "--no-verify", "--metric", "cpu", "--budget", &budget]);
    let output = finish(command, LIMIT)?.output()?;
    let output: Value = serde_json::from_str(&output).context("`wirebench ab --json`")?;
    println!("{}", text(&output["sentence"]));
    let ratio = &figure(&output["cells"][1])["ratios"][0];
    let judged = Judged::read(b.display().to_string(), text(&output["verdict"]), ratio);
    judged.context("`wirebench ab --json` has no ratio")
}

impl Judged {
    /// From a ratio of a report, if it has a value.
    fn read(name: String, claim: String, ratio: &Value) -> Option<Self> {
        let (ratio, interval) = (ratio["value"].as_f64()?, &ratio["interval"]);
        let edges = interval["low"].as_f64().zip(interval["high"].as_f64());
        let half_width = edges.map(|(low, high)| (high - low) / 2.0 / ratio);
        let slower_percent = slower_percent(&name);
        Some(Self { name, slower_percent, claim, ratio, half_width, seconds: 0.0 })
    }
}

/// The command of a program that takes the arguments of the server contract.
fn template(program: &Path) -> String {
    format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display())
}

/// How much slower a server was made, which the end of its name says, before the number of its copy.
fn slower_percent(name: &str) -> f64 {
    let program = name.split(" #").next().unwrap_or(name);
    program.rsplit('-').next().and_then(|it| it.parse().ok()).unwrap_or(0.0)
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

/// CPU time per request of a cell.
fn figure(cell: &Value) -> &Value {
    items(cell, "figures").find(|it| it["metric"] == FIGURE).unwrap_or(&Value::Null)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_verdict_is_read_with_its_interval_and_with_the_slowdown_in_its_name() {
        let ratio = json!({"value": 1.05, "interval": {"low": 1.029, "high": 1.071}});
        let read = |name: &str| Judged::read(name.to_owned(), "higher".to_owned(), &ratio);
        let names = ["c/epoll #1", "own/plain #1", "own/changing-0 #1", "own/slowed-5 #2"];
        let judged = names.map(|name| read(name).unwrap());
        assert!((judged[0].half_width.unwrap() - 0.02).abs() < 1e-9);
        assert_eq!(judged.map(|it| it.slower_percent as u32), [0, 0, 0, 5]);
        assert!(Judged::read(String::new(), String::new(), &json!({})).is_none());
    }
}
