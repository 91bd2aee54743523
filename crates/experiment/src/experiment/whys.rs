//! The profiles of `--why`, after all counted runs: each variant once under each workload that has one. What the
//! journal has already is not made again.

use std::{io, sync::atomic::Ordering};
use wirebench_schema::journal::{Record, Why};

use super::{Execution, Progress, Stage, blocks::cell, loads::Loads};
use crate::{
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

impl Execution<'_> {
    /// Makes those that are missing, until a signal asks to end.
    pub(super) fn explain(&mut self, loads: &Loads) -> io::Result<()> {
        let Stage { experiment, subjects, stop } = self.stage;
        let Some(perf) = experiment.why else { return Ok(()) };
        let steps = plan::block(subjects, &loads.suite, experiment.settings.seed, 0);
        let cells = cells(steps, |step| {
            let workload = &loads.suite.workloads[step.workload];
            let variant = &subjects[step.subject].variant.id;
            let is_it = |it: &Why| it.variant == *variant && it.workload == workload.name;
            why::applies(workload)
                && loads.has_step(subjects, step)
                && !self.journal_file.journal().whys.iter().any(is_it)
        });
        for (step, left) in cells.iter().zip((1..=cells.len()).rev()) {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let cell = cell(&self.stage, loads, step);
            let name = format!("{} (why)", cell.subject.variant.id);
            let left = why::ESTIMATE.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX));
            let workload = &cell.workload.name;
            self.observer.on(&Progress::Running { name: &name, workload, left });
            if let Some(why) = why::profile(&experiment.settings, perf, &cell, stop) {
                self.journal_file.write(Record::Why(Box::new(why)))?;
            }
        }
        Ok(())
    }
}
