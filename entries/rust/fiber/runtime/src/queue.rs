//! Run queues. Each takes fibers at its end and gives them from its front.

mod spmc;

pub use spmc::BoundedSpmc;

use crossbeam_queue::{ArrayQueue, SegQueue};
use std::{
    collections::VecDeque,
    fmt,
    sync::{Mutex, PoisonError},
};

use crate::fiber::Ready;

/// Fibers that a bounded queue holds.
pub(crate) const BOUND: usize = 1024;

/// A fiber in a queue.
#[derive(Debug)]
pub struct Task(pub(crate) Ready);

impl Task {
    /// For a fiber that can go on from now on.
    pub(crate) fn new(fiber: Ready) -> Self {
        fiber.begin_ready();
        Self(fiber)
    }
}

/// A run queue that any thread pops from. Its owner pushes to it, and with [`AnyProducer`] any thread.
pub trait Queue: fmt::Debug + Default + Send + Sync + 'static {
    /// Puts a fiber at the end; returns it if there is no room.
    fn push(&self, task: Task) -> Result<(), Task>;
    /// Takes the first one.
    fn pop(&self) -> Option<Task>;
    /// Whether there is none at the moment.
    fn is_empty(&self) -> bool;
}

/// A queue that any thread pushes to.
pub trait AnyProducer: Queue {}

impl AnyProducer for Locking {}
impl AnyProducer for BoundedMpmc {}
impl AnyProducer for SimpleMpmc {}

/// A deque behind a lock, without a bound.
#[derive(Debug, Default)]
pub struct Locking(Mutex<VecDeque<Task>>);

impl Queue for Locking {
    fn push(&self, task: Task) -> Result<(), Task> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(task);
        Ok(())
    }

    fn pop(&self) -> Option<Task> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// A ring of a fixed size without a lock, for many producers and consumers: crossbeam's, after Vyukov.
#[derive(Debug)]
pub struct BoundedMpmc(ArrayQueue<Task>);

impl Default for BoundedMpmc {
    fn default() -> Self {
        Self(ArrayQueue::new(BOUND))
    }
}

impl Queue for BoundedMpmc {
    fn push(&self, task: Task) -> Result<(), Task> {
        self.0.push(task)
    }

    fn pop(&self) -> Option<Task> {
        self.0.pop()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A list of blocks without a lock and without a bound, for many producers and consumers: crossbeam's.
#[derive(Debug, Default)]
pub struct SimpleMpmc(SegQueue<Task>);

impl Queue for SimpleMpmc {
    fn push(&self, task: Task) -> Result<(), Task> {
        self.0.push(task);
        Ok(())
    }

    fn pop(&self) -> Option<Task> {
        self.0.pop()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
