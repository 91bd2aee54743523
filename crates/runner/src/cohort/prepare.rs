//! What is done with the servers of a cohort before the first round: they are watched at rest, loaded
//! until they are warm, and looked at for how long each needs to settle.

use std::{collections::BTreeMap, thread, time::Duration};
use wirebench_schema::{
    id::VariantId,
    journal::{Reason, ReasonKind, Weight},
    load::LoadModel,
    scenario::Scenario,
};

use super::{
    course::Cohort, length::tail, member::Member, settle::settle_ns, slice, warm_up::WarmUp,
};

/// How long a slice is that warms up, and the one that shows how long a server needs to settle.
const WARM_UP_LENGTH: Duration = Duration::from_millis(60);
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
pub(crate) struct Known(BTreeMap<Key, Settled>);

#[derive(Clone, Copy, Debug)]
struct Settled {
    /// None when it had not settled at the end of the longest slice.
    settle_ns: Option<u64>,
    /// How slices compared with a long one of the same instance, if they differed.
    length_ratio: Option<f64>,
}

impl Known {
    /// Slices of this server differ from a long one by this ratio.
    pub(super) fn note_length(&mut self, key: &Key, ratio: Option<f64>) {
        if let Some(settled) = self.0.get_mut(key) {
            settled.length_ratio = ratio;
        }
    }
}

/// A server under one kind of load: variant, scenario and connections.
pub(super) type Key = (VariantId, Scenario, usize);

impl Cohort<'_> {
    /// Watches all servers at rest.
    pub(super) fn rest(&self, members: &mut [Member<'_>]) {
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
    pub(super) fn warm_up(
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
        // Where less is measured than a look takes, nothing is looked at: that is no measurement.
        let plans = self.workloads().into_iter().map(|it| self.bench.cut.of(it));
        let looks = plans.map(|(length, rounds)| length * rounds).sum::<Duration>() >= PILOT_LENGTH;
        for index in 0..members.len() {
            let key = self.key(&members[index].subject.variant.id);
            if looks && !known.0.contains_key(&key) {
                let settled = self.settle(bench, members, index)?;
                known.0.extend(settled.map(|settled| (key.clone(), settled)));
            }
            let member = &mut members[index];
            member.length_ratio = known.0.get(&key).and_then(|settled| settled.length_ratio);
            let settled = known.0.get(&key).and_then(|settled| settled.settle_ns);
            let unknown = if looks { DISCARD_MOST } else { DISCARD_LEAST };
            let settle_ns = settled.unwrap_or(unknown.as_nanos() as u64);
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
                let rests = member.subtracted_share();
                member.long.extend(tail(&done.report.series, rests));
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

    pub(super) fn key(&self, variant: &VariantId) -> Key {
        let workload = self.cells[0].workload;
        (variant.clone(), workload.scenario, workload.connections)
    }
}
