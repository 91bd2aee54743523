//! The built-in null servers: they show the throughput of the load generator against a server that
//! does next to nothing.
//!
//! They implement the server contract for `hello` and `echo` completely, with either of two event
//! mechanisms, as cheaply as Linux allows. They are also entries that need only Rust.
//!
//! Deliberately absent: parsing of requests, timeouts, TLS, logging, statistics, graceful shutdown.
//! Of the workspace the crate depends on `uring` alone, and it never changes its CPU affinity.
#![deny(unsafe_code)]

mod arguments;
mod connection;
mod epoll;
mod head;
#[allow(
    unsafe_code,
    reason = "a ring shares memory with the kernel, which no safe interface covers"
)]
mod io_uring;
mod listen;
mod reply;
mod serve;
mod service;
mod table;

pub use arguments::{ArgumentError, options_from_arguments};
pub use io_uring::probe_io_uring;
pub use serve::{ServeError, serve, serve_announcing};

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;

/// Which event mechanism serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// Readiness: `epoll_wait`, then one read and one write for each request.
    Epoll,
    /// Completion: multishot receives and sends that are submitted in batches.
    IoUring,
}

/// The server's treatment of received bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scenario {
    /// The same HTTP/1.1 response for each request head.
    Hello,
    /// Every byte back, in order.
    Echo,
}

/// Everything that a null server needs to know.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// Which event mechanism serves.
    pub engine: Engine,
    /// The treatment of received bytes.
    pub scenario: Scenario,
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on; 0 lets the kernel choose one.
    pub port: u16,
    /// The number of threads, each with a listening socket and an event loop of its own.
    pub workers: NonZeroU32,
    /// The length of the body of `hello`; `echo` has no use for it.
    pub body_bytes: usize,
}

/// A name that is neither an engine nor a scenario.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown {kind} `{name}`; the null server knows {known}")]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    known: &'static str,
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Epoll => "epoll",
            Self::IoUring => "io_uring",
        })
    }
}

impl FromStr for Engine {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "epoll" => Ok(Self::Epoll),
            "io_uring" => Ok(Self::IoUring),
            _ => Err(UnknownName {
                kind: "engine",
                name: name.to_owned(),
                known: "`epoll` and `io_uring`",
            }),
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Hello => "hello",
            Self::Echo => "echo",
        })
    }
}

impl FromStr for Scenario {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        match name {
            "hello" => Ok(Self::Hello),
            "echo" => Ok(Self::Echo),
            _ => Err(UnknownName {
                kind: "scenario",
                name: name.to_owned(),
                known: "`hello` and `echo`",
            }),
        }
    }
}
