//! What takes long to read of a server's processes: the status and the times of every thread. It is
//! read before the load and after it, never in the window.

use procfs::process::Process;
use std::collections::{BTreeMap, BTreeSet};

use super::look::Look;
use crate::{mapped, memory, threads::Threads, tree};

/// `SIGCHLD` in a mask of signals.
const SIGCHLD_BIT: u64 = 1 << (rustix::process::Signal::CHILD.as_raw() - 1);

/// The details of a tree at one moment.
#[derive(Clone, Debug)]
pub struct Details {
    /// The CPU time of the tree at that moment.
    pub(super) cpu_ns: u64,
    pub threads: Threads,
    /// Context switches of each thread, voluntary and involuntary.
    pub(super) switches: BTreeMap<i32, (u64, u64)>,
    /// The most memory that it held.
    pub memory_peak_bytes: u64,
    pub processes: usize,
    /// A digest of the files that they run, if all can be read.
    pub mapped: Option<String>,
    /// The processes that ignore `SIGCHLD`: the CPU time of their children is lost.
    pub(super) ignoring: BTreeSet<i32>,
}

impl Details {
    /// Reads them of the processes in `look`.
    #[must_use]
    pub fn read(look: &Look) -> Self {
        let mut details = Self::of_threads(look);
        details.mapped = mapped::digest(&look.pids());
        let (pids, mut files) = (look.pids(), BTreeSet::new());
        let processes = pids.iter().filter_map(|pid| tree::process(*pid));
        let bytes = processes.map(|it| memory::unmapped_files(&it, &mut files));
        details.memory_peak_bytes += bytes.sum::<u64>();
        details
    }

    /// Reads what takes less time: neither the files that they run nor memory without a process.
    #[must_use]
    pub fn of_threads(look: &Look) -> Self {
        let pids = look.pids();
        let mut details = Self {
            cpu_ns: look.total_ns(),
            threads: Threads::of(&pids),
            switches: BTreeMap::new(),
            memory_peak_bytes: 0,
            processes: 0,
            mapped: None,
            ignoring: BTreeSet::new(),
        };
        pids.iter().filter_map(|pid| tree::process(*pid)).for_each(|it| details.add(&it));
        details
    }

    fn add(&mut self, process: &Process) {
        let mut memory_peak_kib = None;
        for task in process.tasks().into_iter().flatten().flatten() {
            let Ok(status) = task.status() else { continue };
            let voluntary = status.voluntary_ctxt_switches.unwrap_or(0);
            let involuntary = status.nonvoluntary_ctxt_switches.unwrap_or(0);
            self.switches.insert(task.tid, (voluntary, involuntary));
            if status.sigign & SIGCHLD_BIT != 0 {
                self.ignoring.insert(process.pid);
            }
            // All threads show the same of their common memory, except for one that has ended.
            let huge = status.hugetlbpages.unwrap_or(0);
            memory_peak_kib = memory_peak_kib.max(status.vmhwm.map(|it| it + huge));
        }
        self.processes += usize::from(memory_peak_kib.is_some());
        self.memory_peak_bytes += memory_peak_kib.unwrap_or(0) * 1024;
    }

    /// The processes that ignored the end of children at either of two moments.
    #[must_use]
    pub fn ignoring_with(&self, later: &Self) -> BTreeSet<i32> {
        self.ignoring.union(&later.ignoring).copied().collect()
    }

    /// Whether there is a process whose children leave their CPU time to no other.
    #[must_use]
    pub fn ignores_children(&self) -> bool {
        !self.ignoring.is_empty()
    }

    /// Context switches since `before`, thread by thread, so that one that ends takes away only its
    /// own.
    pub fn switches_since(&self, before: &Self) -> (u64, u64) {
        let since = self.switches.iter().map(|(tid, now)| {
            let then = before.switches.get(tid).copied().unwrap_or_default();
            (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1))
        });
        since.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

#[cfg(test)]
impl Details {
    /// What was read of one process with one thread.
    pub(super) fn of_one(
        at: std::time::Instant,
        (cpu_ns, ran_ns): (u64, u64),
        switches: &[(i32, (u64, u64))],
    ) -> Self {
        Self {
            cpu_ns,
            threads: Threads::new(at, &[(ran_ns, 0, 1)]),
            switches: switches.iter().copied().collect(),
            processes: 1,
            ..Self::of_threads(&Look::of(&[]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        process::{Command, Stdio},
    };

    #[test]
    fn the_details_of_this_process_are_its_memory_and_its_threads() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let details = Details::read(&Look::take(rustix::process::getpid()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(details.memory_peak_bytes > 0 && details.threads.count() > 0, "{details:?}");
        assert!(details.processes > 0 && !details.switches.is_empty());
    }

    #[test]
    fn a_process_that_ignores_the_end_of_its_children_is_known() {
        let mut command = Command::new("env");
        command.args(["--ignore-signal=CHLD", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // What comes back comes from `cat`, which `env` has become by then.
        child.stdin.as_mut().unwrap().write_all(b"?").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let details = Details::read(&Look::take(rustix::process::getpid()));
        let pid = i32::try_from(child.id()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(details.ignoring.contains(&pid), "{:?}", details.ignoring);
    }
}
