//! Profiles per request, and what differs between them.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A profile, and what differs from that of the baseline. It counts in no other figure.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Why<'a> {
    /// The variant.
    pub variant: String,
    /// The workload's name.
    pub workload: &'a str,
    /// The variant that it is compared with; absent for that one itself, and without its profile.
    pub compared_with: Option<String>,
    /// What differs most, or why there is no profile.
    pub sentence: String,
    /// Why there is no profile; otherwise null.
    pub failure: Option<&'a str>,
    /// System calls per request by name, the most frequent first in `calls_differ`.
    pub calls_per_request: BTreeMap<&'a str, f64>,
    /// Context switches per request.
    pub context_switches_per_request: Option<f64>,
    /// CPU time per request while stacks were sampled, in nanoseconds.
    pub cpu_ns_per_request: Option<f64>,
    /// The part of it in the kernel.
    pub kernel_ns_per_request: Option<f64>,
    /// Samples of stacks.
    pub samples: u64,
    /// Functions by the CPU time that they take themselves, the most first.
    pub frames: Vec<Frame>,
    /// System calls per request that differ, the largest difference first: this variant minus the other one.
    pub calls_differ: Vec<(&'a str, f64)>,
    /// Functions that differ, the largest difference of their own time first.
    /// Differences within twice the standard error of sampling are absent, and all with fewer than 100 samples.
    pub frames_differ: Vec<Frame>,
    /// The function that explains most of the difference of CPU time; null if that is less than 3 %, if no function
    /// explains a fifth of it, or with fewer than 100 samples.
    pub cause: Option<CpuCause>,
}

/// A function, or the difference of it between two profiles.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct Frame {
    /// Its symbol without what differs between two builds or places, or the file of one that has none; `_[k]` at the
    /// end means the kernel.
    pub symbol: String,
    /// CPU time per request in the function itself, in nanoseconds.
    pub self_ns: f64,
    /// The same with all functions that it calls.
    pub total_ns: f64,
}

/// A function that explains most of the difference of CPU time.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct CpuCause {
    /// The function.
    pub symbol: String,
    /// The function of the other server with the same caller, if it has another name there.
    pub instead_of: Option<String>,
    /// CPU time per request in it and all functions that it calls, in nanoseconds: of this server and of the other one.
    pub total_ns: [f64; 2],
    /// The share of the difference that it explains.
    pub share: f64,
}
