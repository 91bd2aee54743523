//! What a server's process tree has used, sampled at the edges of the measured window.

use procfs::process::Process;
use rustix::process::Pid;
use std::{collections::BTreeMap, time::Instant};
use wirebench_schema::journal::{Cost, Placement};

use crate::tree;

/// The clocks of a process tree at one moment.
#[derive(Clone, Debug)]
pub struct Sample {
    at: Instant,
    /// CPU time of each process in nanoseconds, with its threads, also those that have ended.
    cpu_ns: BTreeMap<i32, u64>,
    /// CPU time of children that have ended and were waited for by a process of the tree or by its
    /// guard; the kernel keeps it in ticks. What a child had used moves here from `cpu_ns`
    /// when it ends, so only the sum of both grows steadily.
    reaped_ns: u64,
    /// When the details below were read, which takes longer than the clocks.
    details_at: Instant,
    /// CPU time of each thread in nanoseconds.
    thread_ns: BTreeMap<i32, u64>,
    /// Context switches of each thread, voluntary and involuntary.
    thread_switches: BTreeMap<i32, (u64, u64)>,
    memory_peak_bytes: u64,
}

/// The CPU clocks of some processes at one moment and nothing else: cheap enough for every 100 ms.
/// Processes that have begun since they were listed are not seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    pub(crate) at: Instant,
    pub(crate) cpu_ns: u64,
}

impl Clocks {
    /// Reads them; processes that have ended count for nothing.
    pub(crate) fn read(known: &[Pid]) -> Self {
        let at = Instant::now();
        Self { at, cpu_ns: known.iter().filter_map(clock).map(|(_, ns)| ns).sum() }
    }
}

impl Sample {
    /// Reads the clocks of `known` at once, because their moment decides the figure. Then `list`
    /// looks at the tree again, for processes that have begun since, and the details follow.
    ///
    /// `guard` is not part of the tree, but orphans of the tree end as its children.
    #[must_use]
    pub fn take(known: &[Pid], list: impl FnOnce() -> Vec<Pid>, guard: Pid) -> Self {
        let at = Instant::now();
        let mut sample = Self { cpu_ns: known.iter().filter_map(clock).collect(), ..Self::new(at) };
        let all = list();
        sample.details_at = Instant::now();
        for pid in &all {
            let number = pid.as_raw_nonzero().get();
            if let (false, Some((_, ns))) = (sample.cpu_ns.contains_key(&number), clock(pid)) {
                sample.cpu_ns.insert(number, ns);
            }
        }
        for process in all.iter().filter_map(|pid| tree::process(*pid)) {
            sample.reaped_ns += reaped_ns(&process);
            sample.add_details(&process);
        }
        sample.reaped_ns += tree::process(guard).map_or(0, |guard| reaped_ns(&guard));
        sample
    }

    const fn new(at: Instant) -> Self {
        Self {
            at,
            details_at: at,
            cpu_ns: BTreeMap::new(),
            reaped_ns: 0,
            thread_ns: BTreeMap::new(),
            thread_switches: BTreeMap::new(),
            memory_peak_bytes: 0,
        }
    }

    /// The processes that were seen.
    #[must_use]
    pub fn pids(&self) -> Vec<Pid> {
        self.cpu_ns.keys().filter_map(|pid| Pid::from_raw(*pid)).collect()
    }

    fn total_ns(&self) -> u64 {
        self.cpu_ns.values().sum::<u64>() + self.reaped_ns
    }

    fn add_details(&mut self, process: &Process) {
        let mut memory_peak_kib = 0;
        for task in process.tasks().into_iter().flatten().flatten() {
            if let Ok(times) = task.schedstat() {
                self.thread_ns.insert(task.tid, times.sum_exec_runtime);
            }
            if let Ok(status) = task.status() {
                let voluntary = status.voluntary_ctxt_switches.unwrap_or(0);
                let involuntary = status.nonvoluntary_ctxt_switches.unwrap_or(0);
                self.thread_switches.insert(task.tid, (voluntary, involuntary));
                // All threads tell the same of their common memory, but for one that has ended.
                memory_peak_kib = memory_peak_kib.max(status.vmhwm.unwrap_or(0));
            }
        }
        self.memory_peak_bytes += memory_peak_kib * 1024;
    }

    /// The time from this sample to a later one.
    #[must_use]
    pub fn ns_until(&self, later: &Self) -> u64 {
        nanoseconds(self.at, later.at)
    }

    /// Whether the two samples saw the same processes.
    #[must_use]
    pub fn same_processes(&self, other: &Self) -> bool {
        self.cpu_ns.keys().eq(other.cpu_ns.keys())
    }
}

fn clock(pid: &Pid) -> Option<(i32, u64)> {
    Some((pid.as_raw_nonzero().get(), wirebench_sys::cpu_clock::process_cpu_ns(*pid).ok()?))
}

fn reaped_ns(process: &Process) -> u64 {
    const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;
    let Ok(stat) = process.stat() else { return 0 };
    let ticks = u64::try_from(stat.cutime.max(0) + stat.cstime.max(0)).unwrap_or(0);
    ticks * NANOSECONDS_PER_SECOND / procfs::ticks_per_second()
}

/// What the generator measured in the window, as far as the cost needs it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Its length.
    pub window_ns: u64,
    /// Correct replies in it.
    pub requests: u64,
    /// The busiest thread's CPU time in it.
    pub thread_cpu_ns_most: u64,
}

/// How far the time between the samples may be off the window before no cost per request can be
/// told, as a share of the window. Short windows end before a sample can be taken.
const OFF_WINDOW: f64 = 0.05;

/// The cost between two samples. `busy_cpus` is how many CPUs the server could keep busy.
#[must_use]
pub fn between(before: &Sample, after: &Sample, window: Window, busy_cpus: usize) -> Cost {
    let cpu_ns = after.total_ns().saturating_sub(before.total_ns());
    let sampled_ns = nanoseconds(before.at, after.at);
    let (sampled, length) = (sampled_ns as f64, window.window_ns as f64);
    let busy = cpu_ns as f64 / sampled;
    let tells = window.requests > 0 && (sampled - length).abs() <= OFF_WINDOW * length;
    let details_ns = nanoseconds(before.details_at, after.details_at);
    let thread_ns = after.thread_ns.iter().map(|(tid, now)| {
        now.saturating_sub(before.thread_ns.get(tid).copied().unwrap_or_default())
    });
    // Thread by thread, so that one that ends takes away only its own switches.
    let switches = after.thread_switches.iter().map(|(tid, now)| {
        let then = before.thread_switches.get(tid).copied().unwrap_or_default();
        (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1))
    });
    let switches = switches.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    Cost {
        cpu_ns,
        sampled_ns,
        cpu_ns_per_request: tells.then_some(busy * length / window.requests as f64),
        cpu_share: busy / busy_cpus.max(1) as f64,
        busiest_thread_share: thread_ns.max().unwrap_or(0) as f64 / details_ns as f64,
        generator_cpu_share: window.thread_cpu_ns_most as f64 / length.max(1.0),
        memory_peak_bytes: after.memory_peak_bytes,
        processes: u32::try_from(after.cpu_ns.len()).unwrap_or(u32::MAX),
        threads: u32::try_from(after.thread_ns.len()).unwrap_or(u32::MAX),
        context_switches_voluntary: switches.0,
        context_switches_involuntary: switches.1,
    }
}

fn nanoseconds(from: Instant, to: Instant) -> u64 {
    u64::try_from(to.duration_since(from).as_nanos()).unwrap_or(u64::MAX).max(1)
}

/// How many CPUs a server can keep busy: one for each worker, all of them when each connection has
/// its own.
#[must_use]
pub fn busy_cpus(
    sharing: wirebench_schema::entry::Sharing,
    workers: u32,
    placement: &Placement,
) -> usize {
    let cpus = placement.server_cpus.len();
    match sharing {
        wirebench_schema::entry::Sharing::PerConnection => cpus,
        _ => cpus.min(workers as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn sample(at: Instant, cpu_ns: &[(i32, u64)], reaped_ns: u64) -> Sample {
        let cpu_ns: BTreeMap<i32, u64> = cpu_ns.iter().copied().collect();
        Sample { thread_ns: cpu_ns.clone(), cpu_ns, reaped_ns, ..Sample::new(at) }
    }

    const WINDOW: Window =
        Window { window_ns: 1_000_000, requests: 10, thread_cpu_ns_most: 500_000 };

    #[test]
    fn the_cost_is_that_of_the_window_and_not_of_the_life() {
        let start = Instant::now();
        let before = sample(start, &[(1, 5_000_000)], 7);
        // The samples are 4 % farther apart than the window is long.
        let end = start + Duration::from_nanos(1_040_000);
        let after = sample(end, &[(1, 5_520_000), (2, 104_000)], 7);
        let cost = between(&before, &after, WINDOW, 1);
        assert_eq!(cost.cpu_ns, 624_000);
        assert!((cost.cpu_ns_per_request.unwrap() - 60_000.0).abs() < 1e-6);
        assert!((cost.cpu_share - 0.6).abs() < 1e-9);
        assert!((cost.busiest_thread_share - 0.5).abs() < 1e-9);
        assert!((cost.generator_cpu_share - 0.5).abs() < 1e-9);
        assert!(!before.same_processes(&after));
    }

    #[test]
    fn samples_that_are_off_the_window_tell_no_cost_per_request() {
        let start = Instant::now();
        let before = sample(start, &[(1, 0)], 0);
        let after = sample(start + Duration::from_millis(2), &[(1, 500_000)], 0);
        assert_eq!(between(&before, &after, WINDOW, 1).cpu_ns_per_request, None);
    }

    #[test]
    fn children_that_ended_in_the_window_count() {
        let start = Instant::now();
        let before = sample(start, &[(1, 0), (2, 50_000)], 100);
        let after = sample(start + Duration::from_millis(1), &[(1, 0)], 350_100);
        assert_eq!(between(&before, &after, WINDOW, 1).cpu_ns, 300_000);
    }

    #[test]
    fn without_requests_there_is_no_cost_per_request() {
        let now = Instant::now();
        let window = Window { requests: 0, ..WINDOW };
        assert_eq!(
            between(&sample(now, &[], 0), &sample(now, &[], 0), window, 1).cpu_ns_per_request,
            None
        );
    }

    #[test]
    fn a_thread_that_ends_does_not_take_the_switches_of_the_others_along() {
        let start = Instant::now();
        let with = |at, switches: &[(i32, (u64, u64))]| Sample {
            thread_switches: switches.iter().copied().collect(),
            ..sample(at, &[], 0)
        };
        let before = with(start, &[(1, (10, 1)), (2, (1000, 500))]);
        let after = with(start + Duration::from_millis(1), &[(1, (14, 2)), (3, (5, 0))]);
        let cost = between(&before, &after, WINDOW, 1);
        assert_eq!((cost.context_switches_voluntary, cost.context_switches_involuntary), (9, 1));
    }

    #[test]
    fn a_sample_of_this_process_sees_its_cpu_memory_and_threads() {
        let own = rustix::process::getpid();
        for known in [&[own][..], &[]] {
            let sample = Sample::take(known, || vec![own], own);
            assert_eq!(sample.pids(), [own]);
            assert!(sample.cpu_ns.values().all(|&ns| ns > 0));
            assert!(sample.memory_peak_bytes > 0 && !sample.thread_ns.is_empty());
        }
    }
}
