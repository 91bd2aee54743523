//! The end of a fiber: its result, for the one that waits for it.

use std::{
    any::Any,
    fmt, io,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::Arc,
};

use crate::{
    fiber::{Ready, unwinds},
    parts::Parts,
    spin::Spin,
    worker::{suspend, wake},
};

/// What a fiber returned, or what it panicked with.
pub type Ended<T> = Result<T, Box<dyn Any + Send>>;

/// Where the result of a fiber is, once there is one.
pub(crate) struct Outcome<T>(Spin<State<T>>);

struct State<T> {
    ended: Option<Ended<T>>,
    has_ended: bool,
    waiting: Option<Ready>,
}

impl<T> Outcome<T> {
    /// The result, if the fiber has ended.
    pub(crate) fn take(&self) -> Option<Ended<T>> {
        self.0.lock().ended.take()
    }
}

/// A fiber that calls `body`, and then `after`. A panic ends it alone.
#[allow(clippy::type_complexity, reason = "the two parts go apart at once")]
pub(crate) fn body<P: Parts, T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
    after: impl FnOnce() + Send + 'static,
) -> io::Result<(Ready, Arc<Outcome<T>>)> {
    let state = State { ended: None, has_ended: false, waiting: None };
    let outcome = Arc::new(Outcome(Spin::new(state)));
    let own = Arc::clone(&outcome);
    let fiber = Ready::new(move || {
        let ended = catch_unwind(AssertUnwindSafe(body)).map_err(|payload| match unwinds() {
            true => resume_unwind(payload),
            false => payload,
        });
        let waiting = {
            let mut state = own.0.lock();
            (state.ended, state.has_ended) = (Some(ended), true);
            state.waiting.take()
        };
        waiting.into_iter().for_each(wake::<P>);
        after();
    })?;
    Ok((fiber, outcome))
}

/// Waits for a fiber, which goes on by itself if this is dropped.
pub struct JoinHandle<P, T> {
    outcome: Arc<Outcome<T>>,
    policy: PhantomData<fn() -> P>,
}

impl<P: Parts, T> JoinHandle<P, T> {
    pub(crate) const fn new(outcome: Arc<Outcome<T>>) -> Self {
        Self { outcome, policy: PhantomData }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// What it panicked with.
    pub fn join(self) -> Ended<T> {
        if !self.outcome.0.lock().has_ended {
            let outcome = Arc::clone(&self.outcome);
            suspend::<P, _>(move |worker, fiber| {
                let mut state = outcome.0.lock();
                if state.has_ended {
                    drop(state);
                    worker.ready(fiber);
                } else {
                    state.waiting = Some(fiber);
                }
            });
        }
        self.outcome.take().unwrap_or_else(|| Err(Box::new("the fiber was unwound")))
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.outcome.0.lock().has_ended
    }
}

impl<P, T> fmt::Debug for JoinHandle<P, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JoinHandle")
    }
}
