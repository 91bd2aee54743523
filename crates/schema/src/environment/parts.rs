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
    /// Their kind as the kernel names it: `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// The size of each as the kernel writes it, for example `1024K`.
    pub size: String,
    /// Number of CPUs that share one of them.
    pub cpus_each: usize,
    /// Number of such caches.
    pub count: usize,
}

/// The frequency settings of the CPUs that wirebench may use: every value that one of them has.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(default)]
pub struct Frequency {
    /// The governors, for example `performance`. Empty if unknown.
    pub governors: BTreeSet<String>,
    /// The kernel's drivers that set it.
    pub drivers: BTreeSet<String>,
    /// Whether the CPUs may run faster than their nominal frequency for a while.
    pub turbo: Option<Turbo>,
    /// The lowest frequency that one of them is allowed, in kHz.
    pub lowest_khz: Option<u64>,
    /// The highest frequency that one of them is allowed, in kHz.
    pub highest_khz: Option<u64>,
}

crate::names! {
    /// Whether CPUs may run faster than their nominal frequency while heat and power allow it.
    pub enum Turbo {
        /// They may.
        On = "on",
        /// They may not.
        Off = "off",
    }
}

/// The program that measured, which is also the load generator.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Program {
    /// Its build profile.
    pub profile: Option<BuildProfile>,
    /// The first 16 hexadecimal digits of the SHA-256 of its file.
    pub digest: Option<String>,
}

crate::names! {
    /// The build profile of a program.
    pub enum BuildProfile {
        /// With debug assertions, which optimised builds do not have.
        Debug = "debug",
        /// Without them.
        Release = "release",
    }
}

/// The resource limits of a process and its children. Unknown limits are absent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limits {
    /// Open files.
    pub open_files: Option<Limit>,
    /// Memory that stays in memory, in bytes. Buffers that are registered with a ring of io_uring
    /// count.
    pub locked_memory_bytes: Option<Limit>,
    /// Processes and threads of the user.
    pub processes: Option<Limit>,
}

/// One limit. A bound that is absent is no bound.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Limit {
    /// The soft limit, which applies now.
    pub soft: Option<u64>,
    /// The hard limit, up to which a process may raise it.
    pub hard: Option<u64>,
}

/// The tightest limits of the control groups around a process.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Cgroup {
    /// The kernel interface that reported it.
    pub version: CgroupVersion,
    /// CPU time per time, in CPUs. Absent means that nothing bounds it.
    pub cpu_quota_cpus: Option<f64>,
    /// The CPUs that may be used.
    pub cpuset: Option<Vec<u32>>,
    /// Memory in bytes. Absent means that nothing bounds it.
    pub memory_bytes: Option<u64>,
    /// Processes and threads. Absent means that nothing bounds them.
    pub processes: Option<u64>,
    /// Periods so far in which the quota was looked at, of the group whose quota counts.
    pub periods: Option<u64>,
    /// Periods among those in which processes had to wait because the quota was used up.
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

crate::names! { CgroupVersion: V1 = "1", V2 = "2" }
