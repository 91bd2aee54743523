//! How long the threads of some processes ran, and how long each was ready to run while another one
//! had its CPU (`/proc/PID/task/TID/schedstat`). Which processes those are is no matter of this
//! file.

use procfs::process::Process;
use rustix::process::Pid;
use std::collections::BTreeMap;

use crate::tree;

/// Threads beyond which they are not read: it would take CPU time from the generator, and so many
/// wait for each other more than for anybody else.
const THREADS_MOST: usize = 64;
/// A wait shorter than this, on average, is the time that a CPU takes to wake up, which on virtual
/// machines is up to a hundred microseconds. A time slice of somebody else's is milliseconds.
const WAKE_UP_NS: u64 = 200_000;
/// Share of the busiest thread's time below which a thread does not compete.
const IDLE_SHARE: f64 = 0.01;

/// The clocks of one thread, in nanoseconds, and how often it got a CPU.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Clock {
    pub(super) ran_ns: u64,
    pub(super) waited_ns: u64,
    pub(super) slices: u64,
}

/// The clocks of all threads of some processes at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads(BTreeMap<i32, Clock>);

impl Threads {
    /// Reads them; none where there are too many.
    pub(super) fn of(processes: &[Pid]) -> Self {
        let handles = processes.iter().filter_map(|pid| tree::process(*pid));
        let tasks = handles.filter_map(|process: Process| process.tasks().ok());
        let tasks: Vec<_> = tasks.flatten().flatten().take(THREADS_MOST + 1).collect();
        if tasks.len() > THREADS_MOST {
            return Self::default();
        }
        let clock = |task: &procfs::process::Task| {
            let times = task.schedstat().ok()?;
            let (ran_ns, waited_ns) = (times.sum_exec_runtime, times.run_delay);
            Some((task.tid, Clock { ran_ns, waited_ns, slices: times.pcount }))
        };
        Self(tasks.iter().filter_map(clock).collect())
    }

    /// The longest time that one of them must have waited for others than its siblings since
    /// `before`, in nanoseconds.
    ///
    /// A thread waits for its siblings no longer than they ran. When there are no more of them than
    /// CPUs, each can have its own, and a wait is for somebody else. Where there were too many of
    /// them before, what each waited since then is not known, and nobody is accused.
    pub(super) fn waited_since(&self, before: &Self, cpus: usize) -> u64 {
        if before.0.is_empty() {
            return 0;
        }
        let since = |(tid, now): (&i32, &Clock)| {
            let then = before.0.get(tid).copied().unwrap_or_default();
            Clock {
                ran_ns: now.ran_ns.saturating_sub(then.ran_ns),
                waited_ns: now.waited_ns.saturating_sub(then.waited_ns),
                slices: now.slices.saturating_sub(then.slices),
            }
        };
        let clocks: Vec<Clock> = self.0.iter().map(since).collect();
        let ran_ns: u64 = clocks.iter().map(|clock| clock.ran_ns).sum();
        let most_ns = clocks.iter().map(|clock| clock.ran_ns).max().unwrap_or(0);
        let competes = |clock: &&Clock| clock.ran_ns as f64 > IDLE_SHARE * most_ns as f64;
        let are_few = clocks.iter().filter(competes).count() <= cpus;
        let waits = clocks.iter().filter(|clock| clock.waited_ns > WAKE_UP_NS * clock.slices);
        let for_others = waits.map(|clock| {
            let siblings_ns = if are_few { 0 } else { ran_ns - clock.ran_ns };
            clock.waited_ns.saturating_sub(siblings_ns)
        });
        for_others.max().unwrap_or(0)
    }
}

#[cfg(test)]
impl Threads {
    /// Threads that ran, waited and got a CPU so.
    pub(super) fn new(clocks: &[(u64, u64, u64)]) -> Self {
        let clock = |&(ran_ns, waited_ns, slices): &_| Clock { ran_ns, waited_ns, slices };
        Self((0..).zip(clocks.iter().map(clock)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn waited(clocks: &[(u64, u64, u64)], cpus: usize) -> u64 {
        let before = Threads::new(&vec![(0, 0, 0); clocks.len()]);
        Threads::new(clocks).waited_since(&before, cpus)
    }

    #[test]
    fn a_thread_that_is_alone_waits_for_others() {
        assert_eq!(waited(&[(500 * MS, 400 * MS, 100)], 1), 400 * MS);
        let before = Threads::new(&[(100 * MS, 300 * MS, 90)]);
        let after = Threads::new(&[(500 * MS, 400 * MS, 100)]);
        assert_eq!(after.waited_since(&before, 1), 100 * MS);
    }

    #[test]
    fn threads_that_were_too_many_before_accuse_nobody_by_what_they_waited_since_they_began() {
        let after = Threads::new(&[(500 * MS, 400 * MS, 100)]);
        assert_eq!(after.waited_since(&Threads::default(), 1), 0);
    }

    #[test]
    fn many_short_waits_are_wake_ups() {
        assert_eq!(waited(&[(500 * MS, 400 * MS, 100_000)], 1), 0);
    }

    #[test]
    fn threads_that_wait_for_their_siblings_accuse_nobody() {
        let shared = [(500 * MS, 480 * MS, 100), (480 * MS, 500 * MS, 100)];
        assert_eq!(waited(&shared, 1), 0);
        // With a CPU for each, they waited for somebody else.
        assert_eq!(waited(&shared, 2), 500 * MS);
        // Together they had half of the CPU, so each waited longer than its sibling ran.
        let crowded = [(250 * MS, 740 * MS, 100), (250 * MS, 730 * MS, 100)];
        assert_eq!(waited(&crowded, 1), 490 * MS);
    }

    #[test]
    fn a_thread_that_does_nothing_does_not_compete() {
        assert_eq!(waited(&[(500 * MS, 400 * MS, 100), (MS, 0, 3)], 1), 400 * MS);
    }

    #[test]
    fn the_threads_of_this_process_have_clocks() {
        let own = rustix::process::getpid();
        assert!(!Threads::of(&[own]).0.is_empty());
        assert!(Threads::of(&[]).0.is_empty());
    }
}
