//! What is read of the two sides around the load of our own generator: the server's processes and the details of their
//! threads where nothing is in flight, the machine's clocks at the edges of the window.

use std::time::Duration;
use wirebench_host::neighbours::Machine;
use wirebench_schema::{
    agent::{Recording, WindowOrder},
    load::LoadEvent,
};
use wirebench_server::{
    cost::{Course, Details, Window, WindowCpu},
    launch::Server,
    tree::numbers,
};

use super::{
    attempt::{Attempt, RunObservation},
    settled_look,
};
use crate::{
    agents::Agents,
    cohort::{BETWEEN_LOOKS_IN_ROUNDS, watched},
};

impl Attempt<'_> {
    /// Generates the measured load after the rest of its warm-up, and observes the server before, meanwhile and after.
    pub(super) fn observe(
        &self,
        mut agents: Agents<'_>,
        server: &Server,
        warm_up: Duration,
    ) -> Result<RunObservation, String> {
        let look = || {
            let look = settled_look(server);
            let details = Details::read(&look);
            (look, details)
        };
        let (before, details_before) = look();
        let pids = before.clone().living().pids();
        let order = WindowOrder {
            discard_ns: u64::try_from(warm_up.as_nanos()).unwrap_or(u64::MAX),
            recording: Recording::Whole,
            server_cpus: self.settings.sitter_cpus(&agents, server),
            ..WindowOrder::of_load(&self.config, numbers(&pids))
        };
        let (generator, mut edges) = (agents.pid(), [const { None }; 2]);
        let observe = &mut |event| match event {
            LoadEvent::WindowStart => edges[0] = Some(Machine::read(generator)),
            LoadEvent::WindowEnd => edges[1] = Some(Machine::read(generator)),
            _ => {}
        };
        let every = details_before.ignores_children().then_some(BETWEEN_LOOKS_IN_ROUNDS);
        let (report, seen) = watched(&pids, every, || agents.window(&order, None, observe))?;
        let mut report = report?;
        // It was in parts before.
        report.report.config.warmup = self.config.warmup;
        let (after, details_after) = look();
        let [Some(start), Some(end)] = edges else {
            return Err("the generator reported without the edges of its window".to_owned());
        };
        let ignoring = details_before.ignoring_with(&details_after);
        let by_looks = Course { before, after }.cpu(&ignoring);
        let window_ns = report.report.window_ns;
        let cpu_ns = match report.cpu.counted_ns {
            Some(counted_ns) if !by_looks.changed => counted_ns,
            // What the looks show is that of a longer time.
            _ => share(by_looks.cpu_ns, window_ns, window_ns + order.discard_ns),
        };
        let lost = by_looks.lost.max(if ignoring.is_empty() { 0 } else { seen.len() as u64 });
        Ok(RunObservation {
            cpu: WindowCpu { cpu_ns, lost, ..by_looks },
            window: Window::of(&report.report),
            load: report.report,
            details: (details_before, details_after),
            machine: (start, end),
            tool: None,
        })
    }
}

fn share(all_ns: u64, part: u64, whole: u64) -> u64 {
    // A time is far below 2^53 ns and never negative.
    (all_ns as f64 * part as f64 / whole.max(1) as f64) as u64
}
