//! What fibers wait for on one socket.

use crossbeam_queue::SegQueue;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
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
    /// Those of its runtime, whose timers know it.
    home: &'static Sources,
}

/// The sources of a runtime. Another one uses them when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    all: Mutex<Vec<&'static Source>>,
    free: SegQueue<&'static Source>,
}

/// Those of runtimes that have ended.
static ENDED: Mutex<Vec<&'static Sources>> = Mutex::new(Vec::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sources {
    /// For a new runtime.
    pub(crate) fn take() -> &'static Self {
        let ended = lock(&ENDED).pop();
        ended.unwrap_or_else(|| Box::leak(Box::default()))
    }

    /// One that no socket uses.
    pub(crate) fn one(&'static self) -> &'static Source {
        let source = self.free.pop().unwrap_or_else(|| {
            let source: &'static Source = Box::leak(Box::new(Source {
                read: Slot::new(),
                write: Slot::new(),
                read_until: AtomicU64::new(u64::MAX),
                write_until: AtomicU64::new(u64::MAX),
                timed_ns: AtomicU64::new(u64::MAX),
                has_ended: AtomicBool::new(false),
                is_drained: AtomicBool::new(false),
                flow: Spin::new(Flow::default()),
                home: self,
            }));
            lock(&self.all).push(source);
            source
        });
        source.has_ended.store(false, Relaxed);
        source.is_drained.store(false, Relaxed);
        source.read.clear();
        source.write.clear();
        source
    }

    /// A fiber that waits for any source, once no worker runs any more.
    pub(crate) fn any_waiting(&self) -> Option<Ready> {
        lock(&self.all).iter().find_map(|it| it.read.wake().or_else(|| it.write.wake()))
    }

    /// The runtime has ended, and its timers are gone.
    pub(crate) fn give_back(&'static self, forget: impl Fn(&'static Source)) {
        for source in lock(&self.all).iter() {
            source.timed_ns.store(u64::MAX, Relaxed);
            forget(source);
        }
        lock(&ENDED).push(self);
    }
}

impl Source {
    /// No fiber waits for it any more.
    pub(super) fn give_back(&'static self) {
        self.read_until.store(u64::MAX, Relaxed);
        self.write_until.store(u64::MAX, Relaxed);
        self.home.free.push(self);
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
