//! The explanation of a server's cost, from a load of its own that counts in no figure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::id::VariantId;

/// The profile of one variant under one workload, which `--why` adds after all counted runs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Why {
    /// The variant.
    pub variant: VariantId,
    /// The workload's name.
    pub workload: String,
    /// Time as RFC 3339 in UTC.
    pub started: String,
    /// The result.
    pub outcome: WhyOutcome,
}

/// The result of a profile.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyOutcome {
    /// Counts and samples.
    Profiled(Box<Profile>),
    /// None, and why, as a sentence.
    Failed(String),
}

/// What `perf` has counted in one visit, and what it has sampled in the next one.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Profile {
    /// Correct replies while system calls and context switches were counted.
    pub counted_requests: u64,
    /// System calls of all threads by name; those that were not made are absent.
    pub calls: BTreeMap<String, u64>,
    /// Context switches of all threads.
    pub context_switches: u64,
    /// Correct replies while stacks were sampled.
    pub sampled_requests: u64,
    /// Samples of stacks.
    #[serde(default)]
    pub samples: u64,
    /// CPU time of the server meanwhile; absent if unknown.
    pub cpu_ns: Option<u64>,
    /// Sampled CPU time in nanoseconds by stack: the name of the thread and the frames from the outermost to the
    /// innermost, with `;` between them. Frames of the kernel end with `_[k]`.
    pub stacks: BTreeMap<String, u64>,
}
