//! What the processes of a server's tree have used by one moment. What that means for a window is
//! not decided here.

use procfs::process::Stat;
use rustix::process::Pid;
use std::{collections::BTreeMap, time::Instant};

use crate::{process_clocks, tree};

/// A process. Its number alone may be given to another one after its end.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Key {
    pub(super) pid: i32,
    /// When it began, in ticks of the kernel.
    pub(super) began: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    pub(super) parent: i32,
    /// CPU time in nanoseconds, with its threads, also those that have ended.
    pub(super) cpu_ns: u64,
    /// CPU time of its children that have ended and that it has waited for; the kernel shows it in
    /// ticks. What a child had used moves here from its own `cpu_ns`, so only the sum grows steadily.
    pub(super) reaped_ns: u64,
    /// Whether it has not ended.
    pub(super) lives: bool,
}

/// The processes of a tree at one moment, also those that have ended and were not waited for yet.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) at: Instant,
    pub(super) processes: BTreeMap<Key, Used>,
    /// What the guard has reaped. It is not part of the tree, but orphans end as its children.
    pub(super) guard_reaped_ns: u64,
}

impl Look {
    /// Looks at all that is below `guard`.
    #[must_use]
    pub fn take(guard: Pid) -> Self {
        let stats = tree::below(guard);
        let guard = tree::process(guard).and_then(|guard| guard.stat().ok());
        Self::of_stats(&stats, guard.as_ref().map_or(0, reaped_ns))
    }

    /// Looks at these processes, which no guard has.
    #[must_use]
    pub fn of(pids: &[Pid]) -> Self {
        Self::of_stats(&stats(pids).collect::<Vec<_>>(), 0)
    }

    fn of_stats(stats: &[Stat], guard_reaped_ns: u64) -> Self {
        let at = Instant::now();
        let clock = |stat: &Stat| process_clocks::of(Pid::from_raw(stat.pid)?);
        let used = |stat: &Stat| Used {
            parent: stat.ppid,
            // A process that is gone by now was there with its parent's times: it must not miss here.
            cpu_ns: clock(stat).unwrap_or_else(|| ticks_ns(stat.utime + stat.stime)),
            reaped_ns: reaped_ns(stat),
            lives: tree::lives(stat),
        };
        let key = |stat: &Stat| Key { pid: stat.pid, began: stat.starttime };
        Self {
            at,
            processes: stats.iter().map(|stat| (key(stat), used(stat))).collect(),
            guard_reaped_ns,
        }
    }

    #[must_use]
    pub fn living(mut self) -> Self {
        self.processes.retain(|_, used| used.lives);
        self
    }

    #[must_use]
    pub fn pids(&self) -> Vec<Pid> {
        self.processes.keys().filter_map(|key| Pid::from_raw(key.pid)).collect()
    }

    /// What all of them have used, and what has ended.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.processes.values().map(|used| used.cpu_ns).sum::<u64>() + self.reaped_ns()
    }

    /// What has ended and was waited for.
    pub(super) fn reaped_ns(&self) -> u64 {
        self.processes.values().map(|used| used.reaped_ns).sum::<u64>() + self.guard_reaped_ns
    }

    /// Whether the same processes were there.
    #[must_use]
    pub fn has_the_processes_of(&self, other: &Self) -> bool {
        self.processes.keys().eq(other.processes.keys())
    }

    /// Whether nothing has begun, ended or been waited for between the two.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.has_the_processes_of(other) && self.reaped_ns() == other.reaped_ns()
    }
}

/// CPU time of all children of these processes that have ended and were waited for. The kernel shows it
/// in ticks, user and system apart.
#[must_use]
pub fn ended_ns(pids: &[Pid]) -> u64 {
    stats(pids).map(|stat| reaped_ns(&stat)).sum()
}

/// CPU time in user and in kernel mode of these processes over their lives, in nanoseconds. The kernel
/// shows it in ticks.
pub fn mode_ns(pids: &[Pid]) -> (u64, u64) {
    let ticks = stats(pids).fold((0, 0), |sum, stat| (sum.0 + stat.utime, sum.1 + stat.stime));
    (ticks_ns(ticks.0), ticks_ns(ticks.1))
}

fn stats(pids: &[Pid]) -> impl Iterator<Item = Stat> {
    pids.iter().filter_map(|pid| tree::process(*pid)?.stat().ok())
}

fn reaped_ns(stat: &Stat) -> u64 {
    ticks_ns(u64::try_from(stat.cutime.max(0) + stat.cstime.max(0)).unwrap_or(0))
}

/// The kernel's ticks in nanoseconds.
pub(super) fn ticks_ns(ticks: u64) -> u64 {
    ticks * 1_000_000_000 / procfs::ticks_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_that_waits_to_be_reaped_counts_until_it_is_and_then_in_its_parent() {
        let own = rustix::process::getpid();
        let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
        let mut child = Command::new("sh").args(["-c", work]).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let options =
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(pid), options).unwrap();
        let seen = |look: &Look| {
            let found = look.processes.iter().find(|(key, _)| Some(pid) == Pid::from_raw(key.pid));
            found.map(|(_, used)| used.cpu_ns)
        };
        let (zombie, before) =
            (Look::take(own), reaped_ns(&tree::process(own).unwrap().stat().unwrap()));
        let cpu_ns = seen(&zombie).unwrap();
        assert!(cpu_ns > ticks_ns(2), "{cpu_ns}");
        child.wait().unwrap();
        let reaped = Look::take(own);
        assert_eq!(seen(&reaped), None);
        // Other tests of this process may wait for children of theirs.
        assert!(reaped.guard_reaped_ns + ticks_ns(2) >= before + cpu_ns);
    }
}
