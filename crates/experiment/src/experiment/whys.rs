//! The profiles of `--why`, after all counted runs: each variant once under each workload that has one. What the
//! journal has already is not made again.

use std::{io, sync::atomic::Ordering};
use wirebench_schema::journal::{Counts, Record, Why};

use super::{Observer, Progress, Stage, checks::Refused, loads::Loads, open_journal::OpenJournal};
use crate::{
    measure::Cell,
    plan::{self, Step},
    why,
};

/// The cells with a profile, in the order of the suite.
pub(super) fn cells(steps: Vec<Step>, has: impl Fn(&Step) -> bool) -> Vec<Step> {
    let mut cells: Vec<Step> =
        steps.into_iter().filter(|step| step.copy == 0 && has(step)).collect();
    cells.sort_by_key(|step| (step.workload, step.subject));
    cells.dedup_by_key(|step| (step.workload, step.subject));
    cells
}

/// Makes those that are missing, until a signal asks to end.
pub(super) fn explain(
    stage: &Stage<'_>,
    loads: &Loads,
    refused: &Refused,
    journal_file: &mut OpenJournal,
    observer: &mut dyn Observer,
) -> io::Result<()> {
    let Stage { experiment, subjects, stop } = *stage;
    let Some(perf) = experiment.why else { return Ok(()) };
    let steps = plan::block(subjects, &loads.suite, experiment.settings.seed, 0);
    let is_made = |step: &Step, whys: &[Why]| {
        let (variant, workload) =
            (&subjects[step.subject].variant.id, &loads.suite.workloads[step.workload]);
        whys.iter().any(|it| it.variant == *variant && it.workload == workload.name)
    };
    let cells = cells(steps, |step| {
        let workload = &loads.suite.workloads[step.workload];
        let variant = &subjects[step.subject].variant.id;
        why::applies(workload)
            && loads.has(variant, workload)
            && !refused.contains(&(variant.clone(), workload.scenario))
            && !is_made(step, &journal_file.journal().whys)
    });
    for (step, left) in cells.iter().zip((1..=cells.len()).rev()) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let workload = &loads.suite.workloads[step.workload];
        let subject = &subjects[step.subject];
        let name = format!("{} (why)", subject.variant.id);
        let left = why::ESTIMATE.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX));
        observer.on(&Progress::Running { name: &name, workload: &workload.name, left });
        let cell = Cell {
            subject,
            copy: 0,
            workload,
            block: 0,
            counts: Counts::WarmUp,
            position: 0,
            verification: experiment.verification,
        };
        if let Some(why) = why::profile(&experiment.settings, perf, &cell, stop) {
            journal_file.write(Record::Why(Box::new(why)))?;
        }
    }
    Ok(())
}
