//! The loop: reads requests, waits until the next reply is due, sends it. The schedule makes all decisions. The
//! connection of a client that does not read its replies is closed.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::time::Instant;

use memchr::memmem;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, sockopt};

use crate::Mode;
use crate::schedule::{ConnectionId, Schedule};

const REPLY: &[u8; 77] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

/// A head above this is no load of wirebench's; its connection is closed.
const HEAD_BYTES_MOST: usize = 64 * 1024;

/// The listening socket's event data; no connection gets that far.
const LISTENER: u64 = u64::MAX;

/// The server's waiting strategy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Idle {
    /// Looks once a millisecond what is due, for tests that share the CPU.
    Sleep,
    /// Keeps its CPU busy, so that it sees a request at once: for a server that has a CPU of its
    /// own.
    Spin,
}

struct Server<'listener> {
    listener: &'listener TcpListener,
    epoll: OwnedFd,
    schedule: Schedule,
    connections: HashMap<ConnectionId, Connection>,
    connections_made: u64,
    began: Instant,
    idle: Idle,
}

struct Connection {
    socket: OwnedFd,
    /// The received part of an incomplete head.
    head: Vec<u8>,
}

/// The connection is over: its peer closed it, or it broke.
struct ConnectionClosed;

/// Serves until the process ends.
///
/// # Errors
///
/// Returns an error when the listening socket or epoll fails, which no client can cause.
pub fn serve(listener: &TcpListener, mode: Mode, idle: Idle) -> io::Result<Infallible> {
    listener.set_nonblocking(true)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let mut server = Server {
        listener,
        epoll,
        schedule: Schedule::new(mode),
        connections: HashMap::new(),
        connections_made: 0,
        began: Instant::now(),
        idle,
    };
    server.run()
}

impl Server<'_> {
    fn run(&mut self) -> io::Result<Infallible> {
        let mut events = Vec::with_capacity(256);
        let tv_nsec = if self.idle == Idle::Spin { 0 } else { 1_000_000 };
        loop {
            events.clear();
            let timeout = Timespec { tv_sec: 0, tv_nsec };
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&timeout)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    connection => self.receive(connection),
                }
            }
            while let Some(connection) = self.schedule.take_due(self.began.elapsed()) {
                self.answer(connection);
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let socket = match rustix::net::accept_with(self.listener, flags) {
                Ok(socket) => socket,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::CONNABORTED | Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            sockopt::set_tcp_nodelay(&socket, true)?;
            let number = self.connections_made;
            self.connections_made += 1;
            let data = epoll::EventData::new_u64(number);
            epoll::add(&self.epoll, &socket, data, epoll::EventFlags::IN)?;
            self.connections.insert(number, Connection { socket, head: Vec::new() });
        }
    }

    fn receive(&mut self, number: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        let Ok(requests) = connection.receive() else { return self.close(number) };
        // Read afterwards, because a delay must not begin before its request is there.
        let now = self.began.elapsed();
        (0..requests).for_each(|_| self.schedule.arrived(number, now));
    }

    fn answer(&mut self, number: ConnectionId) {
        let Some(connection) = self.connections.get(&number) else { return };
        let sent = rustix::net::send(&connection.socket, REPLY, SendFlags::NOSIGNAL);
        if sent != Ok(REPLY.len()) {
            self.close(number);
        }
    }

    fn close(&mut self, number: ConnectionId) {
        self.schedule.forget(number);
        // Closing the socket also removes it from the epoll instance.
        self.connections.remove(&number);
    }
}

impl Connection {
    /// Reads once, and returns how many heads that completed.
    fn receive(&mut self) -> Result<usize, ConnectionClosed> {
        let mut buffer = [0; 16 * 1024];
        match rustix::net::recv(&self.socket, &mut buffer, RecvFlags::empty()) {
            Ok((_, count)) if count > 0 => self.head.extend_from_slice(&buffer[..count]),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(0),
            Ok(_) | Err(_) => return Err(ConnectionClosed),
        }
        let (mut requests, mut end) = (0, 0);
        for start in memmem::find_iter(&self.head, b"\r\n\r\n") {
            (requests, end) = (requests + 1, start + 4);
        }
        self.head.drain(..end);
        if self.head.len() > HEAD_BYTES_MOST { Err(ConnectionClosed) } else { Ok(requests) }
    }
}
