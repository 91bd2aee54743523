//! The rates of the cost phases of a suite: where they come from, and what follows from them for
//! the runs. How a rate is chosen stands in `pilot`.

use std::{
    cell::RefCell,
    io,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, FixedRate, Record, Run},
    scenario::Scenario,
    suite::Workload,
};

use super::{
    Experiment, Observer, Progress, Verification,
    pilot::{self, Pilot},
};
use crate::{plan, subject::Subject};

/// The search of the rates of a suite.
pub(super) struct Search<'a> {
    pub(super) experiment: &'a Experiment,
    pub(super) subjects: &'a [Subject],
    /// Whether a variant may be measured in a scenario.
    pub(super) allows: &'a dyn Fn(&VariantId, Scenario) -> bool,
    /// The rates that the journal has already; they stay.
    pub(super) known: &'a [FixedRate],
}

impl Search<'_> {
    /// Finds what is not known yet and writes it down, with the runs that it took. `earlier` are
    /// runs that the journal has already.
    pub(super) fn settle(
        &self,
        earlier: &[Run],
        stop: &AtomicBool,
        observer: &mut dyn Observer,
        write: &mut dyn FnMut(Record) -> io::Result<()>,
    ) -> io::Result<()> {
        let observer = RefCell::new(observer);
        for workload in self.open() {
            if let Some(rate) = pilot::given(workload) {
                write(Record::Rate(rate))?;
            }
            if !workload.needs_rate() || stop.load(Ordering::Relaxed) {
                continue;
            }
            let subjects = self.entrants(workload);
            let baseline = plan::baseline(self.subjects, &self.experiment.suite, workload);
            let search = Pilot {
                bench: &self.experiment.bench,
                workload,
                subjects: &subjects,
                baseline: baseline.map(|index| &self.subjects[index].variant.id),
                verified: self.experiment.verification == Verification::Full,
            };
            let left = pilot::estimate(workload);
            let mut next = |variant: &VariantId| {
                let workload = &workload.name;
                observer.borrow_mut().on(&Progress::Running { variant, workload, left });
            };
            let mut made = |run: Run| {
                observer.borrow_mut().on(&Progress::Ran(&run));
                write(Record::Run(Box::new(run)))
            };
            let found = search.find(earlier, stop, &mut next, &mut made)?;
            found.map_or(Ok(()), |rate| write(Record::Rate(rate)))?;
        }
        Ok(())
    }

    /// How many runs that takes, and how long, about.
    pub(super) fn estimate(&self) -> (usize, Duration) {
        let searched = self.open().filter(|workload| workload.needs_rate());
        searched.fold((0, Duration::ZERO), |(runs, time), workload| {
            let entrants = self.entrants(workload).len();
            let more = pilot::estimate(workload) * u32::try_from(entrants).unwrap_or(u32::MAX);
            (runs + entrants, time.saturating_add(more))
        })
    }

    /// The workloads whose rate is not in the journal.
    fn open(&self) -> impl Iterator<Item = &Workload> {
        let is_known = |workload: &Workload| rate_of(workload, self.known).is_some();
        self.experiment.suite.workloads.iter().filter(move |workload| !is_known(workload))
    }

    /// Who will be measured in a workload.
    fn entrants(&self, workload: &Workload) -> Vec<&Subject> {
        let able = plan::able(self.subjects, workload).into_iter().map(|it| &self.subjects[it]);
        able.filter(|it| (self.allows)(&it.variant.id, workload.scenario)).collect()
    }
}

fn rate_of<'a>(workload: &Workload, rates: &'a [FixedRate]) -> Option<&'a FixedRate> {
    rates.iter().find(|rate| rate.workload == workload.name)
}

/// The workload as it is carried out: at the rate that was found for it. None without one.
pub(super) fn carried_out(workload: &Workload, rates: &[FixedRate]) -> Option<Workload> {
    if !workload.needs_rate() {
        return Some(workload.clone());
    }
    Some(workload.at_rate(rate_of(workload, rates)?.requests_per_second))
}

/// Whether a variant is not measured in a workload because it cannot hold its rate.
pub(super) fn leaves_out(rates: &[FixedRate], workload: &Workload, variant: &VariantId) -> bool {
    let rate = rate_of(workload, rates);
    rate.is_some_and(|rate| rate.too_slow.iter().any(|(id, _)| id == variant))
}

/// Whether this failed run still counts as a failure. A pilot that failed is made again, and only
/// what came of that counts.
pub(super) fn is_lasting(failed: &Run, runs: &[Run]) -> bool {
    let is_better = |run: &&Run| {
        run.counts == Counts::Pilot
            && (&run.variant, &run.workload) == (&failed.variant, &failed.workload)
            && run.outcome.has_figures()
    };
    failed.counts != Counts::Pilot || !runs.iter().any(|run| is_better(&run))
}
