//! How long CPU limits have held wirebench's own control group back, in either version of control
//! groups. Servers and generators are in the same group, because they are its children.

use procfs::process::Process;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// The file with the times, in both versions.
const FILE: &str = "cpu.stat";

/// How long each group on the way to the root has been held back so far, in nanoseconds. The kernel
/// adds up the time of every CPU on which the group wanted to run, so that it may be more than the
/// time that went by.
#[derive(Clone, Debug, Default)]
pub struct Throttled(BTreeMap<PathBuf, u64>);

impl Throttled {
    /// Reads it; nothing where no group has a limit, or where it cannot be read.
    pub fn read() -> Self {
        Self::of(files())
    }

    pub(super) fn of(files: Vec<PathBuf>) -> Self {
        let times = files.into_iter().filter_map(|file| {
            let ns = throttled_ns(&fs::read_to_string(&file).ok()?)?;
            Some((file, ns))
        });
        Self(times.collect())
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

/// The files of this process's groups, those of the groups around them too.
fn files() -> Vec<PathBuf> {
    let Ok(own) = Process::myself() else { return Vec::new() };
    let (Ok(groups), Ok(mounts)) = (own.cgroups(), own.mountinfo()) else { return Vec::new() };
    let mut files = Vec::new();
    for group in groups {
        // Version 2 has one hierarchy, whose number is 0; version 1 has one for CPU time.
        let is_unified = group.hierarchy == 0;
        if !is_unified && !group.controllers.iter().any(|name| name == "cpu") {
            continue;
        }
        let mount = mounts.0.iter().find(|mount| match is_unified {
            true => mount.fs_type == "cgroup2",
            false => mount.fs_type == "cgroup" && mount.super_options.contains_key("cpu"),
        });
        if let Some(mount) = mount {
            files.extend(up_to_the_mount(&mount.mount_point, &mount.root, &group.pathname));
        }
    }
    files
}

/// The files of the group `path` and of those around it, below a mount that shows `root` and what
/// is in it. A group outside of what is shown leaves the mount itself.
fn up_to_the_mount(mount: &Path, root: &str, path: &str) -> Vec<PathBuf> {
    let relative = Path::new(path).strip_prefix(root).unwrap_or_else(|_| Path::new(""));
    let is_inside = relative.components().all(|it| matches!(it, std::path::Component::Normal(_)));
    let relative = if is_inside { relative } else { Path::new("") };
    relative.ancestors().map(|group| mount.join(group).join(FILE)).collect()
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

    #[test]
    fn the_groups_around_are_looked_at_too() {
        let mount = Path::new("/sys/fs/cgroup");
        let found = up_to_the_mount(mount, "/", "/a.slice/b.service");
        let expected = ["a.slice/b.service/cpu.stat", "a.slice/cpu.stat", "cpu.stat"];
        assert_eq!(found, expected.map(|file| mount.join(file)));
        // In a container whose own group is the root of what is shown.
        assert_eq!(up_to_the_mount(mount, "/docker/1", "/docker/1"), [mount.join("cpu.stat")]);
        assert_eq!(up_to_the_mount(mount, "/", "/../other"), [mount.join("cpu.stat")]);
    }

    /// The groups `a` and `a/b` below a mount, of which `a` has been held back for `per_ms` milliseconds.
    fn tree(name: &str, per_ms: u64) -> (tempfile::TempDir, impl Fn(u64) -> Throttled) {
        let folder = tempfile::tempdir().unwrap();
        let mount = folder.path().to_owned();
        fs::create_dir_all(mount.join("a/b")).unwrap();
        let name = name.to_owned();
        let held_back = move |ms: u64| {
            let text = |ms: u64| format!("nr_periods 9\nnr_throttled 3\n{name} {}\n", ms * per_ms);
            fs::write(mount.join("a").join(FILE), text(ms)).unwrap();
            fs::write(mount.join("a/b").join(FILE), text(0)).unwrap();
            Throttled::of(up_to_the_mount(&mount, "/", "/a/b"))
        };
        (folder, held_back)
    }

    #[test]
    fn a_limit_of_a_group_around_is_found_in_both_versions() {
        for (name, per_ms) in [("throttled_time", 1_000_000), ("throttled_usec", 1000)] {
            let (_folder, held_back) = tree(name, per_ms);
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
