//! The beginning and the end of a runtime, and what a fiber asks of it.

use std::{io, panic, sync::Arc, thread, time::Duration};

use crate::{
    join::{self, JoinHandle},
    parts::Parts,
    policy::Policy,
    poller::Poller,
    queue::Task,
    shared::Shared,
    worker::{self, Worker, suspend, wake},
};

/// Runs `main` in a fiber, with this many threads, and returns what it returns. Fibers that still exist then are
/// unwound: what they hold is released.
///
/// # Errors
/// When the kernel gives no stack or thread, or not what the poller needs.
///
/// # Panics
/// When `main` does.
pub fn run<P: Parts, T: Send + 'static>(
    workers: usize,
    main: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let shared = Arc::new(Shared::<P>::new(workers.max(1))?);
    let ended = Arc::clone(&shared);
    let (fiber, result) = join::body::<P, T>(main, move || ended.end())?;
    shared.policy.push(None, Task::new(fiber));
    let work = |index| {
        let worker = Worker::new(Arc::clone(&shared), index);
        match &worker {
            Ok(worker) => worker.work(),
            Err(_) => shared.end(),
        }
        // The next one that waits is woken by this one.
        shared.poller.wake();
        worker.map(drop)
    };
    let worked = thread::scope(|scope| {
        let others: Vec<_> =
            (1..workers.max(1)).map(|index| scope.spawn(move || work(index))).collect();
        let first = work(0);
        let panicked = || io::Error::other("a worker has panicked");
        let others = others.into_iter().map(|it| it.join().unwrap_or_else(|_| Err(panicked())));
        others.fold(first, io::Result::and)
    });
    shared.unwind();
    worked?;
    match result.take() {
        Some(Ok(value)) => Ok(value),
        Some(Err(payload)) => panic::resume_unwind(payload),
        None => Err(io::Error::other("the first fiber was unwound")),
    }
}

/// Starts another fiber.
///
/// What `body` holds across a suspension may go on on another thread. Values that must stay on one, such as a
/// `MutexGuard` of the standard library, must not be held then.
///
/// # Errors
/// When the kernel gives no stack.
///
/// # Panics
/// Outside of a fiber of a runtime with these parts.
pub fn spawn<P: Parts, T: Send + 'static>(
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<P, T>> {
    let (fiber, result) = join::body::<P, T>(body, || ())?;
    wake::<P>(fiber);
    Ok(JoinHandle::new(result))
}

/// Lets other fibers run first.
pub fn yield_now<P: Parts>() {
    worker::yield_now::<P>();
}

/// Lets others run for at least this long.
pub fn sleep<P: Parts>(time: Duration) {
    suspend::<P, _>(|worker, fiber| {
        let shared = &worker.shared;
        let at_ns = shared.now_ns() + u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2);
        if shared.timers.wake_at(at_ns, fiber) {
            shared.timer_is_first();
        }
    });
}
