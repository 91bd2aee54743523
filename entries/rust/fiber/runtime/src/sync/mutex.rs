//! A lock that fibers wait for.

use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
};

use crate::{
    fiber::Ready,
    parts::Parts,
    spin::Spin,
    worker::{suspend, wake},
};

#[derive(Default)]
struct State {
    is_locked: bool,
    waiting: VecDeque<Ready>,
}

/// A value that one fiber at a time reaches. The lock is handed to the fiber that waits longest, on whichever worker
/// it goes on.
pub struct Mutex<P, T> {
    state: Spin<State>,
    value: UnsafeCell<T>,
    policy: PhantomData<fn() -> P>,
}

// SAFETY: the lock lets one fiber at a time reach the value.
unsafe impl<P, T: Send> Send for Mutex<P, T> {}
// SAFETY: as above.
unsafe impl<P, T: Send> Sync for Mutex<P, T> {}

impl<P: Parts, T> Mutex<P, T> {
    /// Not locked.
    pub fn new(value: T) -> Self {
        let (state, value) = (Spin::new(State::default()), UnsafeCell::new(value));
        Self { state, value, policy: PhantomData }
    }

    /// Waits until no other fiber has the lock.
    pub fn lock(&self) -> MutexGuard<'_, P, T> {
        self.lock_raw();
        MutexGuard(self)
    }

    /// The lock, if no fiber has it.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, P, T>> {
        let mut state = self.state.lock();
        (!std::mem::replace(&mut state.is_locked, true)).then_some(MutexGuard(self))
    }

    pub(super) fn lock_raw(&self) {
        if !std::mem::replace(&mut self.state.lock().is_locked, true) {
            return;
        }
        suspend::<P, _>(|worker, fiber| {
            let mut state = self.state.lock();
            if std::mem::replace(&mut state.is_locked, true) {
                state.waiting.push_back(fiber);
            } else {
                drop(state);
                worker.ready(fiber);
            }
        });
    }

    pub(super) fn unlock_raw(&self) {
        let mut state = self.state.lock();
        let next = state.waiting.pop_front();
        state.is_locked = next.is_some();
        drop(state);
        next.into_iter().for_each(wake::<P>);
    }
}

impl<P, T> fmt::Debug for Mutex<P, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mutex")
    }
}

/// The lock. Dropping it hands it on. Another worker may do that than the one that took it.
pub struct MutexGuard<'a, P: Parts, T>(pub(super) &'a Mutex<P, T>);

impl<P: Parts, T> Deref for MutexGuard<'_, P, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<P: Parts, T> DerefMut for MutexGuard<'_, P, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the lock.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<P: Parts, T> Drop for MutexGuard<'_, P, T> {
    fn drop(&mut self) {
        self.0.unlock_raw();
    }
}

impl<P: Parts, T> fmt::Debug for MutexGuard<'_, P, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MutexGuard")
    }
}
