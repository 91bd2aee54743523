//! What the slices of a cohort show of its instances once all rounds are over.

use std::collections::BTreeMap;
use wirebench_judge::instance::{parked_busy, swapped};
use wirebench_schema::{
    journal::{Distances, Outcome, Reason, ReasonKind, Run, Slice},
    load::LoadModel,
    suite::Workload,
};

use super::{
    course::{Cohort, Slices},
    length::{self, Tail},
    member::Member,
    prepare::KnownServers,
    slice::{Done, SliceRunner},
    state::in_most_common,
    supply::Supply,
};

/// Further long slices of each server when one seems to differ: one may be disturbed.
const FURTHER_LONG_SLICES: usize = 2;

impl Cohort<'_> {
    /// Finds what is wrong with instances over all of their slices, besides drift.
    pub(super) fn look_back(
        &self,
        members: &[Member<'_>],
        slices: &Slices,
        supply: &Supply,
        found: &mut BTreeMap<u32, Vec<Reason>>,
    ) {
        for (load, reason) in parked_at_work(slices) {
            found.entry(load).or_default().push(reason);
        }
        if let Some(pages) = Supply::read().swapped_since(supply) {
            let reason = swapped(pages);
            members.iter().for_each(|it| found.entry(it.load).or_default().push(reason.clone()));
        }
    }

    /// Finds instances whose slices of a closed loop cost more, or less, than long ones. Where some do,
    /// all have further long slices, and the difference to the median counts: otherwise a machine that was
    /// slow for a second would be a property of the server.
    pub(super) fn compare_lengths(
        &self,
        runner: &mut SliceRunner<'_>,
        members: &mut [Member<'_>],
        slices: &Slices,
    ) -> Result<(), String> {
        let closed = |it: &&&Workload| it.model == LoadModel::Closed;
        let Some(closed) = self.workloads().iter().find(closed).copied() else { return Ok(()) };
        let own = |member: &Member<'_>| {
            let own = slices.get(&(member.load, closed.name.clone())).into_iter().flatten();
            own.map(|it| it.slice.clone()).collect::<Vec<_>>()
        };
        let differing = |members: &[Member<'_>]| {
            let short: Vec<Vec<Slice>> = members.iter().map(own).collect();
            let all = short.iter().flatten().map(|it| &it.distances);
            let long = members.iter().flat_map(|it| it.long.iter().flatten());
            let all: Vec<&Distances> = all.chain(long.map(|(_, distances)| distances)).collect();
            let is_in = in_most_common(&all);
            let compared = |(member, mut short): (&Member<'_>, Vec<Slice>)| {
                let tail = |it: &Option<(Tail, Distances)>| {
                    it.as_ref().filter(|(_, distances)| is_in(distances)).map(|(tail, _)| *tail)
                };
                short.retain(|it| is_in(&it.distances));
                (member.long.iter().map(tail).collect(), short)
            };
            length::differing(&members.iter().zip(short.clone()).map(compared).collect::<Vec<_>>())
        };
        if differing(members).iter().all(Option::is_none) {
            return Ok(());
        }
        for _ in 0..FURTHER_LONG_SLICES {
            for index in 0..members.len() {
                self.long_slice(runner, members, index)?;
            }
        }
        let ratios = differing(members);
        for (member, ratio) in members.iter_mut().zip(ratios) {
            member.length_ratio = ratio.or(member.length_ratio);
        }
        Ok(())
    }

    /// What was found of an instance holds for later ones, which have no long slice.
    pub(super) fn learn(&self, known: &mut KnownServers, runs: &[Run]) {
        for run in runs {
            if let Outcome::Measured(measured) = &run.outcome {
                known.note_memory(&self.key(&run.variant), measured.cost.memory_peak_bytes);
            }
            let reasons = run.outcome.reasons();
            let found = reasons.iter().find(|reason| reason.kind == ReasonKind::SliceLength);
            if let Some(ratio) = found.and_then(|found| found.figure) {
                known.note_length(&self.key(&run.variant), ratio);
            }
        }
    }
}

/// The servers for whose work while they were parked slices of others were dropped.
fn parked_at_work(slices: &Slices) -> Vec<(u32, Reason)> {
    let mut dropped: BTreeMap<u32, u32> = BTreeMap::new();
    for load in slices.values().flatten().filter_map(Done::disturbed_by) {
        *dropped.entry(load).or_default() += 1;
    }
    dropped.into_iter().map(|(load, slices)| (load, parked_busy(slices))).collect()
}
