//! Carries a search for the highest rate out: each probe is a run with a fresh server and is in the
//! journal before the next one begins. What is tried next is decided by [`Search`], and whether a
//! run holds by [`keeps`].

use std::{
    slice::from_ref,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_catalogue::subject::Subject;
use wirebench_judge::objectives::{ObjectiveResult, Side, keeps};
use wirebench_schema::{
    journal::{
        Counts, EndReason, Measurement, Outcome, Record, Run, SearchLimit, SearchResult, SearchSpec,
    },
    load::{LoadModel, Stop},
    suite::{Phase, Workload},
};

use super::{Plan, ProbeResult, Search};
use crate::{
    experiment::{Experiment, ExperimentError, Finished, Observer, Prepared, Progress},
    journal::OpenJournal,
    measure::Cell,
    plan::estimate,
};

/// The share of what a closed loop reaches with which the search begins: most servers hold it.
const FIRST_SHARE: f64 = 0.25;
/// No more runs are made, unless a number of them is asked for.
const RUNS_MOST: u32 = 40;
/// The windows of a confirmation are this many times as long: a backlog that grows slowly is seen only in them, and a
/// credit for bursts is used up.
const CONFIRMING_WINDOWS: u32 = 5;
const CONFIRMATIONS_MOST: u32 = 6;

/// The goal of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchGoal {
    pub sought: SearchSpec,
    /// The search ends in about this time.
    pub budget: Option<Duration>,
}

/// Observes the search and receives the result of each probe.
pub trait Watcher: Observer {
    /// A closed loop was run, to see where to begin.
    fn begun(&mut self, closed_loop: Result<&Measurement, &str>);
    /// A run at this rate begins.
    fn probing(&mut self, requests_per_second: u64);
    /// It has ended and is in the journal. Without figures it has failed.
    fn probed(
        &mut self,
        requests_per_second: u64,
        outcome: Result<(&Measurement, &ObjectiveResult), &str>,
    );
    /// The same receiver as a plain observer.
    fn as_observer(&mut self) -> &mut dyn Observer;
}

/// Verifies the one subject that is ready, finds with a closed loop where to begin, searches, and
/// writes all of it down. The experiment's workloads are those of [`workloads`].
pub fn seek(
    experiment: &Experiment,
    quest: &SearchGoal,
    prepared: &Prepared,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Finished, ExperimentError> {
    let began = Instant::now();
    let mut begun = OpenJournal::new(experiment, prepared, stop, watcher.as_observer())?;
    begun.write(Record::SearchStarted(quest.sought.clone()))?;
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
    let SearchSpec { lowest, highest, precision, most_runs, .. } = quest.sought;
    let most_runs = most_runs.unwrap_or(RUNS_MOST);
    let plan = Plan { start, lowest, highest, precision, most_runs };
    let mut found = probing.search(plan, rated, &mut begun, watcher)?;
    if !matches!(found.limit, SearchLimit::Budget | SearchLimit::Interrupted) {
        probing.confirm(&mut found, [closed, rated], &mut begun, watcher)?;
    }
    begun.write(Record::SearchResult(found))?;
    let out_of_time = found.limit == SearchLimit::Budget;
    begun.end(if out_of_time { EndReason::Budget } else { ending(stop) })
}

/// The two workloads of a search on `model`: the closed loop that tells where to begin, and the one
/// whose rate is varied.
#[must_use]
pub fn workloads(model: &Workload) -> [Workload; 2] {
    let of = |name: &str, phase| Workload { name: name.to_owned(), phase, ..model.clone() };
    let closed = Workload { model: LoadModel::Closed, ..of("closed-loop", Phase::Saturate) };
    [closed, of("rate", Phase::Cost)]
}

fn ending(stop: &AtomicBool) -> EndReason {
    if stop.load(Ordering::Relaxed) { EndReason::Interrupted } else { EndReason::Complete }
}

/// All that one search needs for its runs.
struct Probing<'a> {
    experiment: &'a Experiment,
    quest: &'a SearchGoal,
    subject: &'a Subject,
    stop: &'a AtomicBool,
    began: Instant,
    made: u32,
}

impl Probing<'_> {
    /// Where to begin, from what a closed loop reaches. None when a signal asked to end.
    fn start(
        &mut self,
        closed: &Workload,
        begun: &mut OpenJournal,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<u64>, ExperimentError> {
        if !self.subject.allows_full_speed() {
            // Nothing is known before the first rate, and a closed loop would exceed all of them.
            return Ok(Some(first_rate(self.quest.sought.highest as f64)));
        }
        watcher.as_observer().on(&Progress::Running {
            name: &self.subject.variant.id.to_string(),
            workload: &closed.name,
            left: Duration::ZERO,
        });
        let Some(run) = self.runs(from_ref(closed), begun)?.pop() else { return Ok(None) };
        watcher.begun(measurement(&run));
        Ok(Some(match measurement(&run) {
            Ok(it) => first_rate(it.load.requests_per_second),
            // The search says what is wrong, at the rate that asks the least.
            Err(_) => self.quest.sought.lowest,
        }))
    }

    fn search(
        &mut self,
        plan: Plan,
        rated: &Workload,
        begun: &mut OpenJournal,
        watcher: &mut dyn Watcher,
    ) -> Result<SearchResult, ExperimentError> {
        let mut search = Search::new(plan);
        while let Some(rate) = search.next_rate() {
            match self.probe(rate, &[rated.at_rate(rate)], begun, watcher)? {
                Err(limit) => return Ok(search.found(Some(limit))),
                Ok((_, Some(ObjectiveResult::Holds))) => search.saw(rate, ProbeResult::Holds),
                Ok((_, Some(ObjectiveResult::Misses { by, .. }))) => {
                    search.saw(rate, ProbeResult::Misses(by));
                }
                Ok((_, None)) => search.saw(rate, ProbeResult::Misses(Side::Server)),
            }
        }
        Ok(search.found(None))
    }

    /// Lowers the rate that was found until it holds on a process that was saturated just before.
    fn confirm(
        &mut self,
        found: &mut SearchResult,
        [closed, rated]: [&Workload; 2],
        begun: &mut OpenJournal,
        watcher: &mut dyn Watcher,
    ) -> Result<(), ExperimentError> {
        let (searched, mut ended) = (found.requests_per_second, None);
        let longer = |of: Workload| Workload {
            stop: match of.stop {
                Stop::After(window) => Stop::After(window * CONFIRMING_WINDOWS),
                Stop::Requests(_) | Stop::RequestsPerConnection(_) => of.stop,
            },
            ..of
        };
        while let Some(rate) = found.requests_per_second
            && found.held == 0
            && found.confirmations < CONFIRMATIONS_MOST
        {
            let mut both = vec![longer(closed.clone()), longer(rated.at_rate(rate))];
            both.retain(|it| it.phase != Phase::Saturate || self.subject.allows_full_speed());
            match self.probe(rate, &both, begun, watcher)? {
                Err(limit) => {
                    ended = Some(limit);
                    break;
                }
                Ok((achieved, kept)) => {
                    take_in(found, (rate, achieved), kept.as_ref(), &self.quest.sought);
                }
            }
        }
        // A rate that was lowered and not confirmed is none that holds.
        if found.held == 0 && found.requests_per_second != searched {
            found.requests_per_second = None;
            found.limit = ended.unwrap_or(found.limit);
        }
        Ok(())
    }

    /// The last of some runs of one process, at `rate`: what it achieved and what the objectives say of it, which is
    /// nothing if it failed. An inner error is the reason for which there is none.
    fn probe(
        &mut self,
        rate: u64,
        workloads: &[Workload],
        begun: &mut OpenJournal,
        watcher: &mut dyn Watcher,
    ) -> Result<Result<(f64, Option<ObjectiveResult>), SearchLimit>, ExperimentError> {
        let end = self.began.elapsed() + workloads.iter().map(estimate).sum::<Duration>();
        if self.quest.budget.is_some_and(|budget| end > budget) {
            return Ok(Err(SearchLimit::Budget));
        }
        watcher.probing(rate);
        let Some(run) = self.runs(workloads, begun)?.pop() else {
            return Ok(Err(SearchLimit::Interrupted));
        };
        let measured = measurement(&run);
        let kept = measured.map(|it| (it, keeps(it, &self.quest.sought.objectives)));
        watcher.probed(rate, kept.as_ref().map(|(it, kept)| (*it, kept)).map_err(|it| *it));
        let achieved = measured.map_or(f64::MAX, |it| it.load.requests_per_second);
        Ok(Ok((achieved, kept.ok().map(|(_, kept)| kept))))
    }

    /// Runs of the same process, written down. They are none when a signal asked to end.
    fn runs(
        &mut self,
        workloads: &[Workload],
        begun: &mut OpenJournal,
    ) -> Result<Vec<Run>, ExperimentError> {
        let cell = |workload| Cell {
            subject: self.subject,
            copy: 0,
            workload,
            block: self.made,
            counts: Counts::Pilot,
            position: 0,
            verification: self.experiment.verification,
        };
        let cells: Vec<Cell<'_>> = workloads.iter().map(cell).collect();
        let mut runs = Vec::new();
        let each = &mut |run| {
            runs.push(run);
            Ok(())
        };
        self.experiment.settings.run_together(&cells, self.stop, each)?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        self.made += 1;
        for run in &runs {
            begun.write(Record::Run(Box::new(run.clone())))?;
        }
        Ok(runs)
    }
}

/// Takes in what the objectives say of a confirmation at `rate`, or that it failed.
fn take_in(
    found: &mut SearchResult,
    (rate, achieved): (u64, f64),
    saw: Option<&ObjectiveResult>,
    &SearchSpec { lowest, precision, .. }: &SearchSpec,
) {
    found.confirmations += 1;
    found.disturbed = None;
    match saw {
        Some(ObjectiveResult::Holds) => {
            found.held += 1;
            return;
        }
        Some(ObjectiveResult::Misses { by: Side::Generator | Side::Others, .. }) => {
            found.disturbed = Some(rate);
            return;
        }
        Some(ObjectiveResult::Misses { by: Side::Server, .. }) | None => {}
    }
    found.missed = Some(found.missed.map_or(rate, |missed| missed.min(rate)));
    let lower = (rate as f64 * (1.0 - precision)).min(achieved) as u64;
    found.requests_per_second = Some(lower).filter(|it| *it >= lowest);
    // What fresh processes did is no interval of what this one holds.
    (found.low, found.high, found.limit) = (None, None, SearchLimit::Server);
}

/// Where a search begins on a server that does at most so much.
fn first_rate(most: f64) -> u64 {
    (most * FIRST_SHARE) as u64
}

fn measurement(run: &Run) -> Result<&Measurement, &str> {
    match &run.outcome {
        Outcome::Measured(measurement) => Ok(measurement),
        Outcome::Idle(_) => Err("silent connections have no rate"),
        Outcome::Failed { reason, .. } => Err(reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_that_the_server_misses_lowers_the_answer_and_one_of_others_does_not() {
        let sought = SearchSpec {
            variant: "own/server".parse().unwrap(),
            workload: "rate".to_owned(),
            objectives: Vec::new(),
            precision: 0.02,
            most_runs: None,
            confirmations: 0,
            lowest: 100,
            highest: 10_000,
        };
        let mut found = SearchResult {
            requests_per_second: Some(1000),
            low: None,
            high: Some(1100),
            missed: None,
            held: 0,
            confirmations: 0,
            disturbed: None,
            runs: 9,
            limit: SearchLimit::Others,
        };
        let misses = |by| ObjectiveResult::Misses { by, reasons: Vec::new() };
        let mut saw = |rate, achieved, saw: Option<ObjectiveResult>| {
            take_in(&mut found, (rate, achieved), saw.as_ref(), &sought);
            (found.disturbed, found.requests_per_second, found.missed, found.high)
        };
        let others = saw(1000, 500.0, Some(misses(Side::Others)));
        assert_eq!(others, (Some(1000), Some(1000), None, Some(1100)));
        let by_step = saw(1000, 990.0, Some(misses(Side::Server)));
        assert_eq!(by_step, (None, Some(980), Some(1000), None));
        // What it did is nearer to what it can do.
        let by_rate = saw(980, 400.0, Some(misses(Side::Server)));
        assert_eq!(by_rate, (None, Some(400), Some(980), None));
        assert_eq!(saw(400, 400.0, Some(ObjectiveResult::Holds)).0, None);
        assert_eq!(saw(101, f64::MAX, None).1, None, "nothing below the lowest rate is an answer");
        assert_eq!((found.confirmations, found.held), (5, 1));
    }
}
