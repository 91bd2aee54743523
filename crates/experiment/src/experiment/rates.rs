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
    Observer, Progress, Stage,
    checks::Refused,
    open_journal::OpenJournal,
    pilot::{self, Pilot},
};
use crate::plan;

/// Writes down every rate that is not in the journal yet, with the runs that it took to find it.
/// After a signal those that are missing stay so.
pub(super) fn settle(
    stage: &Stage<'_>,
    refused: &Refused,
    journal_file: &mut OpenJournal,
    observer: &mut dyn Observer,
) -> io::Result<()> {
    for workload in &stage.experiment.suite.workloads {
        let is_known = journal_file
            .journal()
            .rates
            .iter()
            .any(|rate: &FixedRate| rate.workload == workload.name);
        if is_known || stage.stop.load(Ordering::Relaxed) {
            continue;
        }
        if let Some(rate) = pilot::given(workload) {
            journal_file.write(Record::Rate(rate))?;
        } else if workload.needs_rate()
            && let Some(rate) = find(stage, refused, workload, journal_file, observer)?
        {
            journal_file.write(Record::Rate(rate))?;
        }
    }
    Ok(())
}

/// Finds the rate of one workload.
fn find(
    stage: &Stage<'_>,
    refused: &Refused,
    workload: &Workload,
    journal_file: &mut OpenJournal,
    observer: &mut dyn Observer,
) -> io::Result<Option<FixedRate>> {
    let Stage { experiment, subjects, stop } = *stage;
    let able = plan::able(subjects, workload).into_iter().map(|index| &subjects[index]);
    let is_allowed = |it: &&Subject| !refused.contains(&(it.variant.id.clone(), workload.scenario));
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
    let left = pilot::estimate(workload);
    let mut next = |variant: &VariantId| {
        let name = format!("{variant} (pilot)");
        observer.borrow_mut().on(&Progress::Running {
            name: &name,
            workload: &workload.name,
            left,
        });
    };
    let mut made = |run: Run| {
        let name = format!("{} (pilot)", run.variant);
        observer.borrow_mut().on(&Progress::Piloted { name: &name, run: &run });
        journal_file.write(Record::Run(Box::new(run)))
    };
    search.find(&earlier, stop, &mut next, &mut made)
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
