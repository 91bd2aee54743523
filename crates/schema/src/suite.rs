//! Suites: which entries are measured with which workloads, and how often.

mod workload;

pub use workload::Workload;

use serde::Deserialize;
use std::collections::BTreeSet;

use self::workload::WireWorkload;

/// Why a suite is not one. The message is a sentence; the caller adds the file's name.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct SuiteError(String);

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

/// The entry that ratios refer to when a suite names none.
pub const DEFAULT_BASELINE: &str = "c/epoll";

fn default_baseline() -> String {
    DEFAULT_BASELINE.to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        load::{Arrivals, LatencyOrigin, LoadModel, RateCurve, Stop},
        scenario::Scenario,
        target::Target,
    };
    use std::time::Duration;

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
            (SUITE.replace("duration = \"1s\"", ""), "exactly one of duration, requests and"),
            (SUITE.replace("connections = 64", "connections = 0"), "0 connections"),
            (format!("{SUITE}rate = 0"), "0 requests/s is not a rate"),
            (format!("{SUITE}rate = 5\ndelay = \"1ms\""), "at most one of rate and delay"),
            (format!("{SUITE}arrivals = \"poisson\""), "`arrivals` needs a `rate`"),
            (format!("{SUITE}pipeline = 0"), "0 requests cannot be in flight"),
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
    fn a_workload_can_have_any_load_model() {
        let workload = |lines: &str| {
            Suite::parse("example", &format!("{SUITE}{lines}")).unwrap().workloads.remove(0)
        };
        assert_eq!(workload("").model, LoadModel::Closed);
        let delay = Duration::from_millis(1);
        assert_eq!(workload("delay = \"1ms\"").model, LoadModel::Think { delay });
        let (curve, latency_from) = (RateCurve::Constant(5000), LatencyOrigin::Due);
        let arrivals = Arrivals::Poisson;
        let expected = LoadModel::Rate { curve, arrivals, latency_from };
        assert_eq!(workload("rate = 5000\narrivals = \"poisson\"").model, expected);
        let crowd = workload("pipeline = 16\nrequests_per_connection = 10\nidle_connections = 3");
        let target = Target::new(Scenario::Hello.protocol(), "127.0.0.1", 1, "/");
        let config = crowd.load_config(target, 1, 1);
        assert_eq!((config.pipeline, config.requests_per_connection), (16, Some(10)));
        assert_eq!(config.idle_connections, 3);
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
