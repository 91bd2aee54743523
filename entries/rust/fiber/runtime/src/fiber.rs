//! A fiber: a function with a stack of its own that gives way and goes on, on whichever thread.
//!
//! A fiber that is not running belongs to exactly one [`Ready`]: to a run queue, to a list of those that wait, or
//! to a thread that is about to run it. So it never runs twice at a time, and no wake-up is lost: a fiber hands its
//! own `Ready` over only after its stack is at rest, in the action of its suspension.

use corosensei::{
    Coroutine, CoroutineResult, Yielder,
    stack::{DefaultStack, Stack},
};
use crossbeam_queue::SegQueue;
use std::{
    cell::{Cell, UnsafeCell},
    io,
    ptr::{self, NonNull},
    sync::LazyLock,
};

use crate::counters::{Event, ReadySince, count};

/// Bytes of a stack, of which the kernel gives only those that are used. Below it is a page that no one may touch.
const STACK_BYTES: usize = 64 << 10;
/// Stacks that are kept for later fibers.
const POOLED_MOST: usize = 4096;

thread_local! {
    /// Whether a fiber is being unwound on this thread.
    static UNWINDS: Cell<bool> = const { Cell::new(false) };
    /// The fiber that runs on this thread.
    static FIBER: Cell<*const Fiber> = const { Cell::new(ptr::null()) };
}

/// Calls `with` with the fiber that runs on this thread. The compiler must not keep the place of a thread's variable
/// across a suspension, because the fiber may go on on another thread; so this is never inlined.
#[inline(never)]
pub(crate) fn current_fiber<R>(with: impl FnOnce(&Fiber) -> R) -> R {
    let fiber = NonNull::new(FIBER.get().cast_mut()).expect("this is only called in a fiber");
    // SAFETY: the fiber that runs is not moved or freed before it gives way or ends.
    with(unsafe { fiber.as_ref() })
}

/// Whether what has been caught is no panic but the unwinding of a fiber, which must go on.
pub(crate) fn unwinds() -> bool {
    UNWINDS.get()
}

static POOL: LazyLock<SegQueue<DefaultStack>> = LazyLock::new(SegQueue::new);

/// What is done with a fiber once it is at rest.
#[derive(Clone, Copy)]
pub(crate) struct Suspension {
    /// Takes what it was suspended with, the worker that runs it, and the fiber. Whoever gets the fiber may run it
    /// at once, so that `data` on its stack must not be touched any more after that.
    pub(crate) action: unsafe fn(data: *const (), worker: *const (), fiber: Ready),
    pub(crate) data: *const (),
}

/// The body of a fiber. Its memory stays where it is until it has ended.
pub(crate) struct Fiber {
    /// Only the thread that has the [`Ready`] uses it, also while the fiber itself uses the rest.
    coroutine: UnsafeCell<Coroutine<(), Suspension, (), DefaultStack>>,
    yielder: Cell<*const Yielder<(), Suspension>>,
    ready_since: Cell<ReadySince>,
}

/// A fiber that is not running, and the right to run it.
pub(crate) struct Ready(NonNull<Fiber>);

// SAFETY: the function of a fiber is `Send`, and what it holds on its stack across a suspension moves with it;
// `spawn` demands that in its contract. Only one thread has the `Ready`.
unsafe impl Send for Ready {}

impl Ready {
    /// A fiber that will call `body`.
    pub(crate) fn new(body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let stack = POOL.pop().map_or_else(|| DefaultStack::new(STACK_BYTES), Ok)?;
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            current_fiber(|fiber| fiber.yielder.set(yielder));
            body();
        });
        let coroutine = UnsafeCell::new(coroutine);
        let fiber = Box::new(Fiber {
            coroutine,
            yielder: Cell::new(ptr::null()),
            ready_since: Cell::default(),
        });
        Ok(Self(NonNull::from(Box::leak(fiber))))
    }

    /// The place of the fiber, which keeps the right to run it until [`Ready::from_place`].
    pub(crate) fn into_place(self) -> NonNull<Fiber> {
        let place = self.0;
        std::mem::forget(self);
        place
    }

    /// The fiber at a place.
    ///
    /// # Safety
    /// The place came from [`Ready::into_place`], and this is the only call for it.
    pub(crate) unsafe fn from_place(place: NonNull<Fiber>) -> Self {
        Self(place)
    }

    /// One for tests of what passes fibers on: it is only a number, and is never run or dropped.
    #[cfg(test)]
    pub(crate) fn of_number(number: usize) -> Self {
        let place = ptr::without_provenance_mut(number * align_of::<Fiber>());
        Self(NonNull::new(place).expect("numbers begin with 1"))
    }

    /// The number of one for tests.
    #[cfg(test)]
    pub(crate) fn into_number(self) -> usize {
        self.into_place().as_ptr().addr() / align_of::<Fiber>()
    }

    /// It waits for a worker from now on.
    pub(crate) fn begin_ready(&self) {
        // SAFETY: this is the only `Ready` of the fiber.
        unsafe { self.0.as_ref() }.ready_since.set(ReadySince::now());
    }

    /// Runs it until it gives way, or to its end. The answer is what is to be done with it.
    pub(crate) fn resume(self) -> Option<(Suspension, Self)> {
        let place = self.into_place();
        count(Event::Run);
        // SAFETY: this was the only `Ready` of the fiber.
        unsafe { place.as_ref() }.ready_since.get().is_run();
        FIBER.set(place.as_ptr());
        // SAFETY: this is the only `Ready` of the fiber, so that no other thread uses it.
        let result = unsafe { (*place.as_ref().coroutine.get()).resume(()) };
        FIBER.set(ptr::null());
        match result {
            CoroutineResult::Yield(suspension) => {
                // SAFETY: the place is that of above, and it runs no more.
                let fiber = unsafe { Self::from_place(place) };
                Some((suspension, fiber))
            }
            CoroutineResult::Return(()) => {
                // SAFETY: it was leaked in `new`, has ended, and no one else has its place.
                let fiber = unsafe { Box::from_raw(place.as_ptr()) };
                if POOL.len() < POOLED_MOST {
                    POOL.push(fiber.coroutine.into_inner().into_stack());
                }
                None
            }
        }
    }
}

impl Drop for Ready {
    /// A fiber that will never go on unwinds its stack, so that what it holds is released.
    fn drop(&mut self) {
        // SAFETY: this is the only `Ready` of the fiber, which was leaked in `new`.
        let mut fiber = unsafe { Box::from_raw(self.0.as_ptr()) };
        let coroutine = fiber.coroutine.get_mut();
        if !coroutine.done() {
            let before = UNWINDS.replace(true);
            coroutine.force_unwind();
            UNWINDS.set(before);
        }
    }
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Ready").field(&self.0).finish()
    }
}

impl Fiber {
    /// Gives way. The fiber goes on here when someone runs it.
    pub(crate) fn suspend(&self, suspension: Suspension) {
        // SAFETY: the yielder lives as long as the body, which calls this.
        unsafe { (*self.yielder.get()).suspend(suspension) };
    }
}

/// Bytes of a stack with its guard page, for those who reckon with memory.
#[must_use]
pub fn stack_bytes() -> usize {
    let stack = POOL.pop().map_or_else(|| DefaultStack::new(STACK_BYTES), Ok);
    stack.map_or(STACK_BYTES, |stack| {
        let bytes = stack.base().get() - stack.limit().get();
        POOL.push(stack);
        bytes
    })
}
