//! An experiment whose runs are decided upon elsewhere, one after the other: its journal begins, its
//! subjects are verified and its journal ends as in any other.

use std::{io, sync::atomic::AtomicBool};
use wirebench_schema::{
    id::VariantId,
    journal::{End, EndReason, Journal, Record},
    scenario::Scenario,
};

use super::{
    Experiment, ExperimentError, Finished, Observer, Prepared, Stage,
    checks::{self, Refused},
    conduct,
    open_journal::OpenJournal,
};
use crate::journal;

/// An experiment whose journal has begun and whose subjects are verified.
#[derive(Debug)]
pub(crate) struct StartedExperiment {
    journal_file: OpenJournal,
    refused: Refused,
}

impl StartedExperiment {
    /// Begins the journal and verifies what is ready.
    pub(crate) fn new(
        experiment: &Experiment,
        prepared: &Prepared,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Self, ExperimentError> {
        let subjects = prepared.subjects();
        let mut journal_file = conduct::begin(experiment, prepared, observer)?;
        let stage = Stage { experiment, subjects: &subjects, stop };
        let refused = checks::verify_all(&stage, &mut journal_file, observer)?;
        Ok(Self { journal_file, refused })
    }

    /// Whether the variant failed a check of the scenario, so that it must not be measured.
    pub(crate) fn refuses(&self, variant: &VariantId, scenario: Scenario) -> bool {
        self.refused.contains(&(variant.clone(), scenario))
    }

    pub(crate) fn write(&mut self, record: Record) -> io::Result<()> {
        self.journal_file.write(record)
    }

    /// Everything that has been written down.
    pub(crate) const fn journal(&self) -> &Journal {
        self.journal_file.journal()
    }

    pub(crate) fn end(mut self, reason: EndReason) -> Result<Finished, ExperimentError> {
        self.write(Record::End(End { ended: journal::now(), reason }))?;
        let (folder, journal) = self.journal_file.close();
        Ok(Finished { folder, journal })
    }
}
