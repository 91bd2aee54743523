//! The engine over readiness notification (epoll). In the steady state a request costs one `write`
//! and its reply one `read`.
//!
//! Sockets are watched edge-triggered for input alone: a read that did not fill the buffer has
//! emptied the socket, and later bytes are a new edge. The end of the stream has its own flag
//! (`RDHUP`). Interest in output is registered only while a write is incomplete.

use rustix::{
    event::{
        PollFd, PollFlags, Timespec,
        epoll::{self, CreateFlags, Event, EventData, EventFlags},
        poll,
    },
    fd::OwnedFd,
    io::Errno,
    net::{SendFlags, sockopt},
};

use std::ops::RangeInclusive;

use crate::{
    director::{Action, Command, Director},
    engine::{Engine, EngineParams},
    error::LoadError,
};

/// Bytes that one read takes at most; also the memory of the whole thread for input.
const BUFFER_BYTES: RangeInclusive<usize> = 64 * 1024..=256 * 1024;

/// Events that one wait takes at most.
const EVENTS: usize = 512;

/// A wait of this length may end a millisecond late.
const COARSE_NS: u64 = 50_000_000;

/// Reads from one connection before the others get their turn.
const READS_PER_TURN: usize = 16;

const INPUT: EventFlags = EventFlags::IN.union(EventFlags::RDHUP).union(EventFlags::ET);
const BOTH: EventFlags = INPUT.union(EventFlags::OUT);

/// The readiness for which a socket is watched.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Watch {
    /// The end of the connection attempt.
    Connect,
    Input,
    Both,
}

/// One place for a socket. The generation distinguishes events of an earlier socket in the same
/// place.
#[derive(Debug)]
struct Place {
    socket: Option<OwnedFd>,
    generation: u32,
    watch: Watch,
}

pub(crate) struct EpollEngine {
    equipment: EngineParams,
    epoll: OwnedFd,
    places: Vec<Place>,
    buffer: Vec<u8>,
    events: Vec<Event>,
}

impl EpollEngine {
    fn now_ns(&self) -> u64 {
        self.equipment.clock.now_ns()
    }

    fn carry_out<D: Director>(&mut self, director: &mut D, command: Command) {
        let (slot, action) = match command {
            Command::Connect(slot) => match self.connect(slot) {
                Ok(()) => return,
                Err(error) => (slot, director.failed(slot, error, self.now_ns())),
            },
            Command::Send(slot) => (slot, Action::Send),
            Command::Close(slot) => (slot, Action::Close),
        };
        self.act(director, slot, action);
    }

    /// Begins to connect. An event reports the result, also when it is already known.
    fn connect(&mut self, slot: usize) -> Result<(), Errno> {
        let socket = self.equipment.dialer.dial(self.equipment.share.number(slot))?;
        let place = &mut self.places[slot];
        place.generation = place.generation.wrapping_add(1);
        place.watch = Watch::Connect;
        epoll::add(&self.epoll, &socket, data(slot, place.generation), BOTH)?;
        place.socket = Some(socket);
        Ok(())
    }

    /// Waits for events until then at the latest.
    fn wait(&mut self, wakes_at_ns: u64) -> Result<(), LoadError> {
        let sleep_ns = self.equipment.sleep_ns(self.now_ns(), wakes_at_ns);
        let mut timeout = timespec(sleep_ns);
        if (1..COARSE_NS).contains(&sleep_ns) {
            // Before Linux 5.11 waiting for events counts in whole milliseconds, waiting for one
            // descriptor has always counted in nanoseconds. A signal only ends it early.
            let _ = poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timeout));
            timeout = timespec(0);
        }
        self.events.clear();
        let room = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, room, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(failure("wait for events", error)),
        }
    }

    /// Executes the director's orders until it wants to wait for the next event.
    fn act<D: Director>(&mut self, director: &mut D, slot: usize, action: Action) {
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
            let outgoing = director.outgoing(slot);
            if outgoing.is_empty() {
                return;
            }
            match rustix::net::send(socket, outgoing, SendFlags::NOSIGNAL) {
                Ok(bytes) => action = director.sent(slot, bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let Err(error) = self.watch(slot, Watch::Both) else { return };
                    action = director.failed(slot, error, self.now_ns());
                }
                Err(error) => action = director.failed(slot, error, self.now_ns()),
            }
        }
    }

    /// Registers what the socket is watched for. Readiness that exists already is reported again.
    fn watch(&mut self, slot: usize, watch: Watch) -> Result<(), Errno> {
        let place = &mut self.places[slot];
        let Some(socket) = &place.socket else { return Ok(()) };
        let flags = if watch == Watch::Input { INPUT } else { BOTH };
        epoll::modify(&self.epoll, socket, data(slot, place.generation), flags)?;
        place.watch = watch;
        Ok(())
    }

    fn on_event<D: Director>(&mut self, director: &mut D, event: Event) {
        let (slot, generation) = split(event.data);
        let flags = event.flags;
        let Some(place) = self.places.get(slot) else { return };
        if place.generation != generation || place.socket.is_none() {
            return;
        }
        if place.watch == Watch::Connect {
            self.on_connected(director, slot);
            return;
        }
        if flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR)
        {
            self.on_input(director, slot, flags);
        }
        let place = &self.places[slot];
        let same = place.generation == generation && place.socket.is_some();
        if same && place.watch == Watch::Both && flags.contains(EventFlags::OUT) {
            let action = match self.watch(slot, Watch::Input) {
                Ok(()) => Action::Send,
                Err(error) => director.failed(slot, error, self.now_ns()),
            };
            self.act(director, slot, action);
        }
    }

    fn on_connected<D: Director>(&mut self, director: &mut D, slot: usize) {
        let Some(socket) = &self.places[slot].socket else { return };
        let result = sockopt::socket_error(socket)
            .and_then(|result| result)
            .and_then(|()| self.watch(slot, Watch::Input));
        let now_ns = self.now_ns();
        let action = match result {
            Ok(()) => director.connected(slot, now_ns),
            Err(error) => director.failed(slot, error, now_ns),
        };
        self.act(director, slot, action);
    }

    fn on_input<D: Director>(&mut self, director: &mut D, slot: usize, flags: EventFlags) {
        // Behind the last bytes of the stream its end is waiting, and no further edge will tell.
        let ends = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        for _ in 0..READS_PER_TURN {
            let Some(socket) = &self.places[slot].socket else { return };
            let result = rustix::io::read(socket, &mut *self.buffer);
            let now_ns = self.now_ns();
            let (action, more) = match result {
                Ok(0) => (director.finished(slot, now_ns), false),
                Ok(bytes) => {
                    let action = director.received(slot, &self.buffer[..bytes], now_ns);
                    (action, ends || bytes == self.buffer.len())
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR) => continue,
                Err(error) => (director.failed(slot, error, now_ns), false),
            };
            self.act(director, slot, action);
            if !more {
                return;
            }
        }
        // More is left than this connection gets in one turn: have the edge reported again.
        let watch = self.places[slot].watch;
        if let Err(error) = self.watch(slot, watch) {
            let action = director.failed(slot, error, self.now_ns());
            self.act(director, slot, action);
        }
    }
}

impl Engine for EpollEngine {
    fn new(equipment: EngineParams) -> Result<Self, LoadError> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)
            .map_err(|error| failure("make an epoll instance", error))?;
        let place = |_| Place { socket: None, generation: 0, watch: Watch::Connect };
        Ok(Self {
            epoll,
            places: (0..equipment.share.places()).map(place).collect(),
            buffer: vec![0; buffer_bytes(equipment.reply_bytes_hint)],
            equipment,
            events: Vec::with_capacity(EVENTS),
        })
    }

    fn set_spin(&mut self, spin_ns: u64) {
        self.equipment.spin_ns = spin_ns;
    }

    fn turn<D: Director>(&mut self, director: &mut D) -> Result<(), LoadError> {
        director.tick(self.now_ns());
        while let Some(command) = director.next_command(self.now_ns()) {
            self.carry_out(director, command);
        }
        if director.is_over() {
            return Ok(());
        }
        self.wait(director.wakes_at())?;
        let possible = self.equipment.share.connections.min(EVENTS);
        director.found(self.events.len().min(possible), possible);
        for index in 0..self.events.len() {
            self.on_event(director, self.events[index]);
        }
        Ok(())
    }
}

/// Room for a whole reply and a little more, so that the read which brings its end also shows that
/// nothing is left.
fn buffer_bytes(reply_bytes_hint: usize) -> usize {
    let longest = *BUFFER_BYTES.end();
    (reply_bytes_hint.min(longest - 1) + 1).next_power_of_two().max(*BUFFER_BYTES.start())
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
    /// No wait is longer, whatever the director says; it is a bound against mistakes.
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
    fn a_whole_reply_fits_into_the_buffer_with_room_to_spare() {
        for (hint, bytes) in
            [(0, 64), (4096, 64), (64 * 1024 - 1, 64), (64 * 1024, 128), (1 << 30, 256)]
        {
            assert_eq!(buffer_bytes(hint), bytes * 1024, "{hint}");
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
