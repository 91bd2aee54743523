//! The rates of the cost phases of a suite: which are known, which have to be found, and that they
//! are written down. How a rate is chosen is in `pilot`.

use std::{cell::RefCell, io, sync::atomic::Ordering};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, FixedRate, Record, Run},
    suite::Workload,
};

use super::{
    Execution, Progress, Stage,
    pilot::{self, Pilot},
};
use crate::plan;

impl Execution<'_> {
    /// Writes down every rate that is not in the journal yet, with the runs that it took to find it.
    /// After a signal those that are missing stay so.
    pub(super) fn settle_rates(&mut self) -> io::Result<()> {
        for workload in &self.stage.experiment.suite.workloads {
            let rates = &self.journal_file.journal().rates;
            let is_known = rates.iter().any(|rate| rate.workload == workload.name);
            if is_known || self.stage.stop.load(Ordering::Relaxed) {
                continue;
            }
            let rate = match pilot::given(workload) {
                None if workload.needs_rate() => self.find_rate(workload)?,
                given => given,
            };
            if let Some(rate) = rate {
                self.journal_file.write(Record::Rate(rate))?;
            }
        }
        Ok(())
    }

    /// Finds the rate of one workload.
    fn find_rate(&mut self, workload: &Workload) -> io::Result<Option<FixedRate>> {
        let Self { stage, journal_file, observer } = self;
        let Stage { experiment, subjects, stop } = *stage;
        let able = plan::able(subjects, workload).into_iter().map(|index| &subjects[index]);
        let is_allowed = |it: &&Subject| !journal_file.refuses(&it.variant.id, workload.scenario);
        let entrants: Vec<&Subject> = able.filter(is_allowed).collect();
        let baseline = plan::baseline(subjects, &experiment.suite, workload);
        let search = Pilot {
            settings: &experiment.settings,
            workload,
            subjects: &entrants,
            baseline: baseline.map(|index| &subjects[index].variant.id),
            verification: experiment.verification,
        };
        let pilots = journal_file.journal().runs.iter().filter(|run| run.counts == Counts::Pilot);
        let earlier: Vec<Run> = pilots.cloned().collect();
        let observer = RefCell::new(observer);
        let named = |variant: &VariantId| format!("{variant} (pilot)");
        let (left, workload) = (pilot::estimate(workload), &workload.name);
        let mut next = |variant: &VariantId| {
            let running = Progress::Running { name: &named(variant), workload, left };
            observer.borrow_mut().on(&running);
        };
        let mut made = |run: Run| {
            observer.borrow_mut().on(&Progress::Piloted { name: &named(&run.variant), run: &run });
            journal_file.write(Record::Run(Box::new(run)))
        };
        search.find(&earlier, stop, &mut next, &mut made)
    }
}

/// Whether this failed run still counts as a failure. A pilot that failed is repeated, and only
/// the result of the repetition counts.
pub(super) fn is_lasting(failed: &Run, runs: &[Run]) -> bool {
    let is_better = |run: &&Run| {
        run.counts == Counts::Pilot
            && (&run.variant, &run.workload) == (&failed.variant, &failed.workload)
            && run.outcome.has_figures()
    };
    failed.counts != Counts::Pilot || !runs.iter().any(|run| is_better(&run))
}
