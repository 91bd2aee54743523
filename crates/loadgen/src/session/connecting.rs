//! Decides which connections a session makes, and when. `events` handles their results.

use super::{Phase, Session, Slot};
use crate::{codec::Codec, pace::Pacer, plan::ThreadParams};

/// Whether also the first connection of each place is made when a request needs it, since it carries
/// no other. A server that serves one connection at a time waits for the request of each, in the
/// order in which they were made.
pub(super) const fn opens_late(params: &ThreadParams, pacer: &Pacer) -> bool {
    params.one_request_each && !pacer.is_closed_loop()
}

/// Whether connections are made before the load begins. Those of one request each cannot be kept for
/// the windows of a load, nor between them.
pub(super) const fn opens_ahead(params: &ThreadParams, pacer: &Pacer) -> bool {
    !(opens_late(params, pacer) || params.one_request_each && params.keeps_connections)
}

impl<C: Codec> Session<C> {
    /// Whether each connection has been tried once.
    pub(crate) const fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    /// Number of connections whose first attempt has not ended.
    pub(crate) const fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Number of connections for requests that could be made at the start, or that are made when
    /// requests need them.
    pub(crate) const fn made(&self) -> usize {
        self.made
    }

    /// Whether a place may begin another request: on its connection, or as the first of the next
    /// one, which is made for it.
    pub(super) fn has_room(&self, slot: usize) -> bool {
        let Slot { connection, codec, left, .. } = &self.slots[slot];
        let has_room = if connection.is_open() {
            connection.in_flight() < self.codec.room(codec, self.params.depth)
                && !connection.is_closing()
                && connection.begun() < self.params.requests_per_connection
        } else {
            connection.is_closed() && connection.in_flight() == 0 && !self.pacer.is_closed_loop()
        };
        has_room && *left > 0
    }

    /// Whether a connection without a request is of no use any more: the window is over, and it would
    /// carry one request of the next at most.
    pub(super) const fn keeps_none(&self) -> bool {
        self.params.one_request_each && matches!(self.phase, Phase::Draining | Phase::Resting)
    }

    /// The server has accepted the connection in this place, which is established only after its
    /// handshake.
    pub(crate) fn taken(&mut self, slot: usize) {
        self.throttle.taken(slot);
    }

    /// The connection that is to be made now, or tried again.
    pub(super) fn next_connection(&mut self, now_ns: u64) -> Option<usize> {
        if let Some(slot) = self.throttle.retry(now_ns) {
            return Some(slot);
        }
        if !self.wants_connection() || !self.throttle.is_open(now_ns) {
            return None;
        }
        let slot = loop {
            let next = self.to_connect_first.pop_front().or_else(|| self.to_connect.pop_front())?;
            // A request that has been given up leaves its place in the list.
            if self.slots[next].connection.is_closed() {
                break next;
            }
        };
        self.ask(now_ns);
        let Slot { connection, codec, .. } = &mut self.slots[slot];
        connection.connect(now_ns);
        self.codec.restart(codec);
        for (ticket, stamp) in connection.requests() {
            self.codec.begin(codec, stamp.request, ticket);
        }
        self.throttle.begin(slot, now_ns);
        Some(slot)
    }

    /// Time of the next connection to make or retry.
    pub(super) fn connects_at(&self) -> u64 {
        let retry_ns = self.throttle.retries_at();
        if !self.wants_connection() {
            return retry_ns;
        }
        retry_ns.min(self.throttle.opens_at())
    }

    /// Whether a connection is to be made: for a request that waits for it, or for later ones. One
    /// without a request could keep a server from the others.
    fn wants_connection(&self) -> bool {
        let for_later = !self.to_connect.is_empty()
            && self.phase != Phase::Draining
            && self.pacer.left() > self.throttle.pending() as u64;
        for_later || !self.to_connect_first.is_empty()
    }
}
