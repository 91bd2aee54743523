//! The course of one cohort: start, connect, rest, warm up, rounds of slices, stop, and a record for
//! each instance and workload.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::{
    journal::{Reason, ReasonKind, Run},
    load::LoadModel,
    suite::Workload,
};

use super::{
    member::{Ended, Member},
    order::Order,
    prepare::Known,
    slice::{self, Done, Shape},
    supply::Memory,
};
use crate::{
    agent::Agent,
    launch::stop_grace,
    measure::{Bench, Cell},
};

/// A cohort that is to be measured: cells of one group of workloads in one block.
pub(crate) struct Cohort<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) cells: &'a [Cell<'a>],
    pub(crate) stop: &'a AtomicBool,
    /// Seed of the order of slices.
    pub(crate) seed: u64,
}

/// What was measured: slices by member and workload.
pub(super) type Slices = BTreeMap<(u32, String), Vec<Done>>;

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
            // A server may start processes for its first requests.
            members.iter_mut().for_each(|member| _ = member.has_its_processes());
            self.rounds(&mut bench, &mut members, round)
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
            if let Some(found) = found {
                known.note_length(&self.key(&run.variant), found.figure);
            }
        }
    }

    pub(super) fn interrupted(&self) -> bool {
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
    pub(super) fn workloads(&self) -> Vec<&'a Workload> {
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
        let own = self.cells.iter().filter(|it| is_same_instance(it, cell));
        let command = |cell: &Cell<'_>| {
            let config = self.bench.load_config(cell, &server);
            (cell.workload.name.clone(), self.bench.generator_command(&config))
        };
        let commands = own.map(command).collect();
        Ok(Member::new(cell.subject, cell.copy, (server, ready), (load, commands), workers))
    }

    pub(super) fn shape(
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
    pub(super) fn slice(
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
        tell: &mut dyn FnMut(u32, u32),
    ) -> Result<Slices, String> {
        let workloads = self.workloads();
        let plans: Vec<(Duration, u32)> =
            workloads.iter().map(|it| self.bench.cut.of(it)).collect();
        let most = plans.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
        // An order for each workload, so that each has its mirrored pairs.
        let order = |number| Order::new(members.len(), self.seed.wrapping_add(number));
        let mut orders: Vec<Order> = (0..).map(order).take(workloads.len()).collect();
        let mut slices = Slices::new();
        for round in 0..most {
            tell(round, most);
            let loads = workloads.iter().zip(&plans).zip(&mut orders);
            for ((workload, (length, rounds)), order) in loads {
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
}

fn is_same_instance(one: &Cell<'_>, other: &Cell<'_>) -> bool {
    one.subject.variant.id == other.subject.variant.id && one.copy == other.copy
}

fn is_instance(cell: &Cell<'_>, member: &Member<'_>) -> bool {
    cell.subject.variant.id == member.subject.variant.id && cell.copy == member.copy
}
