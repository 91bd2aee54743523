//! A place for one fiber that waits for an event, and for an event that no fiber waits for yet.

use std::{
    fmt,
    ptr::{self, NonNull},
    sync::atomic::Ordering::{AcqRel, Acquire, Relaxed},
};

use crate::{
    atomic::AtomicPtr,
    fiber::{Fiber, Ready},
};

/// Empty, an event, or a fiber.
pub(crate) struct Slot(AtomicPtr<Fiber>);

/// What stands for an event: no fiber has this place.
const EVENT: *mut Fiber = ptr::without_provenance_mut(1);

impl Slot {
    #[cfg_attr(
        not(all(test, feature = "loom")),
        expect(clippy::missing_const_for_fn, reason = "loom's cannot")
    )]
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Takes an event away, if there is one.
    pub(crate) fn take_event(&self) -> bool {
        self.0.load(Relaxed) == EVENT
            && self.0.compare_exchange(EVENT, ptr::null_mut(), AcqRel, Relaxed).is_ok()
    }

    /// Forgets what was.
    pub(crate) fn clear(&self) {
        self.0.store(ptr::null_mut(), Relaxed);
    }

    /// Lets a fiber wait, or gives it back because there has been an event, which is taken away.
    pub(crate) fn wait(&self, fiber: Ready) -> Option<Ready> {
        let place = fiber.into_place();
        match self.0.compare_exchange(ptr::null_mut(), place.as_ptr(), AcqRel, Acquire) {
            Ok(_) => None,
            Err(_) => {
                // It is an event: one fiber waits for one direction at a time.
                self.0.store(ptr::null_mut(), Relaxed);
                // SAFETY: it was not handed over.
                Some(unsafe { Ready::from_place(place) })
            }
        }
    }

    /// An event: the fiber that waited for it, or none, and then the event stays.
    pub(crate) fn signal(&self) -> Option<Ready> {
        let mut seen = self.0.load(Acquire);
        loop {
            let next = if seen.is_null() || seen == EVENT { EVENT } else { ptr::null_mut() };
            match self.0.compare_exchange_weak(seen, next, AcqRel, Acquire) {
                Ok(_) => return waiting(seen),
                Err(now) => seen = now,
            }
        }
    }

    /// The fiber that waits, without an event; none if there is none.
    pub(crate) fn wake(&self) -> Option<Ready> {
        let seen = self.0.load(Acquire);
        let fiber = waiting_place(seen)?;
        self.0.compare_exchange(seen, ptr::null_mut(), AcqRel, Relaxed).ok()?;
        // SAFETY: it was handed over by `wait`, and the exchange made it this thread's alone.
        Some(unsafe { Ready::from_place(fiber) })
    }
}

fn waiting_place(seen: *mut Fiber) -> Option<NonNull<Fiber>> {
    NonNull::new(seen).filter(|place| place.as_ptr() != EVENT)
}

fn waiting(seen: *mut Fiber) -> Option<Ready> {
    // SAFETY: the caller's exchange made it this thread's alone.
    waiting_place(seen).map(|place| unsafe { Ready::from_place(place) })
}

impl fmt::Debug for Slot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Slot").field(&self.0.load(Relaxed)).finish()
    }
}

#[cfg(all(test, not(feature = "loom")))]
mod tests {
    use super::*;

    #[test]
    fn an_event_before_the_fiber_is_not_lost_and_two_are_one() {
        let slot = Slot::new();
        assert!(slot.signal().is_none() && slot.signal().is_none());
        assert_eq!(slot.wait(Ready::of_number(1)).map(Ready::into_number), Some(1));
        assert!(slot.wait(Ready::of_number(2)).is_none());
        assert_eq!(slot.signal().map(Ready::into_number), Some(2));
        assert!(!slot.take_event());
    }

    #[test]
    fn a_fiber_that_is_woken_leaves_no_event() {
        let slot = Slot::new();
        assert!(slot.wake().is_none());
        assert!(slot.wait(Ready::of_number(1)).is_none());
        assert_eq!(slot.wake().map(Ready::into_number), Some(1));
        assert!(slot.wake().is_none() && !slot.take_event());
        slot.signal();
        assert!(slot.wake().is_none() && slot.take_event());
    }
}

#[cfg(all(test, feature = "loom"))]
mod loom_tests {
    use super::*;
    use loom::{sync::Arc, thread};

    /// Another thread that signals, and whether it woke the fiber.
    fn signal(slot: &Arc<Slot>) -> thread::JoinHandle<bool> {
        let slot = Arc::clone(slot);
        thread::spawn(move || slot.signal().map(Ready::into_number).is_some())
    }

    #[test]
    fn a_fiber_that_waits_during_an_event_goes_on_once() {
        loom::model(|| {
            let slot = Arc::new(Slot::new());
            let signals = signal(&slot);
            let goes_on = slot.wait(Ready::of_number(1)).map(Ready::into_number).is_some();
            let is_woken = signals.join().unwrap();
            assert!(goes_on ^ is_woken, "{goes_on} {is_woken}");
            assert!(!slot.take_event());
        });
    }

    #[test]
    fn an_event_and_a_timer_wake_a_fiber_once() {
        loom::model(|| {
            let slot = Arc::new(Slot::new());
            assert!(slot.wait(Ready::of_number(1)).is_none());
            let signals = signal(&slot);
            let by_timer = slot.wake().map(Ready::into_number).is_some();
            let by_event = signals.join().unwrap();
            assert!(by_timer ^ by_event, "{by_timer} {by_event}");
            // The event that came too late is there for the next wait.
            assert_eq!(slot.take_event(), by_timer);
        });
    }
}
