//! The engine over completions (io_uring). In the steady state a round over all connections costs
//! one system call: it submits one send per request, and returns the replies that have arrived.
//!
//! Each connection has one receive in flight that continues until it is cancelled, and takes its
//! buffers from those of the thread. Sends are silent: they are over when the system call returns,
//! and only incomplete ones produce a completion. A turn reports sends to the director before
//! arrivals, since they are older.
//!
//! Requests name sockets by their descriptors, which the kernel resolves at submission. Orders are
//! therefore only noted while the director is asked, and those of a connection that is gone by the
//! end of the turn are never submitted. The crate `uring` implements rings; `places` holds the
//! state of each connection.

mod places;

use rustix::{fd::AsFd, io::Errno, net::sockopt};
use std::{io, mem};
use wirebench_uring::{Arrival, Exchange, LONGEST_SEND_BYTES, Request, Shape, Wait};

use self::places::{Number, Operation, Output, Places};
use crate::{
    director::{Action, Command, Director},
    engine::{Engine, EngineParams},
    error::LoadError,
};

/// Capacity of the submission queue. It is small to stay in the cache; more requests at once cost
/// one more system call for each such number.
const SUBMISSION_ENTRIES: u32 = 512;

/// Minimum and maximum capacity of the completion queue. The kernel keeps further completions,
/// which is slower, and delivers them later.
const COMPLETION_ENTRIES: std::ops::RangeInclusive<u32> = 4096..=65_536;

/// Completions that a connection may have in one round: pieces of replies, and a send that fell short.
const COMPLETIONS_PER_CONNECTION: usize = 4;

/// Bytes of all buffers of a thread together, apart from the gaps between them. They are used in
/// turn, and all of them are to stay in the second-level cache.
const BUFFERS_BYTES: usize = 1 << 20;

/// Minimum and maximum size of a buffer.
const BUFFER_BYTES: std::ops::RangeInclusive<usize> = 2 * 1024..=64 * 1024;

/// The size of a buffer until the length of replies is known: enough for most, and few enough
/// pieces of a long one.
const UNKNOWN_BUFFER_BYTES: usize = 8 * 1024;

/// The gap between two buffers: one cache line, so that their beginnings do not all compete for the
/// same few places of the first-level cache.
const GAP_BYTES: usize = 64;

pub(crate) struct IoUringEngine {
    equipment: EngineParams,
    exchange: Exchange,
    connections: Connections,
}

/// Whether a round may wait for news.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum WaitMode {
    MayWait,
    GoesOnAtOnce,
}

/// The state of the connections, without the ring that moves their bytes.
#[derive(Debug)]
struct Connections {
    places: Places,
    /// Connections with a submission in the next round.
    wanted: Vec<Number>,
    submitted: Vec<Number>,
    /// Connections that the next round ends.
    to_cancel: Vec<Number>,
}

impl Connections {
    fn new(places: usize) -> Self {
        let (wanted, submitted, to_cancel) = (Vec::new(), Vec::new(), Vec::new());
        Self { places: Places::new(places), wanted, submitted, to_cancel }
    }

    fn carry_out<D: Director>(&mut self, director: &mut D, command: Command, tools: &EngineParams) {
        match command {
            Command::Connect(slot) => match tools.dialer.dial(tools.share.number(slot)) {
                Ok(socket) => {
                    let number = self.places.occupy(slot, socket);
                    self.wanted.push(number);
                }
                Err(error) => {
                    let action = director.failed(slot, error, tools.clock.now_ns());
                    self.act(slot, action);
                }
            },
            Command::Send(slot) => self.act(slot, Action::Send),
            Command::Close(slot) => self.act(slot, Action::Close),
        }
    }

    /// Records an order of the director.
    #[inline]
    fn act(&mut self, slot: usize, action: Action) {
        match action {
            Action::Wait => {}
            Action::Send => {
                if let Some(number) = self.places.want_send(slot) {
                    self.wanted.push(number);
                }
            }
            Action::Close => self.close(slot),
        }
    }

    /// Closes the socket now. What is in flight still holds it open for the kernel, until the next
    /// round has ended that.
    #[inline(never)]
    fn close(&mut self, slot: usize) {
        self.to_cancel.extend(self.places.clear(slot).into_iter().flatten());
    }

    /// The submissions of the next round: first the ends, then the rest in the order of the
    /// requests.
    fn requests<'a, D: Director>(&'a self, director: &'a D) -> impl Iterator<Item = Request<'a>> {
        let cancel = |number: &Number| Request::Cancel { number: number.bits() };
        let start = |number: &Number| {
            let socket = self.places.socket(*number)?.as_fd();
            let (slot, number) = (number.slot(), *number);
            match number.operation() {
                Operation::Connect | Operation::Room => {
                    Some(Request::AwaitOutput { socket, number: number.bits() })
                }
                Operation::Receive => Some(Request::Receive { socket, number: number.bits() }),
                Operation::Send => {
                    let bytes = &director.outgoing(slot)[..self.places.sending(slot)];
                    Some(Request::Send { socket, bytes, number: number.bits() })
                }
            }
        };
        self.to_cancel.iter().map(cancel).chain(self.submitted.iter().filter_map(start))
    }

    /// Fixes the submissions of the next round. Returns whether it may wait: if more is left to
    /// send than one send takes, the next round must follow at once.
    fn prepare<D: Director>(&mut self, director: &D) -> WaitMode {
        mem::swap(&mut self.wanted, &mut self.submitted);
        let (places, mut haste) = (&mut self.places, WaitMode::MayWait);
        self.submitted.retain(|number| {
            if places.socket(*number).is_none() {
                return false;
            }
            if number.operation() != Operation::Send {
                return true;
            }
            let slot = number.slot();
            let outgoing = director.outgoing(slot).len();
            if outgoing > LONGEST_SEND_BYTES || !director.outgoing_is_all(slot, outgoing) {
                haste = WaitMode::GoesOnAtOnce;
            }
            places.send(slot, outgoing.min(LONGEST_SEND_BYTES))
        });
        haste
    }

    /// Reports the results of a round's sends to the director.
    fn tell_sent<D: Director>(&mut self, director: &mut D, tools: &EngineParams) {
        for index in 0..self.submitted.len() {
            let number = self.submitted[index];
            if number.operation() != Operation::Send {
                continue;
            }
            let slot = number.slot();
            let action = match self.places.take_output(slot) {
                Output::Sending { bytes } => director.sent(slot, bytes as usize),
                Output::FellShort { result } => match count(result) {
                    Ok(bytes) => self.sent_in_part(director, slot, bytes),
                    Err(Errno::AGAIN | Errno::INTR) => self.sent_in_part(director, slot, 0),
                    Err(error) => director.failed(slot, error, tools.clock.now_ns()),
                },
                Output::Idle | Output::Wanted | Output::AwaitsRoom => {
                    unreachable!("the round has sent")
                }
            };
            self.act(slot, action);
        }
        self.submitted.clear();
    }

    /// The rest is sent when there is room for it.
    fn sent_in_part<D: Director>(&mut self, director: &mut D, slot: usize, sent: usize) -> Action {
        self.wanted.push(self.places.await_room(slot));
        if sent == 0 { Action::Wait } else { director.sent(slot, sent) }
    }

    /// Something has come. What was meant for an earlier connection in the same place is dropped.
    fn arrived<D: Director>(
        &mut self,
        director: &mut D,
        arrival: Arrival<'_>,
        now_ns: impl Fn() -> u64,
    ) {
        let number = Number::from_bits(arrival.number);
        let slot = number.slot();
        if self.places.socket(number).is_none() {
            return;
        }
        match number.operation() {
            Operation::Connect => self.connected(director, slot, arrival.result, now_ns()),
            Operation::Receive => self.received(director, slot, arrival, now_ns()),
            Operation::Room => {
                self.places.take_output(slot);
                self.act(slot, Action::Send);
            }
            Operation::Send => unreachable!("handled above"),
        }
    }

    fn connected<D: Director>(&mut self, director: &mut D, slot: usize, result: i32, now_ns: u64) {
        let Some(number) = self.places.connected(slot) else { return };
        let Some(socket) = self.places.socket(number) else { return };
        let result = count(result).and_then(|_| sockopt::socket_error(socket)?);
        let action = match result {
            Ok(()) => {
                self.wanted.push(number);
                director.connected(slot, now_ns)
            }
            Err(error) => director.failed(slot, error, now_ns),
        };
        self.act(slot, action);
    }

    fn received<D: Director>(
        &mut self,
        director: &mut D,
        slot: usize,
        arrival: Arrival<'_>,
        now_ns: u64,
    ) {
        let action = match count(arrival.result) {
            Ok(0) => director.finished(slot, now_ns),
            Ok(_) => {
                if !arrival.more {
                    self.receive_again(slot);
                }
                director.received(slot, arrival.bytes, now_ns)
            }
            // No buffer was left, or something passing.
            Err(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => {
                if !arrival.more {
                    self.receive_again(slot);
                }
                return;
            }
            Err(error) => director.failed(slot, error, now_ns),
        };
        self.act(slot, action);
    }

    fn receive_again(&mut self, slot: usize) {
        self.wanted.push(self.places.number(slot, Operation::Receive));
    }
}

impl Engine for IoUringEngine {
    fn new(equipment: EngineParams) -> Result<Self, LoadError> {
        let shape = shape(equipment.reply_bytes_hint);
        let exchange =
            Exchange::new(SUBMISSION_ENTRIES, completion_entries(equipment.share.places()), shape)
                .map_err(|source| failure("set up a ring", source))?;
        let connections = Connections::new(equipment.share.places());
        Ok(Self { equipment, exchange, connections })
    }

    fn set_spin(&mut self, spin_ns: u64) {
        self.equipment.spin_ns = spin_ns;
    }

    fn turn<D: Director>(&mut self, director: &mut D) -> Result<(), LoadError> {
        let Self { equipment, exchange, connections } = self;
        let clock = equipment.clock;
        director.tick(clock.now_ns());
        while let Some(command) = director.next_command(clock.now_ns()) {
            connections.carry_out(director, command, equipment);
        }
        if director.is_over() {
            return Ok(());
        }
        let haste = connections.prepare(director);
        let wakes_at_ns = director.wakes_at();
        let wait = || match equipment.sleep_ns(clock.now_ns(), wakes_at_ns) {
            sleep_ns if haste == WaitMode::MayWait && sleep_ns > 0 => Wait::AtMost(sleep_ns),
            _ => Wait::Not,
        };
        exchange
            .round(connections.requests(director), wait)
            .map_err(|source| failure("exchange bytes", source))?;
        connections.to_cancel.clear();
        for (number, result) in exchange.unsent() {
            connections.places.fell_short(Number::from_bits(number).slot(), result);
        }
        connections.tell_sent(director, equipment);
        let ready = connections.places.count_news(exchange.numbers().map(Number::from_bits));
        let possible = equipment.share.connections.min(exchange.buffers());
        director.found(ready.min(possible), possible);
        exchange.arrivals(|arrival| connections.arrived(director, arrival, || clock.now_ns()));
        Ok(())
    }

    /// What is in flight on a closed socket keeps it open for the server until it is cancelled.
    fn pause(&mut self) -> Result<(), LoadError> {
        let Self { exchange, connections, .. } = self;
        let cancels = connections.to_cancel.drain(..);
        let cancels = cancels.map(|number| Request::Cancel { number: number.bits() });
        exchange.submit(cancels, || Wait::Not).map_err(|source| failure("end connections", source))
    }
}

fn completion_entries(places: usize) -> u32 {
    let wanted = u32::try_from(places.saturating_mul(COMPLETIONS_PER_CONNECTION));
    wanted.unwrap_or(u32::MAX).clamp(*COMPLETION_ENTRIES.start(), *COMPLETION_ENTRIES.end())
}

/// The count in a result, or the error.
fn count(result: i32) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| Errno::from_raw_os_error(result.saturating_neg()))
}

/// Buffers for replies of about `reply_bytes_hint`, or of any length.
fn shape(reply_bytes_hint: usize) -> Shape {
    let longest = *BUFFER_BYTES.end();
    let bytes = match reply_bytes_hint {
        0 => UNKNOWN_BUFFER_BYTES,
        known => known.min(longest).next_power_of_two().max(*BUFFER_BYTES.start()),
    };
    Shape {
        buffers: u16::try_from(BUFFERS_BYTES / bytes).unwrap_or(u16::MAX),
        buffer_bytes: u32::try_from(bytes + GAP_BYTES).unwrap_or(u32::MAX),
    }
}

fn failure(action: &'static str, source: io::Error) -> LoadError {
    LoadError::Engine { engine: "io_uring", action, source }
}

#[cfg(test)]
mod tests;
