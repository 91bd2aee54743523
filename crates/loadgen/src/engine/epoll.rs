//! Readiness notification. In the steady state a request costs one `write` and its reply one
//! `read`.
//!
//! Sockets are watched edge-triggered for input alone: after a read that did not fill the buffer
//! nothing is left, and whatever comes later is a new edge. The end of the stream is the exception;
//! it has a flag of its own (`RDHUP`). Interest in output is registered only while a write could
//! not be finished.

use rustix::{
    event::{
        Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
    },
    fd::OwnedFd,
    io::Errno,
    net::{AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, sockopt},
};
use std::net::SocketAddr;

use crate::{
    clock::Clock,
    codec::Codec,
    engine::Engine,
    error::LoadError,
    session::{Action, Command, Session},
};

/// Bytes that one read takes at most; also the memory of the whole thread for input.
const BUFFER_BYTES: usize = 64 * 1024;

/// Events that one wait takes at most.
const EVENTS: usize = 512;

/// Reads from one connection before the others get their turn.
const READS_PER_TURN: usize = 16;

const INPUT: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
const BOTH: EventFlags = INPUT.union(EventFlags::OUT);

/// What a socket is watched for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Watch {
    /// The end of the connection attempt.
    Connect,
    /// Input.
    Input,
    /// Input, and room for output.
    Both,
}

/// One place for a socket. The generation tells events of an earlier socket in the same place
/// apart.
#[derive(Debug)]
struct Place {
    socket: Option<OwnedFd>,
    generation: u32,
    watch: Watch,
}

/// The engine of one thread.
pub(crate) struct EpollEngine {
    address: SocketAddr,
    clock: Clock,
    epoll: OwnedFd,
    places: Vec<Place>,
    buffer: Vec<u8>,
    events: Vec<Event>,
}

impl EpollEngine {
    /// An engine for so many connections to one address.
    pub(crate) fn new(
        address: SocketAddr,
        connections: usize,
        clock: Clock,
    ) -> Result<Self, LoadError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)
            .map_err(|error| failure("make an epoll instance", error))?;
        let place = |_| Place { socket: None, generation: 0, watch: Watch::Connect };
        Ok(Self {
            address,
            clock,
            epoll,
            places: (0..connections).map(place).collect(),
            buffer: vec![0; BUFFER_BYTES],
            events: Vec::with_capacity(EVENTS),
        })
    }

    fn carry_out<C: Codec>(&mut self, session: &mut Session<C>, command: Command) {
        match command {
            Command::Connect(slot) => {
                let action = match self.connect(slot) {
                    Ok(()) => return,
                    Err(error) => session.failed(slot, error, self.clock.now_ns()),
                };
                self.act(session, slot, action);
            }
            Command::Resume(slot) => {
                let action = session.resume(slot, self.clock.now_ns());
                self.act(session, slot, action);
            }
            Command::Close(slot) => self.act(session, slot, Action::Close),
        }
    }

    /// Begins to connect. How it ends is told by an event, also when it has ended already.
    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        let family = match self.address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket =
            rustix::net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        match rustix::net::connect(&socket, &self.address) {
            Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let place = &mut self.places[slot];
        place.generation = place.generation.wrapping_add(1);
        place.watch = Watch::Connect;
        epoll::add(&self.epoll, &socket, data(slot, place.generation), BOTH)?;
        place.socket = Some(socket);
        Ok(())
    }

    /// Does what the session answered, until it answers that the next event is to be awaited.
    fn act<C: Codec>(&mut self, session: &mut Session<C>, slot: usize, action: Action) {
        let mut action = action;
        loop {
            let Some(socket) = &self.places[slot].socket else { return };
            match action {
                Action::Wait => return,
                Action::Close => {
                    // Closing the only descriptor of the socket also ends its registration.
                    self.places[slot].socket = None;
                    return;
                }
                Action::Send => {}
            }
            let outgoing = session.outgoing(slot);
            if outgoing.is_empty() {
                return;
            }
            match rustix::net::send(socket, outgoing, SendFlags::NOSIGNAL) {
                Ok(bytes) => action = session.sent(slot, bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let Err(error) = self.watch(slot, Watch::Both) else { return };
                    action = session.failed(slot, error, self.clock.now_ns());
                }
                Err(error) => action = session.failed(slot, error, self.clock.now_ns()),
            }
        }
    }

    /// Registers what the socket is watched for. What is ready already is told again.
    fn watch(&mut self, slot: usize, watch: Watch) -> Result<(), Errno> {
        let place = &mut self.places[slot];
        let Some(socket) = &place.socket else { return Ok(()) };
        let flags = if watch == Watch::Input { INPUT } else { BOTH };
        epoll::modify(&self.epoll, socket, data(slot, place.generation), flags)?;
        place.watch = watch;
        Ok(())
    }

    fn on_event<C: Codec>(&mut self, session: &mut Session<C>, event: Event) {
        let (slot, generation) = split(event.data);
        let flags = event.flags;
        let Some(place) = self.places.get(slot) else { return };
        if place.generation != generation || place.socket.is_none() {
            return;
        }
        if place.watch == Watch::Connect {
            self.on_connected(session, slot);
            return;
        }
        if flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
        {
            self.on_input(session, slot, flags);
        }
        let place = &self.places[slot];
        let same = place.generation == generation && place.socket.is_some();
        if same && place.watch == Watch::Both && flags.contains(EventFlags::OUT) {
            let action = match self.watch(slot, Watch::Input) {
                Ok(()) => Action::Send,
                Err(error) => session.failed(slot, error, self.clock.now_ns()),
            };
            self.act(session, slot, action);
        }
    }

    fn on_connected<C: Codec>(&mut self, session: &mut Session<C>, slot: usize) {
        let Some(socket) = &self.places[slot].socket else { return };
        let result = sockopt::socket_error(socket)
            .and_then(|result| result)
            .and_then(|()| self.watch(slot, Watch::Input));
        let now_ns = self.clock.now_ns();
        let action = match result {
            Ok(()) => session.connected(slot, now_ns),
            Err(error) => session.failed(slot, error, now_ns),
        };
        self.act(session, slot, action);
    }

    fn on_input<C: Codec>(&mut self, session: &mut Session<C>, slot: usize, flags: EventFlags) {
        // Behind the last bytes of the stream its end is waiting, and no further edge will tell.
        let ends = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        for _ in 0..READS_PER_TURN {
            let Some(socket) = &self.places[slot].socket else { return };
            let result = rustix::io::read(socket, &mut *self.buffer);
            let now_ns = self.clock.now_ns();
            let (action, more) = match result {
                Ok(0) => (session.finished(slot, now_ns), false),
                Ok(bytes) => {
                    let action = session.received(slot, &self.buffer[..bytes], now_ns);
                    (action, ends || bytes == self.buffer.len())
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(error) => (session.failed(slot, error, now_ns), false),
            };
            self.act(session, slot, action);
            if !more {
                return;
            }
        }
        // More is left than this connection gets in one turn: have the edge told again.
        let watch = self.places[slot].watch;
        if let Err(error) = self.watch(slot, watch) {
            let action = session.failed(slot, error, self.clock.now_ns());
            self.act(session, slot, action);
        }
    }
}

impl Engine for EpollEngine {
    fn turn<C: Codec>(&mut self, session: &mut Session<C>) -> Result<(), LoadError> {
        let now_ns = self.clock.now_ns();
        session.tick(now_ns);
        while let Some(command) = session.next_command(now_ns) {
            self.carry_out(session, command);
        }
        if session.is_over() {
            return Ok(());
        }
        let timeout = timespec(session.wakes_at().saturating_sub(now_ns));
        self.events.clear();
        let waited = epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(&mut self.events),
            Some(&timeout),
        );
        match waited {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(failure("wait for events", error)),
        }
        session.found(self.events.len(), self.places.len().min(EVENTS));
        for index in 0..self.events.len() {
            self.on_event(session, self.events[index]);
        }
        Ok(())
    }
}

fn failure(action: &'static str, error: Errno) -> LoadError {
    LoadError::Engine { engine: "epoll", action, source: error.into() }
}

fn data(slot: usize, generation: u32) -> EventData {
    EventData::new_u64(((slot as u64) << 32) | u64::from(generation))
}

#[allow(clippy::cast_possible_truncation, reason = "each half of the 64 bits is taken as such")]
fn split(data: EventData) -> (usize, u32) {
    let bits = data.u64();
    ((bits >> 32) as usize, bits as u32)
}

fn timespec(nanoseconds: u64) -> Timespec {
    /// No wait is longer, whatever the session says; it is a bound against mistakes.
    const LONGEST_NS: u64 = 1_000_000_000;
    let bounded = nanoseconds.min(LONGEST_NS);
    Timespec {
        tv_sec: i64::from(bounded == LONGEST_NS),
        tv_nsec: i64::try_from(bounded % LONGEST_NS).unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_finds_its_place_and_its_generation() {
        for (slot, generation) in [(0, 0), (7, u32::MAX), (1 << 30, 1)] {
            assert_eq!(split(data(slot, generation)), (slot, generation));
        }
    }

    #[test]
    fn no_wait_is_longer_than_a_second() {
        let parts = |time: Timespec| (time.tv_sec, time.tv_nsec);
        assert_eq!(parts(timespec(0)), (0, 0));
        assert_eq!(parts(timespec(999_999_999)), (0, 999_999_999));
        assert_eq!(parts(timespec(u64::MAX)), (1, 0));
    }
}
