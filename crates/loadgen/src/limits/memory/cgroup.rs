//! The memory that the control groups of this process leave available, in either version.
//!
//! A limit applies to all groups below it, so every group up to the root of the mount counts. A
//! container sees its own group as that root.

use procfs::{
    FromRead, ProcessCGroups,
    process::{MountInfo, MountInfos},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The names that one version gives to a group's limit, its usage, and the parts of the usage that
/// the kernel can drop.
struct Names {
    limit: &'static str,
    usage: &'static str,
    droppable: [&'static str; 2],
}

const FIRST: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    droppable: ["total_inactive_file", "total_active_file"],
};
const SECOND: Names = Names {
    limit: "memory.max",
    usage: "memory.current",
    droppable: ["inactive_file", "active_file"],
};

/// The bytes that the tightest group has left; none where no group has a limit. The kernel's files
/// are below `root`.
pub(super) fn free_bytes(root: &Path) -> Option<u64> {
    let mounts = MountInfos::from_file(root.join("proc/self/mountinfo")).ok()?;
    let groups = ProcessCGroups::from_file(root.join("proc/self/cgroup")).ok()?;
    let is_first = |mount: &&MountInfo| {
        mount.fs_type == "cgroup" && mount.super_options.contains_key("memory")
    };
    let is_second = |mount: &&MountInfo| mount.fs_type == "cgroup2";
    // Where both versions are mounted, only one of them has the files of memory.
    let left = groups.0.iter().filter_map(|group| {
        let (mount, names) = match group.hierarchy {
            0 => (mounts.0.iter().find(is_second)?, SECOND),
            _ if group.controllers.iter().any(|it| it == "memory") => {
                (mounts.0.iter().find(is_first)?, FIRST)
            }
            _ => return None,
        };
        let folders = folders(root, mount, &group.pathname);
        folders.iter().filter_map(|folder| left_bytes(folder, &names)).min()
    });
    left.min()
}

/// Memory left in one group. A file without a number means no limit.
fn left_bytes(folder: &Path, names: &Names) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse().ok();
    let (limit, usage): (u64, u64) = (number(names.limit)?, number(names.usage)?);
    let details = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let pairs = details.lines().filter_map(|line| line.split_once(' '));
    let droppable = pairs.filter(|(name, _)| names.droppable.contains(name));
    let droppable: u64 = droppable.filter_map(|(_, bytes)| bytes.parse::<u64>().ok()).sum();
    Some(limit.saturating_sub(usage.saturating_sub(droppable)))
}

/// The folders of the group `path` and of those above it. A mount may show only a part of the
/// hierarchy; a group outside of it leaves the mount itself.
fn folders(root: &Path, mount: &MountInfo, path: &str) -> Vec<PathBuf> {
    let top = root.join(mount.mount_point.strip_prefix("/").unwrap_or(&mount.mount_point));
    let below = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let own = top.join(below.strip_prefix("/").unwrap_or(below));
    let own = if own.is_dir() { own } else { top.clone() };
    own.ancestors().take_while(|folder| folder.starts_with(&top)).map(Path::to_owned).collect()
}
