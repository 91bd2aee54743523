//! What a cohort needs of the machine because its servers live at the same time: open files, before
//! anything is started, and memory, while the servers start. Local ports are no such thing: they are
//! counted for each server address by itself, where its connections are made. Memory limits of
//! control groups are not looked at.

use procfs::{Current, Meminfo};
use std::collections::BTreeMap;
use wirebench_schema::suite::Suite;

use super::groups;
use crate::{plan, subject::Subject};

/// Files that the load generator has open besides its connections.
const OTHER_FILES: u64 = 64;
/// Files that each of its threads has open for each server.
const PER_THREAD: u64 = 2;
/// The share of the memory that must be available when all servers have started.
const AVAILABLE_SHARE: f64 = 0.1;

/// Why the load generator, with so many `threads` and so many open files, cannot have the
/// connections of a cohort, as a sentence with the next step.
#[must_use]
pub fn shortage_of_files(
    subjects: &[Subject],
    suite: &Suite,
    threads: usize,
    limit: u64,
) -> Option<String> {
    let mut servers: BTreeMap<usize, usize> = BTreeMap::new();
    for step in plan::block(subjects, suite, 0, 0) {
        *servers.entry(step.workload).or_default() += 1;
    }
    let (groups, _) = groups(&suite.workloads);
    groups.iter().find_map(|group| {
        // All loads of a group are on the same servers, if each can do them.
        let most = group.iter().filter_map(|workload| servers.get(workload)).max()?;
        let connections = suite.workloads[*group.first()?].connections;
        let threads = suite.workloads[*group.first()?].threads.unwrap_or(threads);
        lacks_files(*most as u64, connections as u64, threads as u64, limit)
    })
}

fn lacks_files(servers: u64, connections: u64, threads: u64, limit: u64) -> Option<String> {
    let of_threads = threads.saturating_mul(PER_THREAD);
    let each = connections.saturating_add(of_threads);
    let needed = servers.saturating_mul(each).saturating_add(OTHER_FILES);
    let most = (limit.saturating_sub(OTHER_FILES) / servers.max(1)).saturating_sub(of_threads);
    let fewer = if most > 0 { format!("give -c at most {most}, ") } else { String::new() };
    (needed > limit).then(|| {
        format!(
            "{connections} connections to each of {servers} servers of a cohort need {needed} open \
             files, and the load generator may have {limit}: {fewer}measure fewer servers, use \
             --procedure process, or raise the hard limit of open files (ulimit -Hn)"
        )
    })
}

/// The memory of the machine at one moment, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    total: u64,
    available: u64,
}

impl Memory {
    /// Reads it. None where the kernel does not say how much is available.
    pub(super) fn read() -> Option<Self> {
        let memory = Meminfo::current().ok()?;
        Some(Self { total: memory.mem_total, available: memory.mem_available? })
    }

    /// Why no further server may be started after `servers` that were started since `before`.
    pub(super) fn shortage(self, before: Self, servers: usize) -> Option<String> {
        let mib = |bytes: u64| bytes >> 20;
        let text = format!(
            "memory is short: {} MiB of {} MiB are available, less than 10 %, after {servers} servers \
             of the cohort have taken {} MiB, so it would swap; measure fewer servers, use --procedure \
             process, or end other programs",
            mib(self.available),
            mib(self.total),
            mib(before.available.saturating_sub(self.available))
        );
        let is_short = (self.available as f64) < AVAILABLE_SHARE * self.total as f64;
        is_short.then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cohort_that_needs_too_many_files_is_refused_with_what_fits() {
        assert_eq!(lacks_files(9, 64, 1, 1024), None);
        let refused = lacks_files(9, 256, 1, 1024).unwrap();
        let parts = ["256 connections to each of 9 servers", "need 2386 open", "at most 104, "];
        assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
        assert_eq!(lacks_files(9, 104, 1, 1024), None);
        assert!(lacks_files(9, 105, 1, 1024).is_some());
        assert!(!lacks_files(600, 8, 1, 1024).unwrap().contains("give -c"));
        assert!(lacks_files(u64::MAX, u64::MAX, u64::MAX, u64::MAX - 1).is_some());
    }

    #[test]
    fn servers_that_leave_less_than_a_tenth_of_the_memory_are_refused() {
        let at = |available: u64| Memory { total: 10_000 << 20, available: available << 20 };
        assert_eq!(at(1000).shortage(at(9000), 4), None);
        let refused = at(999).shortage(at(9000), 4).unwrap();
        let parts = ["999 MiB of 10000 MiB", "4 servers", "8001 MiB", "--procedure process"];
        assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
        assert!(Memory::read().is_some());
    }
}
