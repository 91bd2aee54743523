//! One window: waits until all servers are at rest, loads one of them, and reads the CPU time of
//! each.

use std::{
    io,
    num::NonZero,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use wirebench_loadgen::{Load, Measured, ServerClocks, now_ns};
use wirebench_schema::{
    agent::{AgentEvent, Recording, SlicePiece, WindowCpu, WindowOrder, WindowReport},
    load::{Interval, LoadConfig, LoadEvent},
};
use wirebench_server::{
    process_clocks::{self as clocks, counted_ns, used},
    threads::{self, Threads},
};

/// The longest sleep between two looks whether the load shall stop.
const STEP: Duration = Duration::from_millis(20);

/// What a loading thread reads at the edges of a window: the clocks of the server's processes, and in a slice
/// the threads of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeReader(Arc<Mutex<EdgeState>>);

#[derive(Debug, Default)]
struct EdgeState {
    pids: Vec<i32>,
    is_slice: bool,
    own_threads: Vec<Threads>,
}

impl EdgeReader {
    pub(crate) fn clocks(&self) -> ServerClocks {
        let reader = self.clone();
        ServerClocks::new(move || reader.read())
    }

    fn begin(&self, order: &WindowOrder) {
        let own = order.processes.iter().find(|server| server.load == order.load);
        let pids = own.map_or_else(Vec::new, |server| server.pids.clone());
        let is_slice = order.recording != Recording::Intervals;
        *self.state() = EdgeState { pids, is_slice, own_threads: Vec::new() };
    }

    fn read(&self) -> Vec<Option<u64>> {
        let mut state = self.state();
        if state.is_slice {
            state.own_threads.push(Threads::of(&[rustix::process::getpid()]));
        }
        clocks::read(&state.pids)
    }

    fn state(&self) -> MutexGuard<'_, EdgeState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A load whose connections are made.
pub(crate) struct OpenLoad {
    pub(crate) config: LoadConfig,
    pub(crate) load: Load,
    pub(crate) edges: EdgeReader,
}

/// Measures the window of `order`. `say` takes its edges and intervals, where they are reported.
pub(crate) fn measure(
    order: &WindowOrder,
    open: &mut OpenLoad,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
) -> Result<WindowReport, String> {
    open.edges.begin(order);
    let mut intervals = Vec::new();
    let reports = order.recording == Recording::Intervals;
    let mut observe = |event| {
        let event = match event {
            LoadEvent::Interval(interval) if reports => AgentEvent::Interval(interval),
            LoadEvent::Interval(interval) => {
                intervals.push(interval);
                return;
            }
            LoadEvent::WindowStart if reports => AgentEvent::WindowStart,
            LoadEvent::WindowEnd if reports => AgentEvent::WindowEnd,
            _ => return,
        };
        if say(&event).is_err() {
            // The reader has gone.
            stop.store(true, Ordering::Relaxed);
        }
    };
    let began_ns = now_ns();
    let before = clocks::wait_for_rest(&order.processes);
    let waited_ns = now_ns() - began_ns;
    if let Some(start_ns) = order.start_ns {
        sleep_until(start_ns, stop);
    }
    let measured = match order.recording {
        Recording::Intervals => open.load.first_window(stop, &mut observe),
        recording => {
            let config = order.applied_to(&open.config);
            open.load.window(&config, recording, &open.edges.clocks(), stop, &mut observe)
        }
    };
    let Measured { mut report, start_ns, clocks: edges } =
        measured.map_err(|error| error.to_string())?;
    // The other side knows them.
    report.config.requests = report.config.requests.map(|set| set.abridged());
    let end_ns = now_ns();
    let after = clocks::wait_for_rest(&order.processes);
    let used = used(&order.processes, &before, &after);
    let whole_ns = used.iter().find(|(load, _)| *load == order.load).map_or(0, |(_, used)| *used);
    Ok(WindowReport {
        load: order.load,
        start_ns: start_ns.ok_or("the load was stopped before it began")?,
        end_ns,
        waited_ns,
        generator_waited_ns: generator_waited_ns(&open.edges.state().own_threads),
        cpu: WindowCpu { counted_ns: counted_ns(&edges), whole_ns },
        parked_cpu_ns: used.into_iter().filter(|(load, _)| *load != order.load).collect(),
        series: series(&intervals, &edges.series_ns),
        clocks: edges,
        report,
    })
}

/// Waits until the agent's clock shows `moment_ns`, unless it shall stop.
fn sleep_until(moment_ns: u64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = Duration::from_nanos(moment_ns.saturating_sub(now_ns()));
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(STEP));
    }
}

/// Between the first and the last edge at which the threads of this process were read.
fn generator_waited_ns(samples: &[Threads]) -> u64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return 0 };
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    last.waited_since(first, cpus, threads::wake_up_ns())
}

/// Requests of the intervals, and the growth of the CPU time in the same time.
fn series(intervals: &[Interval], sums_ns: &[u64]) -> Vec<SlicePiece> {
    let mut intervals: Vec<&Interval> = intervals.iter().collect();
    intervals.sort_by_key(|interval| interval.start_ns);
    let grown = sums_ns.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let requests = intervals.iter().map(|interval| interval.requests);
    requests.zip(grown).map(|(requests, cpu_ns)| SlicePiece { requests, cpu_ns }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_generator_waited_from_the_first_edge_to_the_last() {
        const MS: u64 = 1_000_000;
        let at = |waited_ns| Threads::new(Instant::now(), &[(500 * MS, waited_ns, 0)]);
        assert_eq!(generator_waited_ns(&[at(7 * MS), at(9 * MS), at(20 * MS)]), 13 * MS);
        assert_eq!((generator_waited_ns(&[at(7 * MS)]), generator_waited_ns(&[])), (0, 0));
    }
}
