//! Handles the events of a session's connections.

use rustix::io::Errno;

use super::{Parking, Phase, Session};
use crate::{
    codec::{Codec, Event, Fed, ReplyError, excerpt},
    connection::Origin,
    director::Action,
    failure::Failure,
    pace::Pace,
};

/// Whether something has taken the whole timeout.
pub(super) const fn is_overdue(since_ns: u64, now_ns: u64, timeout_ns: u64) -> bool {
    now_ns.saturating_sub(since_ns) >= timeout_ns
}

fn surplus(bytes: &[u8]) -> Failure {
    Failure::Surplus(bytes.len(), excerpt(bytes))
}

/// Whether a connection outlives an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Next {
    GoesOn,
    /// The server ends it behind this reply.
    Ends,
}

impl<C: Codec> Session<C> {
    pub(super) fn on_connected(&mut self, slot: usize, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        self.throttle.made(slot);
        let connection = &mut self.slots[slot].connection;
        let since_ns = connection.connecting_since().unwrap_or(now_ns);
        if connection.connected() == Origin::Failure {
            self.recorder.reconnected();
        }
        self.recorder.connected(now_ns.saturating_sub(since_ns));
        self.last_made_ns = now_ns;
        let idle = slot >= self.first_idle;
        if idle {
            self.idle_made += 1;
        }
        if self.phase == Phase::Connecting {
            self.unsettled -= 1;
            self.made += usize::from(!idle);
            return self.speak(slot);
        }
        if idle {
            return self.speak(slot);
        }
        let offered = self.offer(slot, now_ns);
        if self.slots[slot].connection.in_flight() > 0 || self.speak(slot) == Action::Send {
            Action::Send
        } else if self.keeps_none() {
            self.renew(slot, now_ns)
        } else {
            offered
        }
    }

    pub(super) fn on_received(&mut self, slot: usize, bytes: &[u8], now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over {
            return Action::Wait;
        }
        if self.slots[slot].connection.is_closed() {
            return Action::Close;
        }
        if slot >= self.first_idle {
            return self.received_idle(slot, bytes);
        }
        self.recorder.received(bytes.len());
        if C::SPEAKS {
            self.slots[slot].connection.heard(now_ns);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if !C::SPEAKS && self.slots[slot].connection.in_flight() == 0 {
                return self.fail(slot, surplus(rest), now_ns);
            }
            let fed = match self.codec.feed(&mut self.slots[slot].codec, rest) {
                Ok(fed) => fed,
                Err(error) => return self.fail(slot, Failure::WrongReply(error), now_ns),
            };
            rest = &rest[fed.consumed..];
            let Some(event) = fed.event else { continue };
            match self.happened(slot, event, now_ns) {
                Ok(Next::GoesOn) => {}
                Ok(Next::Ends) if rest.is_empty() => return self.end_by_server(slot, now_ns),
                Ok(Next::Ends) => return self.fail(slot, surplus(rest), now_ns),
                Err(failure) => return self.fail(slot, failure, now_ns),
            }
        }
        self.go_on(slot, now_ns)
    }

    /// Bytes on a silent connection: what the protocol says without a request may come.
    fn received_idle(&mut self, slot: usize, bytes: &[u8]) -> Action {
        let mut rest = bytes;
        while C::SPEAKS && !rest.is_empty() {
            match self.codec.feed(&mut self.slots[slot].codec, rest) {
                Ok(Fed { consumed, event: None | Some(Event::Ready) }) => rest = &rest[consumed..],
                Ok(_) | Err(_) => return self.lose_idle(slot),
            }
        }
        if C::SPEAKS { self.speak(slot) } else { self.lose_idle(slot) }
    }

    /// The codec has found something in the bytes of the server.
    #[inline]
    fn happened(&mut self, slot: usize, event: Event, now_ns: u64) -> Result<Next, Failure> {
        match event {
            Event::Reply(reply) => match self.slots[slot].connection.oldest() {
                Some(ticket) => self.answered(slot, ticket, reply, now_ns),
                None => Err(Failure::WrongReply(ReplyError::BeforeRequest)),
            },
            Event::Wrong(wrong) => match self.slots[slot].connection.oldest() {
                Some(ticket) => self.answered_wrongly(slot, ticket, *wrong, now_ns),
                None => Err(Failure::WrongReply(wrong.1)),
            },
            Event::ReplyTo(ticket, reply) => self.answered(slot, ticket, reply, now_ns),
            Event::Refused(ticket) => self.refused(slot, ticket, now_ns),
            Event::Failed(ticket, error) => {
                self.give_up(slot, ticket, Failure::WrongReply(*error), now_ns);
                Ok(Next::GoesOn)
            }
            Event::Ready => Ok(Next::GoesOn),
            Event::Closing => {
                self.slots[slot].connection.announce_end();
                Ok(Next::GoesOn)
            }
        }
    }

    /// The bytes that a codec has to send of its own accord are sent in every phase.
    fn speak(&self, slot: usize) -> Action {
        match C::SPEAKS && self.codec.unsent_bytes(&self.slots[slot].codec) > 0 {
            true => Action::Send,
            false => Action::Wait,
        }
    }

    pub(super) fn on_finished(&mut self, slot: usize, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over || self.slots[slot].connection.is_closed() {
            return Action::Close;
        }
        if slot >= self.first_idle {
            return self.lose_idle(slot);
        }
        if self.slots[slot].connection.in_flight() == 0 {
            return self.end_by_server(slot, now_ns);
        }
        let failure = match self.codec.finish(&mut self.slots[slot].codec) {
            Ok(Some(event)) => match self.happened(slot, event, now_ns) {
                Ok(_) => return self.end_by_server(slot, now_ns),
                Err(failure) => failure,
            },
            Ok(None) => Failure::ClosedEarly,
            Err(error) => Failure::WrongReply(error),
        };
        self.fail(slot, failure, now_ns)
    }

    pub(super) fn on_failed(&mut self, slot: usize, error: Errno, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        let connection = &self.slots[slot].connection;
        if self.phase == Phase::Over || connection.is_closed() {
            return Action::Close;
        }
        if connection.connecting_since().is_some() {
            // Only a Unix socket says so, and it is not the server's failure yet.
            if error == Errno::AGAIN {
                self.throttle.crowded(slot, now_ns);
                return Action::Close;
            }
            return self.fail(slot, Failure::of_connecting(error), now_ns);
        }
        if slot >= self.first_idle {
            return self.lose_idle(slot);
        }
        self.fail(slot, Failure::of_open(error), now_ns)
    }

    /// The layer above the socket has failed. A close by the server is a failure only while it owes
    /// a reply.
    pub(crate) fn broken(&mut self, slot: usize, failure: Failure, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        let connection = &self.slots[slot].connection;
        if self.phase == Phase::Over || connection.is_closed() {
            return Action::Close;
        }
        if connection.is_open() && slot >= self.first_idle {
            return self.lose_idle(slot);
        }
        if failure == Failure::ClosedEarly && connection.is_open() && connection.in_flight() == 0 {
            return self.end_by_server(slot, now_ns);
        }
        self.fail(slot, failure, now_ns)
    }

    /// A connection on which everything that came has been looked at goes on, or is closed because
    /// it has carried all that it should.
    fn go_on(&mut self, slot: usize, now_ns: u64) -> Action {
        let connection = &self.slots[slot].connection;
        let carried = connection.begun() >= self.params.requests_per_connection;
        if carried && connection.in_flight() == 0 && self.phase != Phase::Over {
            self.recorder.client_closed();
            return self.renew(slot, now_ns);
        }
        if connection.is_closing() && connection.owes_nothing() {
            return self.end_by_server(slot, now_ns);
        }
        match self.offer(slot, now_ns) {
            Action::Wait => self.speak(slot),
            action => action,
        }
    }

    /// A connection begins as many requests as it has room for and the pacer lets it.
    pub(super) fn offer(&mut self, slot: usize, now_ns: u64) -> Action {
        if matches!(self.phase, Phase::Draining | Phase::Resting | Phase::Over) {
            return Action::Wait;
        }
        let mut action = Action::Wait;
        while self.has_room(slot) {
            match self.pacer.next(now_ns) {
                Pace::Send { due_ns } => {
                    self.begin(slot, due_ns, now_ns);
                    action = Action::Send;
                }
                Pace::Wait => {
                    self.park(slot, now_ns);
                    break;
                }
            }
        }
        action
    }

    fn park(&mut self, slot: usize, now_ns: u64) {
        if self.slots[slot].parking == Parking::Unknown {
            self.slots[slot].parking = Parking::Known;
            // Places are numbered by the number of connections, which has far fewer bits.
            self.pacer.park(u32::try_from(slot).unwrap_or(u32::MAX), now_ns);
        }
    }

    /// The place that has begun a request because one is due.
    pub(super) fn next_request(&mut self, now_ns: u64) -> Option<usize> {
        self.cross_edges(now_ns);
        if !matches!(self.phase, Phase::Warmup | Phase::Window) {
            return None;
        }
        loop {
            let (slot, due_ns) = self.pacer.pop(now_ns)?;
            let slot = slot as usize;
            self.slots[slot].parking = Parking::Unknown;
            if !self.has_room(slot) {
                self.pacer.put_back(due_ns);
                continue;
            }
            self.begin(slot, due_ns, now_ns);
            self.offer(slot, now_ns);
            return Some(slot);
        }
    }

    /// The server has ended the connection in an orderly way. It handles no request behind a reply
    /// that announced the end (RFC 9112, 9.6), so these are sent again, whatever their method.
    fn end_by_server(&mut self, slot: usize, now_ns: u64) -> Action {
        if self.slots[slot].connection.in_flight() > 0 {
            return self.retry(slot);
        }
        self.recorder.server_closed();
        self.renew(slot, now_ns)
    }

    /// The connection has ended in an orderly way.
    fn renew(&mut self, slot: usize, now_ns: u64) -> Action {
        self.slots[slot].connection.close(Origin::Renewal);
        self.vacate(slot, now_ns);
        Action::Close
    }

    /// The connection in this place has ended. In a closed loop another one is made at once; with
    /// pauses or at a rate, when a request needs it. An earlier one could keep a server that serves
    /// one connection at a time from a request on another.
    pub(super) fn vacate(&mut self, slot: usize, now_ns: u64) {
        match self.phase {
            Phase::Connecting | Phase::Over => {}
            // It has carried its part of a count per connection.
            Phase::Window if self.slots[slot].left == 0 => {}
            Phase::Warmup | Phase::Window if !self.pacer.is_closed_loop() => {
                if self.offer(slot, now_ns) == Action::Send {
                    self.to_connect_first.push_back(slot);
                }
            }
            Phase::Draining | Phase::Resting if self.keeps_none() => {}
            Phase::Warmup | Phase::Window | Phase::Draining | Phase::Resting => {
                self.to_connect.push_back(slot);
            }
        }
    }

    /// `count` requests were answered or failed. The last one of the quota ends the load.
    pub(super) fn end_requests(&mut self, count: u64, now_ns: u64) {
        match self.phase {
            Phase::Window => {
                self.ended_requests += count;
                if self.quota.is_some_and(|quota| self.ended_requests >= quota) {
                    self.end(Some(now_ns));
                }
            }
            Phase::Draining => {
                self.to_drain = self.to_drain.saturating_sub(count);
                if self.to_drain == 0 {
                    self.stop_waiting(now_ns);
                }
            }
            Phase::Connecting | Phase::Warmup | Phase::Resting | Phase::Over => {}
        }
    }
}
