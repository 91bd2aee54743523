//! The conformance checks before anything is measured. What they look at is in `verify`.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    io,
    sync::{Mutex, PoisonError, atomic::Ordering},
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{Record, Verified},
    load::SampleReply,
    scenario::Scenario,
    verification::{SAME_REPLIES, Verification},
};
use wirebench_server::{launch::Launcher, parallel};
use wirebench_verify::{Asked, Checked, Extent, Verdict, verify};

use super::{Execution, Observer, Progress, Stage};
use crate::{journal::OpenJournal, plan};

/// How many servers are checked at the same time: a check waits more than it works. Of services with a rate it is one,
/// because several names may be those of one service.
fn jobs(subjects: &[Subject]) -> usize {
    let has_rate = subjects.iter().any(|it| !it.allows_full_speed());
    if has_rate { 1 } else { parallel::checks() }
}

impl Execution<'_> {
    /// Checks every scenario that will be measured and is not in the journal yet, several at a time. One
    /// that fails is checked again alone, because the others may have been the cause: the second result
    /// counts.
    pub(super) fn verify_all(&mut self) -> io::Result<()> {
        let stage = self.stage;
        if stage.experiment.verification == Verification::LeftOut {
            return Ok(());
        }
        let pending = pending(&stage, &self.journal_file);
        let name = |it: &(&Subject, Scenario)| (it.0.variant.id.clone(), it.1);
        let left: BTreeSet<(VariantId, Scenario)> = pending.iter().map(name).collect();
        let show = |observer: &mut dyn Observer, left: &BTreeSet<(VariantId, Scenario)>| {
            if let Some((variant, scenario)) = left.first() {
                observer.on(&Progress::Verifying { variant, scenario: *scenario });
            }
        };
        show(self.observer, &left);
        let state = Mutex::new((&mut *self, left));
        let check = |(subject, scenario)| {
            let is_stopped = || stage.stop.load(Ordering::Relaxed);
            // A check that was cut off says nothing.
            let verified = (!is_stopped()).then(|| verify_on(&stage, subject, scenario));
            let Some(verified) = verified.filter(|_| !is_stopped()) else { return Ok(None) };
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let (execution, left) = &mut *state;
            left.remove(&(verified.variant.clone(), scenario));
            let has_failed = !verified.failed.is_empty();
            if !has_failed {
                execution.write_verified(verified.clone())?;
            }
            show(execution.observer, left);
            Ok(has_failed.then_some((subject, scenario, verified)))
        };
        let checked: io::Result<Vec<_>> =
            parallel::map(pending, jobs(stage.subjects), check).into_iter().collect();
        for (subject, scenario, first) in checked?.into_iter().flatten() {
            self.observer.on(&Progress::VerifyingAgain(&first));
            let second = verify_on(&stage, subject, scenario);
            if stage.stop.load(Ordering::Relaxed) {
                break;
            }
            self.write_verified(second)?;
        }
        for differing in differing(&stage, &self.journal_file.journal().verified) {
            self.write_verified(differing)?;
        }
        Ok(())
    }

    fn write_verified(&mut self, verified: Verified) -> io::Result<()> {
        self.observer.on(&Progress::Verified(&verified));
        self.journal_file.write(Record::Verified(verified))
    }
}

/// The servers that answer a user's requests otherwise than the first one, unless that is in the journal.
fn differing(stage: &Stage<'_>, verified: &[Verified]) -> Vec<Verified> {
    let replies = |subject: &Subject| {
        let is_it = |it: &&Verified| it.variant == subject.variant.id && !it.replies.is_empty();
        verified.iter().find(is_it)
    };
    let mut all = stage.subjects.iter().filter_map(replies);
    let Some(first) = all.next() else { return Vec::new() };
    let is_known = |it: &&Verified| {
        let mut found = verified.iter().filter(|known| known.variant == it.variant);
        found.any(|it| it.failed.iter().chain(&it.deviates).any(|(name, _)| name == SAME_REPLIES))
    };
    let differs = |it: &Verified| {
        let pair = |any| SampleReply::first_difference(&it.replies, &first.replies, any);
        let refuses = pair(false).filter(|_| !stage.experiment.settings.replies_differ);
        let (of_it, of_first) = refuses.or_else(|| pair(false)).or_else(|| pair(true))?;
        let name = &of_it.request;
        let finding = format!("`{name}` gets {of_it}; from {} it gets {of_first}", first.variant);
        let (variant, scenario) = (it.variant.clone(), it.scenario);
        let mut found = summarise(&variant, scenario, &[]);
        let list = if refuses.is_some() { &mut found.failed } else { &mut found.deviates };
        list.push((SAME_REPLIES.to_owned(), finding));
        Some(found)
    };
    all.filter(|it| !is_known(it)).filter_map(differs).collect()
}

fn pending<'a>(stage: &Stage<'a>, journal_file: &OpenJournal) -> Vec<(&'a Subject, Scenario)> {
    let Stage { experiment, subjects, .. } = *stage;
    let of = |subject: &'a Subject| {
        let scenarios = plan::scenarios(subject, &experiment.suite.workloads).into_iter();
        scenarios.map(move |scenario| (subject, scenario))
    };
    let is_new = |(subject, scenario): &(&Subject, Scenario)| {
        let done = &journal_file.journal().verified;
        !done.iter().any(|it| it.variant == subject.variant.id && it.scenario == *scenario)
    };
    subjects.iter().flat_map(of).filter(is_new).collect()
}

fn verify_on(stage: &Stage<'_>, subject: &Subject, scenario: Scenario) -> Verified {
    let Stage { experiment, stop, .. } = *stage;
    // Several share the machine, so that none is bound to the CPUs of a measured server.
    let launcher = Launcher { cpus: None, ..experiment.settings.launcher.clone() };
    let usual = experiment.settings.workers;
    let loads = experiment.suite.workloads.iter().filter(|it| it.scenario == scenario);
    let most = loads.map(|it| it.workers.unwrap_or(usual)).max();
    let workers = subject.workers(most.unwrap_or(usual));
    let replies = RefCell::default();
    let (workloads, extent) = (&experiment.suite.workloads[..], Extent::Measured);
    let asked = Asked { workloads, extent, replies: &replies };
    let request = subject.request(scenario, workers);
    let declared = subject.declared_mechanism();
    let checks = verify(&launcher, &request, (declared, &asked), stop, &mut |_| {});
    Verified { replies: replies.take(), ..summarise(&subject.variant.id, scenario, &checks) }
}

fn summarise(variant: &VariantId, scenario: Scenario, checks: &[Checked]) -> Verified {
    let mut verified = Verified {
        variant: variant.clone(),
        scenario,
        passed: 0,
        failed: Vec::new(),
        deviates: Vec::new(),
        skipped: Vec::new(),
        replies: Vec::new(),
    };
    for check in checks {
        let (list, text) = match &check.verdict {
            Verdict::Pass => {
                verified.passed += 1;
                continue;
            }
            Verdict::Fail { finding } => (&mut verified.failed, finding.clone()),
            Verdict::Deviates { reason, finding } => {
                (&mut verified.deviates, format!("{reason} ({finding})"))
            }
            Verdict::Skip { reason } => (&mut verified.skipped, reason.clone()),
        };
        list.push((check.name.to_owned(), text));
    }
    verified
}
