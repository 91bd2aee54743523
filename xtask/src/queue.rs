//! Runs steps next to each other in lanes. It does not know what a step does.
//!
//! A step may add further steps. One that fails stops only those that wait for it, so that one run reports every
//! failure.

use anyhow::{anyhow, ensure};
use std::{
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// Steps of one lane compete for the same thing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lane {
    /// Waits for registries.
    Net,
    /// Uses all CPUs, below the priority of the tests, which have time limits.
    Build,
    /// Waits for servers and timers most of the time.
    Tests,
    /// Needs the whole machine, and begins when nothing of the other lanes is left.
    Alone,
}

impl Lane {
    /// Steps of the lane that run at the same time.
    const fn width(self) -> usize {
        match self {
            Self::Net | Self::Build | Self::Alone => 1,
            Self::Tests => 2,
        }
    }
}

/// The order of the steps of a lane that may begin.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Priority {
    First,
    Usual,
    Late,
}

type Work<'a> = Box<dyn FnOnce(&Queue<'a>) -> anyhow::Result<()> + Send + 'a>;

struct Step<'a> {
    priority: Priority,
    title: String,
    lane: Lane,
    after: Vec<String>,
    work: Work<'a>,
}

/// Steps in their order: of those of a lane that may begin, the first one does.
#[derive(Default)]
pub(crate) struct Queue<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

#[derive(Default)]
struct State<'a> {
    waiting: Vec<Step<'a>>,
    running: Vec<Lane>,
    /// Each step that has ended, with its error if it failed.
    ended: BTreeMap<String, Result<(), String>>,
}

impl<'a> Queue<'a> {
    /// Adds a step that begins after those with the titles `after` have passed. They may be added later than this one.
    pub(crate) fn add(
        &self,
        lane: Lane,
        title: &str,
        after: &[&str],
        work: impl FnOnce(&Self) -> anyhow::Result<()> + Send + 'a,
    ) {
        self.add_as(Priority::Usual, lane, title, after, work);
    }

    /// Adds a step that begins before or after others of its lane.
    pub(crate) fn add_as(
        &self,
        priority: Priority,
        lane: Lane,
        title: &str,
        after: &[&str],
        work: impl FnOnce(&Self) -> anyhow::Result<()> + Send + 'a,
    ) {
        let after = after.iter().map(|&it| it.to_owned()).collect();
        let (title, work) = (title.to_owned(), Box::new(work));
        let waiting = &mut self.lock().waiting;
        let place = waiting.partition_point(|step| step.priority <= priority);
        waiting.insert(place, Step { priority, title, lane, after, work });
        self.changed.notify_all();
    }

    /// Runs all steps, and fails with the errors of those that failed and the titles of those that did not run.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let threads = [Lane::Net, Lane::Build, Lane::Tests].map(Lane::width).iter().sum();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.work());
            }
        });
        let state = self.lock();
        let failed = state
            .ended
            .iter()
            .filter_map(|(title, result)| Some(format!("{title}: {}", result.as_ref().err()?)));
        let mut lines: Vec<String> = failed.collect();
        let left: Vec<&str> = state.waiting.iter().map(|step| step.title.as_str()).collect();
        if !left.is_empty() {
            lines.push(format!("not run: {}", left.join(", ")));
        }
        ensure!(lines.is_empty(), "failed:\n{}", lines.join("\n"));
        Ok(())
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            let Some(index) = state.next() else {
                // Only a step that runs can add another one, or allow it to begin.
                if state.running.is_empty() {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Step { title, lane, work, .. } = state.waiting.remove(index);
            state.running.push(lane);
            drop(state);
            // Other steps would wait for the lane of one that panics.
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(self)))
                .unwrap_or_else(|_| Err(anyhow!("panicked")))
                .map_err(|error| format!("{error:#}"));
            if result.is_err() {
                println!("\n== {title}: failed");
            }
            state = self.lock();
            let place = state.running.iter().position(|it| *it == lane);
            place.map(|place| state.running.swap_remove(place));
            state.ended.insert(title, result);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State<'_> {
    /// The step that may begin now.
    fn next(&self) -> Option<usize> {
        self.waiting.iter().position(|step| {
            let has_room = match step.lane {
                Lane::Alone => {
                    let may_come = |it: &Step<'_>| it.lane != Lane::Alone && !self.is_stopped(it);
                    self.running.is_empty() && !self.waiting.iter().any(may_come)
                }
                lane => {
                    let running = self.running.iter().filter(|it| **it == lane).count();
                    running < lane.width() && !self.running.contains(&Lane::Alone)
                }
            };
            has_room && step.after.iter().all(|title| self.ended.get(title) == Some(&Ok(())))
        })
    }

    /// Tells if the step can never run, because one that it waits for failed, or never runs itself. Asked when no
    /// step runs that could add others.
    fn is_stopped(&self, step: &Step<'_>) -> bool {
        step.after.iter().any(|title| match self.ended.get(title) {
            Some(result) => result.is_err(),
            None => self.waiting.iter().all(|it| it.title != *title || self.is_stopped(it)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn a_step_that_fails_stops_those_that_wait_for_it_and_no_other() {
        let ended = Mutex::new(Vec::new());
        let done = |name: &'static str| {
            let ended = &ended;
            move |_: &Queue<'_>| {
                ended.lock().unwrap().push(name);
                Ok(())
            }
        };
        let queue = Queue::default();
        queue.add(Lane::Alone, "alone", &["added"], done("alone"));
        queue.add(Lane::Build, "second", &["first"], |queue| {
            queue.add(Lane::Tests, "added", &[], done("added"));
            Ok(())
        });
        queue.add(Lane::Tests, "first", &[], done("first"));
        queue.add(Lane::Build, "fails", &[], |_| bail!("no"));
        queue.add(Lane::Net, "panics", &[], |_| panic!("at once"));
        queue.add(Lane::Tests, "child", &["fails"], done("child"));
        queue.add(Lane::Build, "grandchild", &["child"], done("grandchild"));
        queue.add(Lane::Net, "waits for nothing that comes", &["absent"], done("never"));
        let error = queue.run().unwrap_err().to_string();
        let not_run = "child, grandchild, waits for nothing that comes";
        assert_eq!(error, format!("failed:\nfails: no\npanics: panicked\nnot run: {not_run}"));
        assert_eq!(*ended.lock().unwrap(), ["first", "added", "alone"]);
    }

    #[test]
    fn steps_are_ordered_by_priority_and_then_as_they_were_added() {
        let queue = Queue::default();
        use Priority::{First, Late, Usual};
        for (priority, title) in [(Late, "d"), (Usual, "b"), (First, "a"), (Usual, "c")] {
            queue.add_as(priority, Lane::Tests, title, &[], |_| Ok(()));
        }
        let titles: Vec<String> =
            queue.lock().waiting.iter().map(|step| step.title.clone()).collect();
        assert_eq!(titles, ["a", "b", "c", "d"]);
    }

    #[test]
    fn lanes_limit_what_runs_at_the_same_time() {
        let may_begin = |lane, running: &[Lane]| {
            let queue = Queue::default();
            queue.add(lane, "a", &[], |_| Ok(()));
            let mut state = queue.lock();
            state.running = running.to_vec();
            state.next().is_some()
        };
        use Lane::{Alone, Build, Net, Tests};
        assert!(may_begin(Build, &[Tests, Net]) && !may_begin(Build, &[Build]));
        assert!(may_begin(Tests, &[Build, Tests]));
        assert!(!may_begin(Tests, &[Tests, Tests]));
        assert!(may_begin(Alone, &[]) && !may_begin(Alone, &[Tests]));
        assert!([Net, Build, Tests, Alone].iter().all(|lane| !may_begin(*lane, &[Alone])));
    }
}
