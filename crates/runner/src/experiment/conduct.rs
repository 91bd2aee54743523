//! Makes the runs of a prepared experiment and writes the journal.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_schema::{
    id::VariantId,
    journal::{
        End, EndReason, Generator, GeneratorVersion, Goal, JOURNAL_FORMAT, Journal, Outcome,
        Record, Start, Verified,
    },
    scenario::Scenario,
};

use super::{Experiment, FALLBACK_BASELINE, Observer, Prepared, Progress, Verification};
use crate::{
    environment, journal,
    journal::Writer,
    measure::Cell,
    plan::{self, Step},
    subject::Subject,
    verify,
};

/// Why an experiment cannot go on. What was journalled before stays.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file cannot be written. The source names it.
    #[error("the results cannot be written")]
    Io(#[from] io::Error),
    /// Nothing is left to be measured.
    #[error("{0}")]
    Nothing(String),
}

/// An experiment that has come to an end.
#[derive(Debug)]
pub struct Finished {
    /// The folder of the results.
    pub folder: PathBuf,
    /// Everything that the journal says.
    pub journal: Journal,
}

impl Finished {
    /// Whether every subject conformed and every run has figures.
    #[must_use]
    pub fn all_well(&self) -> bool {
        self.journal.verified.iter().all(|verified| verified.failed.is_empty())
            && self.journal.runs.iter().all(|run| !matches!(run.outcome, Outcome::Failed { .. }))
    }
}

/// The journal on disk and in memory, kept alike.
pub(crate) struct Book {
    writer: Writer,
    journal: Journal,
}

impl Book {
    pub(crate) fn write(&mut self, record: Record) -> io::Result<()> {
        self.writer.write(&record)?;
        self.journal.add(record);
        Ok(())
    }
}

/// An experiment whose journal is open and whose subjects are verified.
pub(crate) struct Begun {
    folder: PathBuf,
    pub(crate) book: Book,
    refused: Refused,
}

impl Begun {
    /// Whether the variant failed a check of the scenario, so that it must not be measured.
    pub(crate) fn refuses(&self, variant: &VariantId, scenario: Scenario) -> bool {
        self.refused.contains(&(variant.clone(), scenario))
    }

    /// Ends the journal.
    pub(crate) fn end(mut self, reason: EndReason) -> Result<Finished, ExperimentError> {
        self.book.write(Record::End(End { ended: journal::now(), reason }))?;
        Ok(Finished { folder: self.folder, journal: self.book.journal })
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
    let mut begun = begin(experiment, prepared, stop, observer)?;
    let Begun { book, refused, .. } = &mut begun;
    measure_all(experiment, &ready(prepared), refused, book, stop, observer)?;
    let interrupted = stop.load(Ordering::Relaxed);
    begun.end(if interrupted { EndReason::Interrupted } else { EndReason::Complete })
}

fn ready(prepared: &Prepared) -> Vec<Subject> {
    prepared.ready.iter().map(|(subject, _)| subject.clone()).collect()
}

/// Opens the journal and verifies what is ready. What is measured then is up to the caller.
pub(crate) fn begin(
    experiment: &Experiment,
    prepared: &Prepared,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Begun, ExperimentError> {
    let subjects = ready(prepared);
    if plan::steps(&subjects, &experiment.suite, 1).is_empty() {
        return Err(ExperimentError::Nothing(nothing_to_measure(experiment, prepared)));
    }
    let folder = journal::new_run_folder(&experiment.project.results, &experiment.suite.name)?;
    let start = start(experiment, prepared);
    write_environment(experiment, &folder)?;
    let mut writer = Writer::create(&folder)?;
    writer.write(&Record::Start(start.clone()))?;
    let mut book = Book { writer, journal: Journal::new(start) };
    observer.on(&Progress::Started { folder: &folder });
    for unavailable in &prepared.unavailable {
        book.write(Record::Unavailable(unavailable.clone()))?;
    }
    let refused = verify_all(experiment, &subjects, &mut book, stop, observer)?;
    Ok(Begun { folder, book, refused })
}

fn write_environment(experiment: &Experiment, folder: &Path) -> io::Result<()> {
    let environment = environment::gather(experiment.project.root.as_deref());
    let path = folder.join("environment.json");
    let text = serde_json::to_vec_pretty(&environment)?;
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

fn start(experiment: &Experiment, prepared: &Prepared) -> Start {
    let variants = prepared.ready.iter();
    let variants = variants.map(|(subject, versions)| subject.describe(versions.clone()));
    let names: Vec<&str> = experiment.suite.baselines.iter().map(String::as_str).collect();
    let tool = experiment.bench.tool.as_ref().map(|tool| tool.version.clone());
    let own = || GeneratorVersion {
        name: Generator::Wirebench,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Start {
        format: JOURNAL_FORMAT,
        started: journal::now(),
        command: experiment.command.clone(),
        suite: experiment.suite.name.clone(),
        baselines: prepared.ready_among(&[&names[..], &[FALLBACK_BASELINE]].concat()),
        seed: experiment.bench.seed,
        folder: current_folder(),
        copies: experiment.suite.copies,
        baseline_copies: experiment.suite.baseline_copies,
        goal: Goal::default(),
        blocks: experiment.suite.blocks,
        warmup_blocks: experiment.suite.warmup_blocks,
        scale: experiment.scale,
        published: experiment.published.clone().map(Box::new),
        generator: tool.unwrap_or_else(own),
        left_out: experiment.left_out.clone(),
        variants: variants.collect(),
        workloads: experiment.suite.workloads.clone(),
        placement: experiment.bench.placement.clone(),
    }
}

fn current_folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

type Refused = BTreeSet<(VariantId, Scenario)>;

/// Checks every scenario that will be measured. The answer holds those that must not be.
fn verify_all(
    experiment: &Experiment,
    subjects: &[Subject],
    book: &mut Book,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Refused, ExperimentError> {
    let mut refused = Refused::new();
    if experiment.verification == Verification::LeftOut {
        return Ok(refused);
    }
    for subject in subjects {
        let variant = &subject.variant.id;
        for scenario in plan::scenarios(subject, &experiment.suite.workloads) {
            observer.on(&Progress::Verifying { variant, scenario });
            let checks = verify::verify_subject(
                &experiment.bench.launcher,
                subject,
                scenario,
                subject.workers(most_workers(experiment, scenario)),
                stop,
                &mut |_| {},
            );
            if stop.load(Ordering::Relaxed) {
                return Ok(refused);
            }
            let verified = summarise(variant, scenario, &checks);
            if !verified.failed.is_empty() {
                refused.insert((variant.clone(), scenario));
            }
            observer.on(&Progress::Verified(&verified));
            book.write(Record::Verified(verified))?;
        }
    }
    Ok(refused)
}

/// The most workers with which a scenario is measured.
fn most_workers(experiment: &Experiment, scenario: Scenario) -> u32 {
    let workloads = experiment.suite.workloads.iter().filter(|w| w.scenario == scenario);
    let workers = workloads.map(|workload| workload.workers.unwrap_or(experiment.bench.workers));
    workers.max().unwrap_or(experiment.bench.workers)
}

fn summarise(variant: &VariantId, scenario: Scenario, checks: &[verify::Checked]) -> Verified {
    let mut verified = Verified {
        variant: variant.clone(),
        scenario,
        passed: 0,
        failed: Vec::new(),
        deviates: Vec::new(),
        skipped: Vec::new(),
    };
    for check in checks {
        match &check.verdict {
            verify::Verdict::Pass => verified.passed += 1,
            verify::Verdict::Fail { finding } => {
                verified.failed.push((check.name.to_owned(), finding.clone()));
            }
            verify::Verdict::Deviates { reason, finding } => {
                verified.deviates.push((check.name.to_owned(), format!("{reason} ({finding})")));
            }
            verify::Verdict::Skip { reason } => {
                verified.skipped.push((check.name.to_owned(), reason.clone()));
            }
        }
    }
    verified
}

fn measure_all(
    experiment: &Experiment,
    subjects: &[Subject],
    refused: &Refused,
    book: &mut Book,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<(), ExperimentError> {
    let suite = &experiment.suite;
    let allowed = |step: &Step| {
        let scenario = suite.workloads[step.workload].scenario;
        !refused.contains(&(subjects[step.subject].variant.id.clone(), scenario))
    };
    let mut steps = plan::steps(subjects, suite, experiment.bench.seed);
    steps.retain(allowed);
    let time = |step: &Step| plan::estimate(&suite.workloads[step.workload]);
    let mut left: Duration = steps.iter().map(time).sum();
    observer.on(&Progress::Planned { runs: steps.len(), estimate: left });
    for step in &steps {
        let (subject, workload) = (&subjects[step.subject], &suite.workloads[step.workload]);
        observer.on(&Progress::Running {
            variant: &subject.variant.id,
            workload: &workload.name,
            left,
        });
        let cell = Cell {
            subject,
            copy: step.copy,
            workload,
            block: step.block,
            counts: step.counts,
            position: step.position,
            verified: experiment.verification == Verification::Full,
        };
        let Some(run) = experiment.bench.run(&cell, stop) else { return Ok(()) };
        left = left.saturating_sub(time(step));
        book.write(Record::Run(Box::new(run.clone())))?;
        observer.on(&Progress::Ran(&run));
    }
    Ok(())
}
