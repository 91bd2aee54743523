//! The questions of an experiment to its open journal.

use std::collections::BTreeSet;
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, Verified},
    scenario::Scenario,
};

use crate::{journal::OpenJournal, plan::Step};

/// What tells a run from all others: block, variant, copy and workload.
pub(super) type Place = (u32, VariantId, u32, String);

impl OpenJournal {
    /// Whether the variant failed a check of the scenario, so that it must not be measured.
    pub(crate) fn refuses(&self, variant: &VariantId, scenario: Scenario) -> bool {
        let is_it = |it: &&Verified| it.variant == *variant && it.scenario == scenario;
        self.journal().verified.iter().filter(is_it).any(|it| !it.failed.is_empty())
    }

    /// The runs of blocks that have been made, also those that failed.
    pub(super) fn made(&self) -> BTreeSet<Place> {
        let runs = self.journal().runs.iter().filter(|run| run.counts != Counts::Pilot);
        runs.map(|run| (run.block, run.variant.clone(), run.copy, run.workload.clone())).collect()
    }
}

/// The place of `step` in a journal.
pub(super) fn place(step: &Step, subjects: &[Subject], workload: &str) -> Place {
    (step.block, subjects[step.subject].variant.id.clone(), step.copy, workload.to_owned())
}
