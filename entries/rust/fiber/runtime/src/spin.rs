//! A lock for a few instructions, which no fiber holds while it gives way.

use std::{
    cell::UnsafeCell,
    fmt, hint,
    ops::{Deref, DerefMut},
    sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Relaxed, Release},
    },
    thread,
};

/// Looks before the thread gives its CPU away: the holder may have lost its own.
const LOOKS: u32 = 64;

/// A value behind the lock. Releasing it is one store, after which the lock itself is not touched any more: the
/// value may be freed at once by whoever takes the lock next.
pub(crate) struct Spin<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock lets one thread at a time reach the value.
unsafe impl<T: Send> Send for Spin<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Spin<T> {}

/// The right to reach the value.
pub(crate) struct Guard<'a, T>(&'a Spin<T>);

impl<T> Spin<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self { is_locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let mut looks = 0;
        while self.is_locked.swap(true, Acquire) {
            while self.is_locked.load(Relaxed) {
                looks += 1;
                if looks < LOOKS { hint::spin_loop() } else { thread::yield_now() }
            }
        }
        Guard(self)
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard is the right to reach it.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the right to reach it.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.is_locked.store(false, Release);
    }
}

impl<T> fmt::Debug for Spin<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Spin")
    }
}
