//! What the slices of a cohort show of its instances once all rounds are over.

use wirebench_schema::{
    journal::{Distances, Outcome, ReasonKind, Run, Slice},
    load::LoadModel,
    suite::Workload,
};

use super::{
    course::{Cohort, RunningCohort, Slices},
    length::{self, Tail},
    member::Member,
    prepare::KnownServers,
    slice::Done,
    state::in_most_common,
    supply::Supply,
};

/// Further long slices of each server when one seems to differ: one may be disturbed.
const FURTHER_LONG_SLICES: usize = 2;

impl Cohort<'_> {
    /// Notes what all slices together show of the instances, besides drift.
    pub(super) fn look_back(members: &mut [Member<'_>], slices: &Slices, supply: &Supply) {
        let swapped_pages = Supply::read().swapped_since(supply);
        for member in members {
            let worked = |done: &&Done| done.busiest_parked() == Some(member.load);
            let parked = slices.values().flatten().filter(worked).map(|done| done.clocks).collect();
            member.evidence.parked = parked;
            member.evidence.swapped_pages = swapped_pages;
        }
    }

    /// What was found of an instance holds for later ones, which have no long slice.
    pub(super) fn learn(&self, known: &mut KnownServers, runs: &[Run]) {
        for run in runs {
            let known = known.entry(self.key(&run.variant)).or_default();
            if let Outcome::Measured(measured) = &run.outcome {
                known.memory_bytes = known.memory_bytes.max(measured.cost.memory_peak_bytes);
            }
            let reasons = run.outcome.reasons();
            let found = reasons.iter().find(|reason| reason.kind == ReasonKind::SliceLength);
            if let Some(ratio) = found.and_then(|found| found.figure) {
                known.note_length(ratio);
            }
        }
    }
}

impl RunningCohort<'_> {
    /// Finds instances whose slices of a closed loop cost more, or less, than long ones. Where some do,
    /// all have further long slices, and the difference to the median counts: otherwise a machine that was
    /// slow for a second would be a property of the server.
    pub(super) fn compare_lengths(&mut self, slices: &Slices) -> Result<(), String> {
        let closed = |it: &&&Workload| it.model == LoadModel::Closed;
        let Some(closed) = self.cohort.workloads().iter().find(closed).copied() else {
            return Ok(());
        };
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
        if differing(&self.members).iter().all(Option::is_none) {
            return Ok(());
        }
        for _ in 0..FURTHER_LONG_SLICES {
            for index in 0..self.members.len() {
                self.long_slice(index, &self.cohort.preparing())?;
            }
        }
        let ratios = differing(&self.members);
        for (member, ratio) in self.members.iter_mut().zip(ratios) {
            let known = &mut member.evidence.length_ratio;
            *known = ratio.or(*known);
        }
        Ok(())
    }
}
