//! The course of an experiment: checks, rates, blocks, end. What has been done already, because the
//! experiment goes on, is left out by each of them.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use wirebench_schema::{
    environment::Environment,
    journal::{Cause, End, EndReason, Journal, Record, WhyOutcome},
    verification::Verification,
};

use super::{
    Execution, Experiment, Observer, Prepared, Progress, Stage, blocks::Blocks, loads::Loads,
    pace::Pace, parts, rates, start,
};
use crate::{
    cohort::KnownServers,
    journal::{self, OpenJournal},
    plan,
};

pub use crate::journal::ENVIRONMENT_FILE;

/// Why an experiment cannot go on. What was journalled before stays.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file cannot be written. The source names it.
    #[error("the results cannot be written")]
    Io(#[from] io::Error),
    /// Nothing is left to be measured.
    #[error("{0}")]
    Nothing(String),
    /// It is not of one experiment with the blocks that are measured apart.
    #[error("{0}")]
    OtherParts(String),
}

/// An experiment that has come to an end.
#[derive(Debug)]
pub struct Finished {
    pub folder: PathBuf,
    pub journal: Journal,
}

impl Finished {
    /// A line that says how it goes on, if it was interrupted.
    #[must_use]
    pub fn next_step(&self) -> String {
        let Journal { start, .. } = &self.journal;
        if start.lacks_secrets() {
            return "It cannot be resumed, because the result does not keep the secrets of its command: start it with \
                    --show-secrets, or with the secrets in a file of --requests"
                .to_owned();
        }
        format!("Resume with: {}", journal::resume_command(&self.folder))
    }

    /// Whether every subject conformed, every run has figures, and nothing broke that should have
    /// worked. What is missing here is no fault.
    #[must_use]
    pub fn all_well(&self) -> bool {
        let Journal { unavailable, verified, runs, whys, .. } = &self.journal;
        unavailable.iter().all(|it| it.cause == Cause::Missing)
            && verified.iter().all(|verified| verified.failed.is_empty())
            && runs.iter().all(|run| run.outcome.has_figures() || !rates::is_lasting(run, runs))
            && whys.iter().all(|why| matches!(why.outcome, WhyOutcome::Profiled(_)))
    }
}

/// Verifies and measures what is ready. The journal ends in order also when `stop` is set
/// meanwhile.
pub fn conduct(
    experiment: &Experiment,
    prepared: &Prepared,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Finished, ExperimentError> {
    let subjects = prepared.subjects();
    let journal_file = begin(experiment, prepared, observer)?;
    let forecast = experiment.forecast(&subjects);
    observer.on(&Progress::Planned(&forecast));
    carry_on(&Stage { experiment, subjects: &subjects, stop }, journal_file, observer)
}

/// Begins the journal in a new folder, unless there is nothing to measure.
pub(super) fn begin(
    experiment: &Experiment,
    prepared: &Prepared,
    observer: &mut dyn Observer,
) -> Result<OpenJournal, ExperimentError> {
    if plan::block(&prepared.subjects(), &experiment.suite, 1, 0).is_empty() {
        return Err(ExperimentError::Nothing(nothing_to_measure(experiment, prepared)));
    }
    // Before the folder is there, which may lie in a folder that belongs to a program.
    let start = start::start(experiment, prepared);
    let rates =
        parts::known_rates(experiment, prepared, &start).map_err(ExperimentError::OtherParts)?;
    let folder = journal::new_run_folder(&experiment.project.results, &experiment.suite.name)?;
    write_environment(&prepared.environment, &folder)?;
    let unavailable = prepared.unavailable.iter().cloned().map(Record::Unavailable);
    let mut journal_file = OpenJournal::begin(&folder, start, unavailable.collect())?;
    journal_file.write_all(rates.into_iter().map(Record::Rate).collect())?;
    observer.on(&Progress::Started { folder: &folder });
    Ok(journal_file)
}

/// Does everything that `journal_file` does not say to have been done.
pub(super) fn carry_on(
    stage: &Stage<'_>,
    journal_file: OpenJournal,
    observer: &mut dyn Observer,
) -> Result<Finished, ExperimentError> {
    let mut execution = Execution { stage: *stage, journal_file, observer };
    let reason = execution.measure()?;
    let interrupted = stage.stop.load(Ordering::Relaxed);
    execution.journal_file.end(if interrupted { EndReason::Interrupted } else { reason })
}

impl OpenJournal {
    /// The journal of an experiment whose runs are decided upon elsewhere, one after the other. It has begun, and what
    /// is ready is verified.
    pub(crate) fn new(
        experiment: &Experiment,
        prepared: &Prepared,
        stop: &AtomicBool,
        observer: &mut dyn Observer,
    ) -> Result<Self, ExperimentError> {
        let journal_file = begin(experiment, prepared, observer)?;
        let stage = Stage { experiment, subjects: &prepared.subjects(), stop };
        let mut execution = Execution { stage, journal_file, observer };
        execution.verify_all()?;
        Ok(execution.journal_file)
    }

    pub(crate) fn end(mut self, reason: EndReason) -> Result<Finished, ExperimentError> {
        self.write(Record::End(End { ended: journal::now(), reason }))?;
        let (folder, journal) = self.close();
        Ok(Finished { folder, journal })
    }
}

impl Execution<'_> {
    fn measure(&mut self) -> Result<EndReason, ExperimentError> {
        self.verify_all()?;
        let Stage { experiment, subjects, stop } = self.stage;
        let needs_all = experiment.verification == Verification::AllOrNothing;
        let workloads = &experiment.suite.workloads;
        let mut block = plan::block(subjects, &experiment.suite, 1, 0);
        block.retain(|step| {
            let variant = &subjects[step.subject].variant.id;
            !self.journal_file.refuses(variant, workloads[step.workload].scenario)
        });
        let is_useless = needs_all || experiment.compares_nothing(subjects, &block);
        let mut verified = self.journal_file.journal().verified.iter();
        if is_useless && verified.any(|it| !it.failed.is_empty()) {
            return Ok(EndReason::Complete);
        }
        let mut pace = Pace::new(workloads, |workload| experiment.estimate(workload));
        let earlier = pace.replay(self.journal_file.journal(), workloads);
        let began = Instant::now();
        self.settle_rates()?;
        let Journal { rates, verified, .. } = self.journal_file.journal();
        let loads = &Loads::new(&experiment.suite, rates, verified);
        if stop.load(Ordering::Relaxed) {
            return Ok(EndReason::Interrupted);
        }
        if needs_all && rates.iter().any(|rate| !rate.too_slow.is_empty()) {
            return Ok(EndReason::Complete);
        }
        let (made, known) = (self.journal_file.made(), KnownServers::default());
        let blocks = Blocks { execution: self, loads, pace, earlier, began, made, known };
        let reason = blocks.measure()?;
        self.explain(loads)?;
        Ok(reason)
    }
}

/// Writes the machine of a result.
pub fn write_environment(environment: &Environment, folder: &Path) -> io::Result<()> {
    let path = folder.join(ENVIRONMENT_FILE);
    let text = serde_json::to_vec_pretty(environment)?;
    fs::write(&path, text).map_err(|error| journal::at(&path, &error))
}

fn nothing_to_measure(experiment: &Experiment, prepared: &Prepared) -> String {
    let mut text = if prepared.ready.is_empty() {
        "nothing can be measured here:".to_owned()
    } else {
        let suite = &experiment.suite;
        let needs: BTreeSet<&str> = suite.workloads.iter().map(|w| w.scenario.name()).collect();
        let needs: Vec<&str> = needs.into_iter().collect();
        format!("no chosen entry has a scenario of `{}` ({})", suite.name, needs.join(", "))
    };
    for unavailable in &prepared.unavailable {
        text += &format!("\n  {}: {}", unavailable.variant, unavailable.reason);
    }
    text
}
