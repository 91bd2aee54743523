//! What the load generator is asked to do, what it says while it works, and what it reports.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::target::Target;

mod report;

pub use report::{ErrorCounts, Fairness, LatencySummary, LoadEvent, LoadReport, ThreadRate};

/// The version of [`LoadReport`] and [`LoadEvent`]. It grows whenever a field changes its meaning
/// or goes away.
pub const LOAD_FORMAT: u32 = 1;

/// The most threads of one load: more than any machine has CPUs for, and few enough to be made.
pub const THREADS_LIMIT: usize = 1024;

/// The shortest window of which anything can be told.
pub const SHORTEST_WINDOW: Duration = Duration::from_millis(10);

/// When the measured window ends.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// After this time.
    After(#[serde(with = "crate::units::duration_text")] Duration),
    /// When this many requests, over all connections, have been answered or have failed.
    Requests(u64),
}

/// The mechanism that moves the bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The best one that works here.
    #[default]
    Auto,
    /// Readiness notification.
    Epoll,
}

/// How requests are offered.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadModel {
    /// Each connection sends its next request when the last one is answered.
    #[default]
    Closed,
}

/// The whole configuration of one load, as it takes effect. [`LoadConfig::check`] says whether it
/// can be carried out.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoadConfig {
    /// Where to.
    pub target: Target,
    /// By which mechanism.
    pub engine: EngineChoice,
    /// By which model.
    pub model: LoadModel,
    /// Threads, each with its own share of the connections.
    pub threads: usize,
    /// Connections in total.
    pub connections: usize,
    /// Load before the measured window, which is offered and checked but not counted.
    #[serde(with = "crate::units::duration_text")]
    pub warmup: Duration,
    /// When the measured window ends.
    pub stop: Stop,
    /// How long a reply, or a connection being made, may take.
    #[serde(with = "crate::units::duration_text")]
    pub timeout: Duration,
    /// For echo: bytes per message.
    pub payload_bytes: usize,
    /// For HTTP: the method.
    pub method: String,
    /// For HTTP: further header lines, name and value.
    pub headers: Vec<(String, String)>,
    /// For HTTP: the body that every reply must have; without it the body of the first reply sets
    /// the expectation.
    pub expect_body: Option<String>,
    /// The seed of the random echo payload.
    pub seed: u64,
}

impl LoadConfig {
    /// The defaults of `wirebench load`: wrk's two threads, ten connections, ten seconds.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            engine: EngineChoice::Auto,
            model: LoadModel::Closed,
            threads: 2,
            connections: 10,
            warmup: Duration::ZERO,
            stop: Stop::After(Duration::from_secs(10)),
            timeout: Duration::from_secs(2),
            payload_bytes: 64,
            method: "GET".to_owned(),
            headers: Vec::new(),
            expect_body: None,
            seed: 1,
        }
    }

    /// The first reason why this cannot be carried out, as a sentence with the next step.
    pub fn check(&self) -> Result<(), String> {
        if self.connections == 0 {
            return Err("0 connections send nothing: give -c at least 1".to_owned());
        }
        if self.threads == 0 {
            return Err("0 threads send nothing: give -t at least 1".to_owned());
        }
        if self.threads > THREADS_LIMIT {
            return Err(format!(
                "{} threads are more than one load can have: give -t at most {THREADS_LIMIT}",
                self.threads
            ));
        }
        if self.threads > self.connections {
            return Err(format!(
                "{} threads cannot share {} connections: give -c at least as many as -t",
                self.threads, self.connections
            ));
        }
        match self.stop {
            Stop::After(window) if window < SHORTEST_WINDOW => {
                return Err(format!(
                    "a window of {} measures nothing: give -d at least {}, better 10s",
                    crate::units::write_duration(window),
                    crate::units::write_duration(SHORTEST_WINDOW)
                ));
            }
            Stop::Requests(0) => {
                return Err("0 requests measure nothing: give -n at least 1".to_owned());
            }
            Stop::After(_) | Stop::Requests(_) => {}
        }
        if self.timeout.is_zero() {
            return Err("with a timeout of 0 s every reply is late: give --timeout 2s".to_owned());
        }
        if self.payload_bytes == 0 {
            return Err("an echo of 0 bytes has no reply: give --payload at least 1".to_owned());
        }
        for (name, value) in &self.headers {
            let name_ok = http::HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !name_ok || http::HeaderValue::from_str(value).is_err() {
                return Err(format!("`{name}: {value}` is not a header: write -H 'Name: value'"));
            }
        }
        if http::Method::from_bytes(self.method.as_bytes()).is_err() {
            return Err(format!("`{}` is not an HTTP method: write GET or POST", self.method));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> LoadConfig {
        LoadConfig::new("http://127.0.0.1:80/".parse().unwrap())
    }

    #[test]
    fn the_defaults_can_be_carried_out() {
        assert_eq!(config().check(), Ok(()));
    }

    #[test]
    fn what_measures_nothing_is_refused_with_the_option_that_mends_it() {
        type Spoil = fn(&mut LoadConfig);
        let rows: [(Spoil, &str); 8] = [
            (|c| c.connections = 0, "-c"),
            (|c| c.threads = 0, "-t"),
            (|c| c.threads = 11, "-c"),
            (|c| c.stop = Stop::After(Duration::ZERO), "-d"),
            (|c| c.stop = Stop::Requests(0), "-n"),
            (|c| c.timeout = Duration::ZERO, "--timeout"),
            (|c| c.payload_bytes = 0, "--payload"),
            (|c| c.headers = vec![("a b".into(), "c".into())], "-H"),
        ];
        for (spoil, option) in rows {
            let mut config = config();
            spoil(&mut config);
            let message = config.check().unwrap_err();
            assert!(message.contains(option), "{message}");
        }
    }

    #[test]
    fn more_threads_than_a_load_can_have_are_refused_with_the_bound() {
        let load = |threads| LoadConfig { threads, connections: 1_000_000_000, ..config() };
        assert_eq!(load(THREADS_LIMIT).check(), Ok(()));
        for threads in [THREADS_LIMIT + 1, 1_000_000_000] {
            let message = load(threads).check().unwrap_err();
            assert!(message.ends_with("give -t at most 1024"), "{message}");
        }
    }

    #[test]
    fn the_configuration_reads_back_from_json() {
        let text = serde_json::to_string(&config()).unwrap();
        assert_eq!(serde_json::from_str::<LoadConfig>(&text).unwrap(), config());
        assert!(
            serde_json::from_str::<LoadConfig>(&text.replacen("threads", "treads", 1)).is_err()
        );
    }
}
