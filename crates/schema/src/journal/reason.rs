//! What a reader must know of a run before trusting its figures: one reason at a time, each with
//! its figure and a sentence.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing that speaks against the figures of a run, or limits what they say.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Reason {
    /// What it is.
    pub kind: ReasonKind,
    /// What it does to the figures.
    pub weight: Weight,
    /// The figure that decided, in the unit that the kind says.
    #[serde(default)]
    pub figure: Option<f64>,
    /// A sentence with its figures, for people.
    pub text: String,
}

/// What a reason does to the figures of its run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// Nothing that changes what they mean, but worth a word.
    Note,
    /// They are a bound: the server may do more.
    Limit,
    /// They are not what they claim to be.
    Invalid,
}

/// What can speak against the figures of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// Nothing was bound to CPUs.
    NotPinned,
    /// Server and generator had a CPU in common.
    SharedCpu,
    /// The conformance checks were left out.
    NotVerified,
    /// The generator was at its limit. Figure: share of its CPUs' time, 0 to 1.
    GeneratorBound,
    /// The rate that was asked for was not reached. Figure: achieved over offered rate.
    BelowRate,
    /// Requests were sent later than they were due. Figure: 99th percentile of the lag in
    /// nanoseconds.
    ScheduleLag,
    /// Requests that were never answered. Figure: connections with an answered request, on average.
    Unanswered,
    /// Requests or connections failed. Figure: how many.
    Errors,
    /// Fewer connections than asked for could be made. Figure: how many were made.
    ConnectionsMissing,
    /// Some connections were starved. Figure: Jain's index.
    Unfair,
    /// The server closed connections between two requests. Figure: how many.
    ServerCloses,
    /// The server answered nobody for a while. Figure: the longest pause in nanoseconds.
    ServerStall,
    /// The generator came too late to look at its connections. Figure: the longest delay in
    /// nanoseconds.
    GeneratorStall,
    /// Other programs ran on the CPUs of a side. Figure: share of their time, 0 to 1.
    Neighbour,
    /// The hypervisor took the CPUs of a side away. Figure: share of their time, 0 to 1.
    Stolen,
    /// A limit of the control group held a side back. Figure: time in nanoseconds.
    Throttled,
    /// Local ports ran out. Figure: failures because of that.
    PortsExhausted,
    /// Too few samples for a percentile that is shown. Figure: how many there are.
    FewSamples,
    /// The rate did not become steady before the window. Figure: how long it was waited for, in
    /// nanoseconds.
    NotSteady,
    /// The server's cost could not be told. Figure: time between the samples in nanoseconds.
    NoCost,
    /// Processes of the server began or ended in the window.
    ProcessesChanged,
    /// Memory is the sum of the resident set sizes, because the proportional ones cannot be read:
    /// pages that several processes share count in each.
    ResidentMemory,
    /// The server did not end on SIGTERM.
    Forced,
    /// The server left processes behind. Figure: how many.
    LeftBehind,
    /// The server wrote much to standard error. Figure: bytes.
    Stderr,
    /// Another generator than our own made the load.
    ForeignGenerator,
}

impl ReasonKind {
    /// A reason of this kind.
    #[must_use]
    pub fn reason(self, weight: Weight, figure: Option<f64>, text: impl Into<String>) -> Reason {
        Reason { kind: self, weight, figure, text: text.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
