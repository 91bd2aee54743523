//! A ring of a fixed size without a lock: one thread pushes, any thread pops.

use std::{
    fmt,
    ptr::NonNull,
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::{BOUND, Queue, Task};
use crate::{
    atomic::{AtomicPtr, AtomicUsize},
    fiber::{Fiber, Ready},
};

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
fn task(number: usize) -> Task {
    Task(Ready::of_number(number))
}

#[cfg(test)]
fn number(task: Task) -> usize {
    task.0.into_number()
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;
    use std::{
        sync::{
            Mutex,
            atomic::{AtomicBool, Ordering::SeqCst},
        },
        thread,
    };

    const TASKS: usize = if cfg!(miri) { 300 } else { 20_000 };

    #[test]
    fn a_full_ring_gives_the_fiber_back_and_order_is_kept() {
        let ring = BoundedSpmc::with_places(2);
        assert!(ring.push(task(1)).is_ok() && ring.push(task(2)).is_ok());
        assert_eq!(ring.push(task(3)).map_err(number), Err(3));
        assert_eq!(ring.pop().map(number), Some(1));
        assert!(ring.push(task(4)).is_ok());
        assert_eq!([ring.pop(), ring.pop()].map(|it| it.map(number)), [Some(2), Some(4)]);
        assert!(ring.pop().is_none() && ring.is_empty());
    }

    #[test]
    fn each_fiber_is_popped_once_by_thieves_and_owner() {
        let ring = BoundedSpmc::with_places(8);
        let (popped, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        let pop = || {
            let task = ring.pop();
            popped.lock().unwrap().extend(task.map(number));
        };
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(SeqCst) || !ring.is_empty() {
                        pop();
                    }
                });
            }
            for number in 1..=TASKS {
                let mut task = task(number);
                while let Err(back) = ring.push(task) {
                    task = back;
                    pop();
                }
            }
            is_over.store(true, SeqCst);
        });
        let mut popped = popped.into_inner().unwrap();
        popped.sort_unstable();
        assert_eq!(popped, Vec::from_iter(1..=TASKS));
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_tests {
    use super::*;
    use loom::{sync::Arc, thread};

    #[test]
    fn owner_and_thief_get_each_fiber_once_over_a_wrapped_ring() {
        loom::model(|| {
            let ring = Arc::new(BoundedSpmc::with_places(2));
            let other = Arc::clone(&ring);
            let thief = thread::spawn(move || {
                let stolen = [other.pop(), other.pop()];
                stolen.into_iter().flatten().map(number).collect::<Vec<_>>()
            });
            let mut seen = Vec::new();
            for index in 1..=4 {
                seen.extend(ring.push(task(index)).err().map(number));
            }
            let stolen = thief.join().unwrap();
            assert!(stolen.is_sorted(), "{stolen:?}");
            seen.extend(stolen);
            seen.extend(std::iter::from_fn(|| ring.pop()).map(number));
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 3, 4]);
        });
    }

    #[test]
    fn two_thieves_get_each_fiber_once() {
        loom::model(|| {
            let ring = Arc::new(BoundedSpmc::with_places(2));
            assert!(ring.push(task(1)).is_ok() && ring.push(task(2)).is_ok());
            let thieves = [(); 2].map(|()| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || ring.pop().map(number))
            });
            let mut seen: Vec<_> =
                thieves.into_iter().filter_map(|it| it.join().unwrap()).collect();
            seen.extend(std::iter::from_fn(|| ring.pop()).map(number));
            seen.sort_unstable();
            assert_eq!(seen, [1, 2]);
        });
    }
}
