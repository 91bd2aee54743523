//! The engine for readiness: level-triggered epoll, one read and one write per request.
//!
//! A connection is watched for input or for output, never for both: nothing is read while bytes are
//! owed, which is the only backpressure. Deliberately absent: edge triggering, which would need a
//! second read to see the end of the input, and fairness beyond one read per connection and round.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketFlags};

use crate::connection::Connection;
use crate::listen::{ACCEPT_REST, AcceptFailure};
use crate::service::Service;
use crate::table::{Key, Table};

/// One read takes at most this much, and all connections of a worker share the buffer.
const BUFFER_BYTES: usize = 64 * 1024;

/// How many events one wait may return.
const EVENTS_PER_WAIT: usize = 512;

/// The listening socket's event data; no connection's key is that large.
const LISTENER: u64 = u64::MAX;

struct Worker {
    epoll: OwnedFd,
    listener: TcpListener,
    service: Service,
    peers: Table<Peer>,
    buffer: Box<[u8]>,
    /// When accepting goes on, while it rests.
    accepting_again_at: Option<Instant>,
}

struct Peer {
    socket: OwnedFd,
    connection: Connection,
    interest: Interest,
}

/// The events for which epoll watches a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Interest {
    Input,
    Output,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        match self {
            Self::Input => epoll::EventFlags::IN,
            Self::Output => epoll::EventFlags::OUT,
        }
    }
}

/// The connection is over: its peer closed it, or it broke. There is nothing to be done about
/// either but to close.
struct ConnectionClosed;

/// Serves the connections of one listening socket in this thread; calls `ready` once it would
/// accept.
pub(crate) fn serve_worker(
    listener: TcpListener,
    service: Service,
    ready: impl FnOnce(),
) -> io::Result<Infallible> {
    listener.set_nonblocking(true)?;
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, &listener, epoll::EventData::new_u64(LISTENER), epoll::EventFlags::IN)?;
    let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
    let mut worker =
        Worker { epoll, listener, service, peers: Table::new(), buffer, accepting_again_at: None };
    ready();
    worker.run()
}

impl Worker {
    fn run(&mut self) -> io::Result<Infallible> {
        let mut events = Vec::with_capacity(EVENTS_PER_WAIT);
        loop {
            events.clear();
            let timeout = self.rest_left();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    number => self.serve_peer(Key::from_number(number))?,
                }
            }
            if self.accepting_again_at.is_some_and(|instant| instant <= Instant::now()) {
                self.accepting_again_at = None;
                self.watch_listener(epoll::EventFlags::IN)?;
            }
        }
    }

    /// How long to wait for events at most: forever, unless accepting rests.
    fn rest_left(&self) -> Option<Timespec> {
        let left = self.accepting_again_at?.saturating_duration_since(Instant::now());
        Some(left.try_into().expect("a rest is short"))
    }

    fn watch_listener(&self, flags: epoll::EventFlags) -> io::Result<()> {
        let data = epoll::EventData::new_u64(LISTENER);
        Ok(epoll::modify(&self.epoll, &self.listener, data, flags)?)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
            let failure = match rustix::net::accept_with(&self.listener, flags) {
                Ok(socket) => self.add_peer(socket).err(),
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => Some(AcceptFailure::of(error)),
            };
            if failure == Some(AcceptFailure::Exhausted) {
                self.accepting_again_at = Some(Instant::now() + ACCEPT_REST);
                return self.watch_listener(epoll::EventFlags::empty());
            }
        }
    }

    fn add_peer(&mut self, socket: OwnedFd) -> Result<(), AcceptFailure> {
        let (connection, interest) = (Connection::new(self.service), Interest::Input);
        let key = self.peers.insert(Peer { socket, connection, interest });
        let Some(peer) = self.peers.get_mut(key) else { unreachable!("it was just inserted") };
        let data = epoll::EventData::new_u64(key.to_number());
        // The kernel limits how many sockets a user may watch; a connection beyond that is closed.
        epoll::add(&self.epoll, &peer.socket, data, interest.flags()).map_err(|_| {
            self.peers.remove(key);
            AcceptFailure::Exhausted
        })
    }

    fn serve_peer(&mut self, key: Key) -> io::Result<()> {
        let Some(peer) = self.peers.get_mut(key) else { return Ok(()) };
        let outcome = match peer.interest {
            Interest::Input => peer.receive_and_answer(&mut self.buffer),
            Interest::Output => peer.send_owed(),
        };
        match outcome {
            Ok(interest) if interest == peer.interest => {}
            Ok(interest) => {
                peer.interest = interest;
                let data = epoll::EventData::new_u64(key.to_number());
                epoll::modify(&self.epoll, &peer.socket, data, interest.flags())?;
            }
            // Closing the socket also removes it from the epoll instance.
            Err(ConnectionClosed) => drop(self.peers.remove(key)),
        }
        Ok(())
    }
}

impl Peer {
    /// One read, and one write if it asked for an answer. Returns what to wait for next.
    fn receive_and_answer(&mut self, buffer: &mut [u8]) -> Result<Interest, ConnectionClosed> {
        let input = match rustix::net::recv(&self.socket, &mut *buffer, RecvFlags::empty()) {
            // Nothing is owed while we read, so at the end of the input everything is answered.
            Ok((_, 0)) => return Err(ConnectionClosed),
            Ok((_, count)) => &buffer[..count],
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Interest::Input),
            Err(_) => return Err(ConnectionClosed),
        };
        if self.connection.input_is_output() {
            let sent = send(&self.socket, input)?;
            if sent < input.len() {
                self.connection.receive(&input[sent..]);
                return Ok(Interest::Output);
            }
            return Ok(Interest::Input);
        }
        self.connection.receive(input);
        self.send_owed()
    }

    /// Sends owed bytes until the socket takes no more. Returns the event to wait for next.
    fn send_owed(&mut self) -> Result<Interest, ConnectionClosed> {
        loop {
            let output = self.connection.next_output();
            if output.is_empty() {
                return Ok(Interest::Input);
            }
            let wanted = output.len();
            let sent = send(&self.socket, output)?;
            self.connection.sent(sent);
            if sent < wanted {
                return Ok(Interest::Output);
            }
        }
    }
}

/// Sends as much as the socket takes, which may be nothing.
fn send(socket: &OwnedFd, output: &[u8]) -> Result<usize, ConnectionClosed> {
    match rustix::net::send(socket, output, SendFlags::NOSIGNAL) {
        Ok(sent) => Ok(sent),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(_) => Err(ConnectionClosed),
    }
}
