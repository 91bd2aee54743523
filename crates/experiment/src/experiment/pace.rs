//! How long runs take: guessed from the plan until one has been made, learned from those that have
//! been. It reads no clock.

use jiff::Timestamp;
use std::time::Duration;
use wirebench_schema::{
    journal::{Counts, Journal, Run},
    suite::Workload,
};

use crate::plan::Step;

/// How far the time of runs may be off the plan for workloads of which none has been made.
const CORRECTION: (f64, f64) = (0.5, 5.0);

/// How long a run of each workload takes.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    guesses: Vec<Duration>,
    /// Time and number of the runs that have been made.
    made: Vec<(Duration, u32)>,
}

impl Pace {
    pub(super) fn new(workloads: &[Workload], estimate: impl Fn(&Workload) -> Duration) -> Self {
        let guesses: Vec<Duration> = workloads.iter().map(estimate).collect();
        Self { made: vec![(Duration::ZERO, 0); guesses.len()], guesses }
    }

    /// Takes in a run that has been made.
    pub(super) fn learn(&mut self, workload: usize, took: Duration) {
        let (time, runs) = &mut self.made[workload];
        *time += took;
        *runs += 1;
    }

    /// How long a run of a workload takes: the mean of those that have been made. Without one the
    /// plan's guess, corrected by how the guesses for the others have held.
    pub(super) fn of(&self, workload: usize) -> Duration {
        let (time, runs) = self.made[workload];
        if runs > 0 {
            return time / runs;
        }
        let pairs = || self.made.iter().zip(&self.guesses);
        let took: Duration = pairs().map(|((time, _), _)| *time).sum();
        let guessed: Duration = pairs().map(|((_, runs), guess)| *guess * *runs).sum();
        if guessed.is_zero() {
            return self.guesses[workload];
        }
        let correction = took.as_secs_f64() / guessed.as_secs_f64();
        self.guesses[workload].mul_f64(correction.clamp(CORRECTION.0, CORRECTION.1))
    }

    /// How long all of `steps` take.
    pub(super) fn sum<'a>(&self, steps: impl IntoIterator<Item = &'a Step>) -> Duration {
        let times = steps.into_iter().map(|step| self.of(step.workload));
        times.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// Takes in the runs of a journal that goes on. The answer is how long all of them took
    /// together, without the time in which nothing ran.
    pub(super) fn replay(&mut self, journal: &Journal, workloads: &[Workload]) -> Duration {
        let index = |run: &Run| workloads.iter().position(|it| it.name == run.workload);
        let mut spent = Duration::ZERO;
        for (number, run) in journal.runs.iter().enumerate() {
            let Some(workload) = index(run) else { continue };
            match time_until_next(journal, number) {
                Some(took) => {
                    spent += took;
                    if run.counts != Counts::Pilot {
                        self.learn(workload, took);
                    }
                }
                None => spent += self.of(workload),
            }
        }
        spent
    }
}

/// From the start of a run to the start of the next one, unless nothing ran in between.
fn time_until_next(journal: &Journal, number: usize) -> Option<Duration> {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let from = time(&journal.runs[number].started)?;
    let to = time(&journal.runs.get(number + 1)?.started)?;
    let mut gaps = journal.resumed.iter().filter_map(|resumed| time(&resumed.at));
    let is_gap = gaps.any(|at| from <= at && at <= to);
    (!is_gap).then(|| to.duration_since(from).try_into().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures, plan};

    fn workloads() -> Vec<Workload> {
        fixtures::suite("blocks = 1", &["duration = \"1s\""; 2]).workloads
    }

    #[test]
    fn the_time_of_a_workload_is_that_of_its_runs_and_corrects_the_guess_for_the_others() {
        let mut pace = Pace::new(&workloads(), plan::estimate);
        let guess = pace.of(0);
        pace.learn(0, guess * 2);
        pace.learn(0, guess * 4);
        assert_eq!((pace.of(0), pace.of(1)), (guess * 3, guess * 3));
        pace.learn(1, guess);
        assert_eq!(pace.of(1), guess);
        let mut off = Pace::new(&workloads(), plan::estimate);
        off.learn(0, guess * 1000);
        assert_eq!(off.of(1), guess.mul_f64(CORRECTION.1));
    }
}
