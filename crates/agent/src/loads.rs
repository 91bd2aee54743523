//! The loads of an agent: connections to several servers that are open at the same time, of which one is used at a
//! time, for a visit in parts or for a load with one window.

use std::{
    collections::BTreeMap,
    io,
    num::NonZero,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};
use wirebench_loadgen::{Load, Measured, now_ns};
use wirebench_schema::{
    agent::{AgentEvent, Recording, WindowOrder, WindowReport, Windows},
    load::{LoadConfig, LoadEvent, LoadReport},
};
use wirebench_server::{
    fence::Sitters,
    threads::{self, Threads},
    visit::{Part, visit, without_clocks},
};

/// The longest sleep between two checks whether the load has to stop.
const STEP: Duration = Duration::from_millis(20);

/// The open loads of an agent.
pub(crate) struct Loads {
    by_number: BTreeMap<u32, OpenLoad>,
    sitters: Sitters,
    stop: Arc<AtomicBool>,
}

impl Loads {
    /// None yet. `stop` cuts off what lasts.
    pub(crate) fn new(stop: Arc<AtomicBool>) -> Self {
        Self { by_number: BTreeMap::new(), sitters: Sitters::default(), stop }
    }

    /// Makes the connections of a load. One of the same number is closed before.
    pub(crate) fn connect(
        &mut self,
        number: u32,
        config: LoadConfig,
        windows: Windows,
        say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
    ) -> Result<AgentEvent, String> {
        self.by_number.remove(&number);
        let mut observe = |event| {
            // A reader that has gone is noticed at the next write.
            let _ = say(&AgentEvent::Load(event));
        };
        let load = Load::open(&config, windows, &self.stop, &mut observe)
            .map_err(|error| error.to_string())?;
        let connections = load.connections();
        self.by_number.insert(number, OpenLoad { config, load });
        Ok(AgentEvent::Load(LoadEvent::Connected { connections }))
    }

    pub(crate) fn window(
        &mut self,
        order: &WindowOrder,
        say: &mut dyn FnMut(&AgentEvent) -> io::Result<()>,
    ) -> Result<AgentEvent, String> {
        let known = self.by_number.remove(&order.load);
        let mut open =
            known.ok_or_else(|| format!("there is no load {}: connect it first", order.load))?;
        let stop = &self.stop;
        let mut observe = |event| {
            if say(&AgentEvent::Load(event)).is_err() {
                // The reader has gone.
                stop.store(true, Ordering::Relaxed);
            }
        };
        if order.recording == Recording::Intervals {
            let measured = only_window(order, &mut open, stop, &mut observe);
            return measured.map(Box::new).map(AgentEvent::Window);
        }
        self.sitters.move_to(&order.server_cpus);
        let measured = measured_visit(order, &mut open, &self.sitters, stop, &mut observe);
        self.by_number.insert(order.load, open);
        measured.map(Box::new).map(AgentEvent::Window)
    }
}

/// A load whose connections are made.
struct OpenLoad {
    config: LoadConfig,
    load: Load,
}

/// Measures the visit of `order`.
fn measured_visit(
    order: &WindowOrder,
    open: &mut OpenLoad,
    sitters: &Sitters,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<WindowReport, String> {
    let mut begins_ns = order.start_ns;
    let own = || Threads::of(&[rustix::process::getpid()]);
    visit(order, sitters, |end, counts| {
        if let Some(start_ns) = begins_ns.take() {
            sleep_until(start_ns, stop);
        }
        let model = if counts { order.model.clone() } else { order.model.constant() };
        let config = LoadConfig { model, stop: end, ..open.config.clone() };
        // How long the generator waited in what is discarded is in no figure.
        let before = counts.then(own);
        let measured = match (counts, order.recording) {
            (false, _) => open.load.discard(&config, stop),
            (true, Recording::Whole) => open.load.whole(&config, stop, observe),
            (true, _) => open.load.part(&config, stop),
        };
        let Measured { mut report, start_ns, .. } = measured.map_err(|error| error.to_string())?;
        let end_ns = now_ns();
        let generator_waited_ns = before.map_or(0, |before| waited_ns(&before, &own()));
        abridge(&mut report);
        Ok(Part { report, start_ns: begun(start_ns)?, end_ns, generator_waited_ns })
    })
}

/// Measures the only window of a load.
fn only_window(
    order: &WindowOrder,
    open: &mut OpenLoad,
    stop: &AtomicBool,
    observe: &mut dyn FnMut(LoadEvent),
) -> Result<WindowReport, String> {
    if let Some(start_ns) = order.start_ns {
        sleep_until(start_ns, stop);
    }
    let measured = open.load.first_window(stop, observe).map_err(|error| error.to_string())?;
    let Measured { mut report, start_ns } = measured;
    abridge(&mut report);
    let (start_ns, end_ns) = (begun(start_ns)?, now_ns());
    let part = Part { report, start_ns, end_ns, generator_waited_ns: 0 };
    Ok(without_clocks(order.load, part))
}

fn begun(start_ns: Option<u64>) -> Result<u64, String> {
    start_ns.ok_or_else(|| "the load was stopped before it began".to_owned())
}

/// The other side knows the requests.
fn abridge(report: &mut LoadReport) {
    report.config.requests = report.config.requests.take().map(|set| set.abridged());
}

/// Waits until the agent's clock shows `moment_ns`, or the load has to stop.
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
