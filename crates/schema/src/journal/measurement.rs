//! The figures of a run: those of a server under load, and those of one whose connections are silent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bound, Distances, Instance, Reason, ToolReport, Visit};
use crate::load::LoadReport;

/// The figures of a run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Measurement {
    /// The generator's report. A third-party generator gives only requests, window and errors.
    pub load: LoadReport,
    /// Further figures of a third-party generator.
    pub tool: Option<Box<ToolReport>>,
    /// The cost of the server.
    pub cost: Cost,
    /// Which side was at its limit.
    pub bound: Bound,
    /// In a cohort: the visits of which this is the sum, including dropped ones.
    #[serde(alias = "slices", default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<Visit>,
    /// In a cohort with both idle modes, at a rate: further visits, in which idle CPUs sleep. They are in no other
    /// figure.
    #[serde(alias = "natural_slices", default, skip_serializing_if = "Vec::is_empty")]
    pub natural_visits: Vec<Visit>,
    /// With a process of its own: how far the sides' CPUs were from each other.
    #[serde(flatten)]
    pub distances: Distances,
    /// In a cohort: observations about the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<Instance>,
    /// The reasons that limit or explain the figures.
    pub reasons: Vec<Reason>,
}

/// The resources used by the server's process tree in the measured window; with a third-party
/// generator, in its whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Cost {
    /// CPU time of all processes of the tree.
    pub cpu_ns: u64,
    /// The time in which that was.
    pub sampled_ns: u64,
    /// CPU time per request: `cpu_ns / requests`. Absent without requests, and if processes with
    /// unknown CPU time ended.
    pub cpu_ns_per_request: Option<f64>,
    /// Share of the CPU time that the server's CPUs could give to its workers, usually 0 to 1.
    /// More when it keeps more CPUs busy than it has workers.
    pub cpu_share: f64,
    /// Share of the time in which the server's busiest thread ran, 0 to 1: like the context switches
    /// that of the whole load, with the warm-up, in proportion to the CPU time of the window.
    pub busiest_thread_share: f64,
    /// Share of the window in which the generator's busiest thread ran, 0 to 1.
    pub generator_cpu_share: f64,
    /// Sum over the processes of the tree of the most memory that each has held (`VmHWM`), shared
    /// pages counted in each.
    pub memory_peak_bytes: u64,
    /// Processes at the end of the window.
    pub processes: u32,
    /// Threads at the end of the window.
    pub threads: u32,
    /// Times that a thread gave up its CPU to wait.
    pub context_switches_voluntary: u64,
    /// Times that a thread lost its CPU.
    pub context_switches_involuntary: u64,
    /// Time in which a thread was ready to run and had no CPU, summed over all threads. Absent in results of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_ns: Option<u64>,
    /// A digest of the contents of all programs and libraries that its processes have mapped, 16 hexadecimal digits.
    /// Absent if one cannot be read, and in results of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped: Option<String>,
}

impl Cost {
    /// Whether any process of the server was read; without, its CPU time and memory are not known.
    #[must_use]
    pub const fn is_of_processes(&self) -> bool {
        self.processes > 0
    }
}

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
    /// As of [`Cost`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped: Option<String>,
    /// The reasons that limit or explain the figures.
    pub reasons: Vec<Reason>,
}
