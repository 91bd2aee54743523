//! A queue of a fixed size between fibers.

use std::{collections::VecDeque, fmt, marker::PhantomData, sync::Arc};

use crate::{
    fiber::Ready,
    parts::Parts,
    spin::Spin,
    worker::{suspend, wake},
};

struct State<T> {
    values: VecDeque<T>,
    room: usize,
    senders: usize,
    receivers: usize,
    waiting_senders: VecDeque<Ready>,
    waiting_receivers: VecDeque<Ready>,
}

struct Shared<P, T> {
    state: Spin<State<T>>,
    policy: PhantomData<fn() -> P>,
}

/// The other end is gone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Closed;

/// The end of a channel that values go into.
pub struct Sender<P: Parts, T>(Arc<Shared<P, T>>);

/// The end of a channel that values come out of.
pub struct Receiver<P: Parts, T>(Arc<Shared<P, T>>);

/// A channel that holds up to `room` values, at least one.
#[must_use]
pub fn channel<P: Parts, T>(room: usize) -> (Sender<P, T>, Receiver<P, T>) {
    let state = State {
        values: VecDeque::new(),
        room: room.max(1),
        senders: 1,
        receivers: 1,
        waiting_senders: VecDeque::new(),
        waiting_receivers: VecDeque::new(),
    };
    let shared = Arc::new(Shared { state: Spin::new(state), policy: PhantomData });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

impl<P: Parts, T> Sender<P, T> {
    /// Waits for room.
    ///
    /// # Errors
    /// When no receiver is left; the value is lost.
    pub fn send(&self, value: T) -> Result<(), Closed> {
        loop {
            let mut state = self.0.state.lock();
            if state.receivers == 0 {
                return Err(Closed);
            }
            if state.values.len() < state.room {
                state.values.push_back(value);
                let next = state.waiting_receivers.pop_front();
                drop(state);
                next.into_iter().for_each(wake::<P>);
                return Ok(());
            }
            drop(state);
            suspend::<P, _>(|worker, fiber| {
                let mut state = self.0.state.lock();
                if state.values.len() < state.room || state.receivers == 0 {
                    drop(state);
                    worker.ready(fiber);
                } else {
                    state.waiting_senders.push_back(fiber);
                }
            });
        }
    }
}

impl<P: Parts, T> Receiver<P, T> {
    /// Waits for a value.
    ///
    /// # Errors
    /// When there is none and no sender is left.
    pub fn receive(&self) -> Result<T, Closed> {
        loop {
            let mut state = self.0.state.lock();
            if let Some(value) = state.values.pop_front() {
                let next = state.waiting_senders.pop_front();
                drop(state);
                next.into_iter().for_each(wake::<P>);
                return Ok(value);
            }
            if state.senders == 0 {
                return Err(Closed);
            }
            drop(state);
            suspend::<P, _>(|worker, fiber| {
                let mut state = self.0.state.lock();
                if !state.values.is_empty() || state.senders == 0 {
                    drop(state);
                    worker.ready(fiber);
                } else {
                    state.waiting_receivers.push_back(fiber);
                }
            });
        }
    }
}

impl<P: Parts, T> Clone for Sender<P, T> {
    fn clone(&self) -> Self {
        self.0.state.lock().senders += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<P: Parts, T> Clone for Receiver<P, T> {
    fn clone(&self) -> Self {
        self.0.state.lock().receivers += 1;
        Self(Arc::clone(&self.0))
    }
}

impl<P: Parts, T> Drop for Sender<P, T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.senders -= 1;
        let is_last = state.senders == 0;
        let waiting =
            if is_last { std::mem::take(&mut state.waiting_receivers) } else { VecDeque::new() };
        drop(state);
        waiting.into_iter().for_each(wake::<P>);
    }
}

impl<P: Parts, T> Drop for Receiver<P, T> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.receivers -= 1;
        let is_last = state.receivers == 0;
        let waiting =
            if is_last { std::mem::take(&mut state.waiting_senders) } else { VecDeque::new() };
        drop(state);
        waiting.into_iter().for_each(wake::<P>);
    }
}

impl<P: Parts, T> fmt::Debug for Sender<P, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sender")
    }
}

impl<P: Parts, T> fmt::Debug for Receiver<P, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Receiver")
    }
}
