//! The conformance checks before anything is measured. What they look at is in `verify`.

use std::{collections::BTreeSet, io, sync::atomic::Ordering};
use wirebench_schema::{
    id::VariantId,
    journal::{Record, Verified},
    scenario::Scenario,
};

use super::{Experiment, Observer, Progress, Stage, Verification, book::Book};
use crate::{plan, verify};

/// Who must not be measured in which scenario.
pub(super) type Refused = BTreeSet<(VariantId, Scenario)>;

/// Checks every scenario that will be measured and is not in the journal yet. The answer holds
/// those that must not be measured.
pub(super) fn verify_all(
    stage: &Stage<'_>,
    book: &mut Book,
    observer: &mut dyn Observer,
) -> io::Result<Refused> {
    let Stage { experiment, subjects, stop } = *stage;
    if experiment.verification == Verification::LeftOut {
        return Ok(Refused::new());
    }
    for subject in subjects {
        let variant = &subject.variant.id;
        for scenario in plan::scenarios(subject, &experiment.suite.workloads) {
            let same = |it: &Verified| it.variant == *variant && it.scenario == scenario;
            if book.journal().verified.iter().any(same) {
                continue;
            }
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
                return Ok(refused(book));
            }
            let verified = summarise(variant, scenario, &checks);
            observer.on(&Progress::Verified(&verified));
            book.write(Record::Verified(verified))?;
        }
    }
    Ok(refused(book))
}

fn refused(book: &Book) -> Refused {
    let failed = book.journal().verified.iter().filter(|verified| !verified.failed.is_empty());
    failed.map(|verified| (verified.variant.clone(), verified.scenario)).collect()
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
