//! Waiting for what another fiber changes under a lock.

use std::{collections::VecDeque, fmt, marker::PhantomData};

use super::MutexGuard;
use crate::{
    fiber::Ready,
    parts::Parts,
    spin::Spin,
    worker::{suspend, wake},
};

/// Fibers that wait for a change.
pub struct Condvar<P> {
    waiting: Spin<VecDeque<Ready>>,
    policy: PhantomData<fn() -> P>,
}

impl<P: Parts> Condvar<P> {
    /// No fiber waits.
    #[must_use]
    pub const fn new() -> Self {
        Self { waiting: Spin::new(VecDeque::new()), policy: PhantomData }
    }

    /// Releases the lock, waits to be notified, and takes the lock again. No notification between is lost.
    pub fn wait<T>(&self, guard: &mut MutexGuard<'_, P, T>) {
        let mutex = guard.0;
        suspend::<P, _>(|_, fiber| {
            self.waiting.lock().push_back(fiber);
            // A fiber that is notified now waits for this.
            mutex.unlock_raw();
        });
        mutex.lock_raw();
    }

    /// Lets the fiber go on that waits longest.
    pub fn notify_one(&self) {
        let first = self.waiting.lock().pop_front();
        first.into_iter().for_each(wake::<P>);
    }

    /// Lets all fibers go on that wait.
    pub fn notify_all(&self) {
        let all = std::mem::take(&mut *self.waiting.lock());
        all.into_iter().for_each(wake::<P>);
    }
}

impl<P: Parts> Default for Condvar<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> fmt::Debug for Condvar<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Condvar")
    }
}
