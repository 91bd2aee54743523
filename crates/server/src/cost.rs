//! What a server's process tree has used in the measured window.

mod details;
mod look;
mod window;

pub use details::Details;
pub use look::{Look, ended_ns, mode_ns};
pub use window::{Course, TICKS_OFF_NS, WindowCpu};

use rustix::process::Pid;
use std::time::Instant;
use wirebench_schema::{
    entry::Sharing,
    journal::{Cost, Placement},
    load::LoadReport,
};

use crate::process_clocks;

/// The CPU clocks of some processes at one moment and nothing else: cheap enough for every 100 ms.
/// Processes that have begun since they were listed are not seen.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    pub at: Instant,
    pub cpu_ns: u64,
}

impl Clocks {
    /// Reads them; processes that have ended count for nothing.
    pub fn read(known: &[Pid]) -> Self {
        let at = Instant::now();
        Self { at, cpu_ns: known.iter().filter_map(|pid| process_clocks::of(*pid)).sum() }
    }
}

/// What the generator measured in the window, as far as the cost needs it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub window_ns: u64,
    pub requests: u64,
    /// The busiest thread's CPU time in it.
    pub thread_cpu_ns_most: u64,
}

impl Window {
    /// The window of our own generators.
    #[must_use]
    pub fn of(load: &LoadReport) -> Self {
        let thread_cpu_ns_most = load.thread_cpu_ns.iter().copied().max().unwrap_or(0);
        Self { window_ns: load.window_ns, requests: load.requests, thread_cpu_ns_most }
    }
}

/// The use of CPUs by threads in a window.
#[derive(Clone, Copy, Debug)]
pub struct ThreadUse {
    pub busiest_ns: f64,
    /// Context switches, voluntary and involuntary.
    pub switches: (f64, f64),
    pub run_queue_ns: f64,
}

/// The cost of a window. `busy_cpus` is how many CPUs the server could keep busy.
///
/// The details are of a longer time, with the warm-up: their share of the CPU time that was used in
/// that time is their share of the window's.
#[must_use]
pub fn cost(
    cpu: WindowCpu,
    (before, after): (&Details, &Details),
    window: Window,
    busy_cpus: usize,
) -> Cost {
    let span_ns = after.cpu_ns.saturating_sub(before.cpu_ns);
    let in_window = |count: u64| match span_ns {
        0 => count as f64,
        span_ns => count as f64 * cpu.cpu_ns as f64 / span_ns as f64,
    };
    let (voluntary, involuntary) = after.switches_since(before);
    let use_of_threads = ThreadUse {
        busiest_ns: in_window(after.threads.busiest_since(&before.threads)),
        switches: (in_window(voluntary), in_window(involuntary)),
        run_queue_ns: in_window(after.threads.run_queue_since(&before.threads)),
    };
    whole_cost((cpu.cpu_ns, cpu.lost == 0), use_of_threads, after, window, busy_cpus)
}

/// The cost of a window with this CPU time, if all of it is known, and with the details after it.
#[must_use]
pub fn whole_cost(
    (cpu_ns, is_known): (u64, bool),
    use_of_threads: ThreadUse,
    after: &Details,
    window: Window,
    busy_cpus: usize,
) -> Cost {
    let length = window.window_ns.max(1) as f64;
    // No server answers without CPU time: then its processes were not read.
    let is_known = is_known && window.requests > 0 && cpu_ns > 0;
    Cost {
        cpu_ns,
        sampled_ns: window.window_ns,
        cpu_ns_per_request: is_known.then(|| cpu_ns as f64 / window.requests as f64),
        cpu_share: cpu_ns as f64 / length / busy_cpus.max(1) as f64,
        busiest_thread_share: use_of_threads.busiest_ns / length,
        generator_cpu_share: window.thread_cpu_ns_most as f64 / length,
        memory_peak_bytes: after.memory_peak_bytes,
        processes: u32::try_from(after.processes).unwrap_or(u32::MAX),
        threads: u32::try_from(after.threads.count()).unwrap_or(u32::MAX),
        context_switches_voluntary: whole(use_of_threads.switches.0),
        context_switches_involuntary: whole(use_of_threads.switches.1),
        mapped: after.mapped.clone(),
        run_queue_ns: Some(whole(use_of_threads.run_queue_ns)),
    }
}

fn whole(count: f64) -> u64 {
    // Counts are far below 2^53 and never negative.
    count.round() as u64
}

/// How many CPUs a server can keep busy: one for each worker, all of them when each connection has
/// its own.
#[must_use]
pub fn busy_cpus(sharing: Sharing, workers: u32, placement: &Placement) -> usize {
    let cpus = placement.server_cpus.len();
    match sharing {
        Sharing::PerConnection => cpus,
        _ => cpus.min(workers as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const WINDOW: Window =
        Window { window_ns: 1_000_000, requests: 10, thread_cpu_ns_most: 500_000 };

    const fn cpu(cpu_ns: u64) -> WindowCpu {
        WindowCpu { cpu_ns, lost: 0, changed: false }
    }

    fn details(
        (cpu_ns, ran_ns): (u64, u64),
        switches: [&[(i32, (u64, u64))]; 2],
    ) -> (Details, Details) {
        let at = Instant::now();
        let later = at + Duration::from_millis(2);
        (
            Details::of_one(at, (7, 0), switches[0]),
            Details::of_one(later, (7 + cpu_ns, ran_ns), switches[1]),
        )
    }

    #[test]
    fn the_cost_is_what_the_window_used_over_the_requests_of_the_window() {
        let (before, after) = details((1_000_000, 900_000), [&[], &[]]);
        let cost = cost(cpu(600_000), (&before, &after), WINDOW, 1);
        assert_eq!((cost.cpu_ns, cost.sampled_ns), (600_000, 1_000_000));
        assert!((cost.cpu_ns_per_request.unwrap() - 60_000.0).abs() < 1e-6);
        assert!((cost.cpu_share - 0.6).abs() < 1e-9);
        assert!((cost.generator_cpu_share - 0.5).abs() < 1e-9);
    }

    /// The details contain the warm-up, the CPU time does not.
    #[test]
    fn details_of_a_longer_time_count_as_far_as_its_cpu_time_is_the_windows() {
        let switches: [&[_]; 2] = [&[(1, (100, 10))], &[(1, (300, 50))]];
        let (before, after) = details((1_000_000, 900_000), switches);
        let cost = cost(cpu(500_000), (&before, &after), WINDOW, 1);
        assert_eq!((cost.context_switches_voluntary, cost.context_switches_involuntary), (100, 20));
        assert!((cost.busiest_thread_share - 0.45).abs() < 1e-9);
    }

    #[test]
    fn without_requests_or_cpu_time_or_with_lost_processes_there_is_no_cost_per_request() {
        let (before, after) = details((1, 1), [&[], &[]]);
        let lost = WindowCpu { lost: 1, ..cpu(1) };
        for (cpu, requests) in [(cpu(1), 0), (cpu(0), 10), (lost, 10)] {
            let cost = cost(cpu, (&before, &after), Window { requests, ..WINDOW }, 1);
            assert_eq!(cost.cpu_ns_per_request, None);
        }
    }

    #[test]
    fn a_thread_that_ends_does_not_take_the_switches_of_the_others_along() {
        let switches: [&[_]; 2] = [&[(1, (10, 1)), (2, (1000, 500))], &[(1, (14, 2)), (3, (5, 0))]];
        let (before, after) = details((0, 0), switches);
        let cost = cost(cpu(0), (&before, &after), WINDOW, 1);
        assert_eq!((cost.context_switches_voluntary, cost.context_switches_involuntary), (9, 1));
    }
}
