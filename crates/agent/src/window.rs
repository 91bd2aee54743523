//! One window: a slice in parts, or a whole load.

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
    agent::{AgentEvent, WindowOrder, WindowReport},
    load::{LoadConfig, LoadEvent, LoadReport, Stop},
};
use wirebench_server::{
    fence::Sitters,
    process_clocks,
    threads::{self, Threads},
    visit::{self, Part, visit},
};

/// The longest sleep between two looks whether the load shall stop.
const STEP: Duration = Duration::from_millis(20);

/// What a loading thread reads at the edges of a whole load: the clocks of the server's processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct EdgeReader(Arc<Mutex<Vec<i32>>>);

impl EdgeReader {
    pub(crate) fn clocks(&self) -> ServerClocks {
        let reader = self.clone();
        ServerClocks::new(move || process_clocks::read(&reader.pids()))
    }

    fn pids(&self) -> MutexGuard<'_, Vec<i32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A load whose connections are made.
pub(crate) struct OpenLoad {
    pub(crate) config: LoadConfig,
    pub(crate) load: Load,
    pub(crate) edges: EdgeReader,
}

/// Measures the slice of `order`.
pub(crate) fn slice(
    order: &WindowOrder,
    open: &mut OpenLoad,
    sitters: &Sitters,
    stop: &AtomicBool,
) -> Result<WindowReport, String> {
    let mut begins_ns = order.start_ns;
    let own = || Threads::of(&[rustix::process::getpid()]);
    let mut before = own();
    visit(order, sitters, |length, counts| {
        if let Some(start_ns) = begins_ns.take() {
            sleep_until(start_ns, stop);
        }
        let config = LoadConfig {
            model: order.model.clone(),
            stop: Stop::After(length),
            ..open.config.clone()
        };
        let measured = match counts {
            false => open.load.discard(&config, stop),
            true => open.load.part(&config, stop),
        };
        let Measured { mut report, start_ns, .. } = measured.map_err(|error| error.to_string())?;
        let (end_ns, after) = (now_ns(), own());
        let generator_waited_ns = waited_ns(&before, &after);
        before = after;
        abridge(&mut report);
        Ok(Part { report, start_ns: begun(start_ns)?, end_ns, generator_waited_ns })
    })
}

/// Measures the whole load of `order`. `say` takes its edges and intervals.
pub(crate) fn whole(
    order: &WindowOrder,
    open: &mut OpenLoad,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
) -> Result<WindowReport, String> {
    let own = order.processes.iter().find(|server| server.load == order.load);
    *open.edges.pids() = own.map_or_else(Vec::new, |server| server.pids.clone());
    let mut observe = |event| {
        let event = match event {
            LoadEvent::Interval(interval) => AgentEvent::Interval(interval),
            LoadEvent::WindowStart => AgentEvent::WindowStart,
            LoadEvent::WindowEnd => AgentEvent::WindowEnd,
            _ => return,
        };
        if say(&event).is_err() {
            // The reader has gone.
            stop.store(true, Ordering::Relaxed);
        }
    };
    if let Some(start_ns) = order.start_ns {
        sleep_until(start_ns, stop);
    }
    let measured = open.load.first_window(stop, &mut observe).map_err(|error| error.to_string())?;
    let Measured { mut report, start_ns, clocks: edges } = measured;
    abridge(&mut report);
    let (start_ns, end_ns) = (begun(start_ns)?, now_ns());
    let part = Part { report, start_ns, end_ns, generator_waited_ns: 0 };
    Ok(visit::whole(order.load, part, edges))
}

fn begun(start_ns: Option<u64>) -> Result<u64, String> {
    start_ns.ok_or_else(|| "the load was stopped before it began".to_owned())
}

/// The other side knows the requests.
fn abridge(report: &mut LoadReport) {
    report.config.requests = report.config.requests.take().map(|set| set.abridged());
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

/// For how long the threads of this process waited between two moments.
fn waited_ns(first: &Threads, last: &Threads) -> u64 {
    let cpus = thread::available_parallelism().map_or(1, NonZero::get);
    last.waited_since(first, cpus, threads::wake_up_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_generator_waited_from_the_first_moment_to_the_last() {
        const MS: u64 = 1_000_000;
        let at = |waited_ns| Threads::new(Instant::now(), &[(500 * MS, waited_ns, 0)]);
        assert_eq!(waited_ns(&at(7 * MS), &at(20 * MS)), 13 * MS);
    }
}
