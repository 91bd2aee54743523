//! Reads what is known of this machine, for `environment.json` and for `doctor`.

use std::{collections::BTreeMap, fs, path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::environment::Environment;

use crate::{
    command::{Job, NO_ENV},
    requirement::kernel_release,
    topology,
};

/// Kernel settings that change what a network server can do.
pub const SYSCTLS: [&str; 8] = [
    "kernel/io_uring_disabled",
    "net/core/somaxconn",
    "net/core/busy_poll",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_tw_reuse",
    "vm/overcommit_memory",
    "kernel/randomize_va_space",
];

/// Looks at the machine. `root` is the project's folder, whose revision is recorded.
#[must_use]
pub fn gather(root: Option<&Path>) -> Environment {
    let uname = rustix::system::uname();
    Environment {
        wirebench: env!("CARGO_PKG_VERSION").to_owned(),
        revision: root.and_then(revision),
        host: uname.nodename().to_string_lossy().into_owned(),
        kernel: kernel_release(),
        architecture: uname.machine().to_string_lossy().into_owned(),
        distribution: distribution(),
        cpu_model: cpu_info("model name"),
        cpus: topology::usable_cpus().unwrap_or_default(),
        cpus_online: topology::online_cpus(),
        memory_bytes: memory_bytes(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        virtualised: cpu_info("flags").map(|flags| flags.split(' ').any(|f| f == "hypervisor")),
        mitigations: mitigations(),
        sysctls: SYSCTLS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), sysctl(name)?)))
            .collect(),
        open_files: wirebench_sys::limits::open_files(),
        load_average_1m: load_average_1m(),
    }
}

/// One kernel setting, named by its path below `/proc/sys`.
#[must_use]
pub fn sysctl(name: &str) -> Option<String> {
    line(&format!("/proc/sys/{name}"))
}

fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().replace('\t', " "))
}

fn cpu_info(key: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let (_, value) = text.lines().find(|line| line.starts_with(key))?.split_once(':')?;
    Some(value.trim().to_owned())
}

fn distribution() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim_matches('"').to_owned())
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    let kib: Option<u64> = value.split_whitespace().next().and_then(|number| number.parse().ok());
    kib.unwrap_or(0) * 1024
}

fn mitigations() -> BTreeMap<String, String> {
    let folder = fs::read_dir("/sys/devices/system/cpu/vulnerabilities");
    let files = folder.into_iter().flatten().flatten();
    files
        .filter_map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            Some((name, line(&file.path().to_string_lossy())?))
        })
        .collect()
}

/// Runnable tasks over the last minute, of the whole machine.
#[must_use]
pub fn load_average_1m() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

/// The revision of the checkout, with `-dirty` when a tracked file differs from it.
fn revision(root: &Path) -> Option<String> {
    let argv = ["git", "describe", "--always", "--dirty", "--abbrev=12"].map(str::to_owned);
    let timeout = Duration::from_secs(20);
    let job = Job { argv: &argv, folder: root, env: NO_ENV, timeout };
    let output = job.output(&AtomicBool::new(false)).ok()?;
    output.status.success().then(|| output.text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_tells_what_every_linux_tells() {
        let environment = gather(None);
        assert!(environment.memory_bytes > 0 && environment.cpus_online > 0);
        assert!(environment.kernel.contains('.') && !environment.cpus.is_empty());
        assert!(environment.sysctls.contains_key("net/core/somaxconn"));
        let text = serde_json::to_string(&environment).unwrap();
        assert_eq!(serde_json::from_str::<Environment>(&text).unwrap(), environment);
    }
}
