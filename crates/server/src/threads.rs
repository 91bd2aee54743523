//! How long the threads of some processes ran, and how long each was ready to run while another one
//! had its CPU (`/proc/PID/task/TID/schedstat`). Which processes those are is no matter of this
//! file.

use procfs::process::Process;
use rustix::process::Pid;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use crate::tree;

/// The part of each wait that a wake-up itself takes. Here, on a virtual machine with Linux 6.18,
/// the mean of an undisturbed server was 0.3 to 1.8 us in closed loops and at 20 000 requests/s, as
/// `/proc/PID/task/TID/schedstat` shows it.
const WAKE_UP_NS: u64 = 2_500;
/// The same before Linux 6.0, where another CPU begins the wait of a thread that it wakes: the wait
/// then contains the time that an idle CPU takes to wake up, on virtual machines up to 100 us.
const WAKE_UP_FROM_IDLE_NS: u64 = 200_000;
/// Share of the busiest thread's time below which a thread does not compete.
const IDLE_SHARE: f64 = 0.01;

/// The clocks of one thread, in nanoseconds, and how often it got a CPU.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Clock {
    pub(super) ran_ns: u64,
    pub(super) waited_ns: u64,
    pub(super) visits: u64,
}

/// The clocks of all threads of some processes at one moment.
#[derive(Clone, Debug)]
pub struct Threads {
    at: Instant,
    clocks: BTreeMap<i32, Clock>,
}

impl Threads {
    /// Threads that by this moment ran, waited and got a CPU so.
    pub fn new(at: Instant, clocks: &[(u64, u64, u64)]) -> Self {
        let clock = |&(ran_ns, waited_ns, visits): &_| Clock { ran_ns, waited_ns, visits };
        Self { at, clocks: (0..).zip(clocks.iter().map(clock)).collect() }
    }

    pub fn of(processes: &[Pid]) -> Self {
        let at = Instant::now();
        let handles = processes.iter().filter_map(|pid| tree::process(*pid));
        let tasks = handles.filter_map(|process: Process| process.tasks().ok());
        let clock = |task: procfs::process::Task| {
            let times = task.schedstat().ok()?;
            let (ran_ns, waited_ns) = (times.sum_exec_runtime, times.run_delay);
            Some((task.tid, Clock { ran_ns, waited_ns, visits: times.pcount }))
        };
        Self { at, clocks: tasks.flatten().flatten().filter_map(clock).collect() }
    }

    pub fn count(&self) -> usize {
        self.clocks.len()
    }

    /// For how long the one that ran most has run since `before`, in nanoseconds.
    pub fn busiest_since(&self, before: &Self) -> u64 {
        self.clocks_since(before).map(|clock| clock.ran_ns).max().unwrap_or(0)
    }

    /// For how long each has run since `before`, in nanoseconds, by its number.
    pub fn ran_since(&self, before: &Self) -> impl Iterator<Item = (i32, u64)> {
        self.clocks.keys().copied().zip(self.clocks_since(before).map(|clock| clock.ran_ns))
    }

    /// For how long all of them were ready to run without a CPU since `before`, in nanoseconds, wake-ups included.
    #[must_use]
    pub fn run_queue_since(&self, before: &Self) -> u64 {
        self.clocks_since(before).map(|clock| clock.waited_ns).sum()
    }

    /// The time since an earlier moment.
    #[must_use]
    pub fn since(&self, before: &Self) -> Duration {
        self.at.duration_since(before.at)
    }

    fn clocks_since(&self, before: &Self) -> impl Iterator<Item = Clock> {
        self.clocks.iter().map(|(tid, now)| {
            let then = before.clocks.get(tid).copied().unwrap_or_default();
            Clock {
                ran_ns: now.ran_ns.saturating_sub(then.ran_ns),
                waited_ns: now.waited_ns.saturating_sub(then.waited_ns),
                visits: now.visits.saturating_sub(then.visits),
            }
        })
    }

    /// The longest time that one of them must have waited for others than its siblings since
    /// `before`, in nanoseconds, beyond `wake_up_ns` for each time that it got a CPU.
    ///
    /// A thread waits for its siblings no longer than they ran. When there are no more of them than
    /// CPUs, each can have its own, and a wait is for another process. Where none could be read
    /// before, what each waited since then is not known and does not count.
    #[must_use]
    pub fn waited_since(&self, before: &Self, cpus: usize, wake_up_ns: u64) -> u64 {
        if before.clocks.is_empty() {
            return 0;
        }
        let clocks: Vec<Clock> = self.clocks_since(before).collect();
        let ran_ns: u64 = clocks.iter().map(|clock| clock.ran_ns).sum();
        let most_ns = clocks.iter().map(|clock| clock.ran_ns).max().unwrap_or(0);
        let competes = |clock: &&Clock| clock.ran_ns as f64 > IDLE_SHARE * most_ns as f64;
        let are_few = clocks.iter().filter(competes).count() <= cpus;
        let for_others = clocks.iter().map(|clock| {
            let siblings_ns = if are_few { 0 } else { ran_ns - clock.ran_ns };
            clock.waited_ns.saturating_sub(wake_up_ns * clock.visits + siblings_ns)
        });
        for_others.max().unwrap_or(0)
    }
}

/// What a wake-up takes of each wait with the running kernel.
#[must_use]
pub fn wake_up_ns() -> u64 {
    wake_up_ns_of(&rustix::system::uname().release().to_string_lossy())
}

fn wake_up_ns_of(release: &str) -> u64 {
    let major = release.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_some_and(|major| major < 6) { WAKE_UP_FROM_IDLE_NS } else { WAKE_UP_NS }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn waited(clocks: &[(u64, u64, u64)], cpus: usize) -> u64 {
        let before = Threads::new(Instant::now(), &vec![(0, 0, 0); clocks.len()]);
        Threads::new(Instant::now(), clocks).waited_since(&before, cpus, WAKE_UP_NS)
    }

    #[test]
    fn a_thread_that_is_alone_waits_for_others() {
        let wake_ups = 100 * WAKE_UP_NS;
        assert_eq!(waited(&[(500 * MS, 400 * MS, 100)], 1), 400 * MS - wake_ups);
        let before = Threads::new(Instant::now(), &[(100 * MS, 300 * MS, 90)]);
        let after = Threads::new(Instant::now(), &[(500 * MS, 400 * MS, 100)]);
        assert_eq!(after.waited_since(&before, 1, WAKE_UP_NS), 100 * MS - wake_ups / 10);
    }

    #[test]
    fn the_run_queue_has_the_waits_of_all_threads() {
        let before = Threads::new(Instant::now(), &[(5, 30, 1), (5, 10, 1)]);
        let after = Threads::new(Instant::now(), &[(9, 70, 2), (9, 10, 2), (9, 7, 1)]);
        assert_eq!(after.run_queue_since(&before), 40 + 7);
    }

    #[test]
    fn without_threads_before_no_wait_counts() {
        let after = Threads::new(Instant::now(), &[(500 * MS, 400 * MS, 100)]);
        assert_eq!(after.waited_since(&Threads::new(Instant::now(), &[]), 1, WAKE_UP_NS), 0);
    }

    /// What a server's one thread had in a second here, at 20 000 requests/s and in closed loops,
    /// with its CPU to itself.
    #[test]
    fn many_short_waits_are_wake_ups() {
        let by_epoll = (350 * MS, 18_325 * 1_787, 18_325);
        let by_io_uring = (300 * MS, 18_215 * 726, 18_215);
        let in_a_closed_loop = (980 * MS, 3_521 * 851, 3_521);
        let with_one_connection = (400 * MS, 17_121 * 399, 17_121);
        for undisturbed in [by_epoll, by_io_uring, in_a_closed_loop, with_one_connection] {
            assert_eq!(waited(&[undisturbed], 1), 0);
        }
    }

    /// The same at 20 000 requests/s with a loop of priority `SCHED_FIFO` on that CPU, for 5 ms of
    /// every 100 ms.
    #[test]
    fn waits_for_a_neighbour_show_among_many_wake_ups() {
        let by_epoll = (350 * MS, 16_491 * 3_553, 16_491);
        let by_io_uring = (300 * MS, 17_180 * 3_680, 17_180);
        for disturbed in [by_epoll, by_io_uring] {
            let waited_ns = waited(&[disturbed], 1);
            assert!((15 * MS..50 * MS).contains(&waited_ns), "{waited_ns}");
        }
    }

    #[test]
    fn a_process_of_many_threads_is_read() {
        let (end, wait) = (std::sync::Barrier::new(101), std::sync::Barrier::new(101));
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| {
                    wait.wait();
                    end.wait();
                });
            }
            wait.wait();
            let threads = Threads::of(&[rustix::process::getpid()]).count();
            end.wait();
            assert!(threads > 100, "{threads}");
        });
    }

    #[test]
    fn threads_that_wait_for_their_siblings_accuse_no_other_process() {
        let wake_ups = 100 * WAKE_UP_NS;
        let shared = [(500 * MS, 480 * MS, 100), (480 * MS, 500 * MS, 100)];
        assert_eq!(waited(&shared, 1), 0);
        // With a CPU for each, they waited for another process.
        assert_eq!(waited(&shared, 2), 500 * MS - wake_ups);
        // Together they had half of the CPU, so each waited longer than its sibling ran.
        let crowded = [(250 * MS, 740 * MS, 100), (250 * MS, 730 * MS, 100)];
        assert_eq!(waited(&crowded, 1), 490 * MS - wake_ups);
    }

    #[test]
    fn a_thread_that_does_nothing_does_not_compete() {
        let idle = (MS, 0, 3);
        assert_eq!(waited(&[(500 * MS, 400 * MS, 0), idle], 1), 400 * MS);
    }

    #[test]
    fn before_linux_6_a_wake_up_may_contain_that_of_an_idle_cpu() {
        assert_eq!(wake_up_ns_of("5.15.0-105-generic"), WAKE_UP_FROM_IDLE_NS);
        for release in ["6.1.0-18-amd64", "6.18.44", "10.0", "?"] {
            assert_eq!(wake_up_ns_of(release), WAKE_UP_NS, "{release}");
        }
    }

    #[test]
    fn the_threads_of_this_process_have_clocks() {
        let own = rustix::process::getpid();
        assert!(Threads::of(&[own]).count() > 0);
        assert!(Threads::of(&[]).count() == 0);
    }
}
