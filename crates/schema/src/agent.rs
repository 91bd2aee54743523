//! The protocol between wirebench and an agent: one JSON object per line, commands in and events
//! out.
//!
//! An agent generates load. It makes the connections of a *load* and measures *windows* over them: a
//! visit of a cohort, whose connections stay open for the next one, or the whole load of a run. A visit consists of
//! *parts*, and at the *fence* behind each nothing is in flight. The protocol does not require a common machine: times
//! are those of the agent's monotonic clock, and CPU clocks are read where the processes run.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::load::{LoadConfig, LoadEvent, LoadModel, LoadReport, Stop};

/// The version of commands and events. Both sides must have the same.
pub const AGENT_PROTOCOL: u32 = 9;

/// The lengths of the first parts of a visit that has many, and of all further ones: a server changes most at first.
const FIRST_PARTS_NS: [u64; 4] = [2_000_000, 3_000_000, 5_000_000, 10_000_000];
const FURTHER_PART_NS: u64 = 20_000_000;

fn series() -> impl Iterator<Item = u64> {
    FIRST_PARTS_NS.into_iter().chain(std::iter::repeat(FURTHER_PART_NS))
}

/// The length of the first `parts` parts of a series, in nanoseconds.
#[must_use]
pub fn series_ns(parts: usize) -> u64 {
    series().take(parts).sum()
}

/// Once an agent has had a heartbeat, it ends when none follows for this long: its host has been cut off. The
/// other side gives an agent up that answers none for this long.
pub const HEARTBEAT_WITHIN_NS: u64 = 5_000_000_000;

/// A command to an agent, which answers each with one event, except for `Stop`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum AgentCommand {
    /// Make the connections of a load.
    Connect {
        /// The number by which the load is named from now on.
        load: u32,
        /// Server, connections, requests, and the share of this agent.
        config: Box<LoadConfig>,
        /// How many windows are measured over them.
        windows: Windows,
    },
    /// Measure one window.
    Window(Box<WindowOrder>),
    /// Read the clock.
    Clock,
    /// The other side still exists. It is answered at once, also during a load.
    Heartbeat,
    /// End the window that lasts; its report follows.
    Stop,
}

/// How many windows are measured over the connections of a load.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Windows {
    /// Any number, each of its own model and length; the connections stay open.
    Many,
    /// One, that of the configuration, after which the connections are closed.
    One,
}

/// One window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WindowOrder {
    /// The load whose connections are used.
    pub load: u32,
    /// The load model.
    pub model: LoadModel,
    /// Length of the discard.
    pub discard_ns: u64,
    /// The end of the counted part.
    pub stop: Stop,
    /// When to begin, in nanoseconds of the agent's monotonic clock; absent means at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<u64>,
    /// What is recorded and reported meanwhile.
    pub recording: Recording,
    /// The processes of all servers that run on the agent's host, by load. Their CPU clocks are read at the fences of
    /// a visit.
    pub processes: Vec<LoadProcesses>,
    /// The CPUs to which the servers are bound on the agent's host, if it does not use them itself. There the clocks
    /// are read at fences, because those of a process that runs are stale by up to a tick.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server_cpus: Vec<u32>,
}

impl WindowOrder {
    /// All of the load `config` in one window, on a server with these processes on the agent's host.
    #[must_use]
    pub fn of_load(config: &LoadConfig, pids: Vec<i32>) -> Self {
        Self {
            load: 0,
            model: config.model.clone(),
            discard_ns: u64::try_from(config.warmup.as_nanos()).unwrap_or(u64::MAX),
            stop: config.stop,
            start_ns: None,
            recording: Recording::Intervals,
            processes: vec![LoadProcesses { load: 0, pids }],
            server_cpus: Vec::new(),
        }
    }

    /// The ends of the parts of a visit. What counts is the last one, and all of a series.
    #[must_use]
    pub fn parts(&self) -> Vec<Stop> {
        let discard = Some(Duration::from_nanos(self.discard_ns)).filter(|it| !it.is_zero());
        let discard = discard.into_iter().map(Stop::After);
        let (Recording::Series, Stop::After(length)) = (self.recording, self.stop) else {
            return discard.chain([self.stop]).collect();
        };
        let mut begins = Duration::ZERO;
        let whole = |ns| self.model.whole_intervals(Duration::from_nanos(ns));
        let parts = series().map(whole).take_while(|part| {
            let is_needed = begins < length;
            begins += *part;
            is_needed
        });
        discard.chain(parts.map(Stop::After)).collect()
    }

    /// The load `config` with the model and the length of this window.
    #[must_use]
    pub fn applied_to(&self, config: &LoadConfig) -> LoadConfig {
        LoadConfig {
            model: self.model.clone(),
            warmup: Duration::from_nanos(self.discard_ns),
            stop: self.stop,
            ..config.clone()
        }
    }
}

/// How a window is measured.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recording {
    /// A visit whose counted part is many parts as in [`series_ns`], each with a fence behind it.
    Series,
    /// A visit of two parts with a fence behind each: the discard, and what counts.
    Silent,
    /// The same, but what counts is a whole load: its rate may change, and its edges and intervals are reported as they
    /// pass. If a count ends it, it is the last visit.
    Whole,
    /// The only window of a load, with its warm-up, whose edges and intervals are reported as they pass.
    Intervals,
}

impl Recording {
    /// Edges and intervals are reported as they pass.
    #[must_use]
    pub const fn is_observed(self) -> bool {
        matches!(self, Self::Whole | Self::Intervals)
    }
}

/// The processes of a server.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LoadProcesses {
    /// The load on it.
    pub load: u32,
    /// Their numbers.
    pub pids: Vec<i32>,
}

/// The event with which an agent answers a command.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum AgentEvent {
    /// The first line: the agent takes commands.
    Ready {
        /// [`AGENT_PROTOCOL`] of the agent.
        protocol: u32,
        /// Its version.
        wirebench: String,
    },
    /// A window is over.
    Window(Box<WindowReport>),
    /// The agent's monotonic clock.
    Clock {
        /// In nanoseconds.
        now_ns: u64,
    },
    /// The agent still exists.
    Alive,
    /// A command could not be carried out. The agent takes further ones.
    Failed {
        /// Why, with the next step.
        reason: String,
    },
    /// Progress of a load or of its window.
    #[serde(untagged)]
    Load(LoadEvent),
}

/// The result of a window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct WindowReport {
    /// The load.
    pub load: u32,
    /// The measurement of the counted part.
    pub report: LoadReport,
    /// When the first request was due, in nanoseconds of the agent's monotonic clock.
    pub start_ns: u64,
    /// When the last reply had arrived and the window was over, on the same clock.
    pub end_ns: u64,
    /// How long the agent waited before the window until no server used CPU time.
    pub waited_ns: u64,
    /// For how long a thread that loads was ready and others had its CPU, in the part that counts.
    pub generator_waited_ns: u64,
    /// CPU time of the loaded server, summed over its processes. In a visit it is that of the counted requests: nothing
    /// is in flight at its fences.
    pub cpu: WindowCpu,
    /// CPU time that each other server used from before the visit until after it, by load. It does
    /// not belong to this visit.
    pub parked_cpu_ns: Vec<(u32, u64)>,
    /// The counted parts of a series; empty after other windows.
    pub series: Vec<VisitPiece>,
}

/// CPU time of a server around a window, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct WindowCpu {
    /// In the part that counts; absent when a process could not be read at both edges.
    pub counted_ns: Option<u64>,
    /// From before the visit, when it was at rest, until after it, when it was at rest again.
    pub whole_ns: u64,
}

/// A piece of the series of a visit.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct VisitPiece {
    /// Correct replies.
    pub requests: u64,
    /// The server's CPU time.
    pub cpu_ns: u64,
}
