//! The course of one cohort: start, connect, rest, warm up, rounds of slices, stop, and a record for
//! each instance and workload.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    id::VariantId,
    journal::{Outcome, Reason, ReasonKind, Run, Weight},
    load::{LoadModel, Stop},
    scenario::Scenario,
    suite::Workload,
};

use super::{
    length::tail,
    member::{Ended, Member},
    order::Order,
    settle::settle_ns,
    slice::{self, Done, Shape},
    sum::Parts,
    supply::Memory,
    warm_up::WarmUp,
};
use crate::{
    agent::Agent,
    launch::stop_grace,
    measure::{Bench, Cell},
};

/// How long a slice counts in a closed loop, and at a rate, where requests come in smaller numbers.
const CLOSED_LENGTH: Duration = Duration::from_millis(100);
const RATE_LENGTH: Duration = Duration::from_millis(200);
/// The fewest rounds: a mirrored pair.
const FEWEST_ROUNDS: u32 = 2;
/// How long a slice is that warms up, and the one that shows how long a server needs to settle.
const WARM_UP_LENGTH: Duration = Duration::from_millis(100);
const PILOT_LENGTH: Duration = Duration::from_millis(400);
/// One that seems to settle late is looked at again: noise makes settling longer, and never shorter.
const PILOTS_MOST: usize = 3;
/// The least and the most of a slice that is discarded.
const DISCARD_LEAST: Duration = Duration::from_millis(20);
const DISCARD_MOST: Duration = Duration::from_millis(300);
/// For how long the servers are watched at rest, with all connections open.
const REST: Duration = Duration::from_millis(100);

/// What is known of servers from earlier cohorts: how long each needs to settle.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<(VariantId, Scenario, usize), Settled>);

#[derive(Clone, Copy, Debug)]
struct Settled {
    /// None when it had not settled at the end of the longest slice.
    settle_ns: Option<u64>,
    /// How slices compared with a long one of the same instance, if they differed.
    length_ratio: Option<f64>,
}

/// How slices are cut, where it was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cut {
    /// How long a slice counts.
    pub slice: Option<Duration>,
    /// How many rounds there are.
    pub rounds: Option<u32>,
}

/// A cohort that is to be measured: cells of one group of workloads in one block.
pub(crate) struct Cohort<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) cells: &'a [Cell<'a>],
    pub(crate) stop: &'a AtomicBool,
    /// Seed of the order of slices.
    pub(crate) seed: u64,
}

/// What was measured: slices by member and workload.
type Slices = BTreeMap<(u32, String), Vec<Done>>;

impl<'a> Cohort<'a> {
    /// Measures it. `round` is called before each round with its number and how many there are.
    /// None only when a signal asked to end.
    pub(crate) fn measure(
        &self,
        known: &mut Known,
        round: &mut dyn FnMut(u32, u32),
    ) -> Option<Vec<Run>> {
        let started = crate::journal::now();
        let (agent, mut members, mut runs) = match self.start() {
            Ok(ready) => ready,
            Err(reason) => {
                let failed = |cell: &Cell<'_>| self.failed(cell, &started, reason.clone());
                return (!self.interrupted()).then(|| self.cells.iter().map(failed).collect());
            }
        };
        let mut found: BTreeMap<u32, Vec<Reason>> = BTreeMap::new();
        let slices = agent.and_then(|mut agent| {
            let mut bench = slice::Bench {
                agent: &mut agent,
                placement: &self.bench.placement,
                stop: self.stop,
            };
            self.rest(&mut members);
            self.warm_up(&mut bench, &mut members, known, &mut found)?;
            self.rounds(&mut bench, &mut members, known, round)
        });
        let same: BTreeMap<u32, bool> =
            members.iter_mut().map(|it| (it.load, it.has_its_processes())).collect();
        let ended: Vec<(u32, Ended<'_>)> = self.end(members);
        if self.interrupted() {
            return None;
        }
        let (slices, broken) = match slices {
            Ok(slices) => (slices, None),
            Err(reason) => (Slices::new(), Some(reason)),
        };
        for (load, ended) in &ended {
            let is_same = same.get(load).copied().unwrap_or(true);
            let reasons = found.remove(load).unwrap_or_default();
            runs.extend(self.runs_of(
                *load,
                ended,
                &slices,
                &broken,
                (is_same, &reasons),
                &started,
            ));
        }
        self.learn(known, &runs);
        Some(runs)
    }

    /// What was found of an instance holds for later ones, which have no long slice.
    fn learn(&self, known: &mut Known, runs: &[Run]) {
        for run in runs {
            let reasons = run.outcome.reasons();
            let found = reasons.iter().find(|reason| reason.kind == ReasonKind::SliceLength);
            let workload = self.cells[0].workload;
            let key = (run.variant.clone(), workload.scenario, workload.connections);
            if let (Some(settled), Some(found)) = (known.0.get_mut(&key), found) {
                settled.length_ratio = found.figure;
            }
        }
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Starts the agent and every server, and makes all connections. A server that fails leaves a
    /// record.
    #[allow(clippy::type_complexity, reason = "the parts go apart at once")]
    fn start(&self) -> Result<(Result<Agent, String>, Vec<Member<'a>>, Vec<Run>), String> {
        let started = crate::journal::now();
        let cpus = self.bench.generator_cpus();
        let mut agent = Agent::start(&self.bench.agent_command, cpus, self.stop)?;
        let (mut members, mut runs): (Vec<Member<'a>>, Vec<Run>) = (Vec::new(), Vec::new());
        let memory = Memory::read();
        for cell in self.instances() {
            let load = u32::try_from(members.len()).unwrap_or(u32::MAX);
            match self.start_one(&mut agent, cell, load) {
                Ok(member) => members.push(member),
                Err(reason) => {
                    let own = self.cells.iter().filter(|it| is_same_instance(it, cell));
                    runs.extend(own.map(|cell| self.failed(cell, &started, reason.clone())));
                }
            }
            if self.interrupted() {
                return Err("interrupted".to_owned());
            }
            let now = memory.zip(Memory::read());
            if let Some(reason) = now.and_then(|(then, now)| now.shortage(then, members.len())) {
                return Err(reason);
            }
        }
        Ok((Ok(agent), members, runs))
    }

    /// One cell of each instance, in the order of the plan.
    fn instances(&self) -> Vec<&'a Cell<'a>> {
        let mut firsts: Vec<&Cell<'_>> = Vec::new();
        for cell in self.cells {
            if !firsts.iter().any(|first| is_same_instance(first, cell)) {
                firsts.push(cell);
            }
        }
        firsts
    }

    /// The workloads, in the order of the plan.
    fn workloads(&self) -> Vec<&'a Workload> {
        let mut workloads: Vec<&Workload> = Vec::new();
        for cell in self.cells {
            if !workloads.iter().any(|it| it.name == cell.workload.name) {
                workloads.push(cell.workload);
            }
        }
        workloads
    }

    fn start_one(
        &self,
        agent: &mut Agent,
        cell: &Cell<'a>,
        load: u32,
    ) -> Result<Member<'a>, String> {
        let workers = self.bench.workers_of(cell);
        let request = self.bench.request(cell, workers);
        let began = Instant::now();
        let server =
            self.bench.launcher.start(&request, self.stop).map_err(|error| error.to_string())?;
        let ready = began.elapsed();
        let config = self.bench.load_config(cell, &server);
        let connected = agent.connect(load, &config, self.stop);
        if let Err(reason) = connected {
            let stopped = server.stop(stop_grace(self.stop));
            return Err(format!("{reason} {}", stopped.stderr).trim_end().to_owned());
        }
        Ok(Member::new(cell.subject, cell.copy, (server, ready), load, workers))
    }

    /// Watches all servers at rest.
    fn rest(&self, members: &mut [Member<'_>]) {
        let before: Vec<_> = members.iter().map(Member::clocks).collect();
        thread::sleep(REST);
        for (member, before) in members.iter_mut().zip(before) {
            let after = member.clocks();
            let used_ns = after.cpu_ns.saturating_sub(before.cpu_ns) as f64;
            let length_ns = after.at.duration_since(before.at).as_nanos().max(1) as f64;
            member.instance.rest_share = used_ns / length_ns;
            member.park(true);
        }
    }

    /// Loads each server in turn until it is warm, and finds how long it needs to settle.
    fn warm_up(
        &self,
        bench: &mut slice::Bench<'_>,
        members: &mut [Member<'_>],
        known: &mut Known,
        found: &mut BTreeMap<u32, Vec<Reason>>,
    ) -> Result<(), String> {
        let workloads = self.workloads();
        let within = workloads.iter().map(|it| it.steady_within).max().unwrap_or_default();
        let mut warm: Vec<WarmUp> = vec![WarmUp::default(); members.len()];
        loop {
            let is_cold = |index: &usize| {
                let spent = Duration::from_nanos(warm[*index].spent_ns);
                members[*index].is_well() && !warm[*index].is_warm() && spent < within
            };
            let cold: Vec<usize> = (0..members.len()).filter(is_cold).collect();
            if cold.is_empty() {
                break;
            }
            for index in cold {
                let shape = self.shape(&LoadModel::Closed, 0, (Duration::ZERO, WARM_UP_LENGTH));
                let done = self.slice(bench, members, index, &shape)?;
                let value = done.and_then(|done| done.slice.cpu_ns_per_request());
                warm[index].add(value, WARM_UP_LENGTH.as_nanos() as u64);
            }
        }
        for (member, warm) in members.iter_mut().zip(&warm) {
            member.instance.warm_up_ns = warm.spent_ns;
            if !warm.is_warm() && !within.is_zero() {
                let seconds = warm.spent_ns as f64 / 1e9;
                let text =
                    format!("still changing after {seconds:.1} s of load before the first round");
                let waited = Some(warm.spent_ns as f64);
                let reason = ReasonKind::NotSteady.reason(Weight::Invalid, waited, text);
                found.entry(member.load).or_default().push(reason);
            }
        }
        for model in workloads.iter().map(|it| &it.model).filter(|it| **it != LoadModel::Closed) {
            for index in 0..members.len() {
                let shape = self.shape(model, 0, (Duration::ZERO, WARM_UP_LENGTH));
                self.slice(bench, members, index, &shape)?;
            }
        }
        self.pilot(bench, members, known, found)
    }

    /// One long slice of each server that is not known yet.
    fn pilot(
        &self,
        bench: &mut slice::Bench<'_>,
        members: &mut [Member<'_>],
        known: &mut Known,
        found: &mut BTreeMap<u32, Vec<Reason>>,
    ) -> Result<(), String> {
        for index in 0..members.len() {
            let key = self.key(&members[index]);
            if !known.0.contains_key(&key) {
                let settled = self.settle(bench, members, index)?;
                known.0.extend(settled.map(|settled| (key.clone(), settled)));
            }
            let member = &mut members[index];
            member.length_ratio = known.0.get(&key).and_then(|settled| settled.length_ratio);
            let settled = known.0.get(&key).and_then(|settled| settled.settle_ns);
            let settle_ns = settled.unwrap_or(DISCARD_MOST.as_nanos() as u64);
            member.instance.settle_ns = settle_ns;
            member.discard_ns =
                settle_ns.clamp(DISCARD_LEAST.as_nanos() as u64, DISCARD_MOST.as_nanos() as u64);
            if settled.is_none() && known.0.contains_key(&key) {
                let text = format!(
                    "its CPU time per request was still changing {:.0} ms after a rest",
                    PILOT_LENGTH.as_secs_f64() * 600.0
                );
                let reason = ReasonKind::Unsettled.reason(Weight::Note, None, text);
                found.entry(member.load).or_default().push(reason);
            }
        }
        Ok(())
    }

    /// The shortest time that a server needed to settle in a few long slices.
    fn settle(
        &self,
        bench: &mut slice::Bench<'_>,
        members: &mut [Member<'_>],
        index: usize,
    ) -> Result<Option<Settled>, String> {
        let shape = self.shape(&LoadModel::Closed, 0, (Duration::ZERO, PILOT_LENGTH));
        let mut best: Option<Settled> = None;
        for _ in 0..PILOTS_MOST {
            let Some(done) = self.slice(bench, members, index, &shape)? else { break };
            if done.slice.dropped.is_none() {
                let member = &mut members[index];
                member.long.extend(tail(&done.report.series, member.instance.rest_share));
            }
            let found = settle_ns(&done.report.series);
            let before = best.and_then(|best| best.settle_ns);
            let settle_ns = [found, before].into_iter().flatten().min();
            best = Some(Settled { settle_ns, length_ratio: None });
            if settle_ns.is_some_and(|it| it <= DISCARD_LEAST.as_nanos() as u64) {
                break;
            }
        }
        Ok(best)
    }

    fn key(&self, member: &Member<'_>) -> (VariantId, Scenario, usize) {
        let workload = self.cells[0].workload;
        (member.subject.variant.id.clone(), workload.scenario, workload.connections)
    }

    fn shape(
        &self,
        model: &LoadModel,
        round: u32,
        (discard, length): (Duration, Duration),
    ) -> Shape {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Shape {
            round,
            model: model.clone(),
            discard_ns: nanoseconds(discard),
            length_ns: nanoseconds(length),
            timeout: self.cells[0].workload.timeout,
        }
    }

    /// One slice. A server that cannot carry it out has no figures from now on.
    fn slice(
        &self,
        bench: &mut slice::Bench<'_>,
        members: &mut [Member<'_>],
        index: usize,
        shape: &Shape,
    ) -> Result<Option<Done>, String> {
        if self.interrupted() {
            return Err("interrupted".to_owned());
        }
        if !members[index].is_well() {
            return Ok(None);
        }
        let done = bench.slice(members, index, shape);
        let done = match done {
            Ok(done) => done,
            Err(reason) => {
                members[index].fail(reason);
                return Ok(None);
            }
        };
        if done.report.report.connections_made == 0 {
            members[index].fail(crate::validity::nothing_answered(&done.report.report));
            return Ok(None);
        }
        Ok(Some(done))
    }

    fn rounds(
        &self,
        bench: &mut slice::Bench<'_>,
        members: &mut [Member<'_>],
        _known: &Known,
        tell: &mut dyn FnMut(u32, u32),
    ) -> Result<Slices, String> {
        let workloads = self.workloads();
        let plans: Vec<(Duration, u32)> =
            workloads.iter().map(|it| self.bench.cut.of(it)).collect();
        let most = plans.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
        let mut order = Order::new(members.len(), self.seed);
        let mut slices = Slices::new();
        for round in 0..most {
            tell(round, most);
            for (workload, (length, rounds)) in workloads.iter().zip(&plans) {
                if round >= *rounds {
                    continue;
                }
                for index in order.next() {
                    let has = self.cells.iter().any(|cell| {
                        cell.workload.name == workload.name && is_instance(cell, &members[index])
                    });
                    if !has {
                        continue;
                    }
                    let discard = Duration::from_nanos(members[index].discard_ns);
                    let shape = self.shape(&workload.model, round, (discard, *length));
                    if let Some(done) = self.slice(bench, members, index, &shape)? {
                        let key = (members[index].load, workload.name.clone());
                        slices.entry(key).or_default().push(done);
                    }
                }
            }
        }
        Ok(slices)
    }

    /// Stops all servers, several at a time: each may take its grace.
    fn end(&self, members: Vec<Member<'a>>) -> Vec<(u32, Ended<'a>)> {
        let grace = stop_grace(self.stop);
        thread::scope(|scope| {
            let stops: Vec<_> = members
                .into_iter()
                .map(|member| (member.load, scope.spawn(move || member.stop(grace))))
                .collect();
            let ended = |(load, stop): (u32, thread::ScopedJoinHandle<'_, Ended<'a>>)| {
                stop.join().ok().map(|ended| (load, ended))
            };
            stops.into_iter().filter_map(ended).collect()
        })
    }

    fn runs_of(
        &self,
        load: u32,
        ended: &Ended<'_>,
        slices: &Slices,
        broken: &Option<String>,
        (processes_same, found): (bool, &[Reason]),
        started: &str,
    ) -> Vec<Run> {
        let own = self.cells.iter().filter(|cell| {
            cell.subject.variant.id == ended.subject.variant.id && cell.copy == ended.copy
        });
        let outcome = |cell: &Cell<'_>| {
            let stderr = ended.stopped.stderr.clone();
            let failed = |reason| Outcome::Failed { reason, server_stderr: stderr };
            if let Some(reason) = ended.failure.as_ref().or(broken.as_ref()) {
                return failed(reason.clone());
            }
            let none = Vec::new();
            let parts = Parts {
                bench: self.bench,
                subject: ended.subject,
                workload: cell.workload,
                workers: ended.workers,
                verified: cell.verified,
                instance: ended.instance,
                processes_same,
                stopped: &ended.stopped,
                long: &ended.long,
                length_ratio: ended.length_ratio,
                slices: slices.get(&(load, cell.workload.name.clone())).unwrap_or(&none),
                found: found.to_vec(),
            };
            match parts.measurement() {
                Ok(measurement) => Outcome::Measured(Box::new(measurement)),
                Err(reason) => failed(reason),
            }
        };
        own.map(|cell| Run {
            server_command: ended.command.clone(),
            generator_command: self.bench.agent_command.clone(),
            outcome: outcome(cell),
            ..self.empty(cell, started)
        })
        .collect()
    }

    fn failed(&self, cell: &Cell<'_>, started: &str, reason: String) -> Run {
        let outcome = Outcome::Failed { reason, server_stderr: String::new() };
        Run { outcome, ..self.empty(cell, started) }
    }

    fn empty(&self, cell: &Cell<'_>, started: &str) -> Run {
        Run { started: started.to_owned(), ..self.bench.begin(cell) }
    }
}

impl Cut {
    /// How long the slices of `workload` are, and how many each instance has in a cohort: together
    /// they are as long as its window.
    pub(crate) fn of(&self, workload: &Workload) -> (Duration, u32) {
        let usual = match workload.model {
            LoadModel::Closed => CLOSED_LENGTH,
            _ => RATE_LENGTH,
        };
        let length = self.slice.unwrap_or(usual);
        let window = match workload.stop {
            Stop::After(window) => window,
            Stop::Requests(_) | Stop::RequestsPerConnection(_) => length,
        };
        let fitting = window.as_nanos().div_ceil(length.as_nanos().max(1));
        let rounds = u32::try_from(fitting).unwrap_or(u32::MAX).max(FEWEST_ROUNDS);
        (length, self.rounds.unwrap_or(rounds))
    }
}

fn is_same_instance(one: &Cell<'_>, other: &Cell<'_>) -> bool {
    one.subject.variant.id == other.subject.variant.id && one.copy == other.copy
}

fn is_instance(cell: &Cell<'_>, member: &Member<'_>) -> bool {
    cell.subject.variant.id == member.subject.variant.id && cell.copy == member.copy
}
