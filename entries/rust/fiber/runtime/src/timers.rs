//! What happens at a time: fibers that sleep, and sockets that fibers wait for no longer than until then.
//!
//! A timeout of a socket is a number in its [`Source`]. Arming and cancelling one is a store, because a timer that
//! finds a later time, or none, only looks again then.

use std::{
    cmp::Ordering,
    collections::BinaryHeap,
    sync::{
        Mutex, PoisonError,
        atomic::{
            AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed},
        },
    },
};

use crate::{fiber::Ready, poller::Source};

/// What is to be done at a time.
#[derive(Debug)]
enum What {
    Wake(Ready),
    Look(&'static Source),
}

#[derive(Debug)]
struct Entry {
    at_ns: u64,
    what: What,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.at_ns == other.at_ns
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    /// The earliest is the greatest, for a heap that gives its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_ns.cmp(&self.at_ns)
    }
}

/// All timers of a runtime.
#[derive(Debug)]
pub(crate) struct Timers {
    heap: Mutex<BinaryHeap<Entry>>,
    /// The earliest time, or `u64::MAX`, so that looking costs no lock.
    next_ns: AtomicU64,
}

impl Timers {
    pub(crate) const fn new() -> Self {
        Self { heap: Mutex::new(BinaryHeap::new()), next_ns: AtomicU64::new(u64::MAX) }
    }

    /// When the next one is due, or `u64::MAX`.
    pub(crate) fn next_ns(&self) -> u64 {
        self.next_ns.load(Relaxed)
    }

    /// Wakes a fiber then. The answer is whether it is the earliest now.
    pub(crate) fn wake_at(&self, at_ns: u64, fiber: Ready) -> bool {
        self.add(Entry { at_ns, what: What::Wake(fiber) })
    }

    /// Looks at a source then. Nothing is done if a timer will look at it anyway, and not later.
    pub(crate) fn look_at(&self, at_ns: u64, source: &'static Source) -> bool {
        // What the fiber has stored before is seen by a timer that this relies on.
        let is_new = source.timed_ns.fetch_min(at_ns, AcqRel) > at_ns;
        is_new && self.add(Entry { at_ns, what: What::Look(source) })
    }

    fn add(&self, entry: Entry) -> bool {
        let at_ns = entry.at_ns;
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        heap.push(entry);
        let is_first = heap.peek().is_some_and(|it| it.at_ns == at_ns);
        if is_first {
            self.next_ns.store(at_ns, Relaxed);
        }
        is_first
    }

    /// Does what is due, and hands over the fibers that go on.
    pub(crate) fn expire(&self, now_ns: u64, ready: &mut dyn FnMut(Ready)) {
        if now_ns < self.next_ns() {
            return;
        }
        // A fiber that goes on may set timers, and must not meet the lock.
        let mut woken = Vec::new();
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        while heap.peek().is_some_and(|it| it.at_ns <= now_ns) {
            let Some(Entry { at_ns, what }) = heap.pop() else { break };
            match what {
                What::Wake(fiber) => woken.push(fiber),
                What::Look(source) => {
                    // Unless another timer will look at it before.
                    let timed_ns = &source.timed_ns;
                    let _ = timed_ns.compare_exchange(at_ns, u64::MAX, AcqRel, Acquire);
                    for (until_ns, slot) in
                        [(&source.read_until, &source.read), (&source.write_until, &source.write)]
                    {
                        if until_ns.load(Relaxed) <= now_ns {
                            woken.extend(slot.wake());
                        }
                    }
                    let times = [&source.read_until, &source.write_until];
                    let later =
                        times.map(|it| it.load(Relaxed)).into_iter().filter(|it| *it > now_ns);
                    // The next time of a socket that goes on may be long after this one.
                    if let Some(at_ns) = later.min().filter(|it| *it < u64::MAX)
                        && timed_ns.fetch_min(at_ns, Relaxed) > at_ns
                    {
                        heap.push(Entry { at_ns, what: What::Look(source) });
                    }
                }
            }
        }
        self.next_ns.store(heap.peek().map_or(u64::MAX, |it| it.at_ns), Relaxed);
        drop(heap);
        woken.into_iter().for_each(ready);
    }

    /// A fiber that sleeps, once no worker runs any more.
    pub(crate) fn any_sleeping(&self) -> Option<Ready> {
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(entry) = heap.pop() {
            if let What::Wake(fiber) = entry.what {
                return Some(fiber);
            }
        }
        None
    }
}
