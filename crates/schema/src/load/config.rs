//! The complete configuration of a load, with all defaults applied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{net::IpAddr, time::Duration};

use super::{ClosedPolicy, IdleMode, LoadModel, RequestSet, message::Body};
use crate::{
    duration_text::DurationText,
    scenario::{HeavyConnections, Scenario},
    target::Target,
};

/// The end of the measured window.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// After this time.
    After(#[serde(with = "DurationText")] Duration),
    /// After this many answered or failed requests over all connections.
    Requests(u64),
    /// After this many answered or failed requests on each connection.
    RequestsPerConnection(u64),
}

impl Stop {
    /// How long a load is that ends after a time.
    #[must_use]
    pub const fn length(self) -> Option<Duration> {
        match self {
            Self::After(length) => Some(length),
            Self::Requests(_) | Self::RequestsPerConnection(_) => None,
        }
    }

    /// How many requests a load on this many connections makes that ends after a count.
    #[must_use]
    pub const fn count(self, connections: usize) -> Option<u64> {
        match self {
            Self::After(_) => None,
            Self::Requests(count) => Some(count),
            Self::RequestsPerConnection(count) => Some(count.saturating_mul(connections as u64)),
        }
    }
}

crate::names! {
    /// The mechanism that moves the bytes.
    #[derive(Default)]
    pub enum EngineChoice "engine" {
        /// The one with the lowest CPU use: io_uring where it works, except for replies of 48 KiB and
        /// more, which cost less with epoll.
        #[default]
        Auto = "auto",
        /// Completion queues.
        IoUring = "io_uring",
        /// Readiness notification.
        Epoll = "epoll",
    }
}

/// The waiting strategy of a thread until the next request is due.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// Sleep, and poll only in the last microseconds.
    #[default]
    Sleep,
    /// Poll all the time: no wake-up adds to a latency, and the CPU is always busy.
    Spin,
}

/// Whether the bodies of HTTP replies are compared.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BodyCheck {
    /// Each must be the expected one, or without expectation the same as that of the first reply.
    #[default]
    Same,
    /// Only its framing is checked.
    Any,
}

/// The authorities trusted to issue a TLS server's certificate.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// One of the authorities that this system trusts.
    #[default]
    System,
    /// One of the authorities in this PEM file.
    File(String),
    /// Anybody: the certificate is not checked.
    Anybody,
}

/// The certificate of the client, for a TLS server that asks for one.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ClientCertificate {
    /// PEM file with the certificate and those that lead to its authority.
    pub certificate: String,
    /// PEM file with its key.
    pub key: String,
}

/// Addresses of this host that connections are made from, both ends included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SourceRange {
    /// The first address.
    pub first: IpAddr,
    /// The last one, of the same family and not before the first.
    pub last: IpAddr,
}

/// The part of a load that one of several generators makes. Of a rate it has the requests whose number is
/// `index` modulo `count`, so that all of them together are as even as from one generator.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct GeneratorShare {
    /// Which of the generators, from 0.
    pub index: usize,
    /// How many generators there are.
    pub count: usize,
}

impl Default for GeneratorShare {
    fn default() -> Self {
        Self { index: 0, count: 1 }
    }
}

impl GeneratorShare {
    /// The place of a thread among those of all generators, and their number.
    #[must_use]
    pub const fn of_thread(&self, thread: usize, threads: usize) -> (usize, usize) {
        (thread * self.count + self.index, threads * self.count)
    }

    /// The part of `number` things that this generator has.
    #[must_use]
    pub const fn part(&self, number: u64) -> u64 {
        let count = self.count as u64;
        number / count + if (self.index as u64) < number % count { 1 } else { 0 }
    }
}

/// The whole configuration of one load, as it takes effect. [`LoadConfig::check`] says whether it
/// can be carried out.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LoadConfig {
    /// The target.
    pub target: Target,
    /// For HTTP: the Unix socket to connect to instead of the target's host.
    pub unix_socket: Option<String>,
    /// The address to connect to instead of the target's host and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connect_to: Option<Target>,
    /// By which mechanism.
    pub engine: EngineChoice,
    /// By which model.
    pub model: LoadModel,
    /// The waiting strategy of threads until the next request is due.
    pub waiting: Waiting,
    /// The mode of idle CPUs on the generator's host; absent if natural.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub idle: IdleMode,
    /// Threads, each with its own share of the connections.
    pub threads: usize,
    /// Connections in total that carry requests.
    pub connections: usize,
    /// Connections beyond those, which are made and then stay silent.
    pub idle_connections: usize,
    /// The source addresses of connections, in turn; empty leaves them to the kernel.
    pub sources: Vec<SourceRange>,
    /// Requests that may be in flight on one connection.
    pub pipeline: usize,
    /// The client closes and reopens a connection after this many requests.
    pub requests_per_connection: Option<u64>,
    /// For HTTP: what becomes of a request whose connection the server closes before its reply.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub on_closed: ClosedPolicy,
    /// Load before the measured window, which is offered and checked but not counted.
    #[serde(with = "DurationText")]
    pub warmup: Duration,
    /// The end of the measured window.
    pub stop: Stop,
    /// The limit for a reply, and for making a connection.
    #[serde(with = "DurationText")]
    pub timeout: Duration,
    /// Length of the intervals reported while the load runs, a multiple of 100 ms.
    #[serde(with = "DurationText")]
    pub interval: Duration,
    /// For echo: bytes per message.
    pub payload_bytes: usize,
    /// For HTTP: the method.
    pub method: String,
    /// For HTTP: further header lines, name and value.
    pub headers: Vec<(String, String)>,
    /// For HTTP: the requests, where a file gives them: then method, path and body are theirs, and these headers and
    /// expectations are those of requests without their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestSet>,
    /// For HTTP: the connections that request another path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heavy: Option<HeavyConnections>,
    /// For HTTP: the body of the request.
    pub body: Option<Body>,
    /// For HTTP: the body that every reply must have; without it the body of the first reply sets
    /// the expectation.
    pub expect_body: Option<String>,
    /// For HTTP: the file with that body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_body_file: Option<String>,
    /// For HTTP: a text that the body of every reply contains, instead of a whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_contains: Option<String>,
    /// For HTTP: whether bodies are compared at all.
    pub body_check: BodyCheck,
    /// For HTTP: the statuses of correct replies; empty for all below 400.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect_status: Vec<u16>,
    /// For HTTP: the longest head and the longest trailer of a reply.
    #[serde(default = "usual_head_limit_bytes", skip_serializing_if = "is_usual_head_limit")]
    pub head_limit_bytes: usize,
    /// For HTTPS: the trusted authorities.
    pub trust: Trust,
    /// For HTTPS: the certificate of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_certificate: Option<ClientCertificate>,
    /// Whether stalls of the machine are watched, and requests set apart that overlap one.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub stalls: bool,
    /// The seed of the random echo payload and of random arrivals.
    pub seed: u64,
    /// The part of the load that this generator makes. Rates are those of all generators, connections
    /// those of this one.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub share: GeneratorShare,
}

const fn usual_head_limit_bytes() -> usize {
    LoadConfig::USUAL_HEAD_LIMIT_BYTES
}

// Serde passes a reference.
const fn is_usual_head_limit(bytes: &usize) -> bool {
    *bytes == LoadConfig::USUAL_HEAD_LIMIT_BYTES
}

/// That of a load of `hello` on this host.
impl Default for LoadConfig {
    fn default() -> Self {
        Self::new(Target::of_scenario(Scenario::Hello, "localhost", 80))
    }
}

impl LoadConfig {
    /// The longest head by default: far above those of real servers, and small enough to be kept for
    /// each connection.
    pub const USUAL_HEAD_LIMIT_BYTES: usize = 1 << 20;

    /// The defaults of `wirebench load`: wrk's two threads, ten connections, ten seconds.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            unix_socket: None,
            connect_to: None,
            engine: EngineChoice::Auto,
            model: LoadModel::Closed,
            waiting: Waiting::Sleep,
            idle: IdleMode::Natural,
            threads: 2,
            connections: 10,
            idle_connections: 0,
            sources: Vec::new(),
            pipeline: 1,
            requests_per_connection: None,
            on_closed: ClosedPolicy::Fail,
            warmup: Duration::ZERO,
            stop: Stop::After(Duration::from_secs(10)),
            timeout: Duration::from_secs(2),
            interval: Duration::from_secs(1),
            payload_bytes: 64,
            method: "GET".to_owned(),
            headers: Vec::new(),
            requests: None,
            heavy: None,
            body: None,
            expect_body: None,
            expect_body_file: None,
            expect_contains: None,
            body_check: BodyCheck::Same,
            expect_status: Vec::new(),
            head_limit_bytes: Self::USUAL_HEAD_LIMIT_BYTES,
            trust: Trust::System,
            client_certificate: None,
            stalls: false,
            seed: 1,
            share: GeneratorShare::default(),
        }
    }

    /// The configurations of `count` generators that make this load together, each with its share of
    /// connections and requests. All have the same number of threads, so that their requests interleave.
    pub fn shares(&self, count: usize) -> Result<Vec<Self>, String> {
        if count == 0 || self.connections < count {
            let connections = self.connections;
            return Err(format!(
                "{connections} connections are fewer than {count} generators: give -c at least {count}"
            ));
        }
        let threads = self.threads.min(self.connections / count);
        let share = |index| {
            let share = GeneratorShare { index, count };
            let part = |number: usize| share.part(number as u64) as usize;
            let stop = match self.stop {
                Stop::Requests(requests) => Stop::Requests(share.part(requests).max(1)),
                Stop::After(_) | Stop::RequestsPerConnection(_) => self.stop,
            };
            Self {
                threads,
                connections: part(self.connections),
                idle_connections: part(self.idle_connections),
                stop,
                share,
                ..self.clone()
            }
        };
        Ok((0..count).map(share).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        let mut config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        (config.connections, config.idle_connections, config.threads) = (10, 2, 4);
        config.stop = Stop::Requests(100);
        let shares = config.shares(3).unwrap();
        let shown: Vec<_> = shares
            .iter()
            .map(|it| (it.connections, it.idle_connections, it.threads, it.stop))
            .collect();
        let requests = Stop::Requests;
        assert_eq!(
            shown,
            [(4, 1, 3, requests(34)), (3, 1, 3, requests(33)), (3, 0, 3, requests(33))]
        );
        assert_eq!(config.shares(1).unwrap(), [config.clone()]);
        expect_test::expect!["10 connections are fewer than 11 generators: give -c at least 11"]
            .assert_eq(&config.shares(11).unwrap_err());
    }

    #[test]
    fn threads_of_all_generators_have_different_places() {
        let mut places: Vec<_> = (0..3)
            .flat_map(|index| (0..2).map(move |thread| (index, thread)))
            .map(|(index, thread)| GeneratorShare { index, count: 3 }.of_thread(thread, 2))
            .collect();
        places.sort_unstable();
        assert_eq!(places, [(0, 6), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6)]);
    }
}
