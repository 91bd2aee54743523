//! What waits for sockets, for all workers of a runtime: the part that knows the kernel's interface.
//!
//! A poller offers attempts that never block. An attempt that fails with `WouldBlock` makes sure that the slot of its
//! direction is signalled once another attempt may succeed; waiting and timeouts are the same for all pollers.

mod epoll;
mod io_uring;
mod source;

pub use self::{epoll::Epoll, io_uring::IoUring};

pub(crate) use self::source::{Source, Sources};

use rustix::fd::{BorrowedFd, OwnedFd};
use std::{fmt, io, time::Duration};

use crate::fiber::Ready;

/// How a runtime waits for sockets: [`Epoll`] or [`IoUring`].
#[expect(private_interfaces, reason = "only this crate can implement it")]
pub trait Poller: fmt::Debug + Sized + Send + Sync + 'static {
    /// What each worker has of its own.
    type Own: fmt::Debug;
    /// Whether sockets must not block.
    const NONBLOCKING: bool;

    /// For this many workers.
    ///
    /// # Errors
    /// When the kernel does not offer it.
    fn new(workers: usize) -> io::Result<Self>;

    /// The part of this worker, made on its thread.
    ///
    /// # Errors
    /// When the kernel does not give it.
    fn own(&self, worker: usize) -> io::Result<Self::Own>;

    /// Wakes one worker that waits, or the next one that would.
    fn wake(&self);

    /// Waits for events for this long, or without an end, and hands over the fibers that waited for them. The answer
    /// is whether one of them was a wake-up, which no other worker gets then.
    fn wait(
        &self,
        own: &Self::Own,
        timeout: Option<Duration>,
        ready: &mut dyn FnMut(Ready),
    ) -> bool;

    /// Lets `source` know of events of a socket from now on, until it is closed.
    ///
    /// # Errors
    /// When the kernel refuses it.
    fn add(&self, socket: BorrowedFd<'_>, source: &'static Source) -> io::Result<()>;

    /// A socket has begun to connect: signals its writer when that is decided.
    fn connecting(&self, own: &Self::Own, socket: BorrowedFd<'_>, source: &'static Source);

    /// Takes a connection.
    ///
    /// # Errors
    /// `WouldBlock`, or when the kernel has none to give.
    fn accept(
        &self,
        own: &Self::Own,
        socket: BorrowedFd<'_>,
        source: &'static Source,
    ) -> io::Result<OwnedFd>;

    /// Takes bytes that have come. None is the end.
    ///
    /// # Errors
    /// `WouldBlock`, or when the connection is broken.
    fn read(
        &self,
        own: &Self::Own,
        socket: BorrowedFd<'_>,
        source: &'static Source,
        buffer: &mut [u8],
    ) -> io::Result<usize>;

    /// Takes over bytes to send: at least one, unless there are none.
    ///
    /// # Errors
    /// `WouldBlock`, or when the connection is broken.
    fn write(
        &self,
        own: &Self::Own,
        socket: BorrowedFd<'_>,
        source: &'static Source,
        bytes: &[u8],
    ) -> io::Result<usize>;

    /// Whether the kernel has all bytes that were written.
    ///
    /// # Errors
    /// `WouldBlock`, or when the connection is broken.
    fn flush(&self, own: &Self::Own, source: &'static Source) -> io::Result<()>;

    /// Closes a socket, at once or when the kernel has let go of it, and gives the source back.
    fn close(&self, own: &Self::Own, socket: OwnedFd, source: &'static Source);

    /// Closes a socket outside of the workers of its runtime.
    fn close_outside(socket: OwnedFd, source: &'static Source);

    /// Forgets what is in flight on a source. No worker exists any more.
    fn forget(source: &'static Source);
}
