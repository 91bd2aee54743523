//! The course of one cohort: start, connect, rest, warm up, rounds of visits, stop, and a record for
//! each instance and workload.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_host::{distance::Probe, neighbours::Programs};
use wirebench_judge::validity::nothing_answered;
use wirebench_schema::{
    id::VariantId,
    journal::{ProgramShare, Run},
    load::{IdleMode, LoadModel},
    suite::Workload,
};
use wirebench_server::{launch::stop_grace, parallel};
use wirebench_sys::awake::AwakeCpus;

use super::{
    group::grouped,
    member::{Ended, Member},
    order::Order,
    prepare::{Key, KnownServers},
    supply::Supply,
    visit::{Done, LastReadings, Shape},
};
use crate::{
    agents::Agents,
    measure::{Cell, RunSettings},
};

/// The mean latencies for which a visit counts at least: a connection that begins or ends in the middle of one would
/// change the throughput otherwise.
const LATENCIES: u64 = 20;
/// As long as that with generators on other hosts, where each part waits for the ways of its orders.
const HOSTS_LENGTH: Duration = Duration::from_millis(200);

/// A cohort that is to be measured: cells of one group of workloads in one block.
pub(crate) struct Cohort<'a> {
    pub(crate) settings: &'a RunSettings,
    /// Those of the baseline come first.
    pub(crate) cells: &'a [Cell<'a>],
    /// How many instances of the baseline there are.
    pub(crate) references: usize,
    /// The number of this group of instances within the block.
    pub(crate) group: u32,
    pub(crate) stop: &'a AtomicBool,
    /// Seed of the order of visits.
    pub(crate) seed: u64,
}

/// A cohort whose servers live.
pub(super) struct RunningCohort<'a> {
    pub(super) cohort: &'a Cohort<'a>,
    pub(super) agents: Agents<'a>,
    pub(super) members: Vec<Member<'a>>,
    /// Keeps this host's CPUs awake where that changes within a cohort.
    pub(super) awake: Option<AwakeCpus>,
    pub(super) probe: Probe,
    pub(super) last: LastReadings,
}

/// What was measured: visits by member and workload.
pub(super) type Visits = BTreeMap<(u32, String), Vec<Done>>;

/// The visits of all rounds.
#[derive(Default)]
pub(super) struct Rounds {
    pub(super) visits: Visits,
    /// With both idle modes: further ones, in which idle CPUs sleep.
    pub(super) natural: Visits,
    /// Other programs that were seen meanwhile.
    pub(super) programs: Vec<ProgramShare>,
}

impl<'a> Cohort<'a> {
    /// Measures it. `watch` is called before each round, with its number, from 0, and how many there are.
    /// Instances that did not fit into the memory have no run. None only when a signal asked to end.
    pub(crate) fn measure(
        &self,
        known: &mut KnownServers,
        watch: &mut dyn FnMut(u32, u32),
    ) -> Option<Vec<Run>> {
        let started = crate::journal::now();
        let (mut running, mut runs) = match self.start(known) {
            Ok(ready) => ready,
            Err(reason) => {
                let failed = |cell: &Cell<'_>| self.failed(cell, &started, reason.clone());
                return (!self.interrupted()).then(|| self.cells.iter().map(failed).collect());
            }
        };
        let supply = Supply::read();
        let rounds = running.measure(known, watch);
        let RunningCohort { agents, mut members, awake, .. } = running;
        drop((awake, agents));
        if let Ok(rounds) = &rounds {
            Self::look_back(&mut members, &rounds.visits, &supply);
        }
        let ended = self.end(members);
        if self.interrupted() {
            return None;
        }
        runs.extend(ended.iter().flat_map(|ended| self.runs_of(ended, &rounds, &started)));
        self.learn(known, &runs);
        Some(runs)
    }

    pub(super) fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The workloads, in the order of the plan.
    pub(super) fn workloads(&self) -> Vec<&'a Workload> {
        let workloads = self.cells.iter().map(|cell| cell.workload);
        grouped(workloads, |a, b| a.name == b.name).into_iter().map(|same| same[0]).collect()
    }

    pub(super) fn key(&self, variant: &VariantId) -> Key {
        let workload = self.cells[0].workload;
        (variant.clone(), workload.scenario, workload.connections)
    }

    /// The loads of a round: each workload, and with both idle modes, after each at a rate, the same where idle CPUs
    /// sleep.
    fn loads(&self) -> Vec<(&'a Workload, IdleMode)> {
        let modes = |workload: &'a Workload| {
            let natural = self.settings.has_both(workload).then_some(IdleMode::Natural);
            [IdleMode::Awake].into_iter().chain(natural).map(move |idle| (workload, idle))
        };
        self.workloads().into_iter().flat_map(modes).collect()
    }

    /// With both idle modes: what keeps this host's CPUs awake in visits of this one. Otherwise one mode holds for the
    /// whole run, and is set where it begins.
    fn awake(&self, idle: IdleMode) -> Result<Option<AwakeCpus>, String> {
        let is_set = self.settings.idle == IdleMode::Both && idle == IdleMode::Awake;
        is_set.then(AwakeCpus::hold).transpose()
    }

    /// The load that warms servers up and shows how they settle: as fast as they answer, where that is allowed.
    pub(super) fn preparing(&self) -> LoadModel {
        let is_free = self.cells.iter().all(|cell| cell.subject.allows_full_speed());
        if is_free { LoadModel::Closed } else { self.cells[0].workload.model.clone() }
    }

    /// Stops all servers, several at a time: each may take its grace.
    fn end(&self, members: Vec<Member<'a>>) -> Vec<Ended<'a>> {
        let grace = stop_grace(self.stop);
        let count = members.len();
        parallel::map(members, count, |member| member.stop(grace))
    }

    /// How long the discard and the counted part of a visit on this server are, and in which rounds it has one: if
    /// it needs longer visits than `length`, it has fewer. Their numbers are powers of two, so that most rounds have
    /// pairs.
    fn times(
        &self,
        member: &Member<'_>,
        model: &LoadModel,
        (length, rounds): (Duration, u32),
    ) -> ((Duration, Duration), u32) {
        let at_rate = usize::from(*model != LoadModel::Closed);
        let enough = Duration::from_nanos(member.latency_ns[at_rate].saturating_mul(LATENCIES));
        let ways = if self.settings.fleet.is_some() { HOSTS_LENGTH } else { Duration::ZERO };
        let discard = Duration::from_nanos(member.discard_ns[at_rate]);
        let counted = length.max(enough).max(discard).max(ways);
        let length_ns = length.as_nanos().max(1);
        let every = ((counted.as_nanos() + length_ns / 2) / length_ns).next_power_of_two();
        // A mirrored pair is the least.
        let most = 1 << (rounds / 2).max(1).ilog2();
        ((discard, counted), u32::try_from(every).unwrap_or(u32::MAX).min(most))
    }
}

impl RunningCohort<'_> {
    fn measure(
        &mut self,
        known: &mut KnownServers,
        watch: &mut dyn FnMut(u32, u32),
    ) -> Result<Rounds, String> {
        self.awake = self.cohort.awake(IdleMode::Awake)?;
        self.rest();
        self.warm_up(known)?;
        self.members.iter_mut().for_each(Member::begin_rounds);
        // They may have other processes now.
        self.last = LastReadings::default();
        let before = Programs::read();
        let mut rounds = self.rounds(watch)?;
        rounds.programs = Programs::read().since(&before, &self.cohort.settings.cpus());
        self.compare_lengths(&rounds.visits)?;
        Ok(rounds)
    }

    /// One visit. A server that cannot carry it out has no figures from now on.
    pub(super) fn visit(&mut self, index: usize, shape: &Shape) -> Result<Option<Done>, String> {
        if self.cohort.interrupted() {
            return Err("interrupted".to_owned());
        }
        if !self.members[index].is_well() {
            return Ok(None);
        }
        let done = self.try_visit(index, shape).and_then(|done| {
            let report = &done.report.report;
            if report.connections_made == 0 { Err(nothing_answered(report)) } else { Ok(done) }
        });
        Ok(done.map_err(|reason| self.members[index].fail(reason)).ok())
    }

    fn rounds(&mut self, watch: &mut dyn FnMut(u32, u32)) -> Result<Rounds, String> {
        let cohort = self.cohort;
        let loads = cohort.loads();
        let plans: Vec<(Duration, u32)> =
            loads.iter().map(|(workload, _)| cohort.settings.cut.of(workload)).collect();
        let most = plans.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0);
        // An order for each load, so that each has its mirrored pairs.
        let order = |number| Order::new(self.members.len(), cohort.seed.wrapping_add(number));
        let mut orders: Vec<Order> = (0..).map(order).take(loads.len()).collect();
        let mut done = Rounds::default();
        for round in 0..most {
            watch(round, most);
            for (((workload, idle), (length, rounds)), order) in
                loads.iter().zip(&plans).zip(&mut orders)
            {
                if round >= *rounds {
                    continue;
                }
                self.awake = cohort.awake(*idle)?;
                let visits = match idle {
                    IdleMode::Natural => &mut done.natural,
                    IdleMode::Awake | IdleMode::Both => &mut done.visits,
                };
                for index in order.next() {
                    let member = &self.members[index];
                    let has =
                        member.cells.iter().any(|(cell, _)| cell.workload.name == workload.name);
                    let (times, every) = cohort.times(member, &workload.model, (*length, *rounds));
                    if !has || round % every != 0 {
                        continue;
                    }
                    let key = (member.load, workload.name.clone());
                    if let Some(done) =
                        self.visit(index, &Shape::new(&workload.model, round, times))?
                    {
                        visits.entry(key).or_default().push(done);
                    }
                }
            }
        }
        self.awake = cohort.awake(IdleMode::Awake)?;
        Ok(done)
    }
}

impl<'a> Cohort<'a> {
    /// Starts the agent and the servers, and makes all connections. A server that fails leaves a
    /// record. One for which no memory is left leaves nothing.
    pub(super) fn start(
        &self,
        known: &KnownServers,
    ) -> Result<(RunningCohort<'_>, Vec<Run>), String> {
        let started = crate::journal::now();
        let mut agents = self.settings.agents(self.stop)?;
        let (mut members, mut runs): (Vec<Member<'a>>, Vec<Run>) = (Vec::new(), Vec::new());
        let before = Supply::read();
        let mut expected_bytes = 0;
        let are_one = |a: &&Cell<'_>, b: &&Cell<'_>| {
            a.subject.variant.id == b.subject.variant.id && a.copy == b.copy
        };
        for (number, cells) in grouped(self.cells, are_one).into_iter().enumerate() {
            let known = known.get(&self.key(&cells[0].subject.variant.id));
            expected_bytes += known.map_or(0, |known| known.memory_bytes);
            // One at least is compared with the baseline.
            let may_wait = number > self.references;
            if may_wait && Supply::read().is_full(&before, expected_bytes) {
                break;
            }
            let load = u32::try_from(members.len()).unwrap_or(u32::MAX);
            match Member::start(self, &mut agents, &cells, load) {
                Ok(member) => members.push(member),
                Err(reason) => {
                    runs.extend(cells.iter().map(|it| self.failed(it, &started, reason.clone())));
                }
            }
            if self.interrupted() {
                return Err("interrupted".to_owned());
            }
            if let Some(reason) = Supply::read().shortage(&before, members.len()) {
                return Err(reason);
            }
        }
        let probe = Probe::new(&self.settings.placement, self.settings.fleet.is_none());
        let (awake, last) = (None, LastReadings::default());
        Ok((RunningCohort { cohort: self, agents, members, awake, probe, last }, runs))
    }
}
