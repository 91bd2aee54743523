//! Which worker runs which fiber.

use std::fmt;

use crate::{
    counters::{Event, count},
    queue::{AnyProducer, Locking, Queue, Task},
};

/// How often a worker looks into the common queue before its own: what it has itself must not starve the others.
const COMMON_EVERY: u32 = 61;

/// Where fibers that can go on wait for a worker.
pub trait Policy: fmt::Debug + Send + Sync + 'static {
    /// For this many workers.
    fn new(workers: usize) -> Self;
    /// Takes a fiber that can go on; `worker` is the one that made it so, if it was one.
    fn push(&self, worker: Option<usize>, task: Task);
    /// A fiber for this worker to run. `turn` counts the calls of the worker.
    fn pop(&self, worker: usize, turn: u32) -> Option<Task>;
    /// Whether there is a fiber that this worker could run.
    fn has_work(&self) -> bool;
}

/// One queue for all workers.
#[derive(Debug)]
pub struct Sharing<Q> {
    queue: Q,
    /// What did not fit into it.
    overflow: Locking,
}

impl<Q: AnyProducer> Policy for Sharing<Q> {
    fn new(_: usize) -> Self {
        Self { queue: Q::default(), overflow: Locking::default() }
    }

    fn push(&self, _: Option<usize>, task: Task) {
        if let Err(task) = self.queue.push(task) {
            let _ = self.overflow.push(task);
        }
    }

    fn pop(&self, _: usize, turn: u32) -> Option<Task> {
        let overflow = || self.overflow.pop();
        match turn.is_multiple_of(COMMON_EVERY) {
            true => overflow().or_else(|| self.queue.pop()),
            false => self.queue.pop().or_else(overflow),
        }
    }

    fn has_work(&self) -> bool {
        !self.queue.is_empty() || !self.overflow.is_empty()
    }
}

/// A queue for each worker. One that has nothing to do takes from the others.
#[derive(Debug)]
pub struct Stealing<Q> {
    own: Box<[Q]>,
    /// What comes from outside, and what did not fit.
    common: Locking,
}

impl<Q: Queue> Policy for Stealing<Q> {
    fn new(workers: usize) -> Self {
        Self { own: (0..workers).map(|_| Q::default()).collect(), common: Locking::default() }
    }

    fn push(&self, worker: Option<usize>, task: Task) {
        let pushed = match worker {
            Some(worker) => self.own[worker].push(task),
            None => Err(task),
        };
        if let Err(task) = pushed {
            let _ = self.common.push(task);
        }
    }

    fn pop(&self, worker: usize, turn: u32) -> Option<Task> {
        let common = || self.common.pop();
        let mine = || self.own[worker].pop();
        let first = match turn.is_multiple_of(COMMON_EVERY) {
            true => common().or_else(mine),
            false => mine().or_else(common),
        };
        let workers = self.own.len();
        // Each worker begins with another victim.
        let steal = || {
            (1..workers).find_map(|step| {
                let stolen = self.own[(worker + step) % workers].pop();
                stolen.inspect(|_| count(Event::Steal))
            })
        };
        first.or_else(steal)
    }

    fn has_work(&self) -> bool {
        !self.common.is_empty() || self.own.iter().any(|queue| !queue.is_empty())
    }
}
