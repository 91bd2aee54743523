//! What the visits of a cohort show of its instances once all rounds are over.

use wirebench_schema::{
    journal::{Distances, Outcome, ReasonKind, Run, Visit},
    load::LoadModel,
    suite::Workload,
};

use super::{
    course::{Cohort, RunningCohort, Visits},
    length::{self, Tail},
    member::Member,
    prepare::KnownServers,
    state::in_most_common,
    supply::Supply,
    visit::Done,
};

/// Further long visits of each server when one seems to differ: one may be disturbed.
const FURTHER_LONG_VISITS: usize = 2;

impl Cohort<'_> {
    /// Notes what all visits together show of the instances, besides drift.
    pub(super) fn look_back(members: &mut [Member<'_>], visits: &Visits, supply: &Supply) {
        let swapped_pages = Supply::read().swapped_since(supply);
        for member in members {
            let worked = |done: &&Done| done.busiest_parked() == Some(member.load);
            let parked = visits.values().flatten().filter(worked).map(|done| done.clocks).collect();
            member.evidence.parked = parked;
            member.evidence.swapped_pages = swapped_pages;
        }
    }

    /// What was found of an instance holds for later ones, which have no long visit.
    pub(super) fn learn(&self, known: &mut KnownServers, runs: &[Run]) {
        for run in runs {
            let known = known.entry(self.key(&run.variant)).or_default();
            if let Outcome::Measured(measured) = &run.outcome {
                known.memory_bytes = known.memory_bytes.max(measured.cost.memory_peak_bytes);
            }
            let reasons = run.outcome.reasons();
            let found = reasons.iter().find(|reason| reason.kind == ReasonKind::VisitLength);
            if let Some(ratio) = found.and_then(|found| found.figure) {
                known.note_length(ratio);
            }
        }
    }
}

impl RunningCohort<'_> {
    /// Finds instances whose visits of a closed loop cost more, or less, than long ones. Where some do,
    /// all have further long visits, and the difference to the median counts: otherwise a machine that was
    /// slow for a second would be a property of the server.
    pub(super) fn compare_lengths(&mut self, visits: &Visits) -> Result<(), String> {
        let closed = |it: &&&Workload| it.model == LoadModel::Closed;
        let Some(closed) = self.cohort.workloads().iter().find(closed).copied() else {
            return Ok(());
        };
        let own = |member: &Member<'_>| {
            let own = visits.get(&(member.load, closed.name.clone())).into_iter().flatten();
            own.map(|it| it.visit.clone()).collect::<Vec<_>>()
        };
        let differing = |members: &[Member<'_>]| {
            let short: Vec<Vec<Visit>> = members.iter().map(own).collect();
            let all = short.iter().flatten().map(|it| &it.distances);
            let long = members.iter().flat_map(|it| it.long.iter().flatten());
            let all: Vec<&Distances> = all.chain(long.map(|(_, distances)| distances)).collect();
            let is_in = in_most_common(&all);
            let compared = |(member, mut short): (&Member<'_>, Vec<Visit>)| {
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
        for _ in 0..FURTHER_LONG_VISITS {
            for index in 0..self.members.len() {
                self.long_visit(index, &self.cohort.preparing())?;
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
