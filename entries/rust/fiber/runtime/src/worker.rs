//! A thread that runs fibers, and what a fiber can ask of the thread that runs it.

use std::{cell::Cell, io, ptr, sync::Arc};

use crate::{
    fiber::{Ready, Suspension, current_fiber},
    parts::Parts,
    policy::Policy,
    poller::Poller,
    queue::Task,
    shared::{Own, Shared},
};

thread_local! {
    static WORKER: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// How often a worker that always has something to run looks for events.
const POLL_EVERY: u32 = 61;

/// One of the threads of a runtime.
#[derive(Debug)]
pub(crate) struct Worker<P: Parts> {
    pub(crate) shared: Arc<Shared<P>>,
    pub(crate) index: usize,
    /// Its part of the poller.
    pub(crate) own: Own<P>,
}

impl<P: Parts> Worker<P> {
    /// The worker of this thread.
    pub(crate) fn new(shared: Arc<Shared<P>>, index: usize) -> io::Result<Self> {
        let own = shared.poller.own(index)?;
        Ok(Self { shared, index, own })
    }

    /// Runs fibers until the runtime ends.
    pub(crate) fn work(&self) {
        WORKER.set(ptr::from_ref(self).cast());
        let mut turn = 0_u32;
        // Whether events have come since the last fiber ran.
        let mut has_events = false;
        while !self.shared.has_ended() {
            turn = turn.wrapping_add(1);
            if turn.is_multiple_of(POLL_EVERY) {
                self.shared.poll(self.index, &self.own);
                has_events = true;
            }
            let Some(task) = self.shared.policy.pop(self.index, turn) else {
                self.shared.wait(self.index, &self.own);
                has_events = true;
                continue;
            };
            // After the pop: a worker that is woken for the only fiber would find nothing.
            if std::mem::take(&mut has_events) {
                self.shared.share_work();
            }
            self.run(task.0);
        }
        WORKER.set(ptr::null());
    }

    fn run(&self, fiber: Ready) {
        if let Some((suspension, fiber)) = fiber.resume() {
            // SAFETY: the suspension was made for this kind of worker, and `data` is what it expects.
            unsafe { (suspension.action)(suspension.data, ptr::from_ref(self).cast(), fiber) };
        }
    }

    /// A fiber can go on.
    pub(crate) fn ready(&self, fiber: Ready) {
        self.shared.ready(Some(self.index), Task::new(fiber));
    }
}

/// Calls `with` with the worker of this thread, if it is one of this kind of runtime. Never inlined, because a fiber
/// may go on on another thread.
#[inline(never)]
pub(crate) fn current<P: Parts, R>(with: impl FnOnce(Option<&Worker<P>>) -> R) -> R {
    let worker = WORKER.get().cast::<Worker<P>>();
    // SAFETY: a runtime has one type of policy, and a worker stays where it is while its thread runs fibers.
    with(unsafe { worker.as_ref() })
}

/// Gives way. `then` gets the fiber once it is at rest; it must do nothing after it has handed it over.
pub(crate) fn suspend<P: Parts, F: FnOnce(&Worker<P>, Ready)>(then: F) {
    /// The action: takes the closure out of the fiber's stack, so that nothing on that stack is touched afterwards.
    unsafe fn action<P: Parts, F: FnOnce(&Worker<P>, Ready)>(
        data: *const (),
        worker: *const (),
        fiber: Ready,
    ) {
        // SAFETY: the caller passes what `suspend` made, once, and the worker that runs the fiber.
        let (then, worker) = unsafe { (ptr::read(data.cast::<F>()), &*worker.cast::<Worker<P>>()) };
        then(worker, fiber);
    }
    let then = std::mem::ManuallyDrop::new(then);
    let data = ptr::from_ref(&*then).cast();
    current_fiber(|fiber| fiber.suspend(Suspension { action: action::<P, F>, data }));
}

/// Lets others run first.
pub(crate) fn yield_now<P: Parts>() {
    suspend::<P, _>(Worker::ready);
}

/// Lets a fiber go on. Where no worker runs, as while fibers are unwound, it never will.
pub(crate) fn wake<P: Parts>(fiber: Ready) {
    current::<P, _>(|worker| match worker {
        Some(worker) => worker.ready(fiber),
        None => drop(fiber),
    });
}
