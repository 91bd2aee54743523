//! The cost of a server in the idle phase: memory and CPU time while its connections are silent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reason::Reason;

/// The cost of a server with idle-phase connections. Each connection had one request answered
/// first, so that the server has set it up completely.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct IdleMeasurement {
    /// Connections that were asked for.
    pub connections: u64,
    /// Connections that could be made and had a request answered.
    pub made: u64,
    /// Number of those that the server closed or wrote to before the end of the window.
    pub lost: u64,
    /// Memory of the server's process tree before the first of the connections, in bytes: the sum
    /// of the proportional set sizes, in which a page that several processes share is counted
    /// once. One request has been answered by then, on a connection that was closed again, so
    /// that what a server makes at its first request is no part of what a connection costs.
    pub memory_rest_bytes: u64,
    /// The same with all connections open and silent.
    pub memory_bytes: u64,
    /// The growth for each connection of what is the tree's alone. Not part of it are what the
    /// kernel keeps for sockets, and the pages of files, such as code: their share changes
    /// with every other program that maps the same file. Below zero when the server gave back
    /// more than it took.
    pub memory_bytes_per_connection: f64,
    /// Length of the silent window.
    pub window_ns: u64,
    /// CPU time of the tree in the window.
    pub cpu_ns: u64,
    /// Times that a thread gave up its CPU to wait, in the window.
    pub context_switches_voluntary: u64,
    /// Times that a thread lost its CPU, in the window.
    pub context_switches_involuntary: u64,
    /// Processes at the end of the window.
    pub processes: u32,
    /// Threads at the end of the window.
    pub threads: u32,
    /// As of [`Cost`](super::Cost).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped: Option<String>,
    /// The reasons that limit or explain the figures.
    pub reasons: Vec<Reason>,
}
