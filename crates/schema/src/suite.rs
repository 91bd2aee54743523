//! Suites: which entries are measured with which workloads, and how often.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, time::Duration};

use crate::{
    load::{LoadConfig, Stop, THREADS_LIMIT},
    scenario::Scenario,
    target::Target,
};

/// Why a suite is not one. The message is a sentence; the caller adds the file's name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

/// What every entry is put under: a scenario and the load on it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Workload {
    /// Its name, unique in the suite.
    pub name: String,
    /// What the server must do.
    pub scenario: Scenario,
    /// Connections in total.
    pub connections: usize,
    /// For echo: bytes per message.
    pub payload_bytes: usize,
    /// Load that is not counted.
    #[serde(with = "crate::units::duration_text")]
    pub warmup: Duration,
    /// When the window ends.
    pub stop: Stop,
    /// How long a reply may take.
    #[serde(with = "crate::units::duration_text")]
    pub timeout: Duration,
}

impl Workload {
    /// The load of this workload on `target` with `threads` threads, of which no more are used than
    /// there are connections.
    #[must_use]
    pub fn load_config(&self, target: Target, threads: usize, seed: u64) -> LoadConfig {
        let body = (target.protocol() == crate::scenario::Protocol::Http1)
            .then(|| crate::scenario::HELLO_BODY.to_owned());
        LoadConfig {
            threads: threads.min(self.connections).min(THREADS_LIMIT),
            connections: self.connections,
            warmup: self.warmup,
            stop: self.stop,
            timeout: self.timeout,
            payload_bytes: self.payload_bytes,
            expect_body: body,
            seed,
            ..LoadConfig::new(target)
        }
    }
}

/// A set of workloads and how to measure them.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name, which is its file's.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Names of entries or variants; empty means all.
    pub entries: Vec<String>,
    /// The variant that the others are put in relation to.
    pub baseline: String,
    /// How often each cell is run.
    pub blocks: u32,
    /// Workers of each server; absent means one for each of the server's CPUs.
    pub workers: Option<u32>,
    /// At least one.
    pub workloads: Vec<Workload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSuite {
    description: String,
    #[serde(default)]
    entries: Vec<String>,
    #[serde(default = "default_baseline")]
    baseline: String,
    blocks: u32,
    workers: Option<u32>,
    workload: Vec<WireWorkload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireWorkload {
    name: String,
    scenario: Scenario,
    connections: usize,
    #[serde(default = "default_payload")]
    payload: String,
    #[serde(default, with = "crate::units::duration_text")]
    warmup: Duration,
    duration: Option<String>,
    requests: Option<u64>,
    #[serde(default = "default_timeout", with = "crate::units::duration_text")]
    timeout: Duration,
}

/// The entry that ratios refer to when a suite names none.
pub const DEFAULT_BASELINE: &str = "c/epoll";

fn default_baseline() -> String {
    DEFAULT_BASELINE.to_owned()
}

fn default_payload() -> String {
    "64".to_owned()
}

const fn default_timeout() -> Duration {
    Duration::from_secs(2)
}

impl Suite {
    /// Reads the text of a suite's file.
    pub fn parse(name: &str, text: &str) -> Result<Self, SuiteError> {
        let wire: WireSuite = toml::from_str(text)
            .map_err(|error| SuiteError(crate::toml_error::sentence(text, &error)))?;
        if wire.blocks == 0 {
            return Err(SuiteError("`blocks = 0` measures nothing: write at least 1".to_owned()));
        }
        if wire.workers == Some(0) {
            return Err(SuiteError("`workers = 0` serves nothing: write at least 1".to_owned()));
        }
        if wire.workload.is_empty() {
            return Err(SuiteError("no [[workload]]: write at least one".to_owned()));
        }
        let mut names = BTreeSet::new();
        let mut workloads = Vec::new();
        for workload in wire.workload {
            if !names.insert(workload.name.clone()) {
                return Err(SuiteError(format!("two workloads are named `{}`", workload.name)));
            }
            workloads.push(workload.resolve()?);
        }
        Ok(Self {
            name: name.to_owned(),
            description: wire.description,
            entries: wire.entries,
            baseline: wire.baseline,
            blocks: wire.blocks,
            workers: wire.workers,
            workloads,
        })
    }
}

impl WireWorkload {
    fn resolve(self) -> Result<Workload, SuiteError> {
        let name = self.name;
        let error = |message: String| SuiteError(format!("workload `{name}`: {message}"));
        let stop = match (&self.duration, self.requests) {
            (Some(text), None) => {
                Stop::After(crate::units::parse_duration(text).map_err(|e| error(e.to_string()))?)
            }
            (None, Some(requests)) => Stop::Requests(requests),
            _ => return Err(error("write exactly one of duration and requests".to_owned())),
        };
        let payload = crate::units::parse_size(&self.payload).map_err(|e| error(e.to_string()))?;
        let workload = Workload {
            scenario: self.scenario,
            connections: self.connections,
            payload_bytes: usize::try_from(payload).map_err(|e| error(e.to_string()))?,
            warmup: self.warmup,
            stop,
            timeout: self.timeout,
            name: name.clone(),
        };
        let anywhere = Target::new(self.scenario.protocol(), "127.0.0.1", 1, "/");
        workload.load_config(anywhere, 1, 1).check().map_err(error)?;
        Ok(workload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
warmup = "200ms"
duration = "1s"
"#;

    #[test]
    fn a_suite_has_defaults_for_all_that_it_does_not_say() {
        let suite = Suite::parse("example", SUITE).unwrap();
        assert_eq!((suite.baseline.as_str(), suite.workers), ("c/epoll", None));
        let workload = &suite.workloads[0];
        assert_eq!(workload.stop, Stop::After(Duration::from_secs(1)));
        assert_eq!(workload.warmup, Duration::from_millis(200));
    }

    #[test]
    fn each_mistake_is_answered_with_what_to_write() {
        let rows = [
            (SUITE.replace("blocks = 3", "blocks = 0"), "at least 1"),
            (SUITE.replace("blocks", "bloks"), "unknown key `bloks`: did you mean `blocks`?"),
            (SUITE.replace("warmup", "warm_up"), "did you mean `warmup`?"),
            (SUITE.replace("\"1s\"", "\"10x\""), "unknown unit `x`"),
            (SUITE.replace("duration = \"1s\"", ""), "exactly one of duration and requests"),
            (SUITE.replace("connections = 64", "connections = 0"), "0 connections"),
            (
                SUITE.replace("scenario = \"hello\"", "scenario = \"hallo\""),
                "unknown variant `hallo`",
            ),
            (format!("{SUITE}payload = \"4 KB\""), "unknown unit `KB`"),
            (
                format!("{SUITE}[[workload]]{}", SUITE.split("[[workload]]").nth(1).unwrap()),
                "two workloads",
            ),
        ];
        for (text, part) in rows {
            let message = Suite::parse("example", &text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_load_never_has_more_threads_than_connections() {
        let mut workload = Suite::parse("example", SUITE).unwrap().workloads.remove(0);
        workload.connections = 2;
        let target = Target::new(Scenario::Hello.protocol(), "127.0.0.1", 1, "/");
        let config = workload.load_config(target, 8, 1);
        assert_eq!((config.threads, config.check()), (2, Ok(())));
        assert_eq!(config.expect_body.as_deref(), Some("Hello world!"));
    }
}
