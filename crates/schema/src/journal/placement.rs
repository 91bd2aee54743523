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
    /// The smallest part of the machine that both sides were placed in. Absent where only the machine has both, where
    /// it has one part, and where CPUs were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<MachinePart>,
}

/// A part of a machine whose CPUs are near each other.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MachinePart {
    /// The CPUs under one last-level cache.
    Cache,
    /// Those of one NUMA node.
    Node,
    /// Those of one package.
    Package,
}

// Where both sides are, after their CPUs.
crate::names! { MachinePart:
    Cache = "under one last-level cache", Node = "on one NUMA node", Package = "in one package"
}
