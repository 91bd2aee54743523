//! What the control groups around this process allow, by either interface of the kernel.
//!
//! A limit holds for all groups below, so the tightest of a group and those above it counts. A
//! container sees its own group as the root of the mount.

use std::path::{Path, PathBuf};
use wirebench_schema::environment::{Cgroup, CgroupVersion};
use wirebench_sys::{
    files::Files,
    memory::{Groups, UNLIMITED_BYTES},
};

use crate::topology::parse_list;

/// A quota of CPU time, and how often it was used up.
#[derive(Clone, Copy, Debug)]
struct Quota {
    cpus: f64,
    periods: Option<u64>,
    throttled: Option<u64>,
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

fn used(files: &Files<'_>, folder: &Path, quota_us: u64, period_us: u64) -> Option<Quota> {
    let count = |key: &str| files.value(folder.join("cpu.stat"), key)?.parse().ok();
    (period_us > 0).then(|| Quota {
        cpus: quota_us as f64 / period_us as f64,
        periods: count("nr_periods "),
        throttled: count("nr_throttled "),
    })
}
