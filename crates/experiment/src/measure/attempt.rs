//! One load on a server of its own, from its warm-up to the figures and the findings about them.

use std::sync::atomic::AtomicBool;
use wirebench_host::{
    distance::Probe,
    neighbours::{Machine, Programs},
};
use wirebench_judge::{
    instance::not_steady,
    validity::{self, Evidence, Processes},
};
use wirebench_schema::{
    journal::{Distances, Measurement, Outcome, ProgramShare, ToolReport},
    load::{LoadConfig, LoadReport},
};
use wirebench_server::{
    cost::{self, Details, Window, WindowCpu},
    launch::{Server, Stopped},
};

use super::{Cell, RunSettings, failed, server_end};
use crate::evidence::judged;

/// What was seen of a run: the generator's report, and what both sides used.
pub(super) struct RunObservation {
    pub(super) load: LoadReport,
    /// The window of the server's cost.
    pub(super) window: Window,
    pub(super) cpu: WindowCpu,
    /// What was read of its threads before the load and after it.
    pub(super) details: (Details, Details),
    /// The machine's clocks at the edges of the window.
    pub(super) machine: (Machine, Machine),
    /// The report of a third-party generator.
    pub(super) tool: Option<ToolReport>,
}

/// An observation with the rest of the machine and the load before it.
pub(super) struct LoadObservation {
    seen: RunObservation,
    /// Other programs that were seen during the load.
    programs: Vec<ProgramShare>,
    distances: Distances,
    /// How long the server was loaded before without becoming warm.
    cold_ns: Option<u64>,
}

/// A load on a server that runs.
pub(super) struct Attempt<'a> {
    pub(super) settings: &'a RunSettings,
    pub(super) cell: &'a Cell<'a>,
    pub(super) config: LoadConfig,
    pub(super) stop: &'a AtomicBool,
}

impl Attempt<'_> {
    /// Loads the server and observes it meanwhile. `command` is that of another generator than our own.
    pub(super) fn load(
        &self,
        command: &[String],
        server: &Server,
    ) -> Result<LoadObservation, String> {
        match &self.settings.tool {
            None => {
                let (agents, warm_up, cold_ns) = self.warmed_up(server)?;
                self.with_the_machine(cold_ns, || self.observe(agents, server, warm_up))
            }
            Some(tool) => {
                let cold_ns = self.warmed_up_for_tool(server)?;
                self.warm_up_by_tool(tool)?;
                self.with_the_machine(cold_ns, || self.observe_tool(tool, command, server))
            }
        }
    }

    fn with_the_machine(
        &self,
        cold_ns: Option<u64>,
        observe: impl FnOnce() -> Result<RunObservation, String>,
    ) -> Result<LoadObservation, String> {
        let settings = self.settings;
        let probe = Probe::new(&settings.placement, settings.fleet.is_none());
        let distance_ns_before = probe.read();
        let before = Programs::read();
        let seen = observe()?;
        let distances = Distances { distance_ns_before, distance_ns_after: probe.read() };
        let programs = Programs::read().since(&before, &settings.cpus());
        Ok(LoadObservation { seen, programs, distances, cold_ns })
    }

    /// From what was seen to the outcome of a run.
    pub(super) fn outcome(
        &self,
        loaded: Result<LoadObservation, String>,
        stopped: &Stopped,
    ) -> Outcome {
        let loaded = match loaded {
            Ok(loaded) if loaded.seen.load.requests > 0 => loaded,
            Ok(LoadObservation { seen, .. }) => {
                return failed(validity::nothing_answered(&seen.load), stopped.stderr.clone());
            }
            Err(reason) => return failed(reason, stopped.stderr.clone()),
        };
        let cold_ns = loaded.cold_ns;
        let mut measured = self.judge(loaded, stopped);
        measured.reasons.extend(cold_ns.map(|it| not_steady(it, "before the window")));
        Outcome::Measured(Box::new(measured))
    }

    /// From observations to figures, and to findings about them.
    fn judge(&self, loaded: LoadObservation, stopped: &Stopped) -> Measurement {
        let Self { settings, cell, .. } = self;
        let LoadObservation { seen, programs, distances, .. } = loaded;
        let RunObservation { mut load, window, cpu, details, machine, tool } = seen;
        let cost = cost::cost(cpu, (&details.0, &details.1), window, settings.busy_cpus(cell));
        // Where some of the server's is not known, the rest of its CPUs' time is not for certain others'.
        let is_known = cpu.lost == 0 && cost.is_of_processes();
        let server_ns = if is_known { cost.cpu_ns } else { u64::MAX };
        let own_ns = (server_ns, load.thread_cpu_ns.iter().sum());
        let threads = (&details.0.threads, &details.1.threads);
        let machine = machine.1.used(&machine.0, &settings.placement, own_ns, threads);
        // Other hosts have limits of their own.
        let is_throttled = settings.fleet.is_none() && machine.throttled_ns > 0;
        load.throttled_ns = is_throttled.then_some(machine.throttled_ns);
        let evidence = Evidence {
            phase: cell.workload.phase,
            load,
            windows: 1,
            tool,
            cost,
            placement: settings.placement.clone(),
            end: server_end(stopped),
            machine,
            programs,
            verification: cell.verification,
            processes: match (cpu.lost, cpu.changed) {
                (0, false) => Processes::Same,
                (0, true) => Processes::Changed,
                (lost, _) => Processes::Lost(lost),
            },
            instance: None,
        };
        Measurement { distances, ..judged(&cell.subject.variant.id, cell.copy, evidence) }
    }
}
