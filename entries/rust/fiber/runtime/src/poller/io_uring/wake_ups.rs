//! How workers that wait in their rings are woken.

use rustix::{
    event::{EventfdFlags, eventfd},
    fd::{AsFd, AsRawFd, OwnedFd, RawFd},
};
use std::io;

use crate::spin::Spin;

/// An event of each worker, which its ring reads, and the workers that wait.
#[derive(Debug)]
pub(super) struct WakeUps {
    events: Vec<OwnedFd>,
    waiting: Spin<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    workers: Vec<usize>,
    /// Whether a wake-up found no worker that waited.
    is_owed: bool,
}

impl WakeUps {
    pub(super) fn new(workers: usize) -> io::Result<Self> {
        let events = (0..workers).map(|_| Ok(eventfd(0, EventfdFlags::CLOEXEC)?));
        let events = events.collect::<io::Result<_>>()?;
        Ok(Self { events, waiting: Spin::new(Waiting::default()) })
    }

    pub(super) fn event(&self, worker: usize) -> RawFd {
        self.events[worker].as_raw_fd()
    }

    /// Wakes this worker, or lets its next wait end at once.
    pub(super) fn send(&self, worker: usize) {
        // Only a counter at its end can refuse it, and then the worker is woken already.
        let _ = rustix::io::write(self.events[worker].as_fd(), &1_u64.to_ne_bytes());
    }

    /// Wakes one worker that waits, or the next one that would.
    pub(super) fn send_to_any(&self) {
        let mut waiting = self.waiting.lock();
        let worker = waiting.workers.pop();
        waiting.is_owed |= worker.is_none();
        drop(waiting);
        worker.into_iter().for_each(|worker| self.send(worker));
    }

    /// A worker is about to wait. The answer is whether it may: otherwise it is woken already.
    pub(super) fn begin_wait(&self, worker: usize) -> bool {
        let mut waiting = self.waiting.lock();
        let is_woken = std::mem::take(&mut waiting.is_owed);
        if !is_woken {
            waiting.workers.push(worker);
        }
        !is_woken
    }

    pub(super) fn end_wait(&self, worker: usize) {
        self.waiting.lock().workers.retain(|it| *it != worker);
    }
}
