//! Reads what is known of this machine, for `environment.json` and for `doctor`. It judges nothing
//! and changes nothing.
//!
//! Everything that files tell is read below a root folder, which is `/` but in tests.

pub(crate) mod cgroup;
mod kernel;
mod moment;
mod processor;
pub mod resources;
mod speed;
mod tools;
mod virtualisation;

pub use tools::{TOOLS, versions};

use std::{
    collections::BTreeMap, ffi::OsString, path::Path, sync::atomic::AtomicBool, time::Duration,
};
use wirebench_schema::environment::{
    BuildProfile, Environment, Program, changes_servers, may_change_servers,
};
use wirebench_server::{
    command::{Job, NO_ENV},
    digest,
};

use crate::topology;
use wirebench_sys::files::Files;

/// Kernel settings that change what a network server can do.
pub const SYSCTLS: [&str; 30] = [
    "fs/file-max",
    "fs/nr_open",
    "kernel/io_uring_disabled",
    "kernel/numa_balancing",
    "kernel/randomize_va_space",
    "kernel/sched_autogroup_enabled",
    "kernel/threads-max",
    "net/core/busy_poll",
    "net/core/busy_read",
    "net/core/default_qdisc",
    "net/core/netdev_budget",
    "net/core/netdev_budget_usecs",
    "net/core/netdev_max_backlog",
    "net/core/rmem_default",
    "net/core/rmem_max",
    "net/core/somaxconn",
    "net/core/wmem_default",
    "net/core/wmem_max",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_fin_timeout",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_max_tw_buckets",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_syncookies",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_wmem",
    "net/netfilter/nf_conntrack_max",
    "vm/overcommit_memory",
];

/// Looks at the machine. `revision` is that of the project.
#[must_use]
pub fn gather(revision: Option<String>) -> Environment {
    let variables = Some(variables(changes_servers));
    let others = self::variables(may_change_servers).into_iter();
    let others: String = others.map(|(name, value)| format!("{name}={value}\0")).collect();
    let other_variables = Some(digest::of_text(&others));
    Environment { revision, variables, other_variables, ..here() }
}

/// Looks at the machine and, unless `stop` is set, at all tools and at how evenly its CPUs work, which takes CPU time.
#[must_use]
pub fn gather_all(revision: Option<String>, stop: &AtomicBool) -> Environment {
    // The load before the start must not be that of the programs that are asked.
    let machine = gather(revision);
    Environment { tools: tools::versions(stop), speed_spread: speed::spread(stop), ..machine }
}

/// The machine and this program, as far as no other program is asked.
#[must_use]
pub fn here() -> Environment {
    let cpus = wirebench_sys::affinity::current().unwrap_or_default();
    let profile = if cfg!(debug_assertions) { BuildProfile::Debug } else { BuildProfile::Release };
    Environment {
        wirebench: env!("CARGO_PKG_VERSION").to_owned(),
        program: Program { profile: Some(profile), digest: digest::own() },
        ..read(Path::new("/"), &cpus)
    }
}

/// The variables of this process whose names are `wanted`.
fn variables(wanted: fn(&str) -> bool) -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| wanted(name)).collect()
}

/// What the files below `root` tell of a machine on which `cpus` may be used.
#[must_use]
pub fn read(root: &Path, cpus: &[u32]) -> Environment {
    let files = Files(root);
    let memory = |key: &str| files.value("proc/meminfo", key).and_then(|text| kibibytes(&text));
    let swap_bytes = memory("SwapTotal:");
    let sysctl = |name: &&str| Some(((*name).to_owned(), files.line(format!("proc/sys/{name}"))?));
    let hypervisor = virtualisation::hypervisor(&files);
    Environment {
        host: files.line("proc/sys/kernel/hostname").unwrap_or_default(),
        machine: kernel::machine(&files),
        boot: kernel::boot(&files),
        product: virtualisation::product(&files),
        kernel: files.line("proc/sys/kernel/osrelease").unwrap_or_default(),
        kernel_version: files.line("proc/sys/kernel/version"),
        kernel_options: kernel::options(&files),
        architecture: files
            .line("proc/sys/kernel/arch")
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        distribution: files
            .value("etc/os-release", "PRETTY_NAME=")
            .map(|name| name.trim_matches('"').to_owned()),
        cpu_model: processor::model(&files),
        cpu_family: processor::family(&files),
        microcode: files.field("proc/cpuinfo", "microcode"),
        cpus: topology::places(root, cpus),
        cpus_online: topology::online_cpus(root),
        isolated_cpus: processor::isolated(&files),
        nodes: topology::nodes(root, cpus),
        caches: topology::caches(root, cpus),
        last_level_caches: topology::last_level_caches(root, cpus),
        smt: files.line("sys/devices/system/cpu/smt/control"),
        frequency: processor::frequency(&files, cpus),
        virtualised: virtualisation::virtualised(&files, hypervisor.as_deref()),
        hypervisor,
        mitigations: processor::mitigations(&files),
        clock_source: files.line("sys/devices/system/clocksource/clocksource0/current_clocksource"),
        transparent_huge_pages: kernel::huge_pages(&files),
        memory_bytes: memory("MemTotal:").unwrap_or(0),
        swap_bytes,
        swap_used_bytes: swap_bytes
            .zip(memory("SwapFree:"))
            .map(|(total, free)| total.saturating_sub(free)),
        limits: kernel::limits(&files),
        cgroup: cgroup::read(&files),
        sysctls: SYSCTLS.iter().filter_map(sysctl).collect(),
        loopback_mtu_bytes: files.number("sys/class/net/lo/mtu"),
        load_average_1m: moment::load_average_1m(&files).unwrap_or(0.0),
        steal_share: moment::steal_share(&files),
        uptime_s: moment::uptime_s(&files),
        temperature_celsius: moment::temperature_celsius(&files),
        ..Environment::default()
    }
}

/// `16384 kB` in bytes.
fn kibibytes(text: &str) -> Option<u64> {
    let number: u64 = text.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// How long git may take to answer a question on a repository.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The revision of the checkout, with `-dirty` when a tracked file differs from it; none outside a checkout, and where
/// git does not answer in time. The repository stays as it is: `git describe --dirty` would write its index.
#[must_use]
pub fn revision(folder: &Path, stop: &AtomicBool) -> Option<String> {
    let git = |arguments: &[&str]| {
        let words = [&["git", "--no-optional-locks"], arguments].concat();
        let argv: Vec<String> = words.into_iter().map(str::to_owned).collect();
        let job = Job { argv: &argv, folder, env: NO_ENV, timeout: GIT_TIMEOUT };
        job.output(stop).ok().filter(|it| it.status.success()).map(|it| it.text)
    };
    let described = git(&["describe", "--always", "--abbrev=12"])?;
    let changes = git(&["status", "--porcelain=v2", "--untracked-files=no", "--no-renames"])?;
    // Warnings of git follow its answers.
    let is_change = |line: &str| ["1 ", "2 ", "u "].iter().any(|kind| line.starts_with(kind));
    let dirty = if changes.lines().any(is_change) { "-dirty" } else { "" };
    Some(format!("{}{dirty}", described.lines().next()?.trim()))
}

#[cfg(test)]
pub(crate) mod tests;
