//! The memory that is left on this machine and in the control groups around this process, by either
//! interface of the kernel.
//!
//! A limit holds for all groups below, so the tightest of a group and those above it counts. A
//! container sees its own group as the root of the mount.

use procfs::{
    FromRead, ProcessCGroups,
    process::{MountInfo, MountInfos},
};
use std::path::{Path, PathBuf};

use crate::files::Files;

/// The first version of the groups writes a number near this one where nothing is bounded.
pub const UNLIMITED_BYTES: u64 = 1 << 60;

/// The memory of the machine, or of the control group with the least memory left, in bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Memory {
    /// What may be used.
    pub total: u64,
    pub available: u64,
    pub is_of_group: bool,
}

/// The memory that is left now. The kernel's files are below `root`.
#[must_use]
pub fn memory(root: &Path) -> Option<Memory> {
    let files = Files(root);
    let of_machine =
        |key: &str| files.value("proc/meminfo", key)?.strip_suffix(" kB")?.parse().ok();
    let machine = of_machine("MemTotal:").zip(of_machine("MemAvailable:"));
    let machine = machine.map(|(total, available): (u64, u64)| Memory {
        total: total << 10,
        available: available << 10,
        is_of_group: false,
    });
    machine.into_iter().chain(of_groups(&files)).min_by_key(|it| it.available)
}

/// The names that one version gives to a group's limit of memory, its usage, and the parts of the
/// usage that the kernel can drop.
type MemoryFiles = (Option<&'static str>, &'static str, &'static str, [&'static str; 2]);

const MEMORY_V1: MemoryFiles = (
    Some("memory"),
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    ["total_inactive_file ", "total_active_file "],
);
const MEMORY_V2: MemoryFiles =
    (None, "memory.max", "memory.current", ["inactive_file ", "active_file "]);

/// The memory of the group that has the least left; absent where no group has a limit.
fn of_groups(files: &Files<'_>) -> Option<Memory> {
    let groups = Groups::read(files)?;
    let of_version = |(controller, limit, usage, droppable): MemoryFiles| {
        let left = move |folder: PathBuf| {
            let number = |name: &str| files.number::<u64>(folder.join(name));
            let total = number(limit).filter(|bytes| *bytes < UNLIMITED_BYTES)?;
            let part =
                |key: &str| files.value(folder.join("memory.stat"), key)?.parse::<u64>().ok();
            let used =
                number(usage)?.saturating_sub(droppable.iter().filter_map(|it| part(it)).sum());
            Some(Memory { total, available: total.saturating_sub(used), is_of_group: true })
        };
        groups.folders(files, controller).into_iter().filter_map(left)
    };
    let all = [MEMORY_V1, MEMORY_V2].into_iter().flat_map(of_version);
    all.min_by_key(|memory| memory.available)
}

/// The groups of this process, and where groups are mounted.
#[allow(missing_debug_implementations, reason = "those of procfs have none")]
pub struct Groups {
    mounts: MountInfos,
    groups: ProcessCGroups,
}

impl Groups {
    /// None where there are no groups.
    #[must_use]
    pub fn read(files: &Files<'_>) -> Option<Self> {
        let mounts = MountInfos::from_file(files.at("proc/self/mountinfo")).ok()?;
        let groups = ProcessCGroups::from_file(files.at("proc/self/cgroup")).ok()?;
        Some(Self { mounts, groups })
    }

    /// The folder of this process's group and of those above it, the nearest first. `controller` is one
    /// of the first version; without it the second is meant.
    #[must_use]
    pub fn folders(&self, files: &Files<'_>, controller: Option<&str>) -> Vec<PathBuf> {
        let mounted = |mount: &&MountInfo| match controller {
            Some(name) => mount.fs_type == "cgroup" && mount.super_options.contains_key(name),
            None => mount.fs_type == "cgroup2",
        };
        let member = self.groups.0.iter().find(|group| match controller {
            Some(name) => group.controllers.iter().any(|it| it == name),
            None => group.hierarchy == 0 && group.controllers.is_empty(),
        });
        let (Some(mount), Some(member)) = (self.mounts.0.iter().find(mounted), member) else {
            return Vec::new();
        };
        // The mount may show a part of the hierarchy only, and the group may lie outside of it.
        let path = Path::new(&member.pathname);
        let below = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let own = mount.mount_point.join(below.strip_prefix("/").unwrap_or(below));
        let own = if files.at(&own).is_dir() { own } else { mount.mount_point.clone() };
        let inside = |folder: &&Path| folder.starts_with(&mount.mount_point);
        own.ancestors().take_while(inside).map(Path::to_owned).collect()
    }
}
