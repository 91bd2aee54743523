//! Going on with an experiment that was cut off: what is in its journal stays, and the rest is made
//! as though nothing had happened.
//!
//! That is only right on the same machine with the same programs and the same plan. What has changed
//! is found here; what to do about it is the caller's matter.

use std::{io, path::Path, sync::atomic::AtomicBool};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    journal::{EndReason, Journal, Record, Resumed},
    secrets,
};

use super::{
    ENVIRONMENT_FILE, Experiment, ExperimentError, Finished, Observer, Prepared, Progress, Stage,
    changed, conduct, start,
};
use crate::journal::{self, OpenJournal};

/// A journal to continue. No other process can write to it while this lives.
#[derive(Debug)]
pub struct ResumedExperiment {
    journal_file: OpenJournal,
}

/// What is not as it was when the experiment began, each as a sentence.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Differences {
    /// Figures from before and after them cannot be in one table.
    pub refusing: Vec<String>,
    /// They are worth a note.
    pub noted: Vec<String>,
}

impl ResumedExperiment {
    /// Opens the journal in `folder`. It stays as it is.
    pub fn open(folder: &Path) -> io::Result<Self> {
        OpenJournal::reopen(folder).map(|journal_file| Self { journal_file })
    }

    /// Everything that has been written down.
    #[must_use]
    pub const fn journal(&self) -> &Journal {
        self.journal_file.journal()
    }

    /// How it ended, if nothing is left to be done.
    #[must_use]
    pub fn ended(&self) -> Option<EndReason> {
        let reason = self.journal().end.as_ref().map(|end| end.reason);
        reason.filter(|reason| *reason != EndReason::Interrupted)
    }

    /// What there is, without anything more.
    #[must_use]
    pub fn finished(self) -> Finished {
        let (folder, journal) = self.journal_file.close();
        Finished { folder, journal }
    }

    /// The subjects among `subjects` that are part of the experiment, in its order.
    #[must_use]
    pub fn part_of_it(&self, mut subjects: Vec<Subject>) -> Vec<Subject> {
        let variants = &self.journal().start.variants;
        let place = |subject: &Subject| {
            variants.iter().position(|described| described.variant == subject.variant.id)
        };
        subjects.retain(|subject| place(subject).is_some());
        subjects.sort_by_key(place);
        subjects
    }

    /// What is not as it was, when the experiment would go on as `experiment` with what is
    /// `prepared`.
    #[must_use]
    pub fn differences(&self, experiment: &Experiment, prepared: &Prepared) -> Differences {
        let mut differences = Differences::default();
        let mut now = start::start(experiment, prepared);
        if !self.journal().start.keeps_secrets() {
            // Those that cannot be written differ from those in the journal.
            now.workloads = secrets::hidden(now.workloads.clone()).unwrap_or(now.workloads);
        }
        differences.refusing.extend(changed::plan(&self.journal().start, &now));
        for was in &self.journal().start.variants {
            let gone = prepared.unavailable.iter().find(|it| it.variant == was.variant);
            match (now.variants.iter().find(|is| is.variant == was.variant), gone) {
                (Some(is), _) => differences.refusing.extend(changed::variant(was, is)),
                (None, Some(gone)) => differences
                    .refusing
                    .push(format!("{} cannot be run any more: {}", was.variant, gone.reason)),
                (None, None) => {
                    differences.refusing.push(format!("{} is gone", was.variant));
                }
            }
        }
        match journal::environment(&self.journal_file.folder) {
            Ok(Some(was)) => changed::environment(&was, &prepared.environment, &mut differences),
            Ok(None) => differences.noted.push(format!(
                "whether this is the same machine is not known: {ENVIRONMENT_FILE} is missing"
            )),
            Err(reason) => differences.refusing.push(reason),
        }
        differences
    }

    /// Does what is left to be done. `noted` is written down.
    pub fn go_on(
        mut self,
        experiment: &Experiment,
        prepared: &Prepared,
        noted: Vec<String>,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Finished, ExperimentError> {
        let subjects = self.part_of_it(prepared.subjects());
        let torn = self.journal_file.cut_torn_line()?;
        observer.on(&Progress::Resumed {
            folder: &self.journal_file.folder,
            runs: self.journal().runs.len(),
            torn,
        });
        let command = experiment.command.clone();
        let resumed = Resumed { at: journal::now(), command, differences: noted };
        self.journal_file.write(Record::Resumed(resumed))?;
        let forecast = experiment.forecast(&subjects);
        observer.on(&Progress::Planned(&forecast));
        let stage = Stage { experiment, subjects: &subjects, stop };
        conduct::carry_on(&stage, self.journal_file, observer)
    }
}
