//! The machine and the versions on which figures were made, as `environment.json` keeps them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// What is known of the machine. A field that the machine does not tell is absent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Environment {
    /// The version of wirebench.
    pub wirebench: String,
    /// The revision of the project's folder, with `-dirty` when it has changes.
    pub revision: Option<String>,
    /// The system's name on its network.
    pub host: String,
    /// The kernel's release.
    pub kernel: String,
    /// The architecture, for example `x86_64`.
    pub architecture: String,
    /// The distribution's name for itself.
    pub distribution: Option<String>,
    /// The model name of the first CPU.
    pub cpu_model: Option<String>,
    /// The CPUs that wirebench may use.
    pub cpus: Vec<Cpu>,
    /// All CPUs of the machine that are online.
    pub cpus_online: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Whether the machine says that it runs under a hypervisor.
    pub virtualised: Option<bool>,
    /// Mitigations of the CPU's vulnerabilities, by name.
    pub mitigations: BTreeMap<String, String>,
    /// Kernel settings that matter to network servers, by name.
    pub sysctls: BTreeMap<String, String>,
    /// The most open files that a process may ask for: soft and hard limit.
    pub open_files: (u64, u64),
    /// Runnable tasks of the whole machine over the last minute, before the start.
    pub load_average_1m: f64,
}
