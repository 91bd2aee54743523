//! The reasons why a load cannot run: one sentence each, with the next step.

use std::io;

/// Why a load could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error("{0}")]
    Configuration(String),
    /// The name of the host leads to no address.
    #[error("`{host}` has no address ({reason}): check the name, or write the address itself")]
    Resolve { host: String, reason: String },
    /// Every attempt to connect was refused.
    #[error("nothing listens on {addresses}: start the server first, or check the port")]
    NothingListens { addresses: String },
    /// The connection could not be made for another reason.
    #[error("cannot connect to {address} ({reason}): check the address and the network")]
    Connect {
        /// The last address that was tried.
        address: String,
        reason: String,
    },
    /// A Unix socket that cannot be connected to.
    #[error("cannot connect to the Unix socket `{path}` ({reason}): {next_step}")]
    UnixSocket { path: String, reason: String, next_step: &'static str },
    /// The server takes connections but does not speak the protocol, or not well.
    #[error("{0}")]
    Preflight(String),
    /// The first connection worked, and then none of those that carry the load.
    #[error("none of {connections} connections could be made ({reason}): {next_step}")]
    NoConnection { connections: usize, reason: String, next_step: &'static str },
    /// The engine that was asked for does not work here.
    #[error("{reason}, or give --engine epoll")]
    EngineUnavailable {
        /// The likely cause, and how to remove it.
        reason: String,
    },
    /// The kernel refused a resource that the engine needs.
    #[error("the {engine} engine failed to {action} ({source}): check the limits of this process")]
    Engine { engine: &'static str, action: &'static str, source: io::Error },
    #[error(
        "only {started} of {threads} threads could be started ({source}): \
         give a smaller -t, or raise the limit of processes (ulimit -u)"
    )]
    ThreadStart {
        /// Number of threads that could be started. They have ended.
        started: usize,
        threads: usize,
        source: io::Error,
    },
    /// The CPUs cannot be kept awake, as the configuration asks.
    #[error("{0}: see `wirebench doctor`, or use --idle natural")]
    Awake(String),
    /// A thread of the generator ended in a way that it must not.
    #[error("a thread of the load generator {0}: this is a bug, please report it")]
    Thread(&'static str),
}
