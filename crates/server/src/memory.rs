//! How much memory the processes of a server hold at a moment. It is not what they have asked for,
//! and not what the kernel keeps for their sockets.

use procfs::process::{FDInfo, FDTarget, Process};
use rustix::process::Pid;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::MetadataExt as _,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::tree;

/// The unit of `st_blocks`, whatever the file system (`man 2 stat`).
const BLOCK_BYTES: u64 = 512;
/// How often memory is looked at until it stands still.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS_ALIKE: usize = 4;
/// How far apart they may be and still agree: some pages, because a timer or a collector of
/// garbage touches a page now and then.
const ALIKE_BYTES: u64 = 64 * 1024;
/// The same as a share of the memory.
const ALIKE_SHARE: f64 = 0.005;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Measure {
    /// The proportional set sizes: a page that n processes share counts for an nth in each, so that
    /// the sum over a tree counts it once.
    Proportional,
    /// The resident set sizes: a page that several processes share counts in each.
    Resident,
}

impl Measure {
    /// The better one that can be read of all these processes. It takes the same rights as tracing
    /// them, and a kernel that keeps the table.
    pub fn possible(pids: &[Pid]) -> Self {
        let mut processes = pids.iter().filter_map(|pid| tree::process(*pid));
        if processes.all(|process| proportional(&process).is_some()) {
            Self::Proportional
        } else {
            Self::Resident
        }
    }

    /// The sum over the processes that exist.
    pub fn held(self, pids: &[Pid]) -> MemoryUse {
        let processes = pids.iter().filter_map(|pid| tree::process(*pid));
        let one = |process: Process| match self {
            Self::Proportional => proportional(&process),
            Self::Resident => resident(&process),
        };
        processes.filter_map(one).fold(MemoryUse::default(), |sum, one| MemoryUse {
            bytes: sum.bytes + one.bytes,
            own_bytes: sum.own_bytes + one.own_bytes,
        })
    }

    /// Looks until memory stands still, for at most `patience`. The last answer, and whether it
    /// stood still; a set `stop` ends the wait.
    pub fn settled(
        self,
        list: impl Fn() -> Vec<Pid>,
        patience: Duration,
        stop: &AtomicBool,
    ) -> (MemoryUse, bool) {
        let until = Instant::now() + patience;
        let mut looks = Vec::new();
        loop {
            let held = self.held(&list());
            looks.push(held.own_bytes);
            if are_alike(&looks) {
                return (held, true);
            }
            if Instant::now() >= until || stop.load(Ordering::Relaxed) {
                return (held, false);
            }
            thread::sleep(LOOK);
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct MemoryUse {
    pub bytes: u64,
    /// Private pages only. The share of a mapped file, such as code, that counts changes with every
    /// other program that maps it, so it does not show growth.
    pub own_bytes: u64,
}

fn are_alike(looks: &[u64]) -> bool {
    let Some(last) = looks.len().checked_sub(LOOKS_ALIKE).map(|from| &looks[from..]) else {
        return false;
    };
    let (least, most) = last.iter().fold((u64::MAX, 0), |(a, b), &it| (a.min(it), b.max(it)));
    most - least <= ALIKE_BYTES.max((ALIKE_SHARE * most as f64) as u64)
}

/// The sums that the kernel itself makes over all mappings. It counts huge pages apart.
fn proportional(process: &Process) -> Option<MemoryUse> {
    let rollup = process.smaps_rollup().ok()?.memory_map_rollup;
    let sums = &rollup.iter().next()?.extension.map;
    let sum = |name: &str| sums.get(name).copied();
    let huge = sum("Private_Hugetlb").unwrap_or(0) + sum("Shared_Hugetlb").unwrap_or(0);
    let own_bytes = sum("Pss_Anon")? + sum("Pss_Shmem")? + huge;
    Some(MemoryUse { bytes: sum("Pss")? + huge, own_bytes })
}

fn resident(process: &Process) -> Option<MemoryUse> {
    let status = process.status().ok()?;
    let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
    let huge = bytes(status.hugetlbpages);
    let own_bytes = bytes(status.rssanon) + bytes(status.rssshmem) + huge;
    Some(MemoryUse { bytes: bytes(status.vmrss) + huge, own_bytes })
}

/// Bytes of the memory files (`memfd_create`) of a process that it has not mapped, so that its resident set lacks them.
/// Those whose inodes are in `seen` count for another process.
pub(crate) fn unmapped_files(process: &Process, seen: &mut BTreeSet<u64>) -> u64 {
    let is_memory = |fd: &FDInfo| matches!(fd.target, FDTarget::MemFD(_));
    let files = process.fd().into_iter().flatten().flatten().filter(is_memory);
    let place = |fd: FDInfo| format!("/proc/{}/fd/{}", process.pid, fd.fd);
    let mut files: BTreeMap<u64, u64> = files
        .filter_map(|fd| fs::metadata(place(fd)).ok())
        .map(|file| (file.ino(), file.blocks() * BLOCK_BYTES))
        .filter(|(inode, _)| seen.insert(*inode))
        .collect();
    if !files.is_empty() {
        let maps = process.maps().into_iter().flatten();
        let mapped: BTreeSet<u64> = maps.map(|map| map.inode).collect();
        files.retain(|inode, _| !mapped.contains(inode));
    }
    files.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_this_process_grows_with_what_it_touches() {
        let own = [rustix::process::getpid()];
        let measures = [Measure::possible(&own), Measure::Resident];
        let before = measures.map(|measure| measure.held(&own));
        assert!(before.iter().all(|held| held.bytes > held.own_bytes), "{before:?}");
        let touched = std::hint::black_box(vec![1_u8; 64 << 20]);
        let after = measures.map(|measure| measure.held(&own));
        // Other tests of this process may give some back meanwhile.
        for (after, before) in after.iter().zip(before) {
            assert!(after.bytes > before.bytes + (32 << 20), "{before:?} {after:?}");
            assert!(after.own_bytes > before.own_bytes + (32 << 20), "{before:?} {after:?}");
        }
        drop(touched);
    }

    #[test]
    fn a_memory_file_that_is_not_mapped_counts_once() {
        let file = rustix::fs::memfd_create("pages", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::io::write(&file, &vec![1; 1 << 20]).unwrap();
        let own = Process::myself().unwrap();
        let mut seen = BTreeSet::new();
        assert!(unmapped_files(&own, &mut seen) >= 1 << 20);
        assert!(unmapped_files(&own, &mut seen) < 1 << 20);
    }

    #[test]
    fn memory_stands_still_when_the_last_looks_agree() {
        let big = 1 << 30;
        assert!(!are_alike(&[big; LOOKS_ALIKE - 1]));
        assert!(are_alike(&[0, big, big + 1_000_000, big, big]));
        assert!(!are_alike(&[big, big + 100_000_000, big, big]));
        assert!(are_alike(&[1 << 20, (1 << 20) + 40_000, 1 << 20, 1 << 20]));
        assert!(!are_alike(&[1 << 20, 2 << 20, 1 << 20, 1 << 20]));
    }

    #[test]
    fn who_grows_without_end_is_waited_for_no_longer_than_allowed() {
        let own = rustix::process::getpid();
        let stop = AtomicBool::new(true);
        let (held, is_still) =
            Measure::Resident.settled(|| vec![own], Duration::from_secs(60), &stop);
        assert!(held.bytes > 0 && !is_still, "{held:?}");
    }
}
