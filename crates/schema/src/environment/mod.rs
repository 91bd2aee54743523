//! The machine, its settings and the installed versions, as stored in `environment.json`.
//!
//! Values that a machine does not report are absent, never zero. Figures are not included, nor the
//! versions of single entries, which are in the journal.

mod difference;
mod parts;
pub(crate) mod settings;
mod variables;

pub use difference::{Difference, Weight};
pub use parts::{
    BuildProfile, Cache, Cgroup, CgroupVersion, Cpu, Frequency, Limit, Limits, Program, Turbo,
};
pub use settings::changes_servers;
pub use variables::may_change_servers;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The known facts about the machine. Fields that the machine does not report, or that an earlier
/// version of wirebench did not write, are absent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Environment {
    /// The version of wirebench.
    pub wirebench: String,
    /// The revision of the project's folder, with `-dirty` when it has changes.
    pub revision: Option<String>,
    /// The program that measured.
    #[serde(default)]
    pub program: Program,
    /// The system's name on its network. A container has a random one.
    pub host: String,
    /// A digest of the installation's number (`/etc/machine-id`). Clones of a disk share it, and
    /// containers may have their own.
    pub machine: Option<String>,
    /// A digest of the number that the kernel drew when it started. All containers of a machine
    /// share it until the machine starts again.
    pub boot: Option<String>,
    /// The vendor's name of the machine, or the hypervisor's name of the virtual one.
    pub product: Option<String>,
    /// The kernel's release.
    pub kernel: String,
    /// Which build of that release, and with what kind of preemption.
    pub kernel_version: Option<String>,
    /// The options of the kernel's command line that change how servers run, in their order.
    pub kernel_options: Option<Vec<String>>,
    /// The architecture, for example `x86_64`.
    pub architecture: String,
    /// The distribution's name for itself.
    pub distribution: Option<String>,
    /// The model name of the first CPU.
    pub cpu_model: Option<String>,
    /// The family, model and stepping of the first CPU, as the kernel numbers them.
    pub cpu_family: Option<String>,
    /// The microcode's revision of the first CPU.
    pub microcode: Option<String>,
    /// The CPUs that wirebench may use.
    pub cpus: Vec<Cpu>,
    /// All CPUs of the machine that are online.
    pub cpus_online: usize,
    /// The CPUs that the kernel's scheduler leaves alone (`isolcpus`).
    pub isolated_cpus: Option<Vec<u32>>,
    /// The CPUs of each NUMA node, of those that wirebench may use.
    #[serde(default)]
    pub nodes: BTreeMap<u32, Vec<u32>>,
    /// The caches of the CPUs that wirebench may use, smallest level first.
    #[serde(default)]
    pub caches: Vec<Cache>,
    /// The CPUs under each last-level cache, of those that wirebench may use.
    #[serde(default)]
    pub last_level_caches: Vec<Vec<u32>>,
    /// The kernel's state of SMT: `on`, `off`, `notsupported` and others.
    pub smt: Option<String>,
    /// The frequency settings of the CPUs that wirebench may use.
    #[serde(default)]
    pub frequency: Frequency,
    /// Whether the machine says that it runs under a hypervisor.
    pub virtualised: Option<bool>,
    /// Which hypervisor, if something names it.
    pub hypervisor: Option<String>,
    /// The variables of the environment that change how servers run, which servers inherit.
    pub variables: Option<BTreeMap<String, String>>,
    /// A digest of the names and values of the others that servers inherit, without secrets and what differs from
    /// terminal to terminal: what they change is not known.
    pub other_variables: Option<String>,
    /// Mitigations of the CPU's vulnerabilities, by name.
    pub mitigations: BTreeMap<String, String>,
    /// The kernel's clock source.
    pub clock_source: Option<String>,
    /// The mode of transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Space for what does not fit memory, in bytes.
    pub swap_bytes: Option<u64>,
    /// Swap space in use before the start.
    pub swap_used_bytes: Option<u64>,
    /// The resource limits of this process and its children.
    #[serde(default)]
    pub limits: Limits,
    /// The limits of this process's control groups, if there are any.
    pub cgroup: Option<Cgroup>,
    /// Kernel settings that matter to network servers, by their path below `/proc/sys`.
    pub sysctls: BTreeMap<String, String>,
    /// The largest packet of the loopback interface, in bytes.
    pub loopback_mtu_bytes: Option<u32>,
    /// Compilers, runtimes and build tools by the name of their program: the first line of what
    /// each says of its version. A program that is not there has no line.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    /// Runnable tasks of the whole machine over the last minute, before the start.
    pub load_average_1m: f64,
    /// The part of the CPUs' time since the machine started that the hypervisor gave to others, 0
    /// to 1.
    pub steal_share: Option<f64>,
    /// Extra CPU time of the slowest tenth of repetitions of equal work of about 0.5 ms over the
    /// fastest tenth, before the start: 0.5 means 50 % more.
    pub speed_spread: Option<f64>,
    /// Uptime of the machine.
    pub uptime_s: Option<f64>,
    /// The warmest thermal sensor before the start, in degrees Celsius.
    pub temperature_celsius: Option<f64>,
}

impl Environment {
    /// The CPUs of each core of which wirebench may use several: siblings slow each other down.
    #[must_use]
    pub fn sibling_cpus(&self) -> Vec<Vec<u32>> {
        let mut cores: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        for cpu in &self.cpus {
            cores.entry((cpu.package, cpu.core)).or_default().push(cpu.cpu);
        }
        cores.into_values().filter(|siblings| siblings.len() > 1).collect()
    }

    /// Number of cores of the CPUs that wirebench may use.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.cpus.iter().map(|cpu| (cpu.package, cpu.core)).collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form written by the first version of wirebench.
    const EARLY: &str = r#"{ "wirebench": "0.1.0", "revision": null, "host": "x", "kernel": "6.1",
        "architecture": "x86_64", "distribution": null, "cpu_model": "Model",
        "cpus": [{ "cpu": 0, "core": 0, "package": 0 }], "cpus_online": 1, "memory_bytes": 1024,
        "governor": "performance", "virtualised": false, "mitigations": {}, "sysctls": {},
        "open_files": [1024, 4096], "load_average_1m": 0.5 }"#;

    #[test]
    fn a_file_of_the_first_version_is_read_without_its_missing_fields() {
        let environment: Environment = serde_json::from_str(EARLY).unwrap();
        assert_eq!((environment.cpus_online, environment.memory_bytes), (1, 1024));
        assert_eq!((&environment.limits, &environment.cgroup), (&Limits::default(), &None));
        assert_eq!((&environment.kernel_options, &environment.microcode), (&None, &None));
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }

    #[test]
    fn siblings_are_the_cpus_of_one_core_of_one_package() {
        let cpu = |cpu, core, package| Cpu { cpu, core, package };
        let cpus = vec![cpu(0, 0, 0), cpu(1, 1, 0), cpu(2, 0, 0), cpu(3, 0, 1)];
        let environment = Environment { cpus, ..Environment::default() };
        assert_eq!(environment.sibling_cpus(), [[0, 2]]);
        assert_eq!(environment.cores(), 3);
    }
}
