//! Readiness from epoll: one instance with edges for all workers, so that any idle worker takes any event.

use rustix::{
    event::{
        EventfdFlags, Timespec,
        epoll::{self, CreateFlags, EventData, EventFlags},
        eventfd,
    },
    fd::{BorrowedFd, OwnedFd},
    io::Errno,
    net::{SendFlags, SocketFlags},
};
use std::{io, sync::atomic::Ordering::Relaxed, time::Duration};

use super::{Poller, Source};
use crate::fiber::Ready;

/// Events that are taken at once.
const EVENTS: usize = 64;
/// What stands for the wake-up of a worker.
const WAKE_UP: u64 = 0;

/// The epoll instance of a runtime.
#[derive(Debug)]
pub struct Epoll {
    epoll: OwnedFd,
    wake_up: OwnedFd,
}

#[expect(private_interfaces, reason = "only this crate can implement it")]
impl Poller for Epoll {
    type Own = ();
    const NONBLOCKING: bool = true;

    fn new(_: usize) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let wake_up = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &wake_up, EventData::new_u64(WAKE_UP), flags)?;
        Ok(Self { epoll, wake_up })
    }

    fn own(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn wake(&self) {
        // Only a counter at its end can refuse it, and then a worker is woken already.
        let _ = rustix::io::write(&self.wake_up, &1_u64.to_ne_bytes());
    }

    fn wait(&self, (): &(), timeout: Option<Duration>, ready: &mut dyn FnMut(Ready)) -> bool {
        let mut is_woken = false;
        let mut events = Vec::with_capacity(EVENTS);
        let timeout = timeout.map(|it| Timespec {
            tv_sec: it.as_secs().cast_signed(),
            tv_nsec: i64::from(it.subsec_nanos()),
        });
        let room = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.epoll, room, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("epoll_wait failed: {error}"),
        }
        for event in &events {
            let number = event.data.u64();
            if number == WAKE_UP {
                is_woken = true;
                continue;
            }
            // SAFETY: the number is that of a source that was added.
            let source = unsafe { Source::of(number) };
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

    fn add(&self, socket: BorrowedFd<'_>, source: &'static Source) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(source.number()), flags)?)
    }

    fn connecting(&self, (): &(), _: BorrowedFd<'_>, _: &'static Source) {}

    fn accept(&self, (): &(), socket: BorrowedFd<'_>, _: &'static Source) -> io::Result<OwnedFd> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        Ok(rustix::net::accept_with(socket, flags)?)
    }

    fn read(
        &self,
        (): &(),
        socket: BorrowedFd<'_>,
        source: &'static Source,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        // Waiting first saves a system call that would find nothing.
        if source.is_drained.load(Relaxed) {
            source.is_drained.store(false, Relaxed);
            if !source.has_ended.load(Relaxed) && !source.read.take_event() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        let room = buffer.len();
        let length = rustix::io::read(socket, buffer)?;
        source.is_drained.store(length > 0 && length < room, Relaxed);
        Ok(length)
    }

    fn write(
        &self,
        (): &(),
        socket: BorrowedFd<'_>,
        _: &'static Source,
        bytes: &[u8],
    ) -> io::Result<usize> {
        Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&self, (): &(), _: &'static Source) -> io::Result<()> {
        Ok(())
    }

    fn close(&self, (): &(), socket: OwnedFd, source: &'static Source) {
        Self::close_outside(socket, source);
    }

    fn close_outside(socket: OwnedFd, source: &'static Source) {
        // Closed first, so that no event of it comes for the next user of the source.
        drop(socket);
        source.give_back();
    }

    fn forget(_: &'static Source) {}
}
