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
    switches_voluntary: u64,
    switches_involuntary: u64,
    threads: u32,
    memory_peak_bytes: u64,
}

impl Sample {
    /// Reads everything of `pids` now; the CPU clocks first and close together, because they decide
    /// the figure. `guard` is not part of the tree, but orphans of the tree end as its
    /// children.
    #[must_use]
    pub fn take(pids: &[Pid], guard: Pid) -> Self {
        let at = Instant::now();
        let clock = |pid: &Pid| {
            Some((pid.as_raw_nonzero().get(), wirebench_sys::cpu_clock::process_cpu_ns(*pid).ok()?))
        };
        let mut sample = Self {
            at,
            cpu_ns: pids.iter().filter_map(clock).collect(),
            reaped_ns: 0,
            switches_voluntary: 0,
            switches_involuntary: 0,
            threads: 0,
            memory_peak_bytes: 0,
        };
        for process in pids.iter().filter_map(|pid| tree::process(*pid)) {
            sample.reaped_ns += reaped_ns(&process);
            sample.add_details(&process);
        }
        sample.reaped_ns += tree::process(guard).map_or(0, |guard| reaped_ns(&guard));
        sample
    }

    fn total_ns(&self) -> u64 {
        self.cpu_ns.values().sum::<u64>() + self.reaped_ns
    }

    fn add_details(&mut self, process: &Process) {
        if let Ok(status) = process.status() {
            // `VmHWM` is in KiB.
            self.memory_peak_bytes += status.vmhwm.unwrap_or(0) * 1024;
        }
        for task in process.tasks().into_iter().flatten().flatten() {
            self.threads += 1;
            if let Ok(status) = task.status() {
                self.switches_voluntary += status.voluntary_ctxt_switches.unwrap_or(0);
                self.switches_involuntary += status.nonvoluntary_ctxt_switches.unwrap_or(0);
            }
        }
    }

    /// Whether the two samples saw the same processes.
    #[must_use]
    pub fn same_processes(&self, other: &Self) -> bool {
        self.cpu_ns.keys().eq(other.cpu_ns.keys())
    }
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

/// The cost between two samples. `busy_cpus` is how many CPUs the server could keep busy.
#[must_use]
pub fn between(before: &Sample, after: &Sample, window: Window, busy_cpus: usize) -> Cost {
    let cpu_ns = after.total_ns().saturating_sub(before.total_ns());
    let sampled_ns =
        u64::try_from(after.at.duration_since(before.at).as_nanos()).unwrap_or(u64::MAX).max(1);
    let busy = cpu_ns as f64 / sampled_ns as f64;
    let per_request = busy * window.window_ns as f64 / window.requests as f64;
    Cost {
        cpu_ns,
        sampled_ns,
        cpu_ns_per_request: (window.requests > 0).then_some(per_request),
        cpu_share: busy / busy_cpus.max(1) as f64,
        generator_cpu_share: window.thread_cpu_ns_most as f64 / window.window_ns.max(1) as f64,
        memory_peak_bytes: after.memory_peak_bytes,
        processes: u32::try_from(after.cpu_ns.len()).unwrap_or(u32::MAX),
        threads: after.threads,
        context_switches_voluntary: after
            .switches_voluntary
            .saturating_sub(before.switches_voluntary),
        context_switches_involuntary: after
            .switches_involuntary
            .saturating_sub(before.switches_involuntary),
    }
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
        Sample {
            at,
            cpu_ns: cpu_ns.iter().copied().collect(),
            reaped_ns,
            switches_voluntary: 0,
            switches_involuntary: 0,
            threads: 1,
            memory_peak_bytes: 0,
        }
    }

    const WINDOW: Window =
        Window { window_ns: 1_000_000, requests: 10, thread_cpu_ns_most: 500_000 };

    #[test]
    fn the_cost_is_that_of_the_window_and_not_of_the_life() {
        let start = Instant::now();
        let before = sample(start, &[(1, 5_000_000)], 7);
        // Sampled over twice the window: half of what was seen belongs to the window.
        let after = sample(start + Duration::from_millis(2), &[(1, 6_000_000), (2, 200_000)], 7);
        let cost = between(&before, &after, WINDOW, 1);
        assert_eq!(cost.cpu_ns, 1_200_000);
        assert!((cost.cpu_ns_per_request.unwrap() - 60_000.0).abs() < 1e-6);
        assert!((cost.cpu_share - 0.6).abs() < 1e-9);
        assert!((cost.generator_cpu_share - 0.5).abs() < 1e-9);
        assert!(!before.same_processes(&after));
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
    fn a_sample_of_this_process_sees_its_cpu_memory_and_threads() {
        let own = rustix::process::getpid();
        let sample = Sample::take(&[own], own);
        assert!(sample.cpu_ns.values().all(|&ns| ns > 0) && sample.cpu_ns.len() == 1);
        assert!(sample.memory_peak_bytes > 0 && sample.threads > 0);
    }
}
