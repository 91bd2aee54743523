//! A ring of a fixed size without a lock: one thread pushes, any thread pops.

use std::{
    fmt,
    ptr::NonNull,
    sync::atomic::{
        AtomicPtr, AtomicUsize,
        Ordering::{AcqRel, Acquire, Relaxed, Release},
    },
};

use super::{BOUND, Queue, Task};
use crate::fiber::{Fiber, Ready};

/// Only the worker that owns it pushes. `head` and `tail` count up for ever; a place is one of them modulo the size.
/// Places from `head` to `tail` hold fibers. The owner never writes to one of them, so that what a thief has read
/// before it moves `head` forward is still there when that succeeds.
pub struct BoundedSpmc {
    places: Box<[AtomicPtr<Fiber>]>,
    /// The first fiber. Whoever moves it forward owns what was there.
    head: AtomicUsize,
    /// Behind the last fiber. Only the owner moves it.
    tail: AtomicUsize,
}

impl Default for BoundedSpmc {
    fn default() -> Self {
        Self::with_places(BOUND)
    }
}

impl BoundedSpmc {
    fn with_places(count: usize) -> Self {
        let places = (0..count).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        Self { places, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) }
    }

    fn place(&self, number: usize) -> &AtomicPtr<Fiber> {
        &self.places[number % self.places.len()]
    }
}

impl Queue for BoundedSpmc {
    fn push(&self, task: Task) -> Result<(), Task> {
        let tail = self.tail.load(Relaxed);
        // Acquire: a thief has read its place before it moved the head.
        if tail.wrapping_sub(self.head.load(Acquire)) >= self.places.len() {
            return Err(task);
        }
        self.place(tail).store(task.0.into_place().as_ptr(), Relaxed);
        self.tail.store(tail.wrapping_add(1), Release);
        Ok(())
    }

    fn pop(&self) -> Option<Task> {
        let mut head = self.head.load(Acquire);
        loop {
            if head == self.tail.load(Acquire) {
                return None;
            }
            let fiber = self.place(head).load(Relaxed);
            match self.head.compare_exchange_weak(head, head.wrapping_add(1), AcqRel, Acquire) {
                Ok(_) => {
                    let place = NonNull::new(fiber)?;
                    // SAFETY: it was pushed, and moving the head made it this thread's alone.
                    return Some(Task(unsafe { Ready::from_place(place) }));
                }
                Err(now) => head = now,
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.head.load(Acquire) == self.tail.load(Acquire)
    }
}

impl Drop for BoundedSpmc {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

impl fmt::Debug for BoundedSpmc {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, tail) = (self.head.load(Relaxed), self.tail.load(Relaxed));
        formatter.debug_struct("BoundedSpmc").field("head", &head).field("tail", &tail).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicBool, AtomicU64},
        thread,
    };

    fn task() -> Task {
        Task(Ready::new(|| ()).unwrap())
    }

    #[test]
    fn a_full_ring_gives_the_fiber_back_and_order_is_kept() {
        let ring = BoundedSpmc::with_places(2);
        let places: Vec<_> = (0..2)
            .map(|_| {
                let task = task();
                let place = task.0.place();
                assert!(ring.push(task).is_ok());
                place
            })
            .collect();
        assert!(ring.push(task()).is_err());
        assert_eq!(ring.pop().map(|it| it.0.place()), Some(places[0]));
        assert!(ring.push(task()).is_ok());
        assert_eq!(ring.pop().map(|it| it.0.place()), Some(places[1]));
        assert!(ring.pop().is_some() && ring.pop().is_none() && ring.is_empty());
    }

    #[test]
    fn each_fiber_is_popped_once_by_thieves_and_owner() {
        let ring = BoundedSpmc::with_places(8);
        let (popped, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Acquire) || !ring.is_empty() {
                        if ring.pop().is_some() {
                            popped.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
            for _ in 0..20_000 {
                let mut task = task();
                while let Err(back) = ring.push(task) {
                    task = back;
                    if ring.pop().is_some() {
                        popped.fetch_add(1, Relaxed);
                    }
                }
            }
            is_over.store(true, Release);
        });
        assert_eq!(popped.load(Relaxed), 20_000);
    }
}
