//! What all workers of a runtime share, and how one of them is woken.

use std::{
    fmt, io,
    sync::atomic::{
        AtomicBool,
        Ordering::{Relaxed, SeqCst},
    },
    time::{Duration, Instant},
};

use crate::{
    counters::{Event, count},
    idle::Idle,
    parts::Parts,
    policy::Policy,
    poller::{Poller, Sources},
    queue::Task,
    timers::Timers,
};

/// What a worker has of its own of the poller.
pub(crate) type Own<P> = <<P as Parts>::Poller as Poller>::Own;

/// What all workers of a runtime share.
pub(crate) struct Shared<P: Parts> {
    pub(crate) policy: P::Policy,
    pub(crate) poller: P::Poller,
    pub(crate) timers: Timers,
    pub(crate) sources: &'static Sources,
    origin: Instant,
    has_ended: AtomicBool,
    idle: Idle,
}

impl<P: Parts> Shared<P> {
    pub(crate) fn new(workers: usize) -> io::Result<Self> {
        Ok(Self {
            policy: P::Policy::new(workers),
            poller: P::Poller::new(workers)?,
            timers: Timers::new(),
            sources: Sources::take(),
            origin: Instant::now(),
            has_ended: AtomicBool::new(false),
            idle: Idle::new(),
        })
    }

    /// The clock of its timers.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Relaxed)
    }

    /// A fiber can go on.
    pub(crate) fn ready(&self, worker: Option<usize>, task: Task) {
        self.policy.push(worker, task);
        self.wake_one();
    }

    /// Wakes a worker that waits, if there is one and none is being woken.
    pub(crate) fn wake_one(&self) {
        if self.idle.must_wake() {
            count(Event::WakeUp);
            self.poller.wake();
        }
    }

    /// Wakes an idle worker if fibers are left in the queues. The caller is about to run another one.
    pub(crate) fn share_work(&self) {
        if self.policy.has_work() {
            self.wake_one();
        }
    }

    /// Takes events without waiting.
    pub(crate) fn poll(&self, worker: usize, own: &Own<P>) {
        // A wake-up was meant for a worker that waits.
        if self.take_events(worker, own, Some(Duration::ZERO)) {
            self.idle.has_woken();
        }
    }

    /// Waits until there may be something to do.
    pub(crate) fn wait(&self, worker: usize, own: &Own<P>) {
        self.idle.begin();
        if self.policy.has_work() || self.has_ended() {
            self.idle.end();
            return;
        }
        let next_ns = self.timers.next_ns();
        let timeout = match next_ns {
            u64::MAX => None,
            _ => Some(Duration::from_nanos(next_ns.saturating_sub(self.now_ns()))),
        };
        self.take_events(worker, own, timeout);
        self.idle.end();
        self.idle.has_woken();
    }

    fn take_events(&self, worker: usize, own: &Own<P>, timeout: Option<Duration>) -> bool {
        let mut ready = |fiber| self.policy.push(Some(worker), Task::new(fiber));
        count(Event::Poll);
        let is_woken = self.poller.wait(own, timeout, &mut ready);
        if self.timers.next_ns() < u64::MAX {
            self.timers.expire(self.now_ns(), &mut ready);
        }
        is_woken
    }

    /// A timer became the earliest: a worker that waits may wait too long.
    pub(crate) fn timer_is_first(&self) {
        self.wake_one();
    }

    /// All workers end.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, SeqCst);
        self.poller.wake();
    }

    /// Unwinds all fibers that will never go on. No worker runs any more.
    pub(crate) fn unwind(&self) {
        loop {
            let queued = self.policy.pop(0, 0).map(|task| task.0);
            let left = queued
                .or_else(|| self.sources.any_waiting())
                .or_else(|| self.timers.any_sleeping());
            match left {
                Some(fiber) => drop(fiber),
                None => break,
            }
        }
        self.sources.give_back(P::Poller::forget);
    }
}

impl<P: Parts> fmt::Debug for Shared<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Shared");
        shown.field("policy", &self.policy).field("idle", &self.idle).finish()
    }
}
