//! A number of permits.

use std::{collections::VecDeque, fmt, marker::PhantomData};

use crate::{
    fiber::Ready,
    parts::Parts,
    spin::Spin,
    worker::{suspend, wake},
};

struct State {
    permits: usize,
    waiting: VecDeque<Ready>,
}

/// Permits that fibers take and give back.
pub struct Semaphore<P> {
    state: Spin<State>,
    policy: PhantomData<fn() -> P>,
}

impl<P: Parts> Semaphore<P> {
    /// With this many permits.
    #[must_use]
    pub const fn new(permits: usize) -> Self {
        let state = State { permits, waiting: VecDeque::new() };
        Self { state: Spin::new(state), policy: PhantomData }
    }

    /// Takes a permit, and waits until there is one.
    pub fn acquire(&self) {
        let take = |state: &mut State| {
            let has_one = state.permits > 0;
            state.permits -= usize::from(has_one);
            has_one
        };
        if take(&mut self.state.lock()) {
            return;
        }
        suspend::<P, _>(|worker, fiber| {
            let mut state = self.state.lock();
            if take(&mut state) {
                drop(state);
                worker.ready(fiber);
            } else {
                // `release` hands a permit over.
                state.waiting.push_back(fiber);
            }
        });
    }

    /// Gives a permit back, or adds one.
    pub fn release(&self) {
        let mut state = self.state.lock();
        let next = state.waiting.pop_front();
        state.permits += usize::from(next.is_none());
        drop(state);
        next.into_iter().for_each(wake::<P>);
    }
}

impl<P> fmt::Debug for Semaphore<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Semaphore")
    }
}
