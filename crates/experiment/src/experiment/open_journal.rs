//! The journal of an experiment on disk and in memory, kept alike. It decides nothing.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Counts, Journal, Record, Start, Unavailable, Verified},
    scenario::Scenario,
};

use crate::{
    journal::{self, Writer},
    plan::Step,
};

/// The journal on disk and in memory.
#[derive(Debug)]
pub(crate) struct OpenJournal {
    writer: Writer,
    journal: Journal,
    folder: PathBuf,
}

/// What tells a run from all others: block, variant, copy and workload.
pub(super) type Place = (u32, VariantId, u32, String);

impl OpenJournal {
    /// Begins a journal in `folder`. Its head and what cannot be measured are written at once, so
    /// that a journal that has one has the other.
    pub(super) fn begin(
        folder: &Path,
        start: Start,
        unavailable: &[Unavailable],
    ) -> io::Result<Self> {
        let unavailable = unavailable.iter().cloned().map(Record::Unavailable);
        let (writer, journal) = Writer::begin(folder, start, unavailable.collect())?;
        Ok(Self { writer, journal, folder: folder.to_owned() })
    }

    /// Opens the journal in `folder` to go on with it. Nothing is changed yet.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let mut writer = Writer::reopen(folder)?;
        let journal = journal::read(folder)
            .map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))?;
        writer.go_on_like(&journal);
        Ok(Self { writer, journal, folder: folder.to_owned() })
    }

    /// Writes a record down. It is on disk afterwards.
    pub(crate) fn write(&mut self, record: Record) -> io::Result<()> {
        self.write_all(vec![record])
    }

    /// Writes several records down at once: all of them are on disk afterwards, or none.
    pub(super) fn write_all(&mut self, records: Vec<Record>) -> io::Result<()> {
        for record in self.writer.write(records)? {
            self.journal.add(record);
        }
        Ok(())
    }

    /// Takes a line away that was cut off while it was written; the answer is its length in bytes.
    pub(super) fn cut_torn_line(&mut self) -> io::Result<usize> {
        self.writer.cut_torn_line()
    }

    /// Everything that has been written down.
    pub(crate) const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Whether the variant failed a check of the scenario, so that it must not be measured.
    pub(crate) fn refuses(&self, variant: &VariantId, scenario: Scenario) -> bool {
        let is_it = |it: &&Verified| it.variant == *variant && it.scenario == scenario;
        self.journal.verified.iter().filter(is_it).any(|it| !it.failed.is_empty())
    }

    /// The folder that it is in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder, and everything that has been written down.
    pub(super) fn close(self) -> (PathBuf, Journal) {
        (self.folder, self.journal)
    }

    /// The runs of blocks that have been made, also those that failed.
    pub(super) fn made(&self) -> BTreeSet<Place> {
        let runs = self.journal.runs.iter().filter(|run| run.counts != Counts::Pilot);
        runs.map(|run| (run.block, run.variant.clone(), run.copy, run.workload.clone())).collect()
    }
}

/// The place of `step` in a journal.
pub(super) fn place(step: &Step, subjects: &[Subject], workload: &str) -> Place {
    (step.block, subjects[step.subject].variant.id.clone(), step.copy, workload.to_owned())
}
