//! What fibers wait for on one socket.

use crossbeam_queue::SegQueue;
use std::sync::{
    LazyLock, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use super::io_uring::Flow;
use crate::{fiber::Ready, slot::Slot, spin::Spin};

/// What fibers wait for on one socket. Its memory is never freed but used for another socket, so that an event that
/// comes late wakes a fiber for nothing at worst.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) read: Slot,
    pub(crate) write: Slot,
    /// When a fiber gives up, in nanoseconds of the runtime; `u64::MAX` means never.
    pub(crate) read_until: AtomicU64,
    pub(crate) write_until: AtomicU64,
    /// When a timer will look at it; `u64::MAX` means never.
    pub(crate) timed_ns: AtomicU64,
    /// For epoll: whether the other side has ended, and no event follows the one that said so.
    pub(super) has_ended: AtomicBool,
    /// For epoll: whether the last read took all that there was, and an event comes before there is more.
    pub(super) is_drained: AtomicBool,
    /// For io_uring: what the kernel has brought, and what it is to send.
    pub(super) flow: Spin<Flow>,
    /// The runtime whose socket it is for.
    runtime: AtomicU64,
}

/// All that there are.
static ALL: Mutex<Vec<&'static Source>> = Mutex::new(Vec::new());
static POOL: LazyLock<SegQueue<&'static Source>> = LazyLock::new(SegQueue::new);

impl Source {
    /// One that no socket uses, for a socket of this runtime.
    pub(crate) fn take(runtime: u64) -> &'static Self {
        let source = POOL.pop().unwrap_or_else(|| {
            let source: &'static Self = Box::leak(Box::new(Self {
                read: Slot::new(),
                write: Slot::new(),
                read_until: AtomicU64::new(u64::MAX),
                write_until: AtomicU64::new(u64::MAX),
                timed_ns: AtomicU64::new(u64::MAX),
                has_ended: AtomicBool::new(false),
                is_drained: AtomicBool::new(false),
                flow: Spin::new(Flow::default()),
                runtime: AtomicU64::new(0),
            }));
            ALL.lock().unwrap_or_else(PoisonError::into_inner).push(source);
            source
        });
        source.runtime.store(runtime, Relaxed);
        source.has_ended.store(false, Relaxed);
        source.is_drained.store(false, Relaxed);
        source.read.clear();
        source.write.clear();
        source
    }

    /// A fiber of this runtime that waits for any source, once no worker runs any more.
    pub(crate) fn any_waiting(runtime: u64) -> Option<Ready> {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_runtime = all.iter().filter(|it| it.runtime.load(Relaxed) == runtime);
        of_runtime.find_map(|it| it.read.wake().or_else(|| it.write.wake()))
    }

    /// Calls `with` for each source of this runtime.
    pub(crate) fn for_each(runtime: u64, with: impl FnMut(&'static Self)) {
        let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let of_runtime = all.iter().filter(|it| it.runtime.load(Relaxed) == runtime);
        of_runtime.copied().for_each(with);
    }

    /// No fiber waits for it any more.
    pub(super) fn give_back(&'static self) {
        self.read_until.store(u64::MAX, Relaxed);
        self.write_until.store(u64::MAX, Relaxed);
        POOL.push(self);
    }

    /// The number by which the kernel knows it.
    pub(super) fn number(&'static self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// The source with this number.
    ///
    /// # Safety
    /// The number came from [`Source::number`].
    pub(super) unsafe fn of(number: u64) -> &'static Self {
        let place = usize::try_from(number).unwrap_or(0);
        // SAFETY: the place is that of a source, as the caller says, and sources are never freed.
        unsafe { &*std::ptr::with_exposed_provenance::<Self>(place) }
    }
}
