//! All that one thread of a load owns, except the movement of the bytes.
//!
//! An engine tells the session what happened ([`Session::connected`], [`Session::received`], ...)
//! and does what it answers ([`Action`]); what the session wants without being told anything comes
//! out of [`Session::next_command`]. The session touches no socket, and time is a parameter, so
//! that it can be tested with virtual time. The CPU clock of the thread is the one it reads, at the
//! edges of the window; it comes in as a function.
//!
//! Here is what it owns and how it begins and ends; `events` holds what happens to connections,
//! `time` what passes with time.

mod events;
mod time;

use std::collections::VecDeque;

use crate::{
    codec::{Codec, ConnectionCodec},
    connection::Connection,
    outcome::Outcome,
    pace::Pacer,
    plan::{Share, Timing},
    recorder::Recorder,
};

/// How many connections a thread makes at a time, so that the backlog of a listener is not flooded.
const PENDING_LIMIT: usize = 128;

/// The moments that all threads share, in nanoseconds of the load's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Edges {
    /// The first request may be sent.
    pub(crate) start_ns: u64,
    /// The window begins.
    pub(crate) window_start_ns: u64,
    /// The window ends; `u64::MAX` when a count ends it.
    pub(crate) window_end_ns: u64,
}

/// What the engine must do with a connection right now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Action {
    /// Wait for bytes.
    Wait,
    /// Send [`Session::outgoing`], as much as goes.
    Send,
    /// Close it.
    Close,
}

/// What the session wants by itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Command {
    /// Make this connection.
    Connect(usize),
    /// Call [`Session::resume`] for it, and do what that answers.
    Resume(usize),
    /// Close it.
    Close(usize),
}

/// Where the load stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Connections are made; nothing is sent.
    Connecting,
    /// Load before the window.
    Warmup,
    /// What counts.
    Window,
    /// Nothing more happens.
    Over,
}

/// One connection and what it speaks.
#[derive(Debug)]
struct Slot<K> {
    connection: Connection,
    codec: K,
}

/// One thread's part of the load.
#[derive(Debug)]
pub(crate) struct Session<C: Codec> {
    slots: Vec<Slot<C::Connection>>,
    pacer: Pacer,
    recorder: Recorder,
    timing: Timing,
    phase: Phase,
    edges: Edges,
    /// When the phase changes.
    phase_end_ns: u64,
    commands: VecDeque<Command>,
    /// Places whose connection is to be made as soon as fewer are pending.
    to_connect: VecDeque<usize>,
    /// Places that wait after a failure, and until when; the wait is always the same, so the first
    /// is the next.
    backoff: VecDeque<(u64, usize)>,
    /// Connections that the pacer made wait, and the earliest moment to ask it again.
    parked: Vec<usize>,
    parked_until_ns: u64,
    /// Connections being made.
    pending: usize,
    /// Places whose first attempt to connect has not ended yet.
    unsettled: usize,
    made: usize,
    /// When the last connection of the start was made; at first, when the first attempt began.
    last_made_ns: u64,
    quota: Option<u64>,
    /// Requests of the window that were answered or failed.
    ended_requests: u64,
    /// When the last reply of any status came.
    last_reply_ns: u64,
    next_scan_ns: u64,
    /// The next moment at which something is due.
    attention_ns: u64,
    /// The CPU clock of the thread, read at the edges of the window.
    cpu_clock: fn() -> u64,
    cpu_start_ns: u64,
    outcome: Option<Ended>,
}

/// What is fixed at the moment the load is over.
#[derive(Clone, Copy, Debug, Default)]
struct Ended {
    window_end_ns: Option<u64>,
    in_flight: u64,
    cpu_ns: u64,
    gave_up_requests: u64,
}

impl<C: Codec> Session<C> {
    /// A session that begins by making its connections.
    pub(crate) fn new(share: &Share, timing: Timing, codec: &C, cpu_clock: fn() -> u64) -> Self {
        let count = share.connections;
        let slots = (share.first_connection..share.first_connection + count)
            .map(|number| Slot { connection: Connection::new(), codec: codec.connection(number) })
            .collect();
        Self {
            slots,
            pacer: Pacer::new(share.quota),
            recorder: Recorder::new(count, timing.timeout_ns),
            timing,
            phase: Phase::Connecting,
            edges: Edges { start_ns: u64::MAX, window_start_ns: u64::MAX, window_end_ns: u64::MAX },
            phase_end_ns: u64::MAX,
            commands: VecDeque::with_capacity(PENDING_LIMIT),
            to_connect: (0..count).collect(),
            backoff: VecDeque::new(),
            parked: Vec::with_capacity(count),
            parked_until_ns: u64::MAX,
            pending: 0,
            unsettled: count,
            made: 0,
            last_made_ns: 0,
            quota: share.quota,
            ended_requests: 0,
            last_reply_ns: 0,
            next_scan_ns: 0,
            attention_ns: 0,
            cpu_clock,
            cpu_start_ns: 0,
            outcome: None,
        }
    }

    /// Whether each connection has been tried once.
    pub(crate) const fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// How many connections could be made at the start.
    pub(crate) const fn made(&self) -> usize {
        self.made
    }

    /// Whether the load is over.
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// The load begins. Connections that could not be made at first are tried again from now on.
    pub(crate) fn start(&mut self, edges: Edges) {
        self.edges =
            Edges { window_end_ns: edges.window_end_ns.min(self.edges.window_end_ns), ..edges };
        self.phase = Phase::Warmup;
        self.phase_end_ns = self.edges.window_start_ns.min(self.edges.window_end_ns);
        self.recorder.begin_warmup();
        self.pacer.start(edges.start_ns);
        self.parked_until_ns = edges.start_ns;
        self.unsettled = 0;
        self.to_connect.clear();
        let closed = |slot: &usize| self.slots[*slot].connection.is_closed();
        self.to_connect.extend((0..self.slots.len()).filter(closed));
        self.attention_ns = 0;
    }

    /// The load ends then at the latest.
    pub(crate) fn limit_end(&mut self, end_ns: u64) {
        if end_ns < self.edges.window_end_ns {
            self.edges.window_end_ns = end_ns;
            self.phase_end_ns = self.phase_end_ns.min(end_ns);
            self.attention_ns = 0;
        }
    }

    /// The next moment at which [`Self::tick`] has something to do.
    pub(crate) const fn wakes_at(&self) -> u64 {
        self.attention_ns
    }

    /// The engine's wait has found so many connections ready, of so many that it could have found.
    pub(crate) const fn found(&mut self, ready: usize, possible: usize) {
        self.recorder.found(ready, possible);
    }

    /// What the session wants to be done now, one thing at a time, until there is nothing left.
    pub(crate) fn next_command(&mut self, now_ns: u64) -> Option<Command> {
        if let Some(command) = self.commands.pop_front() {
            return Some(command);
        }
        if self.pending >= PENDING_LIMIT || self.phase == Phase::Over || self.pacer.is_done() {
            return None;
        }
        let slot = self.to_connect.pop_front()?;
        self.slots[slot].connection.connect(now_ns);
        self.slots[slot].codec.restart();
        self.pending += 1;
        Some(Command::Connect(slot))
    }

    /// What is left to send on a connection. Empty when nothing is.
    pub(crate) fn outgoing(&self, slot: usize) -> &[u8] {
        let slot = &self.slots[slot];
        slot.connection.sending_from().map_or(&[], |from| &slot.codec.request()[from..])
    }

    /// What is left when the load is over.
    pub(crate) fn into_outcome(self) -> Outcome {
        let ended = self.outcome.unwrap_or_default();
        Outcome {
            record: self.recorder.into_record(),
            window_end_ns: ended.window_end_ns,
            in_flight: ended.in_flight,
            cpu_ns: ended.cpu_ns,
            gave_up_requests: ended.gave_up_requests,
        }
    }
}

#[cfg(test)]
mod tests;
