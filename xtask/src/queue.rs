//! Runs steps next to each other in lanes. It does not know what a step does.
//!
//! A step may add further steps, which is how a step waits for another one. One that fails stops no other, so that one
//! run reports every failure.

use anyhow::{anyhow, ensure};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// Steps of one lane compete for the same thing, and begin in the order in which they were added.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Lane {
    /// Waits for registries, one step at a time.
    Net,
    /// Uses all CPUs, one step at a time, below the priority of the tests, which have time limits.
    Build,
    /// Waits for servers and timers most of the time, two steps at a time.
    Tests,
    /// Needs the whole machine, and begins when nothing of the other lanes is left.
    Alone,
}

/// Lane, title and work of a step.
type Step<'a> = (Lane, String, Work<'a>);
type Work<'a> = Box<dyn FnOnce(&Queue<'a>, &str) -> anyhow::Result<()> + Send + 'a>;

#[derive(Default)]
pub(crate) struct Queue<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

#[derive(Default)]
struct State<'a> {
    waiting: Vec<Step<'a>>,
    running: usize,
    /// A text for each step that failed.
    failed: Vec<String>,
}

impl<'a> Queue<'a> {
    /// Adds a step, whose work gets the queue and the title.
    pub(crate) fn add(
        &self,
        lane: Lane,
        title: &str,
        work: impl FnOnce(&Self, &str) -> anyhow::Result<()> + Send + 'a,
    ) {
        self.lock().waiting.push((lane, title.to_owned(), Box::new(work)));
        self.changed.notify_all();
    }

    /// Runs all steps, and fails with the errors of those that failed.
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        thread::scope(|scope| {
            for lane in [Lane::Net, Lane::Build, Lane::Tests, Lane::Tests] {
                scope.spawn(move || self.work(lane));
            }
        });
        self.work(Lane::Alone);
        let failed = self.lock().failed.join("\n");
        ensure!(failed.is_empty(), "failed:\n{failed}");
        Ok(())
    }

    /// Runs the steps of a lane until no lane has one that could add another.
    fn work(&self, lane: Lane) {
        let mut state = self.lock();
        loop {
            let Some(place) = state.waiting.iter().position(|it| it.0 == lane) else {
                if state.running == 0 && state.waiting.iter().all(|it| it.0 == Lane::Alone) {
                    return;
                }
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (_, title, work) = state.waiting.remove(place);
            state.running += 1;
            drop(state);
            // The other lanes would wait for ever for one that panics.
            let result = panic::catch_unwind(AssertUnwindSafe(|| work(self, &title)))
                .unwrap_or_else(|_| Err(anyhow!("panicked")));
            state = self.lock();
            state.running -= 1;
            if let Err(error) = result {
                println!("\n== {title}: failed");
                state.failed.push(format!("{title}: {error:#}"));
            }
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;
    use std::sync::Barrier;

    #[test]
    fn a_step_that_fails_stops_no_other_and_what_is_alone_comes_last() {
        let (ended, together) = (Mutex::new(Vec::new()), Barrier::new(2));
        let done = |_: &Queue<'_>, title: &str| {
            ended.lock().unwrap().push(title.to_owned());
            Ok(())
        };
        let queue = Queue::default();
        queue.add(Lane::Alone, "alone", done);
        queue.add(Lane::Net, "panics", |_, _| panic!("at once"));
        queue.add(Lane::Build, "fails", |_, _| bail!("no"));
        queue.add(Lane::Build, "second", |queue, title| {
            done(queue, title)?;
            // Neither goes on without the other.
            for title in ["one", "two"] {
                queue.add(Lane::Tests, title, |_, _| {
                    together.wait();
                    Ok(())
                });
            }
            queue.add(Lane::Net, "added", done);
            Ok(())
        });
        let error = queue.run().unwrap_err().to_string();
        assert!(error.starts_with("failed:\n"), "{error}");
        assert!(error.contains("\nfails: no") && error.contains("\npanics: panicked"), "{error}");
        assert_eq!(*ended.lock().unwrap(), ["second", "added", "alone"]);
    }
}
