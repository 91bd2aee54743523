//! The CPUs of each side. The measuring crate chooses them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The CPUs of both sides.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Placement {
    /// CPUs of the server.
    pub server_cpus: Vec<u32>,
    /// CPUs of the load generator, and of wirebench itself while it waits.
    pub generator_cpus: Vec<u32>,
    /// Whether the sides were bound to their CPUs.
    pub pinned: bool,
    /// Whether no CPU serves both sides.
    pub disjoint: bool,
    /// The CPUs of each core that has some on both sides, which slow each other down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub split_cores: Vec<Vec<u32>>,
    /// Whether only CPUs under one last-level cache were chosen, on a machine that has several.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_cache: bool,
}
