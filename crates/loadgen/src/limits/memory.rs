//! Estimates the memory that all connections need on this side, and compares it with the free
//! memory of the machine and of its control groups.
//!
//! It measures nothing, and does not include the memory of the server.

mod cgroup;

use procfs::{FromRead, Meminfo};
use std::path::Path;
use wirebench_schema::load::LoadConfig;

use crate::{codec::http1::HEADS_LIMIT_BYTES, error::LoadError};

/// Kernel memory of one connection of one process: the socket, its file and its watch, with empty
/// buffers.
const KERNEL_BYTES: u64 = 4096;

/// Memory of this process per connection.
const OWN_BYTES: u64 = 1024;

/// Additional memory of this process per request in flight.
const REQUEST_BYTES: u64 = 16;

/// Refuses a load that this machine has too little memory for. Where it does not say how much is
/// free, nothing is refused.
pub(crate) fn check(config: &LoadConfig) -> Result<(), LoadError> {
    check_below(Path::new("/"), config)
}

/// The same with the kernel's files below `root`.
fn check_below(root: &Path, config: &LoadConfig) -> Result<(), LoadError> {
    let of_machine = Meminfo::from_file(root.join("proc/meminfo")).ok();
    let of_machine = of_machine.and_then(|memory| memory.mem_available);
    let of_machine = of_machine.map(|bytes| (bytes, ""));
    let of_group = cgroup::free_bytes(root);
    let of_group = of_group.map(|bytes| (bytes, " within the limit of the control group"));
    match of_machine.into_iter().chain(of_group).min() {
        None => Ok(()),
        Some((bytes, place)) => refuse_if_short(config, bytes, place),
    }
}

/// Memory of the load regardless of its active connections.
fn base_bytes(config: &LoadConfig) -> u64 {
    let has_heads = config.target.protocol().traits().has_heads;
    let heads_bytes =
        if has_heads { config.connections.saturating_mul(config.head_limit_bytes) } else { 0 };
    let idle_bytes = (config.idle_connections as u64).saturating_mul(KERNEL_BYTES + OWN_BYTES);
    let limit_bytes = config.threads.saturating_mul(config.head_limit_bytes).max(HEADS_LIMIT_BYTES);
    idle_bytes.saturating_add(heads_bytes.min(limit_bytes) as u64)
}

const fn connection_bytes(config: &LoadConfig) -> u64 {
    KERNEL_BYTES + OWN_BYTES + REQUEST_BYTES * config.pipeline as u64
}

/// Refuses a load for which `free_bytes` are too few. `place` says where they are.
fn refuse_if_short(config: &LoadConfig, free_bytes: u64, place: &str) -> Result<(), LoadError> {
    let (active, idle) = (config.connections as u64, config.idle_connections as u64);
    let (base_bytes, each_bytes) = (base_bytes(config), connection_bytes(config));
    let needed_bytes = base_bytes.saturating_add(active.saturating_mul(each_bytes));
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let next_step = match free_bytes.saturating_sub(base_bytes) / each_bytes {
        0 => "give fewer connections".to_owned(),
        possible => format!("give -c at most {possible}"),
    };
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(LoadError::Configuration(format!(
        "{} connections need about {} MiB of memory and {} MiB are free{place}: {next_step}",
        active.saturating_add(idle),
        mebibytes(needed_bytes),
        mebibytes(free_bytes)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIBIBYTE: u64 = 1 << 30;

    fn config(connections: usize, idle_connections: usize) -> LoadConfig {
        let config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        LoadConfig { connections, idle_connections, ..config }
    }

    #[test]
    fn a_load_that_fits_is_accepted() {
        assert!(refuse_if_short(&config(100_000, 50_000), GIBIBYTE, "").is_ok());
        assert!(check(&config(1, 0)).is_ok());
    }

    /// A file of the kernel: its path and its text.
    type File = (&'static str, &'static str);

    /// The kernel's files of a machine with 8 GiB free, whose process is in the group `/own`.
    fn machine(mount: &str, cgroup: &str, files: &[File]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let given = [
            (
                "proc/meminfo",
                "MemTotal: 16777216 kB\nMemFree: 1 kB\nBuffers: 1 kB\nCached: 1 kB\n\
                              SwapCached: 0 kB\nActive: 1 kB\nInactive: 1 kB\nSwapTotal: 0 kB\n\
                              SwapFree: 0 kB\nDirty: 0 kB\nWriteback: 0 kB\nMapped: 0 kB\n\
                              Slab: 0 kB\nCommitted_AS: 0 kB\nVmallocTotal: 0 kB\n\
                              VmallocUsed: 0 kB\nVmallocChunk: 0 kB\nMemAvailable: 8388608 kB\n",
            ),
            ("proc/self/mountinfo", mount),
            ("proc/self/cgroup", cgroup),
        ];
        for (path, text) in given.iter().chain(files) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    /// A group with a limit of 512 MiB of which 412 MiB are in use, 212 MiB of them by files that
    /// can be dropped: 312 MiB are free. The group around it has no limit.
    const GROUPS: [(&str, &str, &[File]); 2] = [
        (
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            "4:memory:/own\n0::/\n",
            &[
                ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4294967296\n"),
                ("sys/fs/cgroup/memory/own/memory.limit_in_bytes", "536870912\n"),
                ("sys/fs/cgroup/memory/own/memory.usage_in_bytes", "432013312\n"),
                (
                    "sys/fs/cgroup/memory/own/memory.stat",
                    "inactive_file 7\ntotal_inactive_file 209715200\ntotal_active_file 12582912\n",
                ),
            ],
        ),
        (
            "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
            "0::/own\n",
            &[
                ("sys/fs/cgroup/memory.stat", "anon 1\n"),
                ("sys/fs/cgroup/own/memory.max", "536870912\n"),
                ("sys/fs/cgroup/own/memory.current", "432013312\n"),
                (
                    "sys/fs/cgroup/own/memory.stat",
                    "anon 1\nfile 5\ninactive_file 209715200\nactive_file 12582912\n",
                ),
            ],
        ),
    ];

    #[test]
    fn the_limit_of_a_control_group_counts_where_it_is_lower() {
        for (mount, cgroup, files) in GROUPS {
            let root = machine(mount, cgroup, files);
            assert!(check_below(root.path(), &config(50_000, 0)).is_ok());
            let error = check_below(root.path(), &config(100_000, 0));
            let message = error.expect_err(mount).to_string();
            let begin = "100000 connections need about 490 MiB of memory and 312 MiB are free within \
                         the limit of the control group";
            assert!(message.starts_with(begin), "{message}");
        }
        let without = machine("", "", &[]);
        assert!(check_below(without.path(), &config(100_000, 0)).is_ok());
    }

    #[test]
    fn heads_that_come_in_part_are_in_the_estimate() {
        let fits = |config: &LoadConfig| refuse_if_short(config, 70 << 20, "").is_ok();
        let echo = config(2000, 0);
        let http =
            LoadConfig { target: "http://127.0.0.1:80/".parse().unwrap(), ..config(2000, 0) };
        assert_eq!((fits(&echo), fits(&http)), (true, false));
        assert!(fits(&LoadConfig { connections: 64, ..http }));
    }

    #[test]
    fn a_load_that_does_not_fit_is_refused_with_the_numbers_and_an_alternative() {
        let message = refuse_if_short(&config(300_000, 0), GIBIBYTE, "").unwrap_err().to_string();
        let begin = "300000 connections need about 1470 MiB of memory and 1024 MiB are free";
        assert!(message.starts_with(begin), "{message}");
        assert!(message.ends_with("give -c at most 209061"), "{message}");
        assert!(refuse_if_short(&config(209_061, 0), GIBIBYTE, "").is_ok());
        let message = refuse_if_short(&config(10, 300_000), GIBIBYTE, "").unwrap_err().to_string();
        assert!(message.ends_with("give fewer connections"), "{message}");
        assert!(refuse_if_short(&config(usize::MAX, usize::MAX), GIBIBYTE, "").is_err());
    }
}
