//! Readiness of sockets from epoll, for all workers.

use crossbeam_queue::SegQueue;
use rustix::{
    event::{
        EventfdFlags, Timespec,
        epoll::{self, CreateFlags, EventData, EventFlags},
        eventfd,
    },
    fd::{AsFd, OwnedFd},
    io::Errno,
};
use std::{
    io,
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{fiber::Ready, slot::Slot};

/// Events that are taken at once.
const EVENTS: usize = 64;
/// What stands for the wake-up of a worker.
const WAKE_UP: u64 = 0;

/// What fibers wait for on one socket. Its memory is never freed but used for another socket, so that an event that
/// comes late wakes a fiber for nothing at worst.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) read: Slot,
    pub(crate) write: Slot,
    /// Whether the other side has ended: no event follows the one that said so.
    pub(crate) has_ended: AtomicBool,
    /// When a fiber gives up, in nanoseconds of the runtime; `u64::MAX` means never.
    pub(crate) read_until: AtomicU64,
    pub(crate) write_until: AtomicU64,
    /// When a timer will look at it; `u64::MAX` means never.
    pub(crate) timed_ns: AtomicU64,
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
                has_ended: AtomicBool::new(false),
                read_until: AtomicU64::new(u64::MAX),
                write_until: AtomicU64::new(u64::MAX),
                timed_ns: AtomicU64::new(u64::MAX),
                runtime: AtomicU64::new(0),
            }));
            ALL.lock().unwrap_or_else(PoisonError::into_inner).push(source);
            source
        });
        source.runtime.store(runtime, Relaxed);
        source.has_ended.store(false, Relaxed);
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

    /// No fiber waits for it any more.
    pub(crate) fn give_back(&'static self) {
        self.read_until.store(u64::MAX, Relaxed);
        self.write_until.store(u64::MAX, Relaxed);
        POOL.push(self);
    }
}

/// The epoll instance of a runtime.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    wake_up: OwnedFd,
}

impl Poller {
    pub(crate) fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake_up = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &wake_up, EventData::new_u64(WAKE_UP), flags)?;
        Ok(Self { epoll, wake_up })
    }

    /// Lets `source` know of events of a socket from now on, until it is closed.
    pub(crate) fn add(&self, socket: impl AsFd, source: &'static Source) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let place = std::ptr::from_ref(source).expose_provenance() as u64;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(place), flags)?)
    }

    /// Wakes one worker that waits.
    pub(crate) fn wake(&self) {
        // Only a counter at its end can refuse it, and then a worker is woken already.
        let _ = rustix::io::write(&self.wake_up, &1_u64.to_ne_bytes());
    }

    /// Waits for events for this long, or without an end, and hands over the fibers that waited for them. The answer
    /// is whether one of them was a wake-up, which no other worker gets then.
    pub(crate) fn wait(&self, timeout: Option<Duration>, ready: &mut dyn FnMut(Ready)) -> bool {
        let mut is_woken = false;
        let mut events = Vec::with_capacity(EVENTS);
        let timeout = timeout.map(|it| Timespec {
            tv_sec: it.as_secs().cast_signed(),
            tv_nsec: i64::from(it.subsec_nanos()),
        });
        match epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(&mut events),
            timeout.as_ref(),
        ) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("epoll_wait failed: {error}"),
        }
        for event in &events {
            let place = event.data.u64();
            if place == WAKE_UP {
                is_woken = true;
                continue;
            }
            let place =
                std::ptr::with_exposed_provenance::<Source>(usize::try_from(place).unwrap_or(0));
            // SAFETY: the place is that of a source, and sources are never freed.
            let source = unsafe { &*place };
            let (flags, ended) = (event.flags, EventFlags::ERR | EventFlags::HUP);
            if flags.intersects(EventFlags::RDHUP | ended) {
                // The signal makes it visible to the fiber that waits.
                source.has_ended.store(true, Relaxed);
            }
            if flags.intersects(EventFlags::IN | EventFlags::RDHUP | ended) {
                source.read.signal().into_iter().for_each(&mut *ready);
            }
            if flags.intersects(EventFlags::OUT | ended) {
                source.write.signal().into_iter().for_each(&mut *ready);
            }
        }
        is_woken
    }
}
