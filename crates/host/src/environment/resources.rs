//! What a measurement looks at while it goes on: memory that is left, pages that were swapped, and the
//! frequency of CPUs. What cannot be read is absent.

use std::path::Path;
use wirebench_sys::files::Files;
pub use wirebench_sys::memory::{Memory, memory};

/// Pages that were swapped in or out since the machine was started.
pub fn swapped_pages(root: &Path) -> Option<u64> {
    let files = Files(root);
    let count = |key: &str| files.value("proc/vmstat", key)?.parse::<u64>().ok();
    Some(count("pswpin ")? + count("pswpout ")?)
}

/// The lowest frequency of `cpus`, in kHz. Most virtual machines do not show it.
pub fn frequency_khz(root: &Path, cpus: &[u32]) -> Option<u64> {
    let path = |cpu| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    cpus.iter().filter_map(|cpu| Files(root).number(path(cpu))).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::machine;

    #[test]
    fn the_memory_that_is_left_is_that_of_the_machine_or_of_a_tighter_group() {
        let left = |files: &[(&str, &str)]| memory(machine(files).path());
        let of_machine =
            ("proc/meminfo", "MemTotal: 8192 kB\nMemFree: 1 kB\nMemAvailable: 4096 kB\n");
        let mib = |total: u64, available: u64| {
            let is_of_group = total < 8;
            Some(Memory { total: total << 20, available: available << 20, is_of_group })
        };
        assert_eq!(left(&[of_machine]), mib(8, 4));
        let second = [
            of_machine,
            ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("proc/self/cgroup", "0::/a/b\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "1048576\n"),
            ("sys/fs/cgroup/a/memory.max", "6291456\n"),
            ("sys/fs/cgroup/a/memory.current", "5242880\n"),
            // One MiB of what is used is a cache.
            ("sys/fs/cgroup/a/memory.stat", "anon 4194304\ninactive_file 1048576\nactive_file 0\n"),
        ];
        assert_eq!(left(&second), mib(6, 2));
        let first = [
            of_machine,
            (
                "proc/self/mountinfo",
                "35 1 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
            ),
            ("proc/self/cgroup", "8:memory:/x\n0::/\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4194304\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5242880\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "4194304\n"),
            (
                "sys/fs/cgroup/memory/x/memory.stat",
                "inactive_file 7\ntotal_inactive_file 1048576\n",
            ),
        ];
        assert_eq!(left(&first), mib(5, 2));
        assert_eq!(left(&[]), None);
        assert!(memory(Path::new("/")).is_some());
    }

    #[test]
    fn swapped_pages_and_frequencies_are_read_where_there_are_some() {
        let silent = machine(&[]);
        assert_eq!(swapped_pages(silent.path()), None);
        assert_eq!(frequency_khz(silent.path(), &[0, 1]), None);
        let frequency =
            |cpu: u32| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
        let root = machine(&[
            ("proc/vmstat", "nr_free_pages 7\npswpin 3\npswpout 4\n"),
            (&frequency(0), "3200000\n"),
            (&frequency(1), "2400000\n"),
        ]);
        assert_eq!(swapped_pages(root.path()), Some(7));
        assert_eq!(frequency_khz(root.path(), &[0, 1]), Some(2_400_000));
    }
}
