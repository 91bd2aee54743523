//! How long CPU limits have held wirebench's own control group back, in either version of control
//! groups. Servers and generators are in the same group, because they are its children.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use crate::environment::cgroup::cpu_statistics;

/// How long each group on the way to the root has been held back so far, in nanoseconds. The kernel
/// adds up the time of every CPU on which the group wanted to run, so that it may be more than the
/// time that went by.
#[derive(Clone, Debug, Default)]
pub struct Throttled(BTreeMap<PathBuf, u64>);

impl Throttled {
    /// Reads it; nothing where no group has a limit, or where it cannot be read.
    pub fn read() -> Self {
        // A process seldom changes its group, and this is read after every visit.
        static FILES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| cpu_statistics(Path::new("/")));
        Self::of(&FILES)
    }

    fn of(files: &[PathBuf]) -> Self {
        let ns = |file: &PathBuf| throttled_ns(&fs::read_to_string(file).ok()?);
        Self(files.iter().filter_map(|file| Some((file.clone(), ns(file)?))).collect())
    }

    /// The longest time for which one of the groups was held back since `before`. Several at once
    /// hold back no longer than the longest of them.
    pub fn ns_since(&self, before: &Self) -> u64 {
        let since = |(file, now): (&PathBuf, &u64)| {
            before.0.get(file).map_or(0, |then| now.saturating_sub(*then))
        };
        self.0.iter().map(since).max().unwrap_or(0)
    }
}

/// The time in the text of a `cpu.stat`: nanoseconds in version 1, microseconds in version 2.
fn throttled_ns(text: &str) -> Option<u64> {
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name)?.1.trim().parse::<u64>().ok()
    };
    value("throttled_usec").map(|us| us.saturating_mul(1000)).or_else(|| value("throttled_time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_tell_the_time() {
        let first = "nr_periods 10\nnr_throttled 3\nthrottled_time 1500000\n";
        let second = "usage_usec 9\nnr_throttled 3\nthrottled_usec 1500\n";
        assert_eq!(throttled_ns(first), Some(1_500_000));
        assert_eq!(throttled_ns(second), Some(1_500_000));
        assert_eq!(throttled_ns("usage_usec 9\n"), None);
    }

    /// What each version mounts, and the group of a process.
    const VERSIONS: [(&str, &str); 2] = [
        ("1 0 0:1 / /cgroup rw - cgroup cgroup rw,cpu\n", "4:cpu,cpuacct:/a/b\n"),
        ("1 0 0:1 / /cgroup rw - cgroup2 cgroup2 rw\n", "0::/a/b\n"),
    ];

    /// A root folder with the groups `a` and `a/b`.
    fn root(mounts: &str, group: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", mounts);
        write("proc/self/cgroup", group);
        write("cgroup/a/b/procs", "");
        folder
    }

    #[test]
    fn the_groups_around_are_looked_at_too() {
        let found = |mounts: &str, group: &str| -> Vec<String> {
            let root = root(mounts, group);
            let relative = |path: &PathBuf| path.strip_prefix(root.path()).unwrap().to_owned();
            cpu_statistics(root.path())
                .iter()
                .map(|it| relative(it).display().to_string())
                .collect()
        };
        let expected = ["cgroup/a/b/cpu.stat", "cgroup/a/cpu.stat", "cgroup/cpu.stat"];
        for (mounts, group) in VERSIONS {
            assert_eq!(found(mounts, group), expected);
        }
        // In a container whose own group is the root of what is shown.
        let shown = "1 0 0:1 /docker/1 /cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(found(shown, "0::/docker/1\n"), ["cgroup/cpu.stat"]);
        assert_eq!(found(VERSIONS[1].0, "0::/../other\n"), ["cgroup/cpu.stat"]);
    }

    #[test]
    fn a_limit_of_a_group_around_is_found_in_both_versions() {
        let names = [("throttled_time", 1_000_000), ("throttled_usec", 1000)];
        for ((mounts, group), (name, per_ms)) in VERSIONS.into_iter().zip(names) {
            let root = root(mounts, group);
            let held_back = |ms: u64| {
                let text =
                    |ms: u64| format!("nr_periods 9\nnr_throttled 3\n{name} {}\n", ms * per_ms);
                fs::write(root.path().join("cgroup/a/cpu.stat"), text(ms)).unwrap();
                fs::write(root.path().join("cgroup/a/b/cpu.stat"), text(0)).unwrap();
                Throttled::of(&cpu_statistics(root.path()))
            };
            let (before, after) = (held_back(40), held_back(100));
            assert_eq!(after.ns_since(&before), 60_000_000, "{name}");
            assert_eq!(held_back(100).ns_since(&after), 0, "{name}");
        }
    }

    #[test]
    fn the_group_that_was_held_back_longest_counts() {
        let times = |rows: &[(&str, u64)]| {
            Throttled(rows.iter().map(|&(file, ns)| (file.into(), ns)).collect())
        };
        let (before, after) =
            (times(&[("a", 5), ("b", 7)]), times(&[("a", 8), ("b", 17), ("c", 99)]));
        assert_eq!(after.ns_since(&before), 10);
        assert_eq!(before.ns_since(&Throttled::default()), 0);
    }
}
