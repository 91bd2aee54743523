//! A suite of servers measured by `wirebench run`, and the report of each row.

use anyhow::{Context, ensure};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    slowed::{FAR_SECONDS, NEAR_SECONDS},
    tally::Judged,
};
use crate::programs::{command, output, root};

/// Instances of one server in each cohort of a suite of equal ones: two of them are the baseline.
const COPIES: &str = "10";
const COHORTS: &str = "4";
/// The variable from which wirebench takes distances between CPUs instead of measuring them.
const SYNTHETIC: &str = "WIREBENCH_SYNTHETIC_DISTANCES";
const FIGURE: &str = "server_cpu_ns_per_request";

/// The servers, and how much slower each row is, by its name.
pub(super) struct Suite {
    arguments: Vec<String>,
    slower_percent: BTreeMap<String, f64>,
    /// Distances of a synthetic machine, for the probe.
    distances: Option<String>,
}

impl Suite {
    /// Ten instances of `c/epoll`.
    pub(super) fn equal() -> Self {
        let arguments = ["c/epoll", "--copies", COPIES].map(str::to_owned).to_vec();
        Self { arguments, slower_percent: BTreeMap::new(), distances: None }
    }

    /// These servers next to `c/epoll`, with how much slower each is.
    pub(super) fn of(servers: &[(f64, PathBuf)]) -> Self {
        let mut arguments = Vec::new();
        let mut slower_percent = BTreeMap::new();
        for (percent, program) in servers {
            let line = format!("{} {{scenario}} {{host}} {{port}} {{workers}}", program.display());
            arguments.extend(["--server".to_owned(), line]);
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            slower_percent.insert(format!("own/{name}"), *percent);
        }
        Self { arguments, slower_percent, distances: None }
    }

    /// On a machine whose CPUs are near and far in turn.
    pub(super) fn changing(self) -> Self {
        let distances = format!("80,400,{NEAR_SECONDS},{FAR_SECONDS}");
        Self { distances: Some(distances), ..self }
    }

    pub(super) fn measure(&self, wirebench: &Path) -> anyhow::Result<Vec<Judged>> {
        let began = Instant::now();
        let report = self.run(wirebench)?;
        let seconds = began.elapsed().as_secs_f64();
        let mut judged = Vec::new();
        // The baseline's second instance is a check of the machine, not a row.
        for row in rows(&report).filter(|row| row["role"] == "entrant") {
            let ratio = &row["figures"][FIGURE]["ratio"];
            let Some(value) = ratio["value"].as_f64() else { continue };
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let variant = text(&row["variant"]);
            let copy = row["copy"].as_u64().context("a row has no number of its copy")?;
            let [low, high] = ["low", "high"].map(|edge| ratio["interval"][edge].as_f64());
            judged.push(Judged {
                name: format!("{variant} #{}", copy + 1),
                slower_percent: self.slower_percent.get(&variant).copied().unwrap_or(0.0),
                claim: text(&ratio["claim"]),
                ratio: value,
                half_width: low.zip(high).map(|(low, high)| (high - low) / 2.0 / value),
                seconds,
            });
        }
        ensure!(!judged.is_empty(), "no row was judged: the report has no claims");
        Ok(judged)
    }

    /// CPU time per request of its servers, in nanoseconds: the median of their medians.
    pub(super) fn cost_ns(&self, wirebench: &Path) -> anyhow::Result<f64> {
        let report = self.run(wirebench)?;
        let medians = rows(&report).filter_map(|row| row["figures"][FIGURE]["median"].as_f64());
        let medians: Vec<f64> = medians.collect();
        wirebench_stats::median(&medians).context("the report has no CPU time per request")
    }

    fn run(&self, wirebench: &Path) -> anyhow::Result<Value> {
        let folder = root().join("target/wirebench/bench-difference");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let mut command = command(wirebench, ["run", "--scenario", "hello", "--phase", "saturate"]);
        command.args(["--cohorts", COHORTS, "--no-verify", "--quiet", "--output"]).arg(&folder);
        command.envs(self.distances.iter().map(|it| (SYNTHETIC, it)));
        output(command.args(&self.arguments))?;
        // Folders are named by the time.
        let results = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
        let path = results.max().context("the run left no folder")?.join("report.json");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
}

/// The rows of all workloads of a `report.json`.
fn rows(report: &Value) -> impl Iterator<Item = &Value> {
    let workloads = report["workloads"].as_array().into_iter().flatten();
    workloads.flat_map(|workload| workload["rows"].as_array().into_iter().flatten())
}
