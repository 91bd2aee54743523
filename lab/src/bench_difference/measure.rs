//! Servers measured by `wirebench run` and `wirebench ab`, and the verdicts in the JSON of both.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    slowed::{FAR_SECONDS, NEAR_SECONDS},
    tally::Judged,
};
use crate::process::{command, finish, root};

/// Instances of one server in each cohort of a suite of equal ones: two of them are the baseline.
const COPIES: &str = "10";
const COHORTS: &str = "4";
/// The variable from which wirebench takes distances between CPUs instead of measuring them.
const SYNTHETIC: &str = "WIREBENCH_SYNTHETIC_DISTANCES";
const FIGURE: &str = "server_cpu_ns_per_request";
/// A run of wirebench that lasts longer has failed.
const LIMIT: Duration = Duration::from_secs(3600);

/// The arguments of a suite, and the distances of a synthetic machine for its probe.
pub(super) struct Suite {
    arguments: Vec<String>,
    distances: Option<String>,
}

impl Suite {
    /// Ten instances of `c/epoll`.
    pub(super) fn equal() -> Self {
        let arguments = ["c/epoll", "--copies", COPIES].map(str::to_owned).to_vec();
        Self { arguments, distances: None }
    }

    pub(super) fn of(servers: &[PathBuf]) -> Self {
        let words = |program: &PathBuf| ["--server".to_owned(), template(program)];
        Self { arguments: servers.iter().flat_map(words).collect(), distances: None }
    }

    /// On a machine whose CPUs are near and far in turn.
    pub(super) fn changing(self) -> Self {
        Self { distances: Some(format!("80,400,{NEAR_SECONDS},{FAR_SECONDS}")), ..self }
    }

    pub(super) fn measure(&self, wirebench: &Path) -> anyhow::Result<Vec<Judged>> {
        let began = Instant::now();
        let report = self.run(wirebench)?;
        let seconds = began.elapsed().as_secs_f64();
        let mut judged = Vec::new();
        // The baseline's second instance is a check of the machine, not a row.
        for row in rows(&report).filter(|row| row["role"] == "entrant") {
            let ratio = &row["figures"][FIGURE]["ratio"];
            let variant = text(&row["variant"]);
            let copy = row["copy"].as_u64().context("a row has no number of its copy")?;
            let name = format!("{variant} #{}", copy + 1);
            let claim = text(&ratio["claim"]);
            let judge = Judged::read(name, claim, ratio, &ratio["interval"]);
            let slower_percent = slower_percent(&variant);
            judged.extend(judge.map(|it| Judged { slower_percent, seconds, ..it }));
        }
        ensure!(!judged.is_empty(), "no row was judged: the report has no claims");
        Ok(judged)
    }

    /// CPU time per request of its servers, in nanoseconds: the median of their medians.
    pub(super) fn cost_ns(&self, wirebench: &Path) -> anyhow::Result<f64> {
        let report = self.run(wirebench)?;
        let medians = rows(&report).filter_map(|row| row["figures"][FIGURE]["median"].as_f64());
        wirebench_stats::median(&medians.collect::<Vec<_>>())
            .context("the report has no CPU time per request")
    }

    fn run(&self, wirebench: &Path) -> anyhow::Result<Value> {
        let folder = root().join("target/wirebench/bench-difference");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let mut command = command(wirebench, ["run", "--scenario", "hello", "--phase", "saturate"]);
        command.args(["--cohorts", COHORTS, "--no-verify", "--quiet", "--output"]).arg(&folder);
        command.envs(self.distances.iter().map(|it| (SYNTHETIC, it))).args(&self.arguments);
        finish(command, LIMIT)?.output()?;
        // Folders are named by the time.
        let results = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let path = results.max().context("the run left no folder")?.join("report.json");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
}

/// Compares two servers by `wirebench ab` and prints the sentence.
pub(super) fn compare(
    wirebench: &Path,
    programs: [&Path; 2],
    budget: Duration,
) -> anyhow::Result<Vec<Judged>> {
    let [a, b] = programs.map(template);
    let words = ["ab", "--a", &a, "--b", &b, "--json", "--quiet", "--no-verify"];
    let mut command = command(wirebench, words);
    command.args(["--metric", "cpu", "--budget", &format!("{}s", budget.as_secs())]);
    let began = Instant::now();
    let (sentence, judged) = verdict(&finish(command, LIMIT)?.output()?)?;
    println!("{sentence}");
    let name = programs[1].to_string_lossy();
    let (slower_percent, seconds) = (slower_percent(&name), began.elapsed().as_secs_f64());
    Ok(vec![Judged { slower_percent, seconds, ..judged }])
}

/// The sentence and the verdict of `wirebench ab --json`.
fn verdict(output: &str) -> anyhow::Result<(String, Judged)> {
    let output: Value = serde_json::from_str(output).context("`wirebench ab --json`")?;
    let ratio = &output["figures"][FIGURE]["ratio"];
    let judged = Judged::read("B".to_owned(), text(&output["verdict"]), ratio, ratio);
    Ok((text(&output["sentence"]), judged.context("`wirebench ab --json` has no ratio")?))
}

impl Judged {
    /// From a ratio of a report, if it has a value.
    fn read(name: String, claim: String, ratio: &Value, interval: &Value) -> Option<Self> {
        let ratio = ratio["value"].as_f64()?;
        let edges = interval["low"].as_f64().zip(interval["high"].as_f64());
        let half_width = edges.map(|(low, high)| (high - low) / 2.0 / ratio);
        Some(Self { name, slower_percent: 0.0, claim, ratio, half_width, seconds: 0.0 })
    }
}

/// The command of a program that takes the arguments of the server contract.
fn template(program: &Path) -> String {
    format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display())
}

/// How much slower a server was made, which the end of its name says.
fn slower_percent(name: &str) -> f64 {
    name.rsplit('-').next().and_then(|it| it.parse().ok()).unwrap_or(0.0)
}

fn rows(report: &Value) -> impl Iterator<Item = &Value> {
    let workloads = report["workloads"].as_array().into_iter().flatten();
    workloads.flat_map(|workload| workload["rows"].as_array().into_iter().flatten())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_with_its_interval() {
        let text = r#"{"sentence": "B uses more", "verdict": "higher", "pairs": 6,
            "figures": {"server_cpu_ns_per_request": {"a": 4500.5, "b": 4725.0,
            "ratio": {"value": 1.05, "low": 1.029, "high": 1.071}}}}"#;
        let (sentence, judged) = verdict(text).unwrap();
        assert_eq!((sentence.as_str(), judged.claim.as_str()), ("B uses more", "higher"));
        assert!((judged.half_width.unwrap() - 0.02).abs() < 1e-9);
        assert!(verdict(&text.replace("1.05", "null")).is_err());
        let names = ["c/epoll", "own/plain", "own/changing-0", "bench-difference/slowed-5"];
        assert_eq!(names.map(|it| slower_percent(it) as u32), [0, 0, 0, 5]);
    }
}
