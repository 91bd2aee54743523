//! One workload of a suite: a scenario and the load on it.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::SuiteError;
use crate::{
    load::{Arrivals, LatencyOrigin, LoadConfig, LoadModel, RateCurve, Stop, THREADS_LIMIT},
    scenario::Scenario,
    target::Target,
};

/// What every entry is put under: a scenario and the load on it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Workload {
    /// Its name, unique in the suite.
    pub name: String,
    /// What the server must do.
    pub scenario: Scenario,
    /// How requests are offered.
    #[serde(default)]
    pub model: LoadModel,
    /// Connections in total.
    pub connections: usize,
    /// Connections beyond those that stay silent.
    #[serde(default)]
    pub idle_connections: usize,
    /// Requests that may be in flight on one connection.
    #[serde(default = "default_pipeline")]
    pub pipeline: usize,
    /// After so many requests the client closes a connection and makes another one.
    #[serde(default)]
    pub requests_per_connection: Option<u64>,
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
        let is_http = target.protocol() == crate::scenario::Protocol::Http1;
        LoadConfig {
            model: self.model.clone(),
            threads: threads.min(self.connections).min(THREADS_LIMIT),
            connections: self.connections,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            warmup: self.warmup,
            stop: self.stop,
            timeout: self.timeout,
            payload_bytes: self.payload_bytes,
            expect_body: is_http.then(|| crate::scenario::HELLO_BODY.to_owned()),
            seed,
            ..LoadConfig::new(target)
        }
    }
}

/// A workload as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WireWorkload {
    pub(super) name: String,
    scenario: Scenario,
    connections: usize,
    #[serde(default)]
    idle_connections: usize,
    #[serde(default = "default_pipeline")]
    pipeline: usize,
    requests_per_connection: Option<u64>,
    rate: Option<u64>,
    arrivals: Option<Arrivals>,
    #[serde(default, with = "crate::units::duration_text")]
    delay: Duration,
    #[serde(default = "default_payload")]
    payload: String,
    #[serde(default, with = "crate::units::duration_text")]
    warmup: Duration,
    duration: Option<String>,
    requests: Option<u64>,
    count_per_connection: Option<u64>,
    #[serde(default = "default_timeout", with = "crate::units::duration_text")]
    timeout: Duration,
}

const fn default_pipeline() -> usize {
    1
}

fn default_payload() -> String {
    "64".to_owned()
}

const fn default_timeout() -> Duration {
    Duration::from_secs(2)
}

impl WireWorkload {
    /// Says what it means, or why it cannot be meant.
    pub(super) fn resolve(self) -> Result<Workload, SuiteError> {
        let name = self.name.clone();
        self.checked().map_err(|message| SuiteError(format!("workload `{name}`: {message}")))
    }

    fn checked(self) -> Result<Workload, String> {
        let payload = crate::units::parse_size(&self.payload).map_err(|e| e.to_string())?;
        let workload = Workload {
            stop: self.stop()?,
            model: self.model()?,
            name: self.name,
            scenario: self.scenario,
            connections: self.connections,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            payload_bytes: usize::try_from(payload).map_err(|e| e.to_string())?,
            warmup: self.warmup,
            timeout: self.timeout,
        };
        let anywhere = Target::new(workload.scenario.protocol(), "127.0.0.1", 1, "/");
        workload.load_config(anywhere, 1, 1).check()?;
        Ok(workload)
    }

    fn stop(&self) -> Result<Stop, String> {
        match (&self.duration, self.requests, self.count_per_connection) {
            (Some(text), None, None) => {
                crate::units::parse_duration(text).map(Stop::After).map_err(|e| e.to_string())
            }
            (None, Some(requests), None) => Ok(Stop::Requests(requests)),
            (None, None, Some(requests)) => Ok(Stop::RequestsPerConnection(requests)),
            _ => Err("write exactly one of duration, requests and count_per_connection".to_owned()),
        }
    }

    fn model(&self) -> Result<LoadModel, String> {
        let arrivals = self.arrivals.unwrap_or_default();
        match (self.rate, self.delay.is_zero()) {
            (None, _) if self.arrivals.is_some() => {
                Err("`arrivals` needs a `rate`: write rate = 1000".to_owned())
            }
            (None, true) => Ok(LoadModel::Closed),
            (None, false) => Ok(LoadModel::Think { delay: self.delay }),
            (Some(rate), true) => Ok(LoadModel::Rate {
                curve: RateCurve::Constant(rate),
                arrivals,
                latency_from: LatencyOrigin::Due,
            }),
            (Some(_), false) => Err("write at most one of rate and delay".to_owned()),
        }
    }
}
