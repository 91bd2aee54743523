//! One server of a cohort, with the connections that the agent keeps to it.

use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};
use wirebench_catalogue::subject::Subject;
use wirebench_judge::{instance::InstanceEvidence, rest::RESTLESS_SHARE, validity::Processes};
use wirebench_schema::{
    agent::{LoadProcesses, Windows},
    journal::{Balance, Distances, Instance, Visit},
    load::IdleMode,
};
use wirebench_server::{
    cost::{Clocks, Details, Look, ended_ns, mode_ns},
    launch::{Server, Stopped, stop_grace},
    tree::numbers,
};

use super::{
    children::Children, course::Cohort, cpu_totals::CpuTotals, length::Tail, prepare::Key,
};
use crate::{
    agents::Agents,
    measure::{Cell, settled_look},
};

/// A server that accepts connections, and has those of its load.
pub(super) struct Member<'a> {
    /// What is measured with it, each with the command that makes the same load by itself.
    pub(super) cells: Vec<(&'a Cell<'a>, Vec<String>)>,
    pub(super) subject: &'a Subject,
    pub(super) key: Key,
    pub(super) server: Server,
    pub(super) load: u32,
    pub(super) instance: Instance,
    /// Its living processes when its connections were made, and when the rounds began.
    look: Look,
    /// Those that it has started and that have ended.
    pub(super) children: Children,
    /// Its CPU time since the rounds began.
    pub(super) totals: CpuTotals,
    /// How much of a visit does not count, in closed loops and with another model.
    pub(super) discard_ns: [u64; 2],
    /// The mean latency of the last visits that warmed it up, in closed loops and with another model; 0 if unknown.
    pub(super) latency_ns: [u64; 2],
    /// The ends of long visits, by the pass in which they were made; none of one that was dropped.
    pub(super) long: Vec<Option<(Tail, Distances)>>,
    /// The facts by which the instance is judged.
    pub(super) evidence: InstanceEvidence,
    /// Why it has no figures, once that is so.
    pub(super) failure: Option<String>,
}

impl<'a> Member<'a> {
    /// Starts the server of these cells, and makes its connections.
    pub(super) fn start(
        cohort: &Cohort<'_>,
        agents: &mut Agents<'_>,
        cells: &[&'a Cell<'a>],
        load: u32,
    ) -> Result<Self, String> {
        let (settings, stop, cell) = (cohort.settings, cohort.stop, cells[0]);
        let began = Instant::now();
        let server = settings.launcher.start(&settings.patient_request(cell), stop);
        let server = server.map_err(|error| error.to_string())?;
        let ready = if server.is_service() { Duration::ZERO } else { began.elapsed() };
        let mut config = settings.load_config(cell, &server);
        if settings.idle == IdleMode::Both && settings.fleet.is_none() {
            // Its CPUs are those of this host, which the visits keep awake or not.
            config.idle = IdleMode::Natural;
        }
        if let Err(reason) = agents.connect(load, &config, Windows::Many, &mut |_| {}) {
            let stopped = server.stop(stop_grace(stop));
            return Err(format!("{reason} {}", stopped.stderr).trim_end().to_owned());
        }
        let with_command = |cell: &&'a Cell<'a>| {
            (*cell, settings.generator_command(&settings.load_config(cell, &server)))
        };
        let look = settled_look(&server).living();
        let ready_ns = u64::try_from(ready.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self {
            cells: cells.iter().map(with_command).collect(),
            subject: cell.subject,
            key: cohort.key(&cell.subject.variant.id),
            load,
            instance: Instance { ready_ns, ..Instance::default() },
            children: Children::new(ended_ns(&accounts(&server, &look))),
            totals: CpuTotals::new(Clocks::read(&look.pids())),
            look,
            server,
            discard_ns: [0; 2],
            latency_ns: [0; 2],
            long: Vec::new(),
            evidence: InstanceEvidence::default(),
            failure: None,
        })
    }

    pub(super) fn processes(&self) -> LoadProcesses {
        LoadProcesses { load: self.load, pids: numbers(&self.look.pids()) }
    }

    /// Lists its processes again before the rounds: a server may start some for its first requests.
    pub(super) fn begin_rounds(&mut self) {
        if !self.has_its_processes() {
            // A child may be about to end.
            self.look = settled_look(&self.server).living();
        }
        self.children.begin(self.ended_ns(), &self.look.pids());
        self.totals = CpuTotals::new(self.clocks());
    }

    /// Whether it still has the processes that it had, and none besides.
    fn has_its_processes(&self) -> bool {
        self.server.look().living().has_the_processes_of(&self.look)
    }

    /// CPU time of its children that have ended and were waited for, by itself or by its guard.
    pub(super) fn ended_ns(&self) -> u64 {
        ended_ns(&accounts(&self.server, &self.look))
    }

    /// The processes whose children are looked for.
    pub(super) fn pids(&self) -> Vec<Pid> {
        self.look.pids()
    }

    /// What there is to know of its threads now.
    pub(super) fn details(&self) -> Details {
        Details::of_threads(&self.look)
    }

    pub(super) fn clocks(&self) -> Clocks {
        Clocks::read(&self.look.pids())
    }

    /// Whether it uses CPU time without being asked anything.
    pub(super) fn is_restless(&self) -> bool {
        self.instance.rest_share > RESTLESS_SHARE
    }

    /// Stops a restless server, or lets it go on. A service has other users.
    pub(super) fn park(&self, parked: bool) {
        if self.is_restless() && !self.server.is_service() {
            let signal = if parked { Signal::STOP } else { Signal::CONT };
            for pid in self.look.pids() {
                // One that has ended meanwhile is found when it is asked.
                let _ = kill_process(pid, signal);
            }
        }
    }

    /// Whether its CPU time can be read.
    pub(super) fn has_processes(&self) -> bool {
        !self.look.pids().is_empty()
    }

    /// What shows that it is warm: CPU time per request, or without it the time per request.
    pub(super) fn warmth(&self, visit: &Visit) -> Option<f64> {
        let per_request = |time_ns: u64| time_ns as f64 / visit.requests as f64;
        match self.has_processes() {
            true => visit.cpu_ns_per_request(),
            false => (visit.requests > 0).then(|| per_request(visit.length_ns)),
        }
    }

    /// Whether its processes are looked at while `loaded` has the load. Those of one service are the loaded ones in all
    /// members that are this service.
    pub(super) fn is_beside(&self, loaded: &Self) -> bool {
        let pids = loaded.look.pids();
        let is_other = !self.look.pids().iter().any(|pid| pids.contains(pid));
        self.is_well() && (self.load == loaded.load || is_other)
    }

    /// Whether it is there and has not failed.
    pub(super) fn is_well(&self) -> bool {
        self.failure.is_none()
    }

    pub(super) fn fail(&mut self, reason: String) {
        let ended = self.how_it_ended();
        self.failure.get_or_insert_with(|| match ended {
            Some(ended) => format!("{ended}; {reason}"),
            None => reason,
        });
    }

    /// That it has ended by itself. Stopping interrupts calls that wait, which not every server expects.
    fn how_it_ended(&mut self) -> Option<String> {
        let mut text = format!("the server ended with {} during the cohort", self.server.ended()?);
        if self.is_restless() {
            text += ", in which it was stopped while others were loaded because it uses CPU at rest (measure \
                     it with --procedure process)";
        }
        Some(text)
    }

    /// Ends it. What it has used over its life is read before.
    pub(super) fn stop(mut self, grace: Duration) -> Ended<'a> {
        let ignoring = self.details().ignores_children();
        let same = self.has_its_processes();
        let processes = self.children.judge(self.ended_ns(), ignoring, same);
        (self.instance.user_ns, self.instance.kernel_ns) = mode_ns(&self.look.pids());
        let failure = self.failure.take().or_else(|| self.how_it_ended());
        self.failure = failure.or_else(|| self.server.joined().map(|it| it.to_string()));
        // A service has other users, and another member may be the same one.
        let is_known = self.has_processes() && !self.server.is_service();
        let balance = self.totals.balance(self.clocks(), self.instance.rest_share);
        let details = Details::read(&self.look);
        self.park(false);
        let used_ns = self.server.look().total_ns();
        let stopped = self.server.end(grace);
        let end_ns = stopped.cpu_ns.unwrap_or(0).saturating_sub(used_ns);
        self.instance.balance = is_known.then_some(Balance { end_ns, ..balance });
        let Instance { rest_share, balance, .. } = self.instance;
        self.evidence = InstanceEvidence { rest_share, balance, ..self.evidence };
        Ended { member: self, processes, details, stopped }
    }
}

/// The processes to whose account the time of ended children goes.
fn accounts(server: &Server, look: &Look) -> Vec<Pid> {
    look.pids().into_iter().chain(server.guard()).collect()
}

/// A member whose server is no more.
pub(super) struct Ended<'a> {
    pub(super) member: Member<'a>,
    pub(super) processes: Processes,
    /// At the end of the cohort.
    pub(super) details: Details,
    pub(super) stopped: Stopped,
}
