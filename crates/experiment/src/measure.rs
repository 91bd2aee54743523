//! One run with a process of its own: a fresh server, the load on it, and what both of them used.
//! Runs of a cohort are made in `cohort`.

pub mod command;
mod generators;
mod idle;
mod idle_connections;
mod observe;
mod outside;
mod steady;

pub use idle_connections::require_files;
pub(crate) use observe::settled_look;

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_catalogue::subject::Subject;
use wirebench_host::{
    distance::Probe,
    neighbours::{Machine, Programs, Throttled},
};
use wirebench_judge::validity::{self, Evidence, Processes, ServerEnd};
use wirebench_schema::{
    agent::{WindowOrder, Windows},
    journal::{
        Counts, Distances, Measurement, Outcome, Placement, ProgramShare, Run, ToolReport,
        WakeUpPrice, WarmUp,
    },
    load::{IdleMode, LoadConfig, LoadEvent, LoadReport},
    scenario::Scenario,
    suite::{Phase, Workload},
    verification::Verification,
};
use wirebench_server::{
    cost::{self, Course, Details, Window},
    launch::{Launcher, Request, Server, Stopped, stop_grace},
};

use self::observe::Observer;
use crate::{cut::Cut, evidence::judged, remote::Fleet, tool::Tool};

/// What `hello-timeout` is asked for where connections are silent: longer than any of them is.
const PATIENT_TIMEOUT_MS: u64 = 600_000;

/// How often a wait looks whether a signal asked to end.
const STEP: Duration = Duration::from_millis(50);

/// What all runs of a suite have in common.
#[derive(Clone, Debug)]
pub struct RunSettings {
    pub launcher: Launcher,
    /// The argument list of a load by itself, for the records; the load's arguments follow.
    pub load_command: Vec<String>,
    /// The argument list that makes this program an agent.
    pub agent_command: Vec<String>,
    /// How slices are cut, where it was asked for.
    pub cut: Cut,
    /// How many servers of a cohort are alive together at most.
    pub most_instances: usize,
    /// A third-party load generator instead of our own.
    pub tool: Option<Tool>,
    /// The hosts from which the load comes, if not from this one.
    pub fleet: Option<Fleet>,
    pub placement: Placement,
    /// The mode of idle CPUs on all hosts; with both, generators on other hosts keep theirs awake.
    pub idle: IdleMode,
    /// The price of waking one, if it was measured.
    pub wake_up: Option<WakeUpPrice>,
    /// Workers asked for where a workload does not say how many.
    pub workers: u32,
    pub seed: u64,
    /// Whether servers that answer the same request differently are compared.
    pub replies_differ: bool,
}

/// One cell's place in the plan.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    pub subject: &'a Subject,
    /// Which of several copies of it, from 0.
    pub copy: u32,
    pub workload: &'a Workload,
    /// The block, from 0.
    pub block: u32,
    pub counts: Counts,
    /// The position in it, from 0.
    pub position: u32,
    /// Whether the conformance checks were made; else the body of a reply is not known before.
    pub verification: Verification,
}

/// What was seen of a run: the generator's report, and what both sides used.
struct RunObservation {
    load: LoadReport,
    /// The server's processes and their clocks.
    course: Course,
    /// What was read of its threads before the load and after it.
    details: (Details, Details),
    /// The machine's clocks at the edges of the window.
    machine: (Machine, Machine),
    /// The report of a third-party generator.
    tool: Option<ToolReport>,
}

/// An observation with the rest of the machine and the load before it.
struct LoadObservation {
    seen: RunObservation,
    /// Other programs that were seen during the load.
    programs: Vec<ProgramShare>,
    distances: Distances,
    warm_up: Option<WarmUp>,
}

impl RunSettings {
    /// Makes one run, which is a record whatever happens; `None` only after a signal.
    #[must_use]
    pub fn run(&self, cell: &Cell<'_>, stop: &AtomicBool) -> Option<Run> {
        let mut made = None;
        let each = &mut |run| {
            made = Some(run);
            Ok(())
        };
        match cell.workload.phase {
            Phase::Saturate | Phase::Cost => self.run_on_one(&[*cell], stop, each).map(|_| ()),
            Phase::Idle => each(self.run_idle(cell, stop)),
        }
        .ok()?;
        made.filter(|_| !stop.load(Ordering::Relaxed))
    }

    /// Makes a run of each cell, and passes it to `each`: a start and a warm-up take longer than a short
    /// window, and what is varied may not need a fresh process. All cells have the subject, the scenario and
    /// the workers of the first. A server that ends before the last of them is started again. Nothing
    /// more is made once `stop` is set.
    pub(crate) fn run_together(
        &self,
        cells: &[Cell<'_>],
        stop: &AtomicBool,
        each: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut left = cells;
        while !left.is_empty() && !stop.load(Ordering::Relaxed) {
            let made = self.run_on_one(left, stop, each)?;
            left = &left[made..];
        }
        Ok(())
    }

    /// How many workers the server of a cell has.
    pub(crate) fn workers_of(&self, cell: &Cell<'_>) -> u32 {
        cell.subject.workers(cell.workload.workers.unwrap_or(self.workers))
    }

    /// How many CPUs the server of a cell can keep busy.
    pub(crate) fn busy_cpus(&self, cell: &Cell<'_>) -> usize {
        cost::busy_cpus(cell.subject.variant.sharing, self.workers_of(cell), &self.placement)
    }

    /// The record of a run that has no outcome yet.
    pub(crate) fn begin(&self, cell: &Cell<'_>) -> Run {
        Run {
            block: cell.block,
            group: 0,
            counts: cell.counts,
            position: cell.position,
            variant: cell.subject.variant.id.clone(),
            copy: cell.copy,
            workload: cell.workload.name.clone(),
            started: crate::journal::now(),
            workers: self.workers_of(cell),
            server_command: Vec::new(),
            generator_command: Vec::new(),
            outcome: failed(String::new(), String::new()),
        }
    }

    /// What is asked of the server of a cell.
    pub(crate) fn request<'a>(&self, cell: &Cell<'a>) -> Request<'a> {
        cell.subject.request(cell.workload.scenario, self.workers_of(cell))
    }

    /// The same of a server whose connections are silent for long, as while others of its cohort are loaded: none
    /// reaches the time limit of `hello-timeout`.
    pub(crate) fn patient_request<'a>(&self, cell: &Cell<'a>) -> Request<'a> {
        let mut request = self.request(cell);
        if cell.workload.scenario == Scenario::HelloTimeout {
            request.timeout_ms = PATIENT_TIMEOUT_MS;
        }
        request
    }

    /// Works with a server whose end says nothing of the work.
    pub(crate) fn with_server<T>(
        &self,
        request: &Request<'_>,
        stop: &AtomicBool,
        work: impl FnOnce(&Server) -> Result<T, String>,
    ) -> Result<T, String> {
        let server = self.launcher.start(request, stop).map_err(|error| error.to_string())?;
        let done = work(&server);
        let _ = server.stop(stop_grace(stop));
        done
    }

    /// Makes runs until the cells or the server end. The answer is their number.
    fn run_on_one(
        &self,
        cells: &[Cell<'_>],
        stop: &AtomicBool,
        each: &mut dyn FnMut(Run) -> io::Result<()>,
    ) -> io::Result<usize> {
        let request = self.request(&cells[0]);
        let mut server = match self.launcher.start(&request, stop) {
            Ok(server) => server,
            Err(_) if stop.load(Ordering::Relaxed) => return Ok(0),
            Err(error) => {
                let outcome = || failed(error.to_string(), String::new());
                let failed = |cell| Run { outcome: outcome(), ..self.begin(cell) };
                cells.iter().map(failed).try_for_each(each)?;
                return Ok(cells.len());
            }
        };
        for (number, cell) in (1..).zip(cells) {
            let config = self.load_config(cell, &server);
            let mut run = Run {
                server_command: server.command().to_vec(),
                generator_command: self.generator_command(&config),
                ..self.begin(cell)
            };
            let attempt = Attempt { settings: self, cell, config, stop };
            let loaded = attempt.load(&run.generator_command, &mut server);
            if stop.load(Ordering::Relaxed) {
                let _ = end(server, loaded, stop);
                return Ok(number - 1);
            }
            // What a server does at its end is known to its last run alone.
            if number < cells.len() && server.ended().is_none() {
                let (runs_on, stderr) = (server.is_service(), server.stderr().text());
                let so_far = Stopped { runs_on, stderr, ..Stopped::default() };
                run.outcome = attempt.outcome(loaded, &so_far);
                each(run)?;
                continue;
            }
            let (loaded, stopped) = end(server, loaded, stop);
            run.outcome = attempt.outcome(loaded, &stopped);
            each(run)?;
            return Ok(number);
        }
        Ok(cells.len())
    }
}

/// A load on a server that runs.
struct Attempt<'a> {
    settings: &'a RunSettings,
    cell: &'a Cell<'a>,
    config: LoadConfig,
    stop: &'a AtomicBool,
}

impl Attempt<'_> {
    /// Loads the server and observes it meanwhile. `command` is that of another generator than our own.
    fn load(&self, command: &[String], server: &mut Server) -> Result<LoadObservation, String> {
        let warm_up = self.warm_until_steady(server)?;
        self.warm_up()?;
        let settings = self.settings;
        let probe = Probe::new(&settings.placement, settings.fleet.is_none());
        let distance_ns_before = probe.read();
        let before = Programs::read();
        let seen = match &settings.tool {
            None => self.observe(server),
            Some(tool) => self.observe_tool(tool, command, server),
        }?;
        let distances = Distances { distance_ns_before, distance_ns_after: probe.read() };
        let programs = Programs::read().since(&before, &settings.cpus());
        Ok(LoadObservation { seen, programs, distances, warm_up })
    }

    /// From what was seen to the outcome of a run.
    fn outcome(&self, loaded: Result<LoadObservation, String>, stopped: &Stopped) -> Outcome {
        let loaded = match loaded {
            Ok(loaded) if loaded.seen.load.requests > 0 => loaded,
            Ok(LoadObservation { seen, .. }) => {
                return failed(validity::nothing_answered(&seen.load), stopped.stderr.clone());
            }
            Err(reason) => return failed(reason, stopped.stderr.clone()),
        };
        let mut measured = self.judge(loaded, stopped);
        let complaint = measured.warm_up.as_ref().and_then(steady::complaint);
        measured.reasons.extend(complaint);
        Outcome::Measured(Box::new(measured))
    }

    /// From observations to figures, and to findings about them.
    fn judge(&self, loaded: LoadObservation, stopped: &Stopped) -> Measurement {
        let Self { settings, cell, .. } = self;
        let LoadObservation { seen, programs, distances, warm_up } = loaded;
        let RunObservation { load, course, details, machine, tool } = seen;
        let window = match &tool {
            None => Window::of(&load),
            Some(tool) => outside::window(&course, &load, tool, &settings.placement),
        };
        let cpu = course.cpu(&details.0.ignoring_with(&details.1));
        let cost = cost::cost(cpu, (&details.0, &details.1), window, settings.busy_cpus(cell));
        // Where some of the server's is not known, the rest of its CPUs' time is not for certain others'.
        let is_known = cpu.lost == 0 && cost.is_of_processes();
        let server_ns = if is_known { cost.cpu_ns } else { u64::MAX };
        let own_ns = (server_ns, load.thread_cpu_ns.iter().sum());
        let threads = (&details.0.threads, &details.1.threads);
        let evidence = Evidence {
            phase: cell.workload.phase,
            load,
            windows: 1,
            tool,
            cost,
            placement: settings.placement.clone(),
            end: server_end(stopped),
            machine: machine.1.used(&machine.0, &settings.placement, own_ns, threads),
            programs,
            verification: cell.verification,
            processes: match (cpu.lost, cpu.changed) {
                (0, false) => Processes::Same,
                (0, true) => Processes::Changed,
                (lost, _) => Processes::Lost(lost),
            },
            instance: None,
        };
        Measurement { warm_up, distances, ..judged(&cell.subject.variant.id, cell.copy, evidence) }
    }

    /// Generates the load and observes the server meanwhile.
    fn observe(&self, server: &Server) -> Result<RunObservation, String> {
        let mut agents = self.settings.agents(self.stop)?;
        agents.connect(0, &self.config, Windows::One, &mut |_| {})?;
        let throttled = Throttled::read();
        let mut observer = Observer::connected((server, agents.pid()));
        let order = WindowOrder::whole(&self.config, observer.processes());
        let mut report = agents.window(&order, None, &mut |event| match event {
            LoadEvent::Interval(_) => observer.interval(),
            LoadEvent::WindowStart => observer.window_starts(),
            LoadEvent::WindowEnd => observer.window_ended(),
            _ => {}
        })?;
        if self.settings.fleet.is_none() {
            // Other hosts have limits of their own.
            let throttled_ns = Throttled::read().ns_since(&throttled);
            report.report.throttled_ns = Some(throttled_ns).filter(|it| *it > 0);
        }
        observer.finish(report.report, &report.clocks)
    }
}

/// The outcome of a run that could not be made.
pub(crate) const fn failed(reason: String, server_stderr: String) -> Outcome {
    Outcome::Failed { reason, server_stderr }
}

/// What a run says of how its server ended.
pub(crate) fn server_end(stopped: &Stopped) -> ServerEnd {
    ServerEnd {
        forced: stopped.forced,
        left_behind: stopped.left_behind.clone(),
        stderr_bytes: stopped.stderr_bytes,
        runs_on: stopped.runs_on,
    }
}

/// Ends a server, however the work with it went.
fn end<T>(
    mut server: Server,
    done: Result<T, String>,
    stop: &AtomicBool,
) -> (Result<T, String>, Stopped) {
    let (ended, joined) = (server.ended(), server.joined());
    let stopped = server.stop(stop_grace(stop));
    let done = match (done, ended) {
        (Ok(done), None) => joined.map_or(Ok(done), |error| Err(error.to_string())),
        (Ok(_), Some(exit)) => Err(format!("the server ended with {exit} during the run")),
        (Err(reason), None) => Err(reason),
        (Err(reason), Some(exit)) => {
            Err(format!("the server ended with {exit} during the run; {reason}"))
        }
    };
    (done, stopped)
}
