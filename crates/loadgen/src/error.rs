//! The reasons why a load cannot run: one sentence each, with the next step.

use std::io;

/// Why a load could not be carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The configuration contradicts itself.
    #[error("{0}")]
    Configuration(String),
    /// The name of the host leads to no address.
    #[error("`{host}` has no address ({reason}): check the name, or write the address itself")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// More connections than the process may have files.
    #[error(
        "{connections} connections{also} need {needed} file descriptors and this process may have {limit}: \
         {next_step}"
    )]
    FileDescriptors {
        /// Connections asked for.
        connections: usize,
        /// Idle connections beside them, as a part of the sentence.
        also: String,
        /// File descriptors that they and everything else need.
        needed: u64,
        /// The hard limit.
        limit: u64,
        /// What to do.
        next_step: String,
    },
    /// Every attempt to connect was refused.
    #[error("nothing listens on {addresses}: start the server first, or check the port")]
    NothingListens {
        /// All addresses that were tried.
        addresses: String,
    },
    /// The connection could not be made for another reason.
    #[error("cannot connect to {address} ({reason}): check the address and the network")]
    Connect {
        /// The last address that was tried.
        address: String,
        /// What the kernel said.
        reason: String,
    },
    /// A Unix socket that cannot be connected to.
    #[error("cannot connect to the Unix socket `{path}` ({reason}): {next_step}")]
    UnixSocket {
        /// Its path.
        path: String,
        /// What is wrong with it.
        reason: String,
        /// What to do.
        next_step: String,
    },
    /// The server takes connections but does not speak the protocol, or not well.
    #[error("{0}")]
    Preflight(String),
    /// The first connection worked, and then none of those that carry the load.
    #[error("none of {connections} connections could be made ({reason}): {next_step}")]
    NoConnection {
        /// How many were tried.
        connections: usize,
        /// One failure, in words.
        reason: String,
        /// What to do.
        next_step: &'static str,
    },
    /// The engine that was asked for does not work here.
    #[error("{reason}, or give --engine epoll")]
    EngineUnavailable {
        /// The likely cause, and what removes it.
        reason: String,
    },
    /// The kernel refused what the engine needs.
    #[error("the {engine} engine failed to {action} ({source}): check the limits of this process")]
    Engine {
        /// Which engine.
        engine: &'static str,
        /// What it tried to do.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused another thread.
    #[error(
        "only {started} of {threads} threads could be started ({source}): \
         give a smaller -t, or raise the limit of processes (ulimit -u)"
    )]
    ThreadStart {
        /// How many could be started. They have ended.
        started: usize,
        /// How many were asked for.
        threads: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// A thread of the generator ended in a way that it must not.
    #[error("a thread of the load generator {0}: this is a bug, please report it")]
    Thread(&'static str),
}
