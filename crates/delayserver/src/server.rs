//! The loop: reads requests, waits until the next reply is due, sends it. The schedule makes all
//! decisions.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use memchr::memmem;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags, sockopt};

use crate::Mode;
use crate::schedule::{ConnectionId, Schedule};

const REPLY: &[u8; 77] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello world!";

/// A head above this is no load of wirebench's; its connection is closed.
const HEAD_BYTES_MOST: usize = 64 * 1024;

/// Waking up takes tens of microseconds on many machines. What is due sooner than this is waited
/// for with open eyes.
const SPIN_BELOW: Duration = Duration::from_micros(100);

/// The listening socket's event data; no connection gets that far.
const LISTENER: u64 = u64::MAX;

/// The server's waiting strategy while nothing is due soon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Idle {
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
    /// Bytes of replies that are due and had no room.
    unsent: Vec<u8>,
    /// The events for which epoll watches it.
    watched: epoll::EventFlags,
}

const INPUT: epoll::EventFlags = epoll::EventFlags::IN;
const INPUT_AND_OUTPUT: epoll::EventFlags = epoll::EventFlags::IN.union(epoll::EventFlags::OUT);

/// The connection is over: its peer closed it, or it broke.
struct ConnectionClosed;

/// Serves until the process ends.
///
/// # Errors
///
/// Returns an error when the listening socket or epoll fails, which no client can cause.
pub fn serve(listener: &TcpListener, mode: Mode, idle: Idle) -> io::Result<Infallible> {
    // Otherwise the kernel may let a timer wait for 50 us in order to join it with others.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
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
        loop {
            self.wait()?;
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&NOW)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    connection => self.receive(connection)?,
                }
            }
            while let Some(connection) = self.schedule.take_due(self.began.elapsed()) {
                self.answer(connection, REPLY)?;
            }
        }
    }

    /// Sleeps until something arrives or is nearly due.
    fn wait(&self) -> io::Result<()> {
        if self.idle == Idle::Spin {
            return Ok(());
        }
        // The wait of epoll itself knows milliseconds only.
        let timeout = match self.schedule.next_due() {
            None => None,
            Some(due) => match due.checked_sub(self.began.elapsed() + SPIN_BELOW) {
                None => return Ok(()),
                Some(left) => Some(Timespec::try_from(left).map_err(io::Error::other)?),
            },
        };
        let mut descriptors = [PollFd::new(&self.epoll, PollFlags::IN)];
        match poll(&mut descriptors, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
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
            let connection =
                Connection { socket, head: Vec::new(), unsent: Vec::new(), watched: INPUT };
            self.connections.insert(number, connection);
        }
    }

    fn receive(&mut self, number: ConnectionId) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        match connection.receive() {
            Ok(requests) => {
                // Read afterwards, because a delay must not begin before its request is there.
                let now = self.began.elapsed();
                (0..requests).for_each(|_| self.schedule.arrived(number, now));
                // There may be room again for what had none.
                if connection.unsent.is_empty() { Ok(()) } else { self.answer(number, &[]) }
            }
            Err(ConnectionClosed) => {
                self.close(number);
                Ok(())
            }
        }
    }

    /// Sends, and sees to it that there is an event when what had no room can be sent.
    fn answer(&mut self, number: ConnectionId, reply: &[u8]) -> io::Result<()> {
        let Some(connection) = self.connections.get_mut(&number) else { return Ok(()) };
        if connection.send(reply).is_err() {
            self.close(number);
            return Ok(());
        }
        let wanted = if connection.unsent.is_empty() { INPUT } else { INPUT_AND_OUTPUT };
        if connection.watched != wanted {
            connection.watched = wanted;
            let data = epoll::EventData::new_u64(number);
            epoll::modify(&self.epoll, &connection.socket, data, wanted)?;
        }
        Ok(())
    }

    fn close(&mut self, number: ConnectionId) {
        self.schedule.forget(number);
        // Closing the socket also removes it from the epoll instance.
        self.connections.remove(&number);
    }
}

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

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

    /// Sends what had no room before, and then this.
    fn send(&mut self, reply: &[u8]) -> Result<(), ConnectionClosed> {
        self.unsent.extend_from_slice(reply);
        match rustix::net::send(&self.socket, &self.unsent, SendFlags::NOSIGNAL) {
            Ok(count) => drop(self.unsent.drain(..count)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Err(ConnectionClosed),
        }
        Ok(())
    }
}
