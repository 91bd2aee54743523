//! The complete configuration of a load, with all defaults applied.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{net::IpAddr, time::Duration};

use super::LoadModel;
use crate::target::Target;

/// The end of the measured window.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// After this time.
    After(
        #[serde(with = "crate::units::duration_text")]
        #[schemars(with = "String")]
        Duration,
    ),
    /// After this many answered or failed requests over all connections.
    Requests(u64),
    /// After this many answered or failed requests on each connection.
    RequestsPerConnection(u64),
}

/// The mechanism that moves the bytes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// The one with the lowest CPU use: io_uring where it works, except for replies of 48 KiB and
    /// more, which cost less with epoll.
    #[default]
    Auto,
    /// Completion queues.
    IoUring,
    /// Readiness notification.
    Epoll,
}

impl EngineChoice {
    /// All choices, the default first.
    pub const ALL: [Self; 3] = [Self::Auto, Self::IoUring, Self::Epoll];

    /// The name on command lines and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::IoUring => "io_uring",
            Self::Epoll => "epoll",
        }
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

/// The body of an HTTP request.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// This text.
    Text(String),
    /// The content of this file at the start of the load.
    File(String),
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

/// Addresses of this host that connections are made from, both ends included.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct SourceRange {
    /// The first address.
    pub first: IpAddr,
    /// The last one, of the same family and not before the first.
    pub last: IpAddr,
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
    /// By which mechanism.
    pub engine: EngineChoice,
    /// By which model.
    pub model: LoadModel,
    /// The waiting strategy of threads until the next request is due.
    pub waiting: Waiting,
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
    /// Load before the measured window, which is offered and checked but not counted.
    #[serde(with = "crate::units::duration_text")]
    #[schemars(with = "String")]
    pub warmup: Duration,
    /// The end of the measured window.
    pub stop: Stop,
    /// The limit for a reply, and for making a connection.
    #[serde(with = "crate::units::duration_text")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// Length of the intervals reported while the load runs, a multiple of 100 ms.
    #[serde(with = "crate::units::duration_text")]
    #[schemars(with = "String")]
    pub interval: Duration,
    /// For echo: bytes per message.
    pub payload_bytes: usize,
    /// For HTTP: the method.
    pub method: String,
    /// For HTTP: further header lines, name and value.
    pub headers: Vec<(String, String)>,
    /// For HTTP: the body of the request.
    pub body: Option<Body>,
    /// For HTTP: the body that every reply must have; without it the body of the first reply sets
    /// the expectation.
    pub expect_body: Option<String>,
    /// For HTTP: whether bodies are compared at all.
    pub body_check: BodyCheck,
    /// For HTTPS: the trusted authorities.
    pub trust: Trust,
    /// The seed of the random echo payload and of random arrivals.
    pub seed: u64,
}

impl LoadConfig {
    /// The defaults of `wirebench load`: wrk's two threads, ten connections, ten seconds.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            unix_socket: None,
            engine: EngineChoice::Auto,
            model: LoadModel::Closed,
            waiting: Waiting::Sleep,
            threads: 2,
            connections: 10,
            idle_connections: 0,
            sources: Vec::new(),
            pipeline: 1,
            requests_per_connection: None,
            warmup: Duration::ZERO,
            stop: Stop::After(Duration::from_secs(10)),
            timeout: Duration::from_secs(2),
            interval: Duration::from_secs(1),
            payload_bytes: 64,
            method: "GET".to_owned(),
            headers: Vec::new(),
            body: None,
            expect_body: None,
            body_check: BodyCheck::Same,
            trust: Trust::System,
            seed: 1,
        }
    }
}
