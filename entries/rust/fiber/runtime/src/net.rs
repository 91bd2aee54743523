//! TCP sockets that fibers wait for.
//!
//! System calls of fibers go through `rustix`, which has no `errno`: the compiler may keep the place of that
//! variable of a thread while the fiber goes on on another one.

use std::{
    fmt, io,
    marker::PhantomData,
    net::{self, SocketAddr},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    net::{
        AddressFamily, Shutdown, SocketFlags, SocketType, connect, getpeername, shutdown,
        socket_with, sockopt,
    },
};

use crate::{
    parts::Parts,
    poller::{Poller, Source},
    slot::Slot,
    worker::{Worker, current, suspend},
};

/// Connections that may wait to be accepted.
const BACKLOG: i32 = 4096;

/// One direction of a source.
#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

/// A socket and what its fibers wait for.
struct Registered<P: Parts, S: Into<OwnedFd>> {
    /// There until this is dropped.
    socket: Option<S>,
    source: &'static Source,
    parts: PhantomData<fn() -> P>,
}

impl<P: Parts, S: AsFd + Into<OwnedFd>> Registered<P, S> {
    fn new(socket: S) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&socket, P::Poller::NONBLOCKING)?;
        with_worker::<P, _>(|worker| {
            let source = worker.shared.sources.one();
            // From here on the source is given back when this is dropped.
            let registered = Self { socket: Some(socket), source, parts: PhantomData };
            worker.shared.poller.add(registered.socket().as_fd(), source)?;
            Ok(registered)
        })
    }

    fn socket(&self) -> &S {
        self.socket.as_ref().expect("a socket is there until this is dropped")
    }

    fn parts(&self, direction: Direction) -> (&'static Slot, &'static AtomicU64) {
        let source = self.source;
        match direction {
            Direction::Read => (&source.read, &source.read_until),
            Direction::Write => (&source.write, &source.write_until),
        }
    }

    /// Waits for an event in a direction, or until then.
    fn wait(&self, direction: Direction, until_ns: u64) {
        let (slot, until) = self.parts(direction);
        if slot.take_event() {
            return;
        }
        if until_ns < u64::MAX {
            until.store(until_ns, Relaxed);
        }
        let source = self.source;
        suspend::<P, _>(move |worker, fiber| {
            let shared = &worker.shared;
            if let Some(fiber) = slot.wait(fiber) {
                return worker.ready(fiber);
            }
            // The fiber may be gone already. Its source stays, and is looked at for nothing then.
            if until_ns < u64::MAX && shared.timers.look_at(until_ns, source) {
                shared.timer_is_first();
            }
        });
        if until_ns < u64::MAX {
            until.store(u64::MAX, Relaxed);
        }
    }

    /// Tries until it works, or fails otherwise than for want of an event. The last attempt is made after the timeout:
    /// an event in time counts even if the fiber runs late.
    fn retry<T>(
        &self,
        direction: Direction,
        timeout: Option<Duration>,
        mut attempt: impl FnMut(&Worker<P>, BorrowedFd<'_>, &'static Source) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut until_ns = None;
        loop {
            let socket = self.socket().as_fd();
            match with_worker::<P, _>(|worker| attempt(worker, socket, self.source)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if until_ns.is_some_and(is_past::<P>) {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    let until_ns = *until_ns.get_or_insert_with(|| deadline::<P>(timeout));
                    self.wait(direction, until_ns);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl<P: Parts, S: Into<OwnedFd>> Drop for Registered<P, S> {
    fn drop(&mut self) {
        let Some(socket) = self.socket.take().map(Into::into) else { return };
        current::<P, _>(|worker| match worker {
            Some(worker) => worker.shared.poller.close(&worker.own, socket, self.source),
            None => P::Poller::close_outside(socket, self.source),
        });
    }
}

/// Calls `with` with the worker that runs this fiber.
fn with_worker<P: Parts, R>(with: impl FnOnce(&Worker<P>) -> io::Result<R>) -> io::Result<R> {
    current::<P, _>(|worker| {
        with(worker.ok_or_else(|| io::Error::other("sockets are used in a fiber"))?)
    })
}

fn now_ns<P: Parts>() -> u64 {
    current::<P, _>(|worker| worker.map_or(0, |worker| worker.shared.now_ns()))
}

/// Whether a deadline has passed, if there is one.
fn is_past<P: Parts>(until_ns: u64) -> bool {
    until_ns < u64::MAX && now_ns::<P>() >= until_ns
}

fn deadline<P: Parts>(timeout: Option<Duration>) -> u64 {
    let time_ns = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX / 2);
    timeout.map_or(u64::MAX, |timeout| now_ns::<P>().saturating_add(time_ns(timeout)))
}

/// Takes connections.
pub struct TcpListener<P: Parts>(Registered<P, net::TcpListener>);

impl<P: Parts> TcpListener<P> {
    /// Listens on an address.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Self::from_std(socket.into())
    }

    /// Takes over a listener that was made with options of its own.
    ///
    /// # Errors
    /// When the kernel refuses to wait for it.
    pub fn from_std(listener: net::TcpListener) -> io::Result<Self> {
        Registered::new(listener).map(Self)
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the kernel does not tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.socket().local_addr()
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// When the kernel has none to give, as without free descriptors.
    pub fn accept(&self) -> io::Result<TcpStream<P>> {
        let stream = self.0.retry(Direction::Read, None, |worker, socket, source| {
            worker.shared.poller.accept(&worker.own, socket, source)
        })?;
        TcpStream::new(stream.into())
    }
}

/// A connection.
pub struct TcpStream<P: Parts> {
    registered: Registered<P, net::TcpStream>,
}

impl<P: Parts> TcpStream<P> {
    fn new(stream: net::TcpStream) -> io::Result<Self> {
        sockopt::set_tcp_nodelay(&stream, true)?;
        Ok(Self { registered: Registered::new(stream)? })
    }

    /// Connects.
    ///
    /// # Errors
    /// When the other side does not take it in time.
    pub fn connect(address: SocketAddr, timeout: Option<Duration>) -> io::Result<Self> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        let begun = connect(&socket, &address);
        let stream = Self::new(socket.into())?;
        if let Err(error) = begun {
            if error != rustix::io::Errno::INPROGRESS {
                return Err(error.into());
            }
            with_worker::<P, _>(|worker| {
                let Registered { source, .. } = stream.registered;
                let socket = stream.registered.socket().as_fd();
                worker.shared.poller.connecting(&worker.own, socket, source);
                Ok(())
            })?;
            let until_ns = deadline::<P>(timeout);
            stream.registered.wait(Direction::Write, until_ns);
            sockopt::socket_error(stream.registered.socket())??;
            let is_connected = getpeername(stream.registered.socket()).is_ok();
            if !is_connected && is_past::<P>(until_ns) {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(stream)
    }

    /// Waits for bytes, no longer than `timeout`. None is the end.
    ///
    /// # Errors
    /// When the connection is broken, or nothing came in time.
    pub fn read(&self, buffer: &mut [u8], timeout: Option<Duration>) -> io::Result<usize> {
        self.registered.retry(Direction::Read, timeout, |worker, socket, source| {
            worker.shared.poller.read(&worker.own, socket, source, buffer)
        })
    }

    /// Writes all bytes, and waits no longer than `timeout` for room for each part. The last part is taken over when
    /// this returns, and an error of it is seen by the next write.
    ///
    /// # Errors
    /// When the connection is broken, or there was no room in time.
    pub fn write_all(&self, mut bytes: &[u8], timeout: Option<Duration>) -> io::Result<()> {
        while !bytes.is_empty() {
            let length =
                self.registered.retry(Direction::Write, timeout, |worker, socket, source| {
                    worker.shared.poller.write(&worker.own, socket, source, bytes)
                })?;
            bytes = &bytes[length..];
        }
        Ok(())
    }

    /// Ends the own side of the connection.
    ///
    /// # Errors
    /// When it is broken.
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.registered.retry(Direction::Write, None, |worker, _, source| {
            worker.shared.poller.flush(&worker.own, source)
        })?;
        Ok(shutdown(self.registered.socket(), Shutdown::Write)?)
    }
}

impl<P: Parts> fmt::Debug for TcpListener<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TcpListener").field(self.0.socket()).finish()
    }
}

impl<P: Parts> fmt::Debug for TcpStream<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TcpStream").field(self.registered.socket()).finish()
    }
}
