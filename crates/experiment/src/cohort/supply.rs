//! What a cohort needs of the machine because its servers live at the same time: open files, before
//! anything is started, and memory, while the servers start. Local ports are no such thing: the kernel
//! gives the same port to connections to different addresses, and the generator counts those to each
//! server before it connects.

use std::{collections::BTreeMap, path::Path};
use wirebench_catalogue::subject::Subject;
use wirebench_host::environment::resources::{self, Memory};
use wirebench_schema::suite::Suite;

use super::group::groups;
use crate::plan;

/// How many instances are alive together at most, if nothing else limits them. A round of a closed loop
/// then takes about two seconds, within which the machine should be the same, and the baseline takes an
/// eighth of the time.
pub const MOST_INSTANCES: usize = 16;
/// The fewest instances with a ratio in them: the baseline twice, and another server.
pub const FEWEST_INSTANCES: usize = 3;
/// Files that the load generator has open besides its connections.
const OTHER_FILES: u64 = 64;
/// Files that each of its threads has open for each server.
const PER_THREAD: u64 = 2;
/// No further server is started below this share of the memory.
const FULL_SHARE: f64 = 0.1;
/// Nothing is measured below this share of the memory.
const SHORT_SHARE: f64 = 0.05;
/// Pages swapped above which figures are those of a disk: 4 MiB. A few come back at any time.
const SWAPPING_PAGES: u64 = 1024;

/// How many instances the load generator can be connected to at the same time, with these `threads`
/// and this `limit` of open files. An error is a sentence with the next step.
pub fn instances_that_fit(
    subjects: &[Subject],
    suite: &Suite,
    threads: usize,
    limit: u64,
) -> Result<usize, String> {
    let mut servers: BTreeMap<usize, usize> = BTreeMap::new();
    for step in plan::block(subjects, suite, 0, 0) {
        *servers.entry(step.workload).or_default() += 1;
    }
    let (groups, _) = groups(&suite.workloads);
    let mut fitting = usize::MAX;
    for group in groups {
        let workload = &suite.workloads[group[0]];
        // All loads of a group are on the same servers, if each can do them.
        let all = group.iter().filter_map(|workload| servers.get(workload)).max();
        let fewest = FEWEST_INSTANCES.min(all.copied().unwrap_or(0));
        let threads = workload.threads.unwrap_or(threads);
        fitting = fitting.min(fit(fewest, workload.connections, threads, limit)?);
    }
    Ok(fitting)
}

/// How many files the load generator has open for this many servers that are alive together, with these connections
/// and threads for each.
#[must_use]
pub const fn open_files(servers: usize, connections: u64, threads: usize) -> u64 {
    let each = connections.saturating_add((threads as u64).saturating_mul(PER_THREAD));
    (servers as u64).saturating_mul(each).saturating_add(OTHER_FILES)
}

fn fit(fewest: usize, connections: usize, threads: usize, limit: u64) -> Result<usize, String> {
    let of_threads = (threads as u64).saturating_mul(PER_THREAD);
    let each = (connections as u64).saturating_add(of_threads);
    let free = limit.saturating_sub(OTHER_FILES);
    let fitting = usize::try_from(free / each.max(1)).unwrap_or(usize::MAX);
    if fitting >= fewest {
        return Ok(fitting);
    }
    let needed = open_files(fewest, connections as u64, threads);
    let most = (free / (fewest as u64).max(1)).saturating_sub(of_threads);
    let fewer = if most > 0 { format!("give -c at most {most}, ") } else { String::new() };
    Err(format!(
        "{connections} connections to each of {fewest} servers that are alive together need {needed} \
         open files, and the load generator may have {limit}: {fewer}use --procedure process, or raise \
         the hard limit of open files (ulimit -Hn)"
    ))
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Supply {
    /// None where the kernel does not say how much is left.
    memory: Option<Memory>,
    swapped_pages: Option<u64>,
}

impl Supply {
    pub(super) fn read() -> Self {
        let root = Path::new("/");
        Self { memory: resources::memory(root), swapped_pages: resources::swapped_pages(root) }
    }

    /// Whether another server would leave too little memory. Earlier instances of those that were
    /// started since `before`, and of this one, have used `expected` bytes in all.
    pub(super) fn is_full(&self, before: &Self, expected: u64) -> bool {
        let Some((now, before)) = self.memory.zip(before.memory) else { return false };
        let left = now.available.min(before.available.saturating_sub(expected));
        (left as f64) < FULL_SHARE * now.total as f64
    }

    /// Why nothing can be measured with the `servers` that were started since `before`.
    pub(super) fn shortage(&self, before: &Self, servers: usize) -> Option<String> {
        let mib = |bytes: u64| bytes >> 20;
        if let Some(swapped) = self.swapped_since(before) {
            return Some(format!(
                "the machine swapped {swapped} pages while {servers} servers of the cohort started, so \
                 figures would be those of its disk: end other programs, or give a smaller --instances"
            ));
        }
        let (now, before) = self.memory.zip(before.memory)?;
        let is_short = (now.available as f64) < SHORT_SHARE * now.total as f64;
        is_short.then(|| {
            format!(
                "memory is short: {} MiB of {} MiB are available, less than 5 %, after {servers} servers \
                 of the cohort have taken {} MiB, so it would swap; give a smaller --instances, use \
                 --procedure process, or end other programs",
                mib(now.available),
                mib(now.total),
                mib(before.available.saturating_sub(now.available))
            )
        })
    }

    /// How many pages were swapped since `before`, if they were more than a few.
    pub(super) fn swapped_since(&self, before: &Self) -> Option<u64> {
        let swapped = self.swapped_pages?.saturating_sub(before.swapped_pages?);
        (swapped > SWAPPING_PAGES).then_some(swapped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_limit_the_instances_and_too_few_are_refused_with_what_fits() {
        assert_eq!(fit(3, 64, 1, 1024), Ok(14));
        let refused = fit(3, 400, 1, 600).unwrap_err();
        assert_eq!(
            refused,
            "400 connections to each of 3 servers that are alive together need 1270 open files, \
             and the load generator may have 600: give -c at most 176, use --procedure process, \
             or raise the hard limit of open files (ulimit -Hn)"
        );
        assert_eq!(fit(3, 176, 1, 600), Ok(3));
        assert!(fit(3, 177, 1, 600).is_err());
        // A server by itself is there once.
        assert_eq!(fit(1, 400, 1, 600), Ok(1));
        assert_eq!(
            fit(3, 8, 100, 200).unwrap_err(),
            "8 connections to each of 3 servers that are alive together need 688 open files, and \
             the load generator may have 200: use --procedure process, or raise the hard limit of \
             open files (ulimit -Hn)"
        );
        assert!(fit(usize::MAX, usize::MAX, usize::MAX, u64::MAX - 1).is_err());
    }

    fn at(available: u64, swapped_pages: u64) -> Supply {
        let (total, is_of_group) = (10_000 << 20, false);
        let memory = Some(Memory { total, available: available << 20, is_of_group });
        Supply { memory, swapped_pages: Some(swapped_pages) }
    }

    #[test]
    fn servers_that_leave_less_than_a_tenth_of_the_memory_end_a_group() {
        let before = at(9000, 0);
        assert!(!at(1000, 0).is_full(&before, 0));
        assert!(at(999, 0).is_full(&before, 0));
        // They have taken little as yet, and will take more.
        assert!(!at(8000, 0).is_full(&before, 8000 << 20));
        assert!(at(8000, 0).is_full(&before, 8001 << 20));
        let unknown = Supply { memory: None, swapped_pages: None };
        assert!(!unknown.is_full(&before, u64::MAX));
        assert_eq!(unknown.shortage(&before, 4), None);
    }

    #[test]
    fn a_cohort_is_refused_without_memory_and_while_the_machine_swaps() {
        assert_eq!(at(500, 0).shortage(&at(9000, 0), 4), None);
        let refused = at(499, 0).shortage(&at(9000, 0), 4).unwrap();
        assert_eq!(
            refused,
            "memory is short: 499 MiB of 10000 MiB are available, less than 5 %, after 4 servers \
             of the cohort have taken 8501 MiB, so it would swap; give a smaller --instances, use \
             --procedure process, or end other programs"
        );
        assert_eq!(at(5000, 1124).shortage(&at(9000, 100), 4), None);
        let refused = at(5000, 1125).shortage(&at(9000, 100), 4).unwrap();
        assert_eq!(
            refused,
            "the machine swapped 1025 pages while 4 servers of the cohort started, so figures \
             would be those of its disk: end other programs, or give a smaller --instances"
        );
    }
}
