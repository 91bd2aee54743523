//! A run whose load is made by another generator than our own: its report in the place of ours, and
//! the server's clocks before its start and after its end.

use std::{sync::atomic::AtomicBool, time::Duration};
use wirebench_schema::{
    journal::{Placement, ToolReport},
    load::{EngineChoice, LoadConfig, LoadReport, Stop},
};

use super::{Bench, Edge, Seen, deadline::GENERATOR_PATIENCE};
use crate::{
    cost::{Sample, Window},
    launch::Server,
    neighbours::Machine,
    tool::{Tool, parse},
};

/// How long a generator with a count may take. Its own timeouts end it long before.
const COUNT_PATIENCE: Duration = Duration::from_secs(3600);

/// How long somebody else's generator may take.
pub(super) fn patience(config: &LoadConfig) -> Duration {
    let window = match config.stop {
        Stop::After(duration) => duration,
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => COUNT_PATIENCE,
    };
    GENERATOR_PATIENCE + window + config.timeout * 3
}

impl Bench {
    /// Runs `argv` and samples the server before and afterwards.
    pub(super) fn observe_tool(
        &self,
        argv: &[String],
        config: &LoadConfig,
        server: &Server,
        stop: &AtomicBool,
    ) -> Result<Seen, String> {
        let tool = self.tool.as_ref().ok_or("no other generator was asked for")?;
        let known = server.tree();
        let take = |known: &[_]| -> Edge {
            let sample = Sample::take(known, || server.tree(), server.guard());
            let machine = Machine::read(&sample.pids(), None);
            (sample, machine)
        };
        let before = take(&known);
        let finished = Tool::run(argv, self.generator_cpus(), patience(config), stop)?;
        let after = take(&before.0.pids());
        let told = parse(tool.version.name, &finished.output)?;
        let seconds = told.window_ns as f64 / 1e9;
        let failed = usize::try_from(told.errors.connect).unwrap_or(usize::MAX);
        let cpu_ns = u64::try_from(finished.cpu.as_nanos()).unwrap_or(u64::MAX);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        // All three wait for events by epoll.
        let load = LoadReport {
            window_ns: told.window_ns,
            requests: told.requests,
            requests_per_second: told.requests as f64 / seconds,
            errors: told.errors,
            connections_made: config.connections.saturating_sub(failed),
            thread_cpu_ns: vec![cpu_ns],
            ..LoadReport::new(version, config.clone(), EngineChoice::Epoll)
        };
        let report = ToolReport {
            generator: tool.version.clone(),
            latency: told.latency,
            cpu_ns,
            output: finished.output,
        };
        Ok(Seen {
            load,
            edges: (before.0, after.0),
            machine: (before.1, after.1),
            tool: Some(report),
            busy_before: None,
        })
    }
}

/// The whole time between the samples is the window of the server's cost: all requests lie in it.
/// The CPU time of the program is shared out evenly between the threads that could run at once.
pub(super) fn window(
    before: &Sample,
    after: &Sample,
    load: &LoadReport,
    tool: &ToolReport,
    placement: &Placement,
) -> Window {
    let busy = load.config.threads.min(placement.generator_cpus.len()).max(1) as u64;
    Window {
        window_ns: before.ns_until(after),
        requests: load.requests,
        thread_cpu_ns_most: tool.cpu_ns / busy,
    }
}
