//! One run with a process of its own: a fresh server, the load on it, and what both of them used.
//! Runs of a cohort are made in `cohort`.

mod attempt;
pub mod command;
mod generators;
mod idle;
mod idle_connections;
mod observe;
mod outside;
mod warm;

pub use idle_connections::require_files;

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};
use wirebench_catalogue::subject::Subject;
use wirebench_judge::validity::ServerEnd;
use wirebench_schema::{
    journal::{Counts, Outcome, Placement, Run, WakeUpPrice},
    load::IdleMode,
    scenario::Scenario,
    suite::{Phase, Workload},
    verification::Verification,
};
use wirebench_server::{
    cost::{self, Look},
    launch::{Launcher, Request, Server, Stopped, stop_grace},
};

use self::attempt::Attempt;
use crate::{agents::Agents, cut::Cut, remote::Fleet, tool::Tool};

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
    /// How visits are cut, where it was asked for.
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

    pub(crate) fn cpus(&self) -> Vec<u32> {
        [&self.placement.server_cpus[..], &self.placement.generator_cpus].concat()
    }

    /// The CPUs on which clocks are read: those of a server that has some for itself.
    pub(crate) fn sitter_cpus(&self, agents: &Agents<'_>, server: &Server) -> Vec<u32> {
        let Placement { pinned, disjoint, server_cpus, .. } = &self.placement;
        let has_own = *pinned && (*disjoint || agents.pid().is_none());
        if has_own && !server.is_service() { server_cpus.clone() } else { Vec::new() }
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
            let loaded = attempt.load(&run.generator_command, &server);
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

/// How often the tree is looked at until two looks in a row are alike, and the time between them.
const LOOKS_MOST: usize = 40;
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// The processes of a server once none begins, ends or is waited for any more, or once that takes too long: it may
/// start some for its connections.
pub(crate) fn settled_look(server: &Server) -> Look {
    let mut last = server.look();
    for _ in 0..LOOKS_MOST {
        thread::sleep(BETWEEN_LOOKS);
        let now = server.look();
        let is_settled = now.is_like(&last);
        last = now;
        if is_settled {
            break;
        }
    }
    last
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
