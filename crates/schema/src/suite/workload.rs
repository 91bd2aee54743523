//! One workload of a suite: a scenario and the load on it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, time::Duration};

use super::phase::Phase;
use crate::{
    duration_text::DurationText,
    entry::RunCommand,
    load::{
        ClosedPolicy, LoadConfig, LoadModel, Rate, RateCurve, RequestSet, Stop, THREADS_LIMIT,
        Trust,
    },
    refuse::refuse_if,
    scenario::{Protocol, Scenario},
    target::Target,
};

/// A scenario and the load on it, applied to every entry.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Workload {
    /// Its name, unique in the suite.
    pub name: String,
    /// The scenario of the server.
    pub scenario: Scenario,
    /// The phase.
    #[serde(default)]
    pub phase: Phase,
    /// Workers of each server in this workload; absent means as many as in the others.
    pub workers: Option<u32>,
    /// The load model. A closed loop in a cost phase represents a rate that a pilot will find.
    #[serde(default)]
    pub model: LoadModel,
    /// Connections in total that carry requests; in an idle phase the idle connections.
    pub connections: usize,
    /// Threads of the generator; absent means one for each of its CPUs.
    pub threads: Option<usize>,
    /// Additional connections that stay idle during the load.
    #[serde(default)]
    pub idle_connections: usize,
    /// Requests that may be in flight on one connection.
    #[serde(default = "one")]
    pub pipeline: usize,
    /// The client closes and reopens a connection after this many requests.
    pub requests_per_connection: Option<u64>,
    /// For HTTP: what becomes of a request whose connection the server closes before its reply.
    #[serde(default)]
    pub on_closed: ClosedPolicy,
    /// For HTTP: further header lines of each request, name and value.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// In the scenario `requests`: the requests and what they expect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestSet>,
    /// For HTTPS: the trusted authorities.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub trust: Trust,
    /// For echo: bytes per message.
    pub payload_bytes: usize,
    /// Load that is not counted.
    #[serde(with = "DurationText")]
    pub warmup: Duration,
    /// Requests of a separate load before the measured one, on the same server.
    pub warmup_requests: Option<u64>,
    /// The limit of the warm-up until steady, a separate load before the measured one. Zero means
    /// none.
    #[serde(default, with = "DurationText")]
    pub steady_within: Duration,
    /// The end of the window.
    pub stop: Stop,
    /// The limit for a reply.
    #[serde(with = "DurationText")]
    pub timeout: Duration,
    /// Whether each run has a process and a window of its own although it could be measured in visits.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub own_process: bool,
}

const fn one() -> usize {
    1
}

impl Workload {
    /// The usual load of this scenario: that of `wirebench load`.
    #[must_use]
    pub fn new(scenario: Scenario) -> Self {
        Self {
            name: scenario.to_string(),
            scenario,
            phase: Phase::Saturate,
            workers: None,
            model: LoadModel::Closed,
            connections: 10,
            threads: None,
            idle_connections: 0,
            pipeline: 1,
            requests_per_connection: None,
            on_closed: ClosedPolicy::Fail,
            headers: Vec::new(),
            requests: None,
            trust: Trust::System,
            payload_bytes: 64,
            warmup: Duration::ZERO,
            warmup_requests: None,
            steady_within: Duration::ZERO,
            stop: Stop::After(Duration::from_secs(10)),
            timeout: Duration::from_secs(2),
            own_process: false,
        }
    }

    /// Whether it can be measured in visits; otherwise it needs a process and a window of its own.
    #[must_use]
    pub fn has_slices(&self) -> bool {
        let is_even = match &self.model {
            LoadModel::Closed => self.phase == Phase::Saturate || self.needs_rate(),
            LoadModel::Think { .. } => false,
            LoadModel::Rate { curve, .. } => matches!(curve, RateCurve::Constant(_)),
        };
        is_even
            && !self.own_process
            && self.phase != Phase::Idle
            && matches!(self.stop, Stop::After(_))
            && self.requests_per_connection.is_none()
            && self.warmup_requests.is_none()
            && self.idle_connections == 0
    }

    /// Whether one of its requests says which bodies are correct.
    #[must_use]
    pub fn expects_bodies(&self) -> bool {
        self.requests.iter().flat_map(|set| &set.requests).any(|it| it.expect.names_body())
    }

    /// Whether a pilot must find the rate first.
    #[must_use]
    pub fn needs_rate(&self) -> bool {
        self.phase == Phase::Cost && self.model == LoadModel::Closed
    }

    /// Tells if its requests follow a schedule, also one whose rate a pilot finds.
    #[must_use]
    pub fn has_rate(&self) -> bool {
        self.needs_rate() || matches!(self.model, LoadModel::Rate { .. })
    }

    /// The same at `rate`: by its own schedule, or else evenly and with latencies from the moment a request is due.
    #[must_use]
    pub fn at_rate(&self, rate: impl Into<Rate>) -> Self {
        let curve = RateCurve::Constant(rate.into());
        let model = match self.model {
            LoadModel::Rate { arrivals, latency_from, .. } => {
                LoadModel::Rate { curve, arrivals, latency_from }
            }
            LoadModel::Closed | LoadModel::Think { .. } => LoadModel::rate(curve),
        };
        Self { model, ..self.clone() }
    }

    /// The same for another phase, with the phase behind its name. A cost phase of it needs a rate;
    /// an idle one has the default number of idle connections.
    #[must_use]
    pub fn in_phase(&self, phase: Phase) -> Self {
        let connections = match phase {
            Phase::Idle => IDLE_PHASE_CONNECTIONS,
            Phase::Saturate | Phase::Cost => self.connections,
        };
        let name = format!("{}-{phase}", self.name);
        Self { name, phase, connections, model: LoadModel::Closed, ..self.clone() }
    }

    /// The first reason why it cannot be carried out.
    pub fn check(&self) -> Result<(), String> {
        self.check_requests()?;
        if self.phase == Phase::Idle {
            // No load is made of it.
            refuse_if!(self.connections == 0, "0 idle connections cost nothing: give at least 1");
            return Ok(());
        }
        refuse_if!(
            !self.steady_within.is_zero() && self.steady_within < SHORTEST_STEADY,
            "`steady_within = \"{}\"` is too short to tell what is steady: write at least \"1s\", or \"0s\" for none",
            crate::units::write_duration(self.steady_within)
        );
        let anywhere = Target::of_scenario(self.scenario, "127.0.0.1", 1);
        self.load_config(anywhere, 1, 1).check()
    }

    fn check_requests(&self) -> Result<(), String> {
        let has_contract = self.scenario != Scenario::Requests;
        refuse_if!(
            self.requests.is_none() && !has_contract,
            "the scenario `requests` needs requests: give --path or --requests FILE, or write `requests_file = \
             \"FILE\"` in the suite, or `requests = \"FILE\"` in entry.toml"
        );
        refuse_if!(
            self.requests.is_some() && has_contract,
            "the requests of `{0}` are those of its contract: write `scenario = \"requests\"` instead of `{0}`",
            self.scenario
        );
        Ok(())
    }

    /// The load of this workload on a server at `address`, or on the Unix socket with the path `socket`.
    #[must_use]
    pub fn load_config_on(
        &self,
        run: &RunCommand,
        (address, socket): (SocketAddr, Option<&str>),
        threads: usize,
        seed: u64,
    ) -> LoadConfig {
        let host = match address {
            SocketAddr::V6(it) if it.scope_id() != 0 => format!("{}%{}", it.ip(), it.scope_id()),
            _ => address.ip().to_string(),
        };
        let port = address.port();
        let target = match (&run.service, &run.url) {
            (Some(service), _) => service.target.clone(),
            (None, Some(url)) if self.scenario == Scenario::Requests => url.at(address),
            _ => Target::of_scenario(self.scenario, &host, port),
        };
        // A name in the URL is that of the certificate and of the Host field.
        let is_elsewhere =
            socket.is_none() && (target.host(), target.port()) != (host.as_str(), port);
        let connect_to = is_elsewhere.then(|| Target::new(Protocol::Echo, &host, port, ""));
        let unix_socket = socket.map(str::to_owned);
        LoadConfig { connect_to, unix_socket, ..self.load_config(target, threads, seed) }
    }

    /// The load of this workload on `target`, with `threads` threads unless it says how many. No
    /// more are used than there are connections.
    #[must_use]
    pub fn load_config(&self, target: Target, threads: usize, seed: u64) -> LoadConfig {
        let reply_body = target.protocol().traits().reply_body.filter(|_| self.requests.is_none());
        LoadConfig {
            model: self.model.clone(),
            threads: self.threads.unwrap_or(threads).min(self.connections).min(THREADS_LIMIT),
            connections: self.connections,
            idle_connections: self.idle_connections,
            pipeline: self.pipeline,
            requests_per_connection: self.requests_per_connection,
            on_closed: self.on_closed,
            headers: self.headers.clone(),
            warmup: self.warmup,
            stop: self.stop,
            timeout: self.timeout,
            payload_bytes: self.payload_bytes,
            heavy: self.scenario.heavy(),
            expect_body: reply_body.map(str::to_owned),
            requests: self.requests.as_ref().map(|set| set.with_path(target.path())),
            trust: if target.is_tls() { self.trust.clone() } else { Trust::System },
            seed,
            ..LoadConfig::new(target)
        }
    }
}

/// The shortest time in which a rate can be found steady: the values of 800 ms, and the moment in
/// which connections find their pace.
const SHORTEST_STEADY: Duration = Duration::from_secs(1);

/// Silent connections in an idle phase, unless the suite says how many.
pub(super) const IDLE_PHASE_CONNECTIONS: usize = 1000;
