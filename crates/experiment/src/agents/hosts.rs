//! Windows that several hosts make together. They begin everywhere at the same moment, and the servers' clocks are read
//! here.

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::{AgentCommand, Recording, WindowOrder, WindowReport},
    load::{LoadConfig, LoadEvent},
};
use wirebench_server::visit::{Part, visit, without_clocks};

use super::{Agents, clock::Offset, edges::Edges, parts};

/// The time between an order to other hosts and its window, in addition to the way of the order: for a visit, and for a
/// whole load. An order may take that many times the error of a clock, which is half of the way there and back.
const AHEAD_OF_VISIT: (u64, u64) = (5_000_000, 4);
const AHEAD_OF_LOAD: (u64, u64) = (200_000_000, 8);
/// Two clocks differ by up to 100 millionths of the time. They are read again when that is as much as half of the
/// error, within these limits.
const DRIFT_SHARE: f64 = 1e-4;
const FRESH_LEAST: Duration = Duration::from_secs(1);
const FRESH_MOST: Duration = Duration::from_secs(30);

impl Agents<'_> {
    /// A visit, each part of which begins everywhere at the same moment. The servers' clocks are read here.
    pub(super) fn visit_of_hosts(
        &mut self,
        order: &WindowOrder,
        config: &LoadConfig,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<WindowReport, String> {
        let mut sitters = std::mem::take(&mut self.sitters);
        sitters.move_to(&order.server_cpus);
        let visit = visit(order, &sitters, |stop, counts| {
            let mut order = WindowOrder { discard_ns: 0, stop, ..order.clone() };
            if !(counts && order.recording == Recording::Whole) {
                (order.model, order.recording) = (order.model.constant(), Recording::Silent);
            }
            self.on_hosts_together(&order, order.applied_to(config), None, observe)
        });
        self.sitters = sitters;
        visit
    }

    pub(super) fn load_of_hosts(
        &mut self,
        order: &WindowOrder,
        config: LoadConfig,
        until: Option<&AtomicBool>,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<WindowReport, String> {
        let part = self.on_hosts_together(order, config, until, observe)?;
        Ok(without_clocks(order.load, part))
    }

    /// A window that begins everywhere at the same moment, by this side's clock.
    fn on_hosts_together(
        &mut self,
        order: &WindowOrder,
        config: LoadConfig,
        until: Option<&AtomicBool>,
        observe: &mut dyn FnMut(LoadEvent),
    ) -> Result<Part, String> {
        let offsets = self.offsets()?;
        let error_ns = offsets.iter().map(|it| it.error_ns).max().unwrap_or(0);
        let is_observed = order.recording.is_observed();
        let (ahead_ns, errors) = if is_observed { AHEAD_OF_LOAD } else { AHEAD_OF_VISIT };
        let start_ns = self.pool.now_ns() + ahead_ns + errors * error_ns;
        let order_at = |offset: &Offset| {
            let start_ns = Some(offset.there(start_ns));
            let (processes, server_cpus) = (Vec::new(), Vec::new());
            let order = WindowOrder { start_ns, processes, server_cpus, ..order.clone() };
            AgentCommand::Window(Box::new(order))
        };
        self.pool.tell_each(offsets.iter().map(order_at))?;
        let edges = is_observed.then(|| Edges::new(order, start_ns));
        let reports = self.follow((order, &config), edges, until, observe)?;
        let end_ns = self.pool.now_ns();
        let offsets = if is_observed { self.better(offsets) } else { offsets };
        let generator_waited_ns =
            reports.iter().map(|it| it.generator_waited_ns).max().unwrap_or(0);
        let shares = self.pool.hosts().zip(&offsets).zip(reports);
        let report = parts::whole(config, shares).ok_or("there is no generator")?;
        Ok(Part { report, start_ns, end_ns, generator_waited_ns })
    }

    /// The clocks, read again when the last reading is old. What they may have drifted since is in their errors.
    fn offsets(&mut self) -> Result<Vec<Offset>, String> {
        let (read_at, offsets) = match self.clocks.take() {
            Some(clocks) if clocks.0.elapsed() < fresh(&clocks.1) => clocks,
            _ => (Instant::now(), self.pool.offsets()?),
        };
        let drift_ns = (read_at.elapsed().as_nanos() as f64 * DRIFT_SHARE) as u64;
        let now = offsets.iter().map(|it| it.with_drift(drift_ns)).collect();
        self.clocks = Some((read_at, offsets));
        Ok(now)
    }

    /// A clock may have been read better after a whole load.
    fn better(&mut self, before: Vec<Offset>) -> Vec<Offset> {
        let after = self.pool.offsets().unwrap_or_else(|_| before.clone());
        let pairs = before.into_iter().zip(after);
        pairs.map(|(one, other)| if other.error_ns < one.error_ns { other } else { one }).collect()
    }
}

/// How old the reading of clocks may be.
fn fresh(offsets: &[Offset]) -> Duration {
    let error_ns = offsets.iter().map(|it| it.error_ns).min().unwrap_or(0) as f64;
    let fresh = Duration::from_nanos((error_ns / 2.0 / DRIFT_SHARE) as u64);
    fresh.clamp(FRESH_LEAST, FRESH_MOST)
}
