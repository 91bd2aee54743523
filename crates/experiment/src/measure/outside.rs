//! A run whose load is made by another generator than our own: its report in the place of ours, and
//! the server's clocks before its start and after its end.

use std::time::Duration;
use wirebench_host::neighbours::Machine;
use wirebench_schema::{
    journal::{Placement, ToolReport},
    load::{EngineChoice, LoadConfig, LoadReport},
};
use wirebench_server::{
    cost::{Course, Details, Window},
    launch::Server,
};

use super::attempt::{Attempt, RunObservation};
use crate::{
    agents::longest,
    remote::PATIENCE,
    tool::{Tool, parse, run},
};

/// How long a third-party generator may take.
pub(super) fn patience(config: &LoadConfig) -> Duration {
    PATIENCE + longest(config.stop) + config.timeout * 3
}

impl Attempt<'_> {
    /// Runs `argv` and samples the server before and afterwards.
    pub(super) fn observe_tool(
        &self,
        tool: &Tool,
        argv: &[String],
        server: &Server,
    ) -> Result<RunObservation, String> {
        let config = &self.config;
        let take = || {
            let look = server.look();
            let details = Details::read(&look);
            (look, details, Machine::read(None))
        };
        let before = take();
        let finished = run(argv, self.settings.generator_cpus(), patience(config), self.stop)?;
        let after = take();
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
        let course = Course { before: before.0, after: after.0 };
        let placement = &self.settings.placement;
        Ok(RunObservation {
            window: window(&course, &load, cpu_ns, placement),
            cpu: course.cpu(&before.1.ignoring_with(&after.1)),
            load,
            details: (before.1, after.1),
            machine: (before.2, after.2),
            tool: Some(report),
        })
    }
}

/// The whole time between the samples is the window of the server's cost: all requests lie in it.
/// The CPU time of the program is shared out evenly between the threads that could run at once.
fn window(course: &Course, load: &LoadReport, tool_ns: u64, placement: &Placement) -> Window {
    let busy = load.config.threads.min(placement.generator_cpus.len()).max(1) as u64;
    Window {
        window_ns: course.length_ns(),
        requests: load.requests,
        thread_cpu_ns_most: tool_ns / busy,
    }
}
