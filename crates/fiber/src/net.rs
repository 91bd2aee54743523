//! TCP sockets that fibers wait for.

use std::{
    fmt, io,
    io::{Read as _, Write as _},
    marker::PhantomData,
    net::{self, SocketAddr},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};

use crate::{
    policy::Policy,
    poller::Source,
    slot::Slot,
    worker::{current, suspend},
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
struct Registered<P: Policy, S> {
    /// Closed before the source is given back.
    socket: Option<S>,
    source: &'static Source,
    policy: PhantomData<fn() -> P>,
}

impl<P: Policy, S: rustix::fd::AsFd> Registered<P, S> {
    fn new(socket: S) -> io::Result<Self> {
        current::<P, _>(|worker| {
            let outside = || io::Error::other("sockets are made in a fiber");
            let shared = &worker.ok_or_else(outside)?.shared;
            let source = Source::take(shared.number);
            // From here on the source is given back when this is dropped.
            let registered = Self { socket: Some(socket), source, policy: PhantomData };
            shared.poller.add(registered.socket(), source)?;
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

    /// Waits for an event in a direction. An error is that none came in time.
    fn wait(&self, direction: Direction, until_ns: u64) -> io::Result<()> {
        let (slot, until) = self.parts(direction);
        if slot.take_event() {
            return Ok(());
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
            if now_ns::<P>() >= until_ns && !slot.take_event() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    /// Tries until it works, or fails otherwise than for want of an event.
    fn retry<T>(
        &self,
        direction: Direction,
        timeout: Option<Duration>,
        mut attempt: impl FnMut(&S) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut until_ns = None;
        loop {
            match attempt(self.socket()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let until_ns = *until_ns.get_or_insert_with(|| deadline::<P>(timeout));
                    self.wait(direction, until_ns)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

impl<P: Policy, S> Drop for Registered<P, S> {
    fn drop(&mut self) {
        drop(self.socket.take());
        self.source.give_back();
    }
}

fn now_ns<P: Policy>() -> u64 {
    current::<P, _>(|worker| worker.map_or(0, |worker| worker.shared.now_ns()))
}

fn deadline<P: Policy>(timeout: Option<Duration>) -> u64 {
    let time_ns = |it: Duration| u64::try_from(it.as_nanos()).unwrap_or(u64::MAX / 2);
    timeout.map_or(u64::MAX, |timeout| now_ns::<P>().saturating_add(time_ns(timeout)))
}

/// Takes connections.
pub struct TcpListener<P: Policy>(Registered<P, net::TcpListener>);

impl<P: Policy> TcpListener<P> {
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
        listener.set_nonblocking(true)?;
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
        let stream = self.0.retry(Direction::Read, None, |listener| {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            Ok(rustix::net::accept_with(listener, flags)?)
        })?;
        TcpStream::new(stream.into())
    }
}

/// A connection.
pub struct TcpStream<P: Policy> {
    registered: Registered<P, net::TcpStream>,
    /// Whether the last read took all that there was: an event comes before there is more.
    is_drained: AtomicBool,
}

impl<P: Policy> TcpStream<P> {
    fn new(stream: net::TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { registered: Registered::new(stream)?, is_drained: AtomicBool::new(false) })
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
            stream.registered.wait(Direction::Write, deadline::<P>(timeout))?;
            if let Some(error) = stream.registered.socket().take_error()? {
                return Err(error);
            }
        }
        Ok(stream)
    }

    /// Waits for bytes, no longer than `timeout`. None is the end.
    ///
    /// # Errors
    /// When the connection is broken, or nothing came in time.
    pub fn read(&self, buffer: &mut [u8], timeout: Option<Duration>) -> io::Result<usize> {
        if self.is_drained.load(Relaxed) && !self.registered.source.has_ended.load(Relaxed) {
            self.registered.wait(Direction::Read, deadline::<P>(timeout))?;
        }
        let length = self.registered.retry(Direction::Read, timeout, |mut it| it.read(buffer))?;
        self.is_drained.store(length > 0 && length < buffer.len(), Relaxed);
        Ok(length)
    }

    /// Writes all bytes, and waits no longer than `timeout` for room for each part.
    ///
    /// # Errors
    /// When the connection is broken, or there was no room in time.
    pub fn write_all(&self, mut bytes: &[u8], timeout: Option<Duration>) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.registered.retry(Direction::Write, timeout, |mut it| it.write(bytes))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                length => bytes = &bytes[length..],
            }
        }
        Ok(())
    }

    /// Ends the own side of the connection.
    ///
    /// # Errors
    /// When it is broken.
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.registered.socket().shutdown(net::Shutdown::Write)
    }
}

impl<P: Policy> fmt::Debug for TcpListener<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TcpListener").field(self.0.socket()).finish()
    }
}

impl<P: Policy> fmt::Debug for TcpStream<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("TcpStream").field(self.registered.socket()).finish()
    }
}
