//! Runs steps next to each other, as far as their groups allow. It does not know what a step does.
//!
//! A step that fails stops only those that wait for it, so that one run reports every failure.

use anyhow::ensure;
use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

/// Steps of [`Group::Waiting`] that run at the same time.
const WAITING: usize = 2;

/// How much of the machine a step uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Group {
    /// All CPUs: one at a time.
    Cpu,
    /// Little, because it waits for servers, timers or registries: some at a time, next to one of the group above.
    Waiting,
    /// Everything: it begins when all other steps have ended.
    Alone,
}

type Work<'a> = Box<dyn FnOnce() -> anyhow::Result<()> + Send + 'a>;

pub(crate) struct Step<'a> {
    title: String,
    group: Group,
    after: Vec<String>,
    work: Work<'a>,
}

/// A list of steps; of those that may begin, the first one does.
#[derive(Default)]
pub(crate) struct Queue<'a>(Vec<Step<'a>>);

impl<'a> Queue<'a> {
    /// Adds a step that begins after those with the titles `after` have passed.
    pub(crate) fn add(
        &mut self,
        group: Group,
        title: &str,
        after: &[&str],
        work: impl FnOnce() -> anyhow::Result<()> + Send + 'a,
    ) {
        let after = after.iter().map(|&it| it.to_owned()).collect();
        self.0.push(Step { title: title.to_owned(), group, after, work: Box::new(work) });
    }

    /// Runs all steps, and fails with the errors of those that failed and the titles of those that did not run.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let state = State { steps: self.0, running: Vec::new(), ended: BTreeMap::new() };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..=WAITING {
                scope.spawn(|| work(&state, &changed));
            }
        });
        let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed: Vec<String> = state
            .ended
            .into_iter()
            .filter_map(|(title, result)| Some(format!("{title}: {}", result.err()?)))
            .collect();
        let left: Vec<String> = state.steps.into_iter().map(|step| step.title).collect();
        let not_run =
            if left.is_empty() { String::new() } else { format!("\nnot run: {}", left.join(", ")) };
        ensure!(failed.is_empty(), "failed:\n{}{not_run}", failed.join("\n"));
        Ok(())
    }
}

struct State<'a> {
    /// Those that have not begun.
    steps: Vec<Step<'a>>,
    running: Vec<Group>,
    /// Each step that has ended, with its error if it failed.
    ended: BTreeMap<String, Result<(), String>>,
}

impl State<'_> {
    /// The step that may begin now.
    fn next(&self) -> Option<usize> {
        self.steps.iter().position(|step| {
            let running = |group| self.running.iter().filter(|it| **it == group).count();
            let has_room = match step.group {
                Group::Cpu => running(Group::Cpu) + running(Group::Alone) == 0,
                Group::Waiting => running(Group::Waiting) < WAITING && running(Group::Alone) == 0,
                Group::Alone => {
                    let is_first = |it: &Step<'_>| it.group != Group::Alone && !self.is_stopped(it);
                    self.running.is_empty() && !self.steps.iter().any(is_first)
                }
            };
            has_room && step.after.iter().all(|title| self.ended.get(title) == Some(&Ok(())))
        })
    }

    /// Whether it waits for a step that failed, or for one that never runs for that reason.
    fn is_stopped(&self, step: &Step<'_>) -> bool {
        step.after.iter().any(|title| match self.ended.get(title) {
            Some(result) => result.is_err(),
            None => self.steps.iter().any(|it| it.title == *title && self.is_stopped(it)),
        })
    }
}

fn work(state: &Mutex<State<'_>>, changed: &Condvar) {
    let mut now = state.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let Some(index) = now.next() else {
            // Nothing more can begin when nothing runs that could allow it.
            if now.running.is_empty() {
                return;
            }
            now = changed.wait(now).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let Step { title, group, work, .. } = now.steps.remove(index);
        now.running.push(group);
        drop(now);
        let result = work().map_err(|error| format!("{error:#}"));
        if result.is_err() {
            println!("\n== {title}: failed");
        }
        now = state.lock().unwrap_or_else(PoisonError::into_inner);
        let place = now.running.iter().position(|it| *it == group);
        place.map(|place| now.running.swap_remove(place));
        now.ended.insert(title, result);
        changed.notify_all();
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
            move || {
                ended.lock().unwrap().push(name);
                Ok(())
            }
        };
        let mut queue = Queue::default();
        queue.add(Group::Alone, "alone", &["second"], done("alone"));
        queue.add(Group::Cpu, "second", &["first"], done("second"));
        queue.add(Group::Waiting, "first", &[], done("first"));
        queue.add(Group::Cpu, "fails", &[], || bail!("no"));
        queue.add(Group::Waiting, "child", &["fails"], done("child"));
        queue.add(Group::Cpu, "grandchild", &["child"], done("grandchild"));
        let error = queue.run().unwrap_err().to_string();
        assert_eq!(error, "failed:\nfails: no\nnot run: child, grandchild");
        assert_eq!(*ended.lock().unwrap(), ["first", "second", "alone"]);
    }

    #[test]
    fn groups_limit_what_runs_at_the_same_time() {
        let step = |group| Step {
            title: "a".to_owned(),
            group,
            after: Vec::new(),
            work: Box::new(|| Ok(())),
        };
        let may_begin = |group, running: &[Group]| {
            let running = running.to_vec();
            State { steps: vec![step(group)], running, ended: BTreeMap::new() }.next().is_some()
        };
        use Group::{Alone, Cpu, Waiting};
        assert!(may_begin(Cpu, &[Waiting, Waiting]) && !may_begin(Cpu, &[Cpu]));
        assert!(may_begin(Waiting, &[Cpu, Waiting]) && !may_begin(Waiting, &[Waiting, Waiting]));
        assert!(may_begin(Alone, &[]) && !may_begin(Alone, &[Waiting]));
        assert!(!may_begin(Cpu, &[Alone]) && !may_begin(Waiting, &[Alone]));
    }
}
