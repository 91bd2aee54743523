//! Checks several servers at a time: most of a check is waiting. What each check demands is not its
//! business.

use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
};
use wirebench_catalogue::subject::Subject;
use wirebench_report::junit::{Case, CaseState};
use wirebench_schema::{scenario::Scenario, suite::Workload};
use wirebench_server::{launch::Launcher, parallel};
use wirebench_verify::{Asked, Checked, Extent, Verdict, verify};

use crate::out;

pub(super) type Pair<'a> = (&'a Subject, Scenario);

/// How servers are started for their checks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Starter<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) asking: &'a Asking,
    /// True if only failures are shown.
    pub(super) is_quiet: bool,
    /// True if a failure is checked again alone.
    pub(super) is_repeated: bool,
    /// Set when a signal asks to end.
    pub(super) stop: &'a AtomicBool,
}

/// What is asked in the scenario `requests`.
#[derive(Clone, Debug)]
pub(super) struct Asking {
    pub(super) workload: Workload,
    /// Whether options say it, instead of the URL of a service.
    pub(super) is_of_options: bool,
}

impl Asking {
    /// What is asked of `subject`: what options say, what its description says, or the path of its URL.
    pub(super) fn of(&self, subject: &Subject) -> Workload {
        let (asked, described) = (&self.workload.requests, &subject.variant.requests);
        let requests = match self.is_of_options {
            true => asked.as_ref().or(described.as_ref()),
            false => described.as_ref().or(asked.as_ref()),
        };
        Workload {
            scenario: Scenario::Requests,
            requests: requests.cloned(),
            ..self.workload.clone()
        }
    }
}

/// A check of a server in a scenario.
#[derive(Clone, Debug)]
pub(super) struct Done {
    server: String,
    pub(super) checked: Checked,
}

impl Done {
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.server, self.checked.name)
    }

    pub(super) const fn has_failed(&self) -> bool {
        matches!(self.checked.verdict, Verdict::Fail { .. })
    }

    /// Its result as that of a test case. A failure that the entry declares is expected.
    pub(super) fn case(&self) -> Case {
        let state = match &self.checked.verdict {
            Verdict::Pass => CaseState::Passed,
            Verdict::Fail { finding } => CaseState::Failed(finding.clone()),
            Verdict::Skip { reason } => CaseState::Skipped(reason.clone()),
            Verdict::Deviates { reason, finding } => {
                CaseState::Skipped(format!("declared by the entry: {reason} ({finding})"))
            }
        };
        Case { class: self.server.clone(), name: self.checked.name.to_owned(), state }
    }
}

/// Checks all `pairs`, at most `jobs` at once, and shows what comes of it: line by line when there
/// is one at a time, else each pair's lines together once it is done.
pub(super) fn check_all(starter: Starter<'_>, pairs: &[Pair<'_>], jobs: usize) -> Vec<Done> {
    let jobs = jobs.min(pairs.len());
    let look = |pair: &Pair<'_>| {
        if starter.stop.load(Ordering::Relaxed) {
            return (Vec::new(), false);
        }
        let mut lines = String::new();
        let mut show = |line: &str| {
            if jobs > 1 {
                lines.push_str(line);
                lines.push('\n');
            } else {
                out::result(line);
            }
        };
        let done = check(starter, *pair, &mut show);
        let is_repeated = starter.is_repeated && jobs > 1 && done.iter().any(Done::has_failed);
        if !is_repeated && !lines.is_empty() {
            out::result(&lines);
        }
        (done, is_repeated)
    };
    let all = parallel::map(pairs, jobs, look).into_iter().zip(pairs);
    let second = |((done, is_repeated), pair): ((Vec<Done>, bool), &Pair<'_>)| match is_repeated {
        true => check_again(starter, *pair, &done),
        false => done,
    };
    all.flat_map(second).collect()
}

/// Checks alone what has failed while others were checked, because they may have been the cause. The
/// second result counts; a check that failed only once is shown.
fn check_again(starter: Starter<'_>, pair: Pair<'_>, first: &[Done]) -> Vec<Done> {
    let second = check(starter, pair, &mut |line| out::result(line));
    for failed in first {
        let name = failed.name();
        if let Verdict::Fail { finding } = &failed.checked.verdict
            && !second.iter().any(|it| it.has_failed() && it.name() == name)
        {
            out::result(&format!("ONCE  {name}: {finding}; alone it did not fail"));
        }
    }
    second
}

fn check(
    starter: Starter<'_>,
    (subject, scenario): Pair<'_>,
    show: &mut dyn FnMut(&str),
) -> Vec<Done> {
    let id = &subject.variant.id;
    let mut all = Vec::new();
    let mut observe = |checked: &Checked| {
        let done = Done { server: format!("{id} {scenario}"), checked: checked.clone() };
        let name = done.name();
        all.push(done);
        match &checked.verdict {
            Verdict::Fail { finding } => show(&format!("FAIL  {name}: {finding}")),
            Verdict::Pass if subject.variant.declares_deviation_from(checked.name) => {
                show(&format!("PASS  {name}: remove its deviation from entry.toml"));
            }
            _ if starter.is_quiet => {}
            Verdict::Pass => show(&format!("PASS  {name}")),
            Verdict::Skip { reason } => show(&format!("SKIP  {name}: {reason}")),
            Verdict::Deviates { reason, finding } => {
                show(&format!("KNOWN {name}: {reason} ({finding})"));
            }
        }
    };
    let (workloads, replies) = (&[starter.asking.of(subject)], &RefCell::default());
    let asked = Asked { workloads, extent: Extent::All, replies };
    let request = subject.request(scenario, subject.workers(1));
    let declared = subject.declared_mechanism();
    verify(starter.launcher, &request, (declared, &asked), starter.stop, &mut observe);
    all
}
