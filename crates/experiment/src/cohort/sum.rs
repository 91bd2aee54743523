//! The records of the runs of a cohort, made of their visits.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_judge::{
    instance::{InstanceEvidence, WorkerUse},
    neighbours::MachineUse,
    validity::{self, Evidence, ServerEnd},
};
use wirebench_schema::{
    journal::{Cost, Measurement, Outcome, Owner, ProgramShare, Run, Visit},
    load::{LoadModel, LoadReport},
};
use wirebench_server::{
    cost::{ThreadUse, Window, whole_cost},
    threads::Threads,
};

use super::{
    course::{Cohort, Rounds, Visits},
    member::Ended,
    visit::{Done, share_of},
};
use crate::{
    evidence::judged,
    measure::{Cell, RunSettings, failed, server_end},
};

/// Share of a CPU from which on wirebench is named among the programs that ran during a load.
const OWN_SHARE: f64 = 0.001;

impl Cohort<'_> {
    pub(super) fn runs_of<'r>(
        &self,
        ended: &Ended<'_>,
        rounds: &'r Result<Rounds, String>,
        started: &str,
    ) -> Vec<Run> {
        let outcome = |cell: &Cell<'_>| {
            let failed = |reason| failed(reason, ended.stopped.stderr.clone());
            let rounds = match (&ended.member.failure, rounds) {
                (None, Ok(rounds)) => rounds,
                (Some(reason), _) | (_, Err(reason)) => return failed(reason.clone()),
            };
            let key = (ended.member.load, cell.workload.name.clone());
            let of = |visits: &'r Visits| visits.get(&key).map_or(&[][..], Vec::as_slice);
            let parts = Parts {
                settings: self.settings,
                cell,
                ended,
                visits: of(&rounds.visits),
                natural: of(&rounds.natural),
                programs: &rounds.programs,
            };
            match parts.measurement() {
                Ok(measurement) => Outcome::Measured(Box::new(measurement)),
                Err(reason) => failed(reason),
            }
        };
        let run = |(cell, command): &(&Cell<'_>, Vec<String>)| Run {
            server_command: ended.member.server.command().to_vec(),
            generator_command: command.clone(),
            outcome: outcome(cell),
            ..self.empty(cell, started)
        };
        ended.member.cells.iter().map(run).collect()
    }

    pub(super) fn failed(&self, cell: &Cell<'_>, started: &str, reason: String) -> Run {
        Run { outcome: failed(reason, String::new()), ..self.empty(cell, started) }
    }

    fn empty(&self, cell: &Cell<'_>, started: &str) -> Run {
        Run { group: self.group, started: started.to_owned(), ..self.settings.begin(cell) }
    }
}

/// All that is known of a run.
pub(super) struct Parts<'a> {
    pub(super) settings: &'a RunSettings,
    pub(super) cell: &'a Cell<'a>,
    pub(super) ended: &'a Ended<'a>,
    pub(super) visits: &'a [Done],
    /// Further ones, in which idle CPUs sleep.
    pub(super) natural: &'a [Done],
    /// Other programs that were seen during the rounds.
    pub(super) programs: &'a [ProgramShare],
}

impl Parts<'_> {
    /// The measurement, or why there is none.
    pub(super) fn measurement(self) -> Result<Measurement, String> {
        let [mut visits, mut natural_visits] = [self.visits, self.natural].map(with_children);
        let counted: BTreeSet<u64> = Visit::counted(&visits).iter().map(|it| it.start_ns).collect();
        let counts = |done: &&Done| counted.contains(&done.visit.start_ns);
        let kept: Vec<&Done> = self.visits.iter().filter(counts).collect();
        let own = Visit::counted(&visits);
        let loads: Vec<LoadReport> = kept.iter().map(|it| it.report.report.clone()).collect();
        let load = LoadReport::merge(&loads).ok_or("no visit of it was carried out")?;
        if load.requests == 0 {
            return Err(validity::nothing_answered(&load));
        }
        let stderr_bytes = self.visits.iter().map(|it| it.output_bytes).sum();
        let evidence = Evidence {
            phase: self.cell.workload.phase,
            windows: loads.len(),
            tool: None,
            cost: self.cost(&kept, &own, &load),
            load,
            placement: self.settings.placement.clone(),
            end: ServerEnd { stderr_bytes, ..server_end(&self.ended.stopped) },
            machine: MachineUse::default(),
            programs: self.programs(),
            verification: self.cell.verification,
            processes: self.ended.processes,
            instance: Some(self.instance(&kept)),
        };
        if !self.ended.processes.are_known() {
            // What is known is only a part.
            let all = visits.iter_mut().chain(&mut natural_visits);
            all.for_each(|visit| visit.cpu_ns = None);
        }
        Ok(Measurement {
            visits,
            natural_visits,
            instance: Some(self.ended.member.instance),
            ..judged(&self.cell.subject.variant.id, self.cell.copy, evidence)
        })
    }

    /// The facts of the instance in this workload.
    fn instance(&self, kept: &[&Done]) -> InstanceEvidence {
        let evidence = &self.ended.member.evidence;
        let is_closed = self.cell.workload.model == LoadModel::Closed;
        let workers = || WorkerUse {
            sharing: self.cell.subject.variant.sharing,
            workers: self.settings.workers_of(self.cell),
            ran_ns: ran_ns(kept),
        };
        InstanceEvidence {
            visits: self.visits.iter().map(|it| it.clocks).collect(),
            workers: is_closed.then(workers),
            length_ratio: evidence.length_ratio.filter(|_| is_closed),
            ..evidence.clone()
        }
    }

    fn cost(&self, kept: &[&Done], own: &[&Visit], load: &LoadReport) -> Cost {
        let sum = |of: fn(&Visit) -> u64| own.iter().map(|it| of(it)).sum::<u64>() as f64;
        let known: Option<u64> = own.iter().map(|it| it.cpu_ns).sum();
        let busiest_ns =
            kept.iter().map(|it| since(it, Threads::busiest_since) as f64 * counted(it)).sum();
        let run_queue_ns: u64 =
            kept.iter().map(|it| share_of(since(it, Threads::run_queue_since), counted(it))).sum();
        let use_of_threads = ThreadUse {
            busiest_ns,
            switches: (sum(|it| it.switches_voluntary), sum(|it| it.switches_involuntary)),
            run_queue_ns: run_queue_ns as f64,
        };
        let is_known = known.is_some() && self.ended.processes.are_known();
        let (window, busy_cpus) = (Window::of(load), self.settings.busy_cpus(self.cell));
        let at_end = &self.ended.details;
        whole_cost((known.unwrap_or(0), is_known), use_of_threads, at_end, window, busy_cpus)
    }

    /// The programs that were seen during the rounds, and wirebench by what it used within the visits.
    fn programs(&self) -> Vec<ProgramShare> {
        let sum = |of: fn(&Done) -> u64| self.visits.iter().map(of).sum::<u64>() as f64;
        let share =
            sum(|it| it.own_ns) / sum(|it| it.visit.discard_ns + it.visit.length_ns).max(1.0);
        let (name, owner) = match self.visits.iter().any(|it| it.output_bytes > 0) {
            false => ("wirebench", Owner::Wirebench),
            true => ("wirebench, which reads the server's output,", Owner::Log),
        };
        let own = ProgramShare { name: name.to_owned(), owner, share };
        let is_seen = own.share >= OWN_SHARE;
        self.programs.iter().cloned().chain(is_seen.then_some(own)).collect()
    }
}

/// The visits with what ended children have used. The kernel counts that in ticks, so the ratio to the
/// living processes' time is taken over all visits, of which each has its share.
fn with_children(visits: &[Done]) -> Vec<Visit> {
    let sum = |of: fn(&Done) -> u64| visits.iter().map(of).sum::<u64>() as f64;
    let (ended_ns, whole_ns) = (sum(|it| it.ended_ns), sum(|it| it.report.cpu.whole_ns));
    let factor = 1.0 + ended_ns / whole_ns.max(1.0);
    let with_children = |done: &Done| Visit {
        cpu_ns: done.visit.cpu_ns.map(|cpu_ns| share_of(cpu_ns, factor)),
        ..done.visit.clone()
    };
    visits.iter().map(with_children).collect()
}

/// What `of` says of the server's threads during the whole visit.
fn since(done: &Done, of: fn(&Threads, &Threads) -> u64) -> u64 {
    let (before, after) = &done.details;
    of(&after.threads, &before.threads)
}

/// The share of the part that counts.
fn counted(done: &Done) -> f64 {
    done.report.cpu.counted_ns.unwrap_or(0) as f64 / done.report.cpu.whole_ns.max(1) as f64
}

/// How long each thread of the server ran in these visits.
fn ran_ns(kept: &[&Done]) -> Vec<u64> {
    let mut sums: BTreeMap<i32, u64> = BTreeMap::new();
    for (before, after) in kept.iter().map(|done| &done.details) {
        for (thread, ran_ns) in after.threads.ran_since(&before.threads) {
            *sums.entry(thread).or_default() += ran_ns;
        }
    }
    sums.into_values().collect()
}
