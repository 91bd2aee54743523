//! Completion from io_uring: a ring for each worker, which one system call per turn submits and reaps.
//!
//! A connection receives on the ring of the worker that read from it first, for as long as it lives; any worker may
//! run its fiber, because what was received is in its [`Flow`]. A send goes to the ring of the worker that writes. It
//! is silent: over when the system call has submitted it, and reported only if it fell short.

mod flow;
mod ring;
mod wake_ups;

pub(crate) use self::flow::Flow;

use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::{io, time::Duration};

use self::{flow::Sending, ring::Ring, wake_ups::WakeUps};
use super::{Poller, Source};
use crate::fiber::Ready;

/// The rings of a runtime. Needs Linux 6.1.
#[derive(Debug)]
pub struct IoUring {
    wake_ups: WakeUps,
}

impl IoUring {
    /// Makes sure that output in the queue of a worker that may wait is sent, and its end noticed.
    fn hurry(&self, own: &Ring, sending: Sending) {
        match sending {
            Sending::Queued { worker } if worker == own.worker => own.must_return(),
            Sending::Queued { worker } => self.wake_ups.send(worker),
            Sending::Submitted | Sending::Nothing => {}
        }
    }
}

#[expect(private_interfaces, reason = "only this crate can implement it")]
impl Poller for IoUring {
    type Own = Ring;
    /// The kernel waits by itself, unless a socket says that it must not.
    const NONBLOCKING: bool = false;

    fn new(workers: usize) -> io::Result<Self> {
        wirebench_uring::probe().map_err(io::Error::other)?;
        Ok(Self { wake_ups: WakeUps::new(workers)? })
    }

    fn own(&self, worker: usize) -> io::Result<Ring> {
        Ring::new(worker, self.wake_ups.event(worker))
    }

    fn wake(&self) {
        self.wake_ups.send_to_any();
    }

    fn wait(&self, own: &Ring, timeout: Option<Duration>, ready: &mut dyn FnMut(Ready)) -> bool {
        if timeout == Some(Duration::ZERO) {
            return own.turn(timeout, ready);
        }
        if !self.wake_ups.begin_wait(own.worker) {
            own.turn(Some(Duration::ZERO), ready);
            return true;
        }
        let is_woken = own.turn(timeout, ready);
        self.wake_ups.end_wait(own.worker);
        is_woken
    }

    fn add(&self, _: BorrowedFd<'_>, _: &'static Source) -> io::Result<()> {
        Ok(())
    }

    fn connecting(&self, own: &Ring, socket: BorrowedFd<'_>, source: &'static Source) {
        source.flow.lock().begin_wait_for_room();
        own.await_room(socket.as_raw_fd(), source);
    }

    fn accept(
        &self,
        own: &Ring,
        socket: BorrowedFd<'_>,
        source: &'static Source,
    ) -> io::Result<OwnedFd> {
        let mut flow = source.flow.lock();
        if let Some(accepted) = flow.take_accepted() {
            return accepted;
        }
        if flow.begin_input(socket.as_raw_fd()) {
            own.accept(socket.as_raw_fd(), source);
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn read(
        &self,
        own: &Ring,
        socket: BorrowedFd<'_>,
        source: &'static Source,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        let mut flow = source.flow.lock();
        if let Some(taken) = flow.take(buffer) {
            return taken;
        }
        if flow.begin_input(socket.as_raw_fd()) {
            own.receive(socket.as_raw_fd(), source);
        }
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn write(
        &self,
        own: &Ring,
        socket: BorrowedFd<'_>,
        source: &'static Source,
        bytes: &[u8],
    ) -> io::Result<usize> {
        let mut flow = source.flow.lock();
        let sending = flow.await_output()?;
        if sending != Sending::Nothing {
            self.hurry(own, sending);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = flow.begin_output(own.worker, socket.as_raw_fd(), bytes);
        own.send_silently(socket.as_raw_fd(), source, flow.output());
        Ok(length)
    }

    fn flush(&self, own: &Ring, source: &'static Source) -> io::Result<()> {
        let sending = source.flow.lock().await_output()?;
        if sending == Sending::Nothing {
            return Ok(());
        }
        self.hurry(own, sending);
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn close(&self, own: &Ring, socket: OwnedFd, source: &'static Source) {
        self.hurry(own, flow::close(source, socket));
    }

    fn close_outside(socket: OwnedFd, source: &'static Source) {
        flow::close(source, socket);
    }

    fn forget(source: &'static Source) {
        source.flow.lock().forget();
        flow::close_if_over(source);
    }
}
