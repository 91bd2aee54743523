//! The state of one thread of a load, without the movement of the bytes.
//!
//! It directs an engine ([`Director`]): it knows the open requests of each connection, when the
//! next request is due, what counts, and when the load is over. It touches no socket, and time is a
//! parameter, so it can be tested with virtual time. It reads only clocks of CPU time, of the
//! thread and of the server, at the edges of the window, through given functions.
//!
//! This file has the state, its beginning and its end; `connecting` makes connections, `events` handles their events,
//! `replies` complete replies, `failures` what goes wrong, `time` the passage of time, `lateness` how late the engine
//! comes, `turns` how much it finds then, `scan` which connections are examined, `rest` the time between two windows,
//! and `retry` requests that are sent once more.

mod connecting;
mod edges;
mod events;
mod failures;
mod lateness;
mod replies;
mod rest;
mod retry;
mod scan;
mod time;
mod turns;

use rustix::io::Errno;
use std::collections::VecDeque;

use crate::{
    codec::Codec,
    connection::{Connection, Stamp},
    dial::throttle::{ConnectThrottle, PENDING_LIMIT},
    director::{Action, Command, Director},
    outcome::Outcome,
    pace::{Pacer, Supply},
    plan::ThreadParams,
    recorder::Recorder,
    share::Share,
};
use connecting::{opens_ahead, opens_late};
pub(crate) use edges::Edges;
use edges::WaitingRequests;
use lateness::Lateness;
use rest::RestLimit;
use scan::Scan;
use turns::Turns;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Connections are made; nothing is sent.
    Connecting,
    Warmup,
    Window,
    /// The window is over; replies to requests that were due in it are still waited for.
    Draining,
    /// Between two windows: nothing is sent, replies that still come are checked but not counted,
    /// and connections that end are made again.
    Resting,
    /// Nothing more happens.
    Over,
}

/// Whether the pacer knows that a connection is free.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Parking {
    Known,
    Unknown,
}

/// One connection and its codec state.
#[derive(Debug)]
struct Slot<K> {
    connection: Connection,
    codec: K,
    parking: Parking,
    /// Requests that it may still begin.
    left: u64,
    replies: u64,
}

/// One thread's part of the load.
#[derive(Debug)]
pub(crate) struct Session<C: Codec> {
    thread: usize,
    codec: C,
    slots: Vec<Slot<C::Connection>>,
    /// The places from here on stay silent.
    first_idle: usize,
    idle_made: u64,
    idle_lost: u64,
    pacer: Pacer,
    recorder: Recorder,
    params: ThreadParams,
    phase: Phase,
    edges: Edges,
    /// Time of the next phase change.
    phase_end_ns: u64,
    commands: VecDeque<Command>,
    /// Places whose connection is to be made as soon as the throttle allows it, and those whose requests wait for it.
    to_connect: VecDeque<usize>,
    to_connect_first: VecDeque<usize>,
    /// Places that wait after a failure, and until when; the wait is always the same, so the first
    /// is the next.
    backoff: VecDeque<(u64, usize)>,
    throttle: ConnectThrottle,
    /// Places whose first attempt to connect has not ended yet.
    unsettled: usize,
    made: usize,
    /// Time when the last connection of the start was made; initially the start of the first
    /// attempt.
    last_made_ns: u64,
    quota: Option<u64>,
    /// Requests of the window that were answered or failed.
    ended_requests: u64,
    /// Requests that are still waited for when the window is over.
    to_drain: u64,
    /// Requests that were begun and are neither answered nor failed.
    outstanding: u64,
    /// Since when something is asked of the server and no reply has come; `u64::MAX` when nothing is.
    silent_since_ns: u64,
    /// Whether the load ends because the server is gone.
    gave_up: bool,
    scan: Scan,
    /// The next moment at which something is due, apart from requests.
    attention_ns: u64,
    lateness: Lateness,
    turns: Turns,
    /// The next turn of the engine waits for nothing.
    looks: bool,
    rest_limit: RestLimit,
    /// The CPU clock of the thread, read at the edges of the window.
    cpu_clock: fn() -> u64,
    cpu_start_ns: u64,
    cpu_end_ns: Option<u64>,
    backlog: WaitingRequests,
    outcome: Option<Outcome>,
}

impl<C: Codec> Session<C> {
    /// A session that begins by making its connections.
    pub(crate) fn new(
        share: &Share,
        params: ThreadParams,
        codec: &C,
        cpu_clock: fn() -> u64,
    ) -> Self {
        let mut codec = codec.clone();
        let (thread, threads) = params.place_of(share.thread);
        codec.on_thread(thread, threads);
        let slots: Vec<_> = (0..share.places())
            .map(|slot| Slot {
                connection: Connection::new(),
                codec: codec.connection(share.number(slot)),
                parking: Parking::Unknown,
                left: u64::MAX,
                replies: 0,
            })
            .collect();
        let count = slots.len();
        let supply = Supply::new(share.quota);
        let turns = Turns::new(params.depth, codec.reply_bytes_hint());
        let throttle = ConnectThrottle::new(params.threads, params.round_trip_ns);
        let pacer = Pacer::new(params.rule(share.thread), supply);
        let made = if opens_ahead(&params, &pacer) { 0 } else { share.connections };
        Self {
            thread: share.thread,
            codec,
            slots,
            first_idle: share.connections,
            idle_made: 0,
            idle_lost: 0,
            pacer,
            recorder: Recorder::new(&params),
            phase: Phase::Connecting,
            edges: Edges::never(),
            phase_end_ns: u64::MAX,
            commands: VecDeque::with_capacity(PENDING_LIMIT),
            to_connect: (made..count).collect(),
            to_connect_first: VecDeque::new(),
            backoff: VecDeque::new(),
            throttle,
            unsettled: count - made,
            made,
            last_made_ns: 0,
            quota: share.quota,
            ended_requests: 0,
            to_drain: 0,
            outstanding: 0,
            silent_since_ns: u64::MAX,
            gave_up: false,
            scan: Scan::new(params.timeout_ns),
            attention_ns: 0,
            lateness: Lateness::new(),
            params,
            turns,
            looks: false,
            rest_limit: RestLimit::Whole,
            cpu_clock,
            cpu_start_ns: 0,
            cpu_end_ns: None,
            backlog: WaitingRequests::default(),
            outcome: None,
        }
    }

    /// The load begins. Connections that could not be made at first are tried again from now on.
    pub(crate) fn start(&mut self, edges: Edges) {
        self.edges =
            Edges { window_end_ns: edges.window_end_ns.min(self.edges.window_end_ns), ..edges };
        self.phase = Phase::Warmup;
        self.phase_end_ns = self.edges.window_start_ns.min(self.edges.window_end_ns);
        self.lateness = Lateness::new();
        self.recorder.begin_warmup(edges.start_ns);
        let late = opens_late(&self.params, &self.pacer);
        let is_free = |slot: &u32| late || self.slots[*slot as usize].connection.is_open();
        let places = u32::try_from(self.first_idle).unwrap_or(u32::MAX);
        let free: Vec<u32> = (0..places).filter(is_free).collect();
        self.pacer.start(edges.start_ns, free.iter().copied());
        for slot in free {
            self.slots[slot as usize].parking = Parking::Known;
        }
        self.unsettled = 0;
        self.throttle.begin_load();
        self.to_connect.clear();
        self.to_connect_first.clear();
        self.backoff.clear();
        let closed = |slot: &usize| !late && self.slots[*slot].connection.is_closed();
        self.to_connect.extend((0..self.first_idle).filter(closed));
        self.attention_ns = 0;
    }

    /// The recorder, whose segments are collected elsewhere.
    pub(crate) const fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// The results at the end of the window.
    pub(crate) fn take_outcome(&mut self) -> Outcome {
        self.recorder.finish();
        Outcome {
            rest: self.recorder.take_full().collect(),
            replies_per_connection: self.slots[..self.first_idle]
                .iter()
                .map(|slot| slot.replies)
                .collect(),
            idle_made: self.idle_made,
            idle_lost: self.idle_lost,
            ..self.outcome.take().unwrap_or_default()
        }
    }

    /// Something is asked of the server.
    fn ask(&mut self, now_ns: u64) {
        if self.silent_since_ns == u64::MAX {
            self.silent_since_ns = now_ns;
        }
    }

    fn begin(&mut self, slot: usize, due_ns: u64, now_ns: u64) {
        self.ask(now_ns);
        self.outstanding += 1;
        let slot = &mut self.slots[slot];
        slot.left -= 1;
        let is_sample = self.codec.is_sample(&slot.codec);
        let request = self.codec.next_request();
        let stamp = Stamp { due_ns, begun_ns: now_ns, request, is_sample, refusals: 0 };
        let ticket = slot.connection.begin(stamp);
        // Where the connection is yet to be made, the codec hears of its request then.
        if slot.connection.is_open() {
            self.codec.begin(&mut slot.codec, request, ticket);
        }
    }
}

impl<C: Codec> Director for Session<C> {
    fn tick(&mut self, now_ns: u64) {
        self.come(now_ns);
        if now_ns >= self.attention_ns {
            self.attend(now_ns);
        }
    }

    fn wakes_at(&mut self) -> u64 {
        if std::mem::take(&mut self.looks) {
            return 0;
        }
        let attention_ns = self.attention_ns;
        let wakes_at_ns = match self.phase {
            Phase::Connecting | Phase::Draining | Phase::Resting => {
                attention_ns.min(self.connects_at())
            }
            Phase::Warmup | Phase::Window => {
                attention_ns.min(self.connects_at()).min(self.pacer.wakes_at())
            }
            Phase::Over => attention_ns,
        };
        self.lateness.expect(wakes_at_ns);
        wakes_at_ns
    }

    fn next_command(&mut self, now_ns: u64) -> Option<Command> {
        if let Some(command) = self.commands.pop_front() {
            return Some(command);
        }
        if self.phase == Phase::Over {
            return None;
        }
        loop {
            if let Some(slot) = self.next_connection(now_ns) {
                return Some(Command::Connect(slot));
            }
            let slot = self.next_request(now_ns)?;
            if self.slots[slot].connection.is_open() {
                return Some(Command::Send(slot));
            }
            self.to_connect_first.push_back(slot);
        }
    }

    fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn found(&mut self, ready: usize, possible: usize) {
        self.begin_turn(ready, possible);
    }

    fn connected(&mut self, slot: usize, now_ns: u64) -> Action {
        self.on_connected(slot, now_ns)
    }

    fn outgoing(&self, slot: usize) -> &[u8] {
        let slot = &self.slots[slot];
        match slot.connection.is_open() {
            true => self.codec.outgoing(&slot.codec),
            false => &[],
        }
    }

    fn outgoing_is_all(&self, slot: usize, bytes: usize) -> bool {
        self.codec.unsent_bytes(&self.slots[slot].codec) == bytes as u64
    }

    fn sent(&mut self, slot: usize, bytes: usize) -> Action {
        self.recorder.sent(bytes);
        self.lateness.sent(bytes);
        let slot = &mut self.slots[slot];
        if slot.connection.is_closed() {
            return Action::Close;
        }
        self.codec.sent(&mut slot.codec, bytes);
        match self.codec.unsent_bytes(&slot.codec) {
            0 => Action::Wait,
            _ => Action::Send,
        }
    }

    fn received(&mut self, slot: usize, bytes: &[u8], now_ns: u64) -> Action {
        self.on_received(slot, bytes, now_ns)
    }

    fn finished(&mut self, slot: usize, now_ns: u64) -> Action {
        self.on_finished(slot, now_ns)
    }

    fn failed(&mut self, slot: usize, error: Errno, now_ns: u64) -> Action {
        self.on_failed(slot, error, now_ns)
    }
}

#[cfg(test)]
pub(crate) mod tests;
