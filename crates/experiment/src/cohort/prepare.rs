//! What is done with the servers of a cohort before the first round: they are watched at rest, loaded
//! until they are warm, and looked at for how long each needs to settle.

use std::{collections::BTreeMap, thread, time::Duration};
use wirebench_judge::{
    instance::FAR,
    settle::{PILOT_LENGTH, settle_ns},
};
use wirebench_schema::{
    agent::{Recording, VisitPiece},
    id::VariantId,
    load::LoadModel,
    scenario::Scenario,
};

use super::{
    course::RunningCohort,
    discard::common_discard,
    length::Tail,
    member::Member,
    visit::{Done, Shape},
    warm_up::WarmUp,
};

/// How long a visit is that warms up, and one of a server that was warm soon in its first cohort.
pub(crate) const WARM_UP_LENGTH: Duration = Duration::from_millis(60);
const WARM_SOON_LENGTH: Duration = Duration::from_millis(20);
/// One that seems to settle late is looked at again, and judged by all looks together: noise averages
/// out, and a server that starts slowly only at times is given what it needs then.
const PILOTS_MOST: usize = 3;
/// The least and the most of a visit that is discarded.
const DISCARD_LEAST: Duration = Duration::from_millis(5);
const DISCARD_MOST: Duration = Duration::from_millis(300);
/// As much of a server that did not settle in its looks, in most cases because the machine changed meanwhile: Go and
/// Node.js need that.
const DISCARD_UNKNOWN: Duration = Duration::from_millis(40);
/// For how long the servers are watched at rest, with all connections open. While one of them still works, as after
/// it has accepted a thousand connections, they are watched again, up to this often.
const REST: Duration = Duration::from_millis(100);
const RESTS_MOST: usize = 5;

/// Findings of earlier cohorts about their servers.
pub(crate) type KnownServers = BTreeMap<Key, KnownServer>;

#[derive(Debug, Default)]
pub(crate) struct KnownServer {
    settled: Option<Settled>,
    /// Its visits cost more than long ones although it seemed to have settled.
    is_late: bool,
    /// Whether all its instances were warm soon, with visits of the full length.
    warm_soon: Option<bool>,
    /// The most memory that an instance had; 0 before there was one.
    pub(super) memory_bytes: u64,
}

#[derive(Clone, Debug)]
struct Settled {
    /// In closed loops and at a rate. None when it had not settled at the end of the longest visit.
    settle_ns: [Option<u64>; 2],
    /// The long visits that show it; absent of one that is known to settle late.
    series: Option<Vec<VisitPiece>>,
    /// How visits compared with a long one of the same instance, if they differed.
    length_ratio: Option<f64>,
}

impl KnownServer {
    /// Visits of this server differ from a long one by this ratio. Where they cost far more, more is
    /// discarded from now on, and the next cohort compares again.
    pub(super) fn note_length(&mut self, ratio: f64) {
        if ratio > FAR {
            (self.settled, self.is_late) = (None, true);
        } else if let Some(settled) = &mut self.settled {
            settled.length_ratio = Some(ratio);
        }
    }
}

/// A server under one kind of load: variant, scenario and connections.
pub(crate) type Key = (VariantId, Scenario, usize);

impl RunningCohort<'_> {
    pub(super) fn rest(&mut self) {
        let members = &mut self.members;
        for _ in 0..RESTS_MOST {
            let before: Vec<_> = members.iter().map(Member::clocks).collect();
            thread::sleep(REST);
            for (member, before) in members.iter_mut().zip(before) {
                let after = member.clocks();
                let used_ns = after.cpu_ns.saturating_sub(before.cpu_ns) as f64;
                let length_ns = after.at.duration_since(before.at).as_nanos().max(1) as f64;
                member.instance.rest_share = used_ns / length_ns;
            }
            if !members.iter().any(Member::is_restless) {
                break;
            }
        }
        members.iter().for_each(|it| it.park(true));
    }

    /// Loads each server in turn until it is warm, and finds how long it needs to settle.
    pub(super) fn warm_up(&mut self, known: &mut KnownServers) -> Result<(), String> {
        let cohort = self.cohort;
        let workloads = cohort.workloads();
        let within = workloads.iter().map(|it| it.steady_within).max().unwrap_or_default();
        let mut warm: Vec<WarmUp> = vec![WarmUp::default(); self.members.len()];
        let length = |it: &Member<'_>| match known.get(&it.key).and_then(|it| it.warm_soon) {
            Some(true) => WARM_SOON_LENGTH,
            _ => WARM_UP_LENGTH,
        };
        let lengths: Vec<Duration> = self.members.iter().map(length).collect();
        loop {
            let is_cold = |index: &usize| {
                let spent = Duration::from_nanos(warm[*index].spent_ns);
                self.members[*index].is_well() && !warm[*index].is_warm() && spent < within
            };
            let cold: Vec<usize> = (0..self.members.len()).filter(is_cold).collect();
            if cold.is_empty() {
                break;
            }
            for index in cold {
                let times = (Duration::ZERO, lengths[index]);
                let done = self.visit(index, &Shape::new(&cohort.preparing(), 0, times))?;
                let member = &mut self.members[index];
                let done = done.inspect(|done| member.latency_ns[0] = done.latency_ns());
                let value = done.and_then(|done| member.warmth(&done.visit));
                warm[index].add(value, lengths[index].as_nanos() as u64);
            }
        }
        for ((member, warm), length) in self.members.iter_mut().zip(&warm).zip(&lengths) {
            member.instance.warm_up_ns = warm.spent_ns;
            if *length == WARM_UP_LENGTH {
                let known = &mut known.entry(member.key.clone()).or_default().warm_soon;
                *known = Some(known.unwrap_or(true) && warm.is_warm_soon());
            }
            if !warm.is_warm() && !within.is_zero() {
                member.evidence.cold_ns = Some(warm.spent_ns);
            }
        }
        for model in workloads.iter().map(|it| &it.model).filter(|it| **it != LoadModel::Closed) {
            for index in 0..self.members.len() {
                let shape = Shape::new(model, 0, (Duration::ZERO, WARM_UP_LENGTH));
                if let Some(done) = self.visit(index, &shape)? {
                    self.members[index].latency_ns[1] = done.latency_ns();
                }
            }
        }
        self.pilot(known)
    }

    /// Sets how much of each server's visits is discarded. Where one is not known yet, all are looked
    /// at, because they are compared with each other.
    fn pilot(&mut self, known: &mut KnownServers) -> Result<(), String> {
        let cohort = self.cohort;
        // Where less is measured than a look takes, nothing is looked at: that is no measurement.
        let plans = cohort.workloads().into_iter().map(|it| cohort.settings.cut.of(it));
        let looks = plans.map(|(length, rounds)| length * rounds).sum::<Duration>() >= PILOT_LENGTH;
        // Without CPU time nothing shows how long a server needs.
        let is_known = |it: &Member<'_>| {
            !it.has_processes() || known.get(&it.key).is_some_and(|it| it.settled.is_some())
        };
        if looks && !self.members.iter().all(is_known) {
            self.settle(known)?;
        }
        let members = &mut self.members;
        for member in members.iter_mut() {
            let settled = known.get(&member.key).and_then(|known| known.settled.as_ref());
            member.evidence.length_ratio = settled.and_then(|settled| settled.length_ratio);
            member.evidence.settling = settled.and_then(|settled| settled.series.clone());
            let unknown =
                if looks && member.has_processes() { DISCARD_UNKNOWN } else { DISCARD_LEAST };
            let settle_ns = settled.map_or([None; 2], |settled| settled.settle_ns);
            let settle_ns = settle_ns.map(|it| it.unwrap_or(unknown.as_nanos() as u64));
            member.instance.settle_ns = settle_ns[0];
            let [least, most] = [DISCARD_LEAST, DISCARD_MOST].map(|it| it.as_nanos() as u64);
            member.discard_ns = settle_ns.map(|it| it.clamp(least, most));
        }
        for place in 0..2 {
            let of = |it: &Member<'_>| {
                let variant = &it.subject.variant;
                (variant.id.clone(), variant.run.command.first().cloned(), it.discard_ns[place])
            };
            let common_ns = common_discard(&members.iter().map(of).collect::<Vec<_>>());
            let all = members.iter_mut().map(|it| &mut it.discard_ns[place]);
            all.for_each(|own_ns| *own_ns = common_ns.unwrap_or(*own_ns));
        }
        Ok(())
    }

    /// Makes passes of long visits over the servers, and notes how long each one that is not known yet
    /// needed to settle. Between two looks at a server the others are loaded, as in a round. One that settles late in
    /// closed loops may be at its pace at once at a rate, and is looked at there too.
    fn settle(&mut self, known: &mut KnownServers) -> Result<(), String> {
        let (cohort, is_late) = (self.cohort, |it: u64| it > DISCARD_LEAST.as_nanos() as u64);
        let mut open: Vec<usize> =
            (0..self.members.len()).filter(|it| self.members[*it].has_processes()).collect();
        let others = cohort.workloads().into_iter().map(|it| it.model.clone());
        let at_rate = others.into_iter().find(|it| *it != cohort.preparing());
        let mut seen: Vec<[Vec<VisitPiece>; 2]> = vec![Default::default(); self.members.len()];
        for (place, model) in [Some(cohort.preparing()), at_rate].iter().flatten().enumerate() {
            for _ in 0..PILOTS_MOST {
                for index in &open {
                    if let Some(done) = self.long_visit(*index, model)? {
                        add(&mut seen[*index][place], &done.report.series);
                    }
                }
                // One that settled late, or all of whose looks were disturbed, is looked at again.
                open.retain(|it| {
                    let member = &self.members[*it];
                    let is_unseen = member.long.iter().all(Option::is_none);
                    member.is_well()
                        && (settle_ns(&seen[*it][place]).is_none_or(is_late) || is_unseen)
                });
            }
        }
        let counts = |member: &Member<'_>| member.is_well() && member.has_processes();
        for (member, seen) in self.members.iter().zip(&seen).filter(|(member, _)| counts(member)) {
            let known = known.entry(member.key.clone()).or_default();
            let late_ns = known.is_late.then_some(DISCARD_MOST.as_nanos() as u64);
            let closed_ns = late_ns.or(settle_ns(&seen[0]));
            let rate_ns = if seen[1].is_empty() { closed_ns } else { settle_ns(&seen[1]) };
            let series = (!known.is_late).then(|| seen[0].clone());
            let settled = Settled { settle_ns: [closed_ns, rate_ns], series, length_ratio: None };
            known.settled.get_or_insert(settled);
        }
        Ok(())
    }

    /// One long visit; short ones are compared with the end of those that prepare.
    pub(super) fn long_visit(
        &mut self,
        index: usize,
        model: &LoadModel,
    ) -> Result<Option<Done>, String> {
        let shape = Shape::new(model, 0, (Duration::ZERO, PILOT_LENGTH));
        let done = self.visit(index, &Shape { recording: Recording::Series, ..shape })?;
        if *model != self.cohort.preparing() {
            return Ok(done);
        }
        let member = &mut self.members[index];
        let counts = done.as_ref().filter(|done| done.visit.dropped.is_none());
        let tail = |it: &Done| Some((Tail::of(&it.report.series)?, it.visit.distances.clone()));
        member.long.push(counts.and_then(tail));
        Ok(done)
    }
}

/// Adds the series of a visit to the sum of those of others like it.
fn add(sum: &mut Vec<VisitPiece>, series: &[VisitPiece]) {
    sum.resize(sum.len().max(series.len()), VisitPiece::default());
    for (sum, piece) in sum.iter_mut().zip(series) {
        sum.requests += piece.requests;
        sum.cpu_ns += piece.cpu_ns;
    }
}
