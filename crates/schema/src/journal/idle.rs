//! What a server costs while its connections are silent.

use serde::{Deserialize, Serialize};

use super::Reason;

/// What a server with open, silent connections cost. Each connection had one request answered before
/// it fell silent, so that the server has met it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct IdleMeasurement {
    /// Connections that were asked for.
    pub connections: u64,
    /// Connections that could be made and had a request answered.
    pub made: u64,
    /// How many of those the server closed, or sent bytes on, before the window was over.
    pub lost: u64,
    /// Memory of the server's process tree before the first connection, in bytes: the sum of the
    /// proportional set sizes, in which a page that several processes share is counted once.
    pub memory_rest_bytes: u64,
    /// The same with all connections open and silent.
    pub memory_bytes: u64,
    /// The growth for each connection. What the kernel keeps for sockets is not part of it.
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
    /// What a reader must know before trusting the figures.
    pub reasons: Vec<Reason>,
}
