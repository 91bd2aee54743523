//! The load before the measured one, on the same server: until the server is warm, if that is asked for, and then for
//! as long as the workload says.

use std::time::{Duration, Instant};
use wirebench_judge::validity::nothing_answered;
use wirebench_schema::{
    agent::{Recording, WindowOrder, Windows},
    load::{LoadConfig, Stop},
};
use wirebench_server::{launch::Server, tree::numbers};

use super::{attempt::Attempt, outside::patience};
use crate::{
    agents::Agents,
    cohort::{WARM_UP_LENGTH, WarmUp},
    tool::{Tool, run},
};

/// The end of the warm-up that comes right before the window: a rest would change what a request costs at first.
const LAST: Duration = Duration::from_millis(40);

/// How a load of our own generator warms up after the server is warm: the end of the load before, which has connections
/// of its own if it is a count, and the length of the one that the window begins with.
fn parts(config: &LoadConfig, requests: Option<u64>) -> (Option<Stop>, Duration) {
    if let Some(requests) = requests {
        return (Some(Stop::Requests(requests)), Duration::ZERO);
    }
    let last = config.warmup.min(LAST);
    let first = config.warmup - last;
    ((!first.is_zero()).then_some(Stop::After(first)), last)
}

impl Attempt<'_> {
    /// The generator of the measured load, with its connections and the server warm, and the length of the warm-up that
    /// is left for the window. The last answer is the length of the load after which the server was not.
    pub(super) fn warmed_up(
        &self,
        server: &Server,
    ) -> Result<(Agents<'_>, Duration, Option<u64>), String> {
        let config = &self.config;
        // Some generators need a request for each connection.
        let requests = self.cell.workload.warmup_requests;
        let (first, last) = parts(config, requests.map(|it| it.max(config.connections as u64)));
        let mut agents = self.settings.agents(self.stop)?;
        agents.connect(0, config, Windows::Many, &mut |_| {})?;
        let cold_ns = self.until_warm(&mut agents, server)?;
        if let Some(stop) = first {
            let named = |reason| format!("in the load before the measured one: {reason}");
            agents.window(&self.order(server, stop), None, &mut |_| {}).map_err(named)?;
            if stop.length().is_none() {
                // Those of a count have ended with it.
                agents.connect(0, config, Windows::Many, &mut |_| {})?;
            }
        }
        Ok((agents, last, cold_ns))
    }

    /// For a third-party generator, whose connections are its own. The answer is that of [`Self::until_warm`].
    pub(super) fn warmed_up_for_tool(&self, server: &Server) -> Result<Option<u64>, String> {
        let Self { settings, cell, config, stop } = self;
        if cell.workload.steady_within.is_zero() {
            return Ok(None);
        }
        let mut agents = settings.agents(stop)?;
        agents.connect(0, config, Windows::Many, &mut |_| {})?;
        self.until_warm(&mut agents, server)
    }

    /// By the third-party generator itself.
    pub(super) fn warm_up_by_tool(&self, tool: &Tool) -> Result<(), String> {
        let Self { settings, cell, config, stop } = self;
        let requests = cell.workload.warmup_requests.map(|n| n.max(config.connections as u64));
        let warm_up = match requests {
            Some(requests) => tool.warm_up(requests),
            None if config.warmup.is_zero() => return Ok(()),
            None => Stop::After(config.warmup),
        };
        let config = LoadConfig { warmup: Duration::ZERO, stop: warm_up, ..config.clone() };
        let argv = settings.generator_command(&config);
        run(&argv, settings.generator_cpus(), patience(&config), stop)
            .map(|_| ())
            .map_err(|reason| format!("in the load before the measured one: {reason}"))
    }

    /// Loads the server until it is warm, if the workload asks for it. The answer is how long it was loaded in vain.
    fn until_warm(&self, agents: &mut Agents<'_>, server: &Server) -> Result<Option<u64>, String> {
        let within = self.cell.workload.steady_within;
        let length = self.config.model.whole_intervals(WARM_UP_LENGTH);
        let (order, mut warm) = (self.order(server, Stop::After(length)), WarmUp::default());
        let began = Instant::now();
        while !warm.is_steady() && began.elapsed() < within {
            let done = agents.window(&order, None, &mut |_| {});
            let done = done.and_then(|done| match &done.report {
                // A load that waits for local ports has neither replies nor errors for a while.
                load if load.requests == 0 && load.errors.total() > 0 => {
                    Err(nothing_answered(load))
                }
                _ => Ok(done),
            });
            let named = |reason| format!("in the load that warms up until it is steady: {reason}");
            let done = done.map_err(named)?;
            // Without clocks the time of a request tells the same.
            let used_ns = done.cpu.counted_ns.filter(|ns| *ns > 0).unwrap_or(done.report.window_ns);
            let requests = Some(done.report.requests).filter(|it| *it > 0);
            warm.add(requests.map(|it| used_ns as f64 / it as f64), done.report.window_ns);
        }
        let is_cold = !warm.is_steady() && !within.is_zero();
        Ok(is_cold.then(|| u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)))
    }

    /// A visit of the load that is measured afterwards, at a constant rate: a closed loop ends at another state of
    /// caches and batches, and a rate that changes is never steady.
    fn order(&self, server: &Server, stop: Stop) -> WindowOrder {
        let pids = numbers(&server.tree());
        let model = self.config.model.constant();
        // Whether a count still grows is seen in its intervals.
        let is_short = stop.length().is_some();
        let recording = if is_short { Recording::Silent } else { Recording::Whole };
        let discard_ns = 0;
        WindowOrder {
            model,
            stop,
            discard_ns,
            recording,
            ..WindowOrder::of_load(&self.config, pids)
        }
    }
}
