//! One slice: waits until all servers are at rest, loads one of them, and reads the CPU time of
//! each.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
    thread,
    time::Duration,
};
use wirebench_loadgen::{Load, Measured, ServerClocks, now_ns};
use wirebench_schema::{
    agent::{SliceCpu, SliceOrder, SlicePiece, SliceReport},
    load::{EdgeClocks, Interval, LoadConfig, LoadEvent, Stop},
};
use wirebench_server::{
    process_clocks::{self as clocks, counted_ns, used},
    threads::{self, Threads},
};

use crate::whole::sleep_until;

pub(crate) fn carry_out(
    order: &SliceOrder,
    config: &LoadConfig,
    load: &mut Load,
    stop: &AtomicBool,
) -> Result<SliceReport, String> {
    let config = LoadConfig {
        model: order.model.clone(),
        warmup: Duration::from_nanos(order.discard_ns),
        stop: Stop::After(Duration::from_nanos(order.length_ns)),
        ..config.clone()
    };
    let own = order.processes.iter().find(|server| server.load == order.load);
    let pids = own.map_or_else(Vec::new, |server| server.pids.clone());
    let own_threads = Arc::new(Mutex::new(Vec::new()));
    let samples = Arc::clone(&own_threads);
    let server_clocks = ServerClocks::new(move || {
        let sample = Threads::of(&[rustix::process::getpid()]);
        samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        clocks::read(&pids)
    });
    let (mut intervals, mut edges) = (Vec::new(), EdgeClocks::default());
    let mut observe = |event| match event {
        LoadEvent::Interval(interval) => intervals.push(interval),
        LoadEvent::ServerClocks(clocks) => edges = clocks,
        _ => {}
    };
    let began_ns = now_ns();
    let before = clocks::wait_for_rest(&order.processes);
    let waited_ns = now_ns() - began_ns;
    if let Some(start_ns) = order.start_ns {
        sleep_until(start_ns, stop);
    }
    let measured = load.window(&config, order.course, &server_clocks, stop, &mut observe);
    let Measured { report, start_ns } = measured.map_err(|error| error.to_string())?;
    let end_ns = now_ns();
    let after = clocks::wait_for_rest(&order.processes);
    let used = used(&order.processes, &before, &after);
    let whole_ns = used.iter().find(|(load, _)| *load == order.load).map_or(0, |(_, used)| *used);
    Ok(SliceReport {
        load: order.load,
        start_ns: start_ns.ok_or("the slice was stopped before it began")?,
        end_ns,
        waited_ns,
        generator_waited_ns: generator_waited_ns(
            &own_threads.lock().unwrap_or_else(PoisonError::into_inner),
        ),
        cpu: SliceCpu { counted_ns: counted_ns(&edges), whole_ns },
        parked_cpu_ns: used.into_iter().filter(|(load, _)| *load != order.load).collect(),
        series: series(&intervals, &edges.series_ns),
        report,
    })
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
