//! Reads the settings of the kernel, and what identifies the kernel and the machine.

use procfs::{
    FromRead,
    process::{LimitValue, Limits as ProcessLimits},
};
use wirebench_schema::environment::{Limit, Limits};

use wirebench_server::digest;
use wirebench_sys::files::Files;

/// Options of the kernel's command line that change how servers run. All others are
/// omitted, because they may hold secrets, and the file is passed on.
const OPTIONS: [&str; 43] = [
    "amd_pstate",
    "apparmor",
    "audit",
    "clocksource",
    "cpufreq.default_governor",
    "cpuidle_haltpoll.force",
    "haltpoll.guest_halt_poll_ns",
    "hugepages",
    "hugepagesz",
    "idle",
    "init_on_alloc",
    "init_on_free",
    "intel_idle.max_cstate",
    "intel_pstate",
    "irqaffinity",
    "isolcpus",
    "kpti",
    "lsm",
    "maxcpus",
    "mem",
    "mitigations",
    "nmi_watchdog",
    "nohz",
    "nohz_full",
    "nokaslr",
    "nopti",
    "norandmaps",
    "nosmt",
    "nospectre_v1",
    "nospectre_v2",
    "nowatchdog",
    "nr_cpus",
    "numa_balancing",
    "preempt",
    "processor.max_cstate",
    "pti",
    "rcu_nocbs",
    "retbleed",
    "selinux",
    "spec_store_bypass_disable",
    "spectre_v2",
    "transparent_hugepage",
    "tsc",
];

/// Those of [`OPTIONS`] that are on the kernel's command line.
pub(super) fn options(files: &Files<'_>) -> Option<Vec<String>> {
    let text = files.text("proc/cmdline")?;
    // Options after `--` are for the first process and not for the kernel.
    let for_kernel = text.split_whitespace().take_while(|word| *word != "--");
    let matters = |word: &&str| OPTIONS.contains(&word.split('=').next().unwrap_or(word));
    Some(for_kernel.filter(matters).map(str::to_owned).collect())
}

/// A digest of the installation's number, which is not to be passed on as it is.
pub(super) fn machine(files: &Files<'_>) -> Option<String> {
    let id = files.line("etc/machine-id").filter(|id| id != "uninitialized")?;
    Some(digest::of_text(&format!("wirebench machine {id}")))
}

/// A digest of the number that the kernel drew when it started.
pub(super) fn boot(files: &Files<'_>) -> Option<String> {
    let id = files.line("proc/sys/kernel/random/boot_id")?;
    Some(digest::of_text(&format!("wirebench boot {id}")))
}

/// The word in brackets: `always [madvise] never`.
pub(super) fn huge_pages(files: &Files<'_>) -> Option<String> {
    let text = files.line("sys/kernel/mm/transparent_hugepage/enabled")?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

pub(super) fn limits(files: &Files<'_>) -> Limits {
    let Ok(limits) = ProcessLimits::from_file(files.at("proc/self/limits")) else {
        return Limits::default();
    };
    let bound = |value| match value {
        LimitValue::Unlimited => None,
        LimitValue::Value(value) => Some(value),
    };
    let limit = |limit: procfs::process::Limit| {
        Some(Limit { soft: bound(limit.soft_limit), hard: bound(limit.hard_limit) })
    };
    Limits {
        open_files: limit(limits.max_open_files),
        locked_memory_bytes: limit(limits.max_locked_memory),
        processes: limit(limits.max_processes),
    }
}
