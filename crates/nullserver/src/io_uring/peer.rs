//! One connection of the io_uring engine: its operations in flight, and the next one to submit.
//!
//! The usual answer is a *silent* send: it does not wait for room in the socket, so it is over when
//! the submitting system call returns, and it posts a completion only if it could not send
//! everything. This saves a completion per request, and a buffer can be sent and returned within
//! one round. Only the rest of an incomplete silent send, or more than one can carry, is kept and
//! sent with a completion, at most one at a time; when too much is kept, receiving stops.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use ::io_uring::{opcode, squeue, types};
use rustix::io::Errno;

use wirebench_uring::{BufferRing, GROUP, Lent, Ring, SILENT_SEND_FLAGS};

use super::operation::Operation;
use crate::connection::Connection;
use crate::service::Service;
use crate::table::Key;

/// Above this many bytes that a connection is owed, nothing more is received from it. Receiving
/// goes on at half of it, because stopping has its cost.
fn owed_bytes_limit(service: Service) -> usize {
    const LEAST: usize = 128 * 1024;
    match service {
        // Replies cost no memory of the connection's. A pipeline of large ones is sent with one
        // send, before which it must not seem to be too much.
        Service::Hello { replies, .. } => LEAST.max(2 * replies.batch_bytes()),
        Service::Echo => LEAST,
    }
}

/// The ring and buffers that connections share.
pub(super) struct Io {
    pub(super) ring: Ring,
    pub(super) buffers: BufferRing,
    /// Buffers that silent sends of this round send from; given back when the round's system call
    /// has returned.
    pub(super) lent: Vec<Lent>,
}

pub(super) struct Peer {
    socket: OwnedFd,
    connection: Connection,
    input: Input,
    output: Output,
    health: Health,
    owed_bytes_limit: usize,
    settling: Settling,
    /// A buffer whose contents can be sent as they are, unless more arrives in the same round.
    held: Option<Lent>,
    last_silent_send: SilentSend,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Input {
    /// Nothing is in flight, and more may come.
    Stopped,
    /// A multishot receive is in flight.
    Armed,
    /// A multishot receive is in flight and asked to stop.
    Stopping,
    /// The peer has closed its side.
    Ended,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Output {
    Idle,
    InFlight,
    /// A send is in flight and asked to stop.
    Stopping,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Health {
    Sound,
    /// The connection is to be given up as soon as nothing of it is in flight.
    Broken,
}

/// Whether the connection is on the list of those to be settled in this round.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Settling {
    No,
    Marked,
}

/// The bytes of the last silent send, in case it completes.
#[derive(Clone, Copy, Debug)]
enum SilentSend {
    None,
    /// It fell short, so that the next send has to wait for room. Another silent one would only
    /// fall short at once.
    FellShort,
    Replies {
        bytes: usize,
    },
    Buffer {
        index_in_lent: usize,
    },
}

/// Whether a connection still has anything to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NextStep {
    GoesOn,
    IsOver,
}

impl Peer {
    pub(super) fn new(socket: OwnedFd, service: Service) -> Self {
        Self {
            socket,
            connection: Connection::new(service),
            input: Input::Stopped,
            output: Output::Idle,
            health: Health::Sound,
            owed_bytes_limit: owed_bytes_limit(service),
            settling: Settling::No,
            held: None,
            last_silent_send: SilentSend::None,
        }
    }

    /// Returns whether the connection was not marked before.
    pub(super) fn mark_for_settling(&mut self) -> bool {
        std::mem::replace(&mut self.settling, Settling::Marked) == Settling::No
    }

    /// A receive brought bytes, the end of the input, or an error; without `more` it is no longer
    /// in flight.
    pub(super) fn received(
        &mut self,
        result: i32,
        more: bool,
        lent: Option<Lent>,
        buffers: &mut BufferRing,
    ) {
        if !more {
            self.input = Input::Stopped;
        }
        match lent {
            Some(lent) if result > 0 => self.take_in(lent, buffers),
            Some(lent) => buffers.give_back(lent),
            None => {}
        }
        if result == 0 {
            self.input = Input::Ended;
        } else if result < 0 {
            match Errno::from_raw_os_error(-result) {
                // No buffer was left, or we stopped it, or something passing: settling decides
                // whether to go on.
                Errno::NOBUFS | Errno::CANCELED | Errno::INTR | Errno::AGAIN => {}
                _ => self.health = Health::Broken,
            }
        }
    }

    fn take_in(&mut self, lent: Lent, buffers: &mut BufferRing) {
        if self.held.is_none() && self.connection.input_is_output() {
            self.held = Some(lent);
            return;
        }
        self.keep_held(buffers);
        self.connection.receive(buffers.contents(&lent));
        buffers.give_back(lent);
    }

    /// Copies what could have been sent as it is, because it has to wait.
    fn keep_held(&mut self, buffers: &mut BufferRing) {
        if let Some(held) = self.held.take() {
            self.connection.receive(buffers.contents(&held));
            buffers.give_back(held);
        }
    }

    /// A send with a completion is over.
    pub(super) fn sent(&mut self, result: i32) {
        self.output = Output::Idle;
        self.last_silent_send = SilentSend::None;
        match usize::try_from(result) {
            Ok(count) if count > 0 => self.connection.sent(count),
            _ => match Errno::from_raw_os_error(-result) {
                Errno::INTR | Errno::AGAIN => {}
                _ => self.health = Health::Broken,
            },
        }
    }

    /// The silent send of the last round sent only `result` bytes, or met an error.
    pub(super) fn silent_send_fell_short(&mut self, result: i32, io: &Io) {
        let sent = match usize::try_from(result) {
            Ok(sent) => sent,
            Err(_) if Errno::from_raw_os_error(-result) == Errno::AGAIN => 0,
            Err(_) => {
                self.health = Health::Broken;
                return;
            }
        };
        match std::mem::replace(&mut self.last_silent_send, SilentSend::FellShort) {
            SilentSend::Replies { bytes } => self.connection.unsent(bytes - sent),
            SilentSend::Buffer { index_in_lent } => {
                self.connection.receive(&io.buffers.contents(&io.lent[index_in_lent])[sent..]);
            }
            SilentSend::None | SilentSend::FellShort => unreachable!("a send comes back once"),
        }
    }

    /// Submits whatever the connection's state asks for, once for each round in which something
    /// happened.
    pub(super) fn settle(&mut self, key: Key, io: &mut Io) -> io::Result<NextStep> {
        self.settling = Settling::No;
        if self.health == Health::Broken {
            return self.wind_down(key, io);
        }
        self.settle_input(key, io)?;
        if self.output == Output::Idle {
            self.settle_output(key, io)?;
        }
        let all_sent = self.output == Output::Idle && self.connection.owed() == 0;
        Ok(if self.input == Input::Ended && all_sent { NextStep::IsOver } else { NextStep::GoesOn })
    }

    fn settle_input(&mut self, key: Key, io: &mut Io) -> io::Result<()> {
        let owed = self.connection.owed() + self.held.as_ref().map_or(0, Lent::length);
        match self.input {
            Input::Stopped if owed <= self.owed_bytes_limit / 2 => {
                self.input = Input::Armed;
                let entry = opcode::RecvMulti::new(self.fd(), GROUP)
                    .build()
                    .user_data(Operation::Receive.tagged(key));
                // SAFETY: The entry points to no memory; the buffers of its group are the ring's.
                unsafe { io.ring.push(&entry) }
            }
            Input::Armed if owed > self.owed_bytes_limit => {
                self.input = Input::Stopping;
                cancel(Operation::Receive.tagged(key), io)
            }
            _ => Ok(()),
        }
    }

    fn settle_output(&mut self, key: Key, io: &mut Io) -> io::Result<()> {
        // Whoever sends silently gets no later occasion to act, unless a receive is there to bring
        // one.
        if self.input != Input::Armed {
            self.keep_held(&mut io.buffers);
        }
        if let Some(held) = self.held.take() {
            let contents = io.buffers.contents(&held);
            let entry = self.silent_send(key, contents.as_ptr(), contents.len());
            self.last_silent_send = SilentSend::Buffer { index_in_lent: io.lent.len() };
            io.lent.push(held);
            // SAFETY: The buffer is on the list of those that are given back only after the next
            // `enter`.
            return unsafe { io.ring.push(&entry) };
        }
        let owed = self.connection.owed();
        let output = self.connection.next_output();
        let (output, length) = (output.as_ptr(), output.len());
        if length == 0 {
            return Ok(());
        }
        let may_be_silent = self.input == Input::Armed
            && self.connection.output_is_static()
            && !matches!(self.last_silent_send, SilentSend::FellShort);
        if may_be_silent && length == owed {
            let entry = self.silent_send(key, output, length);
            self.last_silent_send = SilentSend::Replies { bytes: length };
            self.connection.sent(length);
            // SAFETY: The memory is static.
            return unsafe { io.ring.push(&entry) };
        }
        self.output = Output::InFlight;
        let entry = opcode::Send::new(self.fd(), output, length_of_entry(length))
            .flags(libc::MSG_NOSIGNAL)
            .build()
            .user_data(Operation::Send.tagged(key));
        // SAFETY: A connection keeps its next output in place until it learns that it was sent,
        // which happens when this request has completed; and it is dropped only when
        // nothing is in flight.
        unsafe { io.ring.push(&entry) }
    }

    fn silent_send(&self, key: Key, output: *const u8, length: usize) -> squeue::Entry {
        opcode::Send::new(self.fd(), output, length_of_entry(length))
            .flags(SILENT_SEND_FLAGS)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(Operation::SilentSend.tagged(key))
    }

    /// Stops operations in flight; the connection is over when there are none.
    fn wind_down(&mut self, key: Key, io: &mut Io) -> io::Result<NextStep> {
        self.keep_held(&mut io.buffers);
        if self.input == Input::Armed {
            self.input = Input::Stopping;
            cancel(Operation::Receive.tagged(key), io)?;
        }
        if self.output == Output::InFlight {
            self.output = Output::Stopping;
            cancel(Operation::Send.tagged(key), io)?;
        }
        let in_flight = self.input == Input::Stopping || self.output == Output::Stopping;
        Ok(if in_flight { NextStep::GoesOn } else { NextStep::IsOver })
    }

    fn fd(&self) -> types::Fd {
        types::Fd(self.socket.as_raw_fd())
    }
}

/// Asks for the end of an earlier request, which then completes as cancelled unless it is already
/// over.
fn cancel(number: u64, io: &mut Io) -> io::Result<()> {
    let entry = opcode::AsyncCancel::new(number)
        .build()
        .flags(squeue::Flags::SKIP_SUCCESS)
        .user_data(Operation::Cancel.tag());
    // SAFETY: The entry points to no memory.
    unsafe { io.ring.push(&entry) }
}

/// A request's length has 32 bits. What a longer output leaves over is sent next.
fn length_of_entry(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
