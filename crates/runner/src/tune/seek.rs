//! Carries a search for the highest rate out: each probe is a run with a fresh server and is in the
//! journal before the next one begins. What is tried next is decided by [`Search`], and whether a
//! run holds by [`Measurement::keeps`].

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    journal::{
        Counts, EndReason, Found, Kept, Measurement, Outcome, Record, Run, SearchLimit, Side,
        Sought,
    },
    load::Stop,
    suite::{Phase, Workload},
};

use super::{Attempt, Kind, Plan, Probe, Saw, Search};
use crate::{
    experiment::{
        Begun, Experiment, ExperimentError, Finished, Observer, Prepared, Progress, Verification,
    },
    measure::{Best, Cell},
    plan::estimate,
    subject::Subject,
};

/// The share of what a closed loop reaches with which the search begins: most servers hold it.
const FIRST_SHARE: f64 = 0.25;
/// The window of a confirming run is so many times as long as that of another one.
const CONFIRMING_WINDOWS: u32 = 2;

/// What is sought, beside the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Quest {
    /// Variant, workload, objectives, bounds.
    pub sought: Sought,
    /// The search ends in about this time.
    pub budget: Option<Duration>,
}

/// Is told what happens, and of each probe what came of it.
pub trait Watcher: Observer {
    /// A closed loop was run, to see where to begin.
    fn begun(&mut self, closed_loop: Result<&Measurement, &str>);
    /// A probe begins.
    fn probing(&mut self, probe: Probe);
    /// It has ended and is in the journal. Without figures it has failed.
    fn probed(&mut self, probe: Probe, outcome: Result<(&Measurement, &Kept), &str>);
    /// It is told as a mere observer too.
    fn as_observer(&mut self) -> &mut dyn Observer;
}

/// Verifies the one subject that is ready, finds with a closed loop where to begin, searches, and
/// writes all of it down. The experiment's workloads are those of [`workloads`].
pub fn seek(
    experiment: &Experiment,
    quest: &Quest,
    prepared: &Prepared,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Finished, ExperimentError> {
    let began = Instant::now();
    let mut begun = Begun::new(experiment, prepared, stop, watcher.as_observer())?;
    begun.write(Record::Sought(quest.sought.clone()))?;
    let [closed, rated] = experiment.suite.workloads.as_slice() else {
        return Err(ExperimentError::Nothing("a search has two workloads".to_owned()));
    };
    let subject = &prepared.ready[0].0;
    if stop.load(Ordering::Relaxed) || begun.refuses(&subject.variant.id, rated.scenario) {
        return begun.end(ending(stop));
    }
    let mut probing = Probing { experiment, quest, subject, stop, began, made: 0 };
    let Some(start) = probing.start(closed, &mut begun, watcher)? else {
        return begun.end(ending(stop));
    };
    let Sought { lowest, highest, precision, confirmations, .. } = quest.sought;
    let plan = Plan { start, lowest, highest, precision, confirmations };
    let found = probing.search(plan, rated, &mut begun, watcher)?;
    begun.write(Record::Found(found))?;
    let out_of_time = found.limit == SearchLimit::Budget;
    begun.end(if out_of_time { EndReason::Budget } else { ending(stop) })
}

/// The two workloads of a search on `model`: the closed loop that tells where to begin, and the one
/// whose rate is varied.
#[must_use]
pub fn workloads(model: &Workload) -> [Workload; 2] {
    let of = |name: &str, phase| Workload { name: name.to_owned(), phase, ..model.clone() };
    [of("closed-loop", Phase::Saturate), of("rate", Phase::Cost)]
}

fn ending(stop: &AtomicBool) -> EndReason {
    if stop.load(Ordering::Relaxed) { EndReason::Interrupted } else { EndReason::Complete }
}

/// All that one search needs for its runs.
struct Probing<'a> {
    experiment: &'a Experiment,
    quest: &'a Quest,
    subject: &'a Subject,
    stop: &'a AtomicBool,
    began: Instant,
    /// Runs so far.
    made: u32,
}

impl Probing<'_> {
    /// Where to begin, from what a closed loop reaches. None when a signal asked to end.
    fn start(
        &mut self,
        closed: &Workload,
        begun: &mut Begun,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<u64>, ExperimentError> {
        watcher.as_observer().on(&Progress::Running {
            name: &self.subject.variant.id.to_string(),
            workload: &closed.name,
            left: Duration::ZERO,
        });
        let Some(run) = self.run(closed, begun)? else { return Ok(None) };
        watcher.begun(measurement(&run));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate is not negative, and far below 2^53"
        )]
        Ok(Some(match measurement(&run) {
            Ok(it) => (it.load.requests_per_second * FIRST_SHARE) as u64,
            // The search says what is wrong, at the rate that asks the least.
            Err(_) => self.quest.sought.lowest,
        }))
    }

    fn search(
        &mut self,
        plan: Plan,
        rated: &Workload,
        begun: &mut Begun,
        watcher: &mut dyn Watcher,
    ) -> Result<Found, ExperimentError> {
        let mut search = Search::new(plan);
        while let Some(mut probe) = search.next_probe() {
            if self.is_late(rated, probe, plan.confirmations) {
                search.hurry();
                let Some(next) = search.next_probe() else { break };
                probe = next;
                if self.is_over(rated, probe) {
                    return Ok(search.found(Some(SearchLimit::Budget)));
                }
            }
            watcher.probing(probe);
            let Some(run) = self.run(&at(rated, probe), begun)? else {
                return Ok(search.found(Some(SearchLimit::Interrupted)));
            };
            let measured = measurement(&run);
            let kept = measured.map(|it| (it, it.keeps(&self.quest.sought.objectives)));
            watcher.probed(probe, kept.as_ref().map(|(it, kept)| (*it, kept)).map_err(|it| *it));
            search.saw(match kept {
                Ok((_, Kept::Holds)) => Saw::Holds,
                Ok((_, Kept::Misses { by, .. })) => Saw::Misses(by),
                Err(_) => Saw::Misses(Side::Server),
            });
        }
        Ok(search.found(None))
    }

    /// One run, written down. None when a signal asked to end.
    fn run(
        &mut self,
        workload: &Workload,
        begun: &mut Begun,
    ) -> Result<Option<Run>, ExperimentError> {
        let cell = Cell {
            subject: self.subject,
            copy: 0,
            workload,
            block: self.made,
            counts: Counts::Pilot,
            position: 0,
            verified: self.experiment.verification == Verification::Full,
            best: Best::default(),
        };
        let Some(run) = self.experiment.bench.run(&cell, self.stop) else { return Ok(None) };
        self.made += 1;
        begun.write(Record::Run(Box::new(run.clone())))?;
        Ok(Some(run))
    }

    /// Whether the budget would not suffice for this probe, its repetition, and the confirmation.
    fn is_late(&self, rated: &Workload, probe: Probe, confirmations: u32) -> bool {
        let confirming = Kind::Confirm { number: 1, of: confirmations };
        let confirming = Probe { kind: confirming, ..probe };
        let after = estimate(&at(rated, confirming)) * confirmations;
        let now = match (probe.kind, probe.attempt) {
            (Kind::Confirm { .. }, _) => return self.is_over(rated, probe),
            (_, Attempt::First) => estimate(&at(rated, probe)) * 2,
            (_, Attempt::Again) => estimate(&at(rated, probe)),
        };
        self.quest.budget.is_some_and(|budget| self.began.elapsed() + now + after > budget)
    }

    /// Whether the budget would not suffice for this probe.
    fn is_over(&self, rated: &Workload, probe: Probe) -> bool {
        let end = self.began.elapsed() + estimate(&at(rated, probe));
        self.quest.budget.is_some_and(|budget| end > budget)
    }
}

/// The workload of one probe.
fn at(rated: &Workload, probe: Probe) -> Workload {
    let workload = rated.at_rate(probe.requests_per_second);
    let stop = match (probe.kind, rated.stop) {
        (Kind::Confirm { .. }, Stop::After(window)) => Stop::After(window * CONFIRMING_WINDOWS),
        (_, stop) => stop,
    };
    Workload { stop, ..workload }
}

fn measurement(run: &Run) -> Result<&Measurement, &str> {
    match &run.outcome {
        Outcome::Measured(measurement) => Ok(measurement),
        Outcome::Idle(_) => Err("silent connections have no rate"),
        Outcome::Failed { reason, .. } => Err(reason),
    }
}
