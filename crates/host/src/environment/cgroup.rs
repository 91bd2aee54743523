//! What the control groups around this process allow, by either interface of the kernel.
//!
//! A limit holds for all groups below, so the tightest of a group and those above it counts. A
//! container sees its own group as the root of the mount.

use procfs::{
    FromRead, ProcessCGroups,
    process::{MountInfo, MountInfos},
};
use std::path::{Path, PathBuf};
use wirebench_schema::environment::{Cgroup, CgroupVersion};

use super::{files::Files, resources::Memory};
use crate::topology::parse_list;

/// The first version writes a number near this one where nothing is bounded.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// A quota of CPU time, and how often it was used up.
#[derive(Clone, Copy, Debug)]
struct Quota {
    cpus: f64,
    periods: Option<u64>,
    throttled: Option<u64>,
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
pub(super) fn memory(files: &Files<'_>) -> Option<Memory> {
    let groups = Groups::read(files)?;
    let of_version = |(controller, limit, usage, droppable): MemoryFiles| {
        let left = move |folder: PathBuf| {
            let number = |name: &str| files.number::<u64>(folder.join(name));
            let total = number(limit).filter(|bytes| *bytes < UNLIMITED_BYTES)?;
            let part =
                |key: &str| files.value(folder.join("memory.stat"), key)?.parse::<u64>().ok();
            let used =
                number(usage)?.saturating_sub(droppable.iter().filter_map(|it| part(it)).sum());
            Some(Memory { total, available: total.saturating_sub(used) })
        };
        groups.folders(files, controller).into_iter().filter_map(left)
    };
    let all = [MEMORY_V1, MEMORY_V2].into_iter().flat_map(of_version);
    all.min_by_key(|memory| memory.available)
}

/// The files that say how the groups use CPU time, in both versions.
pub(crate) fn cpu_statistics(root: &Path) -> Vec<PathBuf> {
    let files = Files(root);
    let Some(groups) = Groups::read(&files) else { return Vec::new() };
    let folders = [None, Some("cpu")].into_iter().flat_map(|it| groups.folders(&files, it));
    folders.map(|folder| files.at(folder.join("cpu.stat"))).collect()
}

/// What the groups allow; absent where there are no groups.
pub(super) fn read(files: &Files<'_>) -> Option<Cgroup> {
    let groups = Groups::read(files)?;
    let place = |controller| groups.folders(files, controller);
    // Where both are mounted a controller belongs to one of them.
    let unified = place(None);
    let has = |file: &str| unified.iter().any(|folder| files.at(folder.join(file)).exists());
    let second = has("cpu.max") || has("memory.max") || has("cpuset.cpus.effective");
    if second {
        return Some(with(CgroupVersion::V2, files, [&unified; 4].map(Vec::as_slice)));
    }
    let folders = ["cpu", "cpuset", "memory", "pids"].map(|name| place(Some(name)));
    if folders.iter().any(|folders| !folders.is_empty()) {
        return Some(with(CgroupVersion::V1, files, folders.each_ref().map(Vec::as_slice)));
    }
    // The root of the second version has no files with limits, because nothing bounds it.
    (!unified.is_empty()).then(Cgroup::default)
}

fn with(
    version: CgroupVersion,
    files: &Files<'_>,
    [cpu, cpuset, memory, pids]: [&[PathBuf]; 4],
) -> Cgroup {
    let (quota, set, bytes): (ReadQuota, &str, &str) = match version {
        CgroupVersion::V1 => (quota_v1, "cpuset.effective_cpus", "memory.limit_in_bytes"),
        CgroupVersion::V2 => (quota_v2, "cpuset.cpus.effective", "memory.max"),
    };
    let quotas = cpu.iter().filter_map(|folder| quota(files, folder));
    let tightest = quotas.min_by(|a, b| a.cpus.total_cmp(&b.cpus));
    let numbers = memory.iter().filter_map(|folder| files.number::<u64>(folder.join(bytes)));
    let processes = pids.iter().filter_map(|folder| files.number(folder.join("pids.max")));
    Cgroup {
        version,
        cpu_quota_cpus: tightest.map(|quota| quota.cpus),
        cpuset: cpuset.iter().find_map(|folder| parse_list(&files.line(folder.join(set))?)),
        memory_bytes: numbers.filter(|bytes| *bytes < UNLIMITED_BYTES).min(),
        processes: processes.min(),
        periods: tightest.and_then(|quota| quota.periods),
        throttled_periods: tightest.and_then(|quota| quota.throttled),
    }
}

type ReadQuota = fn(&Files<'_>, &Path) -> Option<Quota>;

fn quota_v1(files: &Files<'_>, folder: &Path) -> Option<Quota> {
    // -1 says that nothing is bounded, and is no number without a sign.
    let quota_us: u64 = files.number(folder.join("cpu.cfs_quota_us"))?;
    let period_us: u64 = files.number(folder.join("cpu.cfs_period_us"))?;
    used(files, folder, quota_us, period_us)
}

fn quota_v2(files: &Files<'_>, folder: &Path) -> Option<Quota> {
    let text = files.line(folder.join("cpu.max"))?;
    // `max 100000` says that nothing is bounded.
    let (quota_us, period_us) = text.split_once(' ')?;
    used(files, folder, quota_us.parse().ok()?, period_us.parse().ok()?)
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a period are far below 2^53")]
fn used(files: &Files<'_>, folder: &Path, quota_us: u64, period_us: u64) -> Option<Quota> {
    let count = |key: &str| files.value(folder.join("cpu.stat"), key)?.parse().ok();
    (period_us > 0).then(|| Quota {
        cpus: quota_us as f64 / period_us as f64,
        periods: count("nr_periods "),
        throttled: count("nr_throttled "),
    })
}

/// The groups of this process, and where groups are mounted.
struct Groups {
    mounts: MountInfos,
    groups: ProcessCGroups,
}

impl Groups {
    fn read(files: &Files<'_>) -> Option<Self> {
        let mounts = MountInfos::from_file(files.at("proc/self/mountinfo")).ok()?;
        let groups = ProcessCGroups::from_file(files.at("proc/self/cgroup")).ok()?;
        Some(Self { mounts, groups })
    }

    /// The folder of this process's group and of those above it, the nearest first. `controller` is one
    /// of the first version; without it the second is meant.
    fn folders(&self, files: &Files<'_>, controller: Option<&str>) -> Vec<PathBuf> {
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
