//! The structured parts of an environment. They record what was found; `doctor` judges it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One logical CPU and where it sits.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cpu {
    /// The kernel's number.
    pub cpu: u32,
    /// Its core within the package; CPUs with the same core and package are siblings.
    pub core: u32,
    /// Its package, also called socket.
    pub package: u32,
}

/// Caches of one kind and size.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Cache {
    /// 1 is the nearest to the core.
    pub level: u32,
    /// What they hold, in the kernel's word: `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// The size of each as the kernel writes it, for example `1024K`.
    pub size: String,
    /// How many CPUs share one of them.
    pub cpus_each: usize,
    /// How many of them there are.
    pub count: usize,
}

/// How fast the CPUs run that wirebench may use: every value that one of them has.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Frequency {
    /// What chooses the frequency, for example `performance`. Empty when the machine does not
    /// tell.
    #[serde(default)]
    pub governors: BTreeSet<String>,
    /// The kernel's drivers that set it.
    #[serde(default)]
    pub drivers: BTreeSet<String>,
    /// Whether the CPUs may run faster than their nominal frequency for a while.
    #[serde(default)]
    pub turbo: Option<Turbo>,
    /// The lowest frequency that one of them is allowed, in kHz.
    #[serde(default)]
    pub lowest_khz: Option<u64>,
    /// The highest frequency that one of them is allowed, in kHz.
    #[serde(default)]
    pub highest_khz: Option<u64>,
}

/// Whether CPUs may run faster than their nominal frequency while heat and power allow it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turbo {
    /// They may.
    On,
    /// They may not.
    Off,
}

impl std::fmt::Display for Turbo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::On => "on",
            Self::Off => "off",
        })
    }
}

/// The program that measured, which is also the load generator.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Program {
    /// How it was compiled.
    #[serde(default)]
    pub profile: Option<BuildProfile>,
    /// The first 16 hexadecimal digits of the SHA-256 of its file.
    #[serde(default)]
    pub digest: Option<String>,
}

/// How a program was compiled.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuildProfile {
    /// With debug assertions, which optimised builds do not have.
    Debug,
    /// Without them.
    Release,
}

impl std::fmt::Display for BuildProfile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::Debug => "debug",
            Self::Release => "release",
        })
    }
}

/// What a process and its children may take. A limit that was not told is absent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Open files.
    #[serde(default)]
    pub open_files: Option<Limit>,
    /// Memory that stays in memory, in bytes. Buffers that are registered with a ring of io_uring
    /// count.
    #[serde(default)]
    pub locked_memory_bytes: Option<Limit>,
    /// Processes and threads of the user.
    #[serde(default)]
    pub processes: Option<Limit>,
}

/// One limit. A bound that is absent is no bound.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limit {
    /// What holds now.
    pub soft: Option<u64>,
    /// How far a process may raise it by itself.
    pub hard: Option<u64>,
}

/// What the control groups of a process allow: the tightest of those around it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Cgroup {
    /// Which interface of the kernel told it.
    pub version: CgroupVersion,
    /// CPU time per time, in CPUs. Absent means that nothing bounds it.
    #[serde(default)]
    pub cpu_quota_cpus: Option<f64>,
    /// The CPUs that may be used.
    #[serde(default)]
    pub cpuset: Option<Vec<u32>>,
    /// Memory in bytes. Absent means that nothing bounds it.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Periods so far in which the quota was looked at, of the group whose quota counts.
    #[serde(default)]
    pub periods: Option<u64>,
    /// Periods among those in which processes had to wait because the quota was used up.
    #[serde(default)]
    pub throttled_periods: Option<u64>,
}

/// The interface of the kernel for control groups.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CgroupVersion {
    /// A hierarchy for each kind of resource.
    V1,
    /// One hierarchy for all.
    #[default]
    V2,
}

impl std::fmt::Display for CgroupVersion {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::V1 => "1",
            Self::V2 => "2",
        })
    }
}
