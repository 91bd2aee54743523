//! Counts what fails: single requests, and connections with all that is in flight on them.

use super::{
    Phase, Session, Slot,
    events::{Next, is_overdue},
};
use crate::{
    codec::{Cancelled, Codec, ReplyError, RequestId, Ticket},
    connection::Origin,
    director::Action,
    failure::Failure,
    recorder::Unanswered,
};

/// Delay of a place after its connection could not be made.
const BACKOFF_NS: u64 = 10_000_000;

/// How often a request that the server has not processed is sent again.
const REFUSALS: u8 = 3;

impl<C: Codec> Session<C> {
    /// The server has not processed a request, which is sent again: on the next connection if this one takes no more.
    #[cold]
    pub(super) fn refused(
        &mut self,
        slot: usize,
        ticket: Ticket,
        now_ns: u64,
    ) -> Result<Next, Failure> {
        let Slot { connection, codec, .. } = &mut self.slots[slot];
        if connection.refused(ticket) > REFUSALS {
            let failure = Failure::WrongReply(ReplyError::NotProcessed);
            self.give_up(slot, ticket, failure, now_ns);
            return Ok(Next::GoesOn);
        }
        self.recorder.retried(1);
        match connection.is_closing() {
            true => connection.hold_one(),
            false => self.codec.begin(codec, connection.stamp(ticket).request, ticket),
        }
        Ok(Next::GoesOn)
    }

    /// One request has failed, and the connection goes on with the others.
    #[cold]
    pub(super) fn give_up(&mut self, slot: usize, ticket: Ticket, failure: Failure, now_ns: u64) {
        let stamp = self.slots[slot].connection.ended(ticket);
        self.outstanding = self.outstanding.saturating_sub(1);
        self.recorder.unanswered(Unanswered::Failed, stamp, now_ns);
        self.recorder.failed(failure, Some(stamp.request), 0);
        self.end_requests(1, now_ns);
    }

    /// A reply has come too late: its request has timed out, and with it the connection unless others go on.
    #[cold]
    pub(super) fn late(
        &mut self,
        slot: usize,
        ticket: Ticket,
        now_ns: u64,
    ) -> Result<Next, Failure> {
        let codec = &mut self.slots[slot].codec;
        match self.codec.cancel(codec, ticket) {
            Cancelled::WithConnection => Err(Failure::Timeout),
            Cancelled::Alone => {
                self.give_up(slot, ticket, Failure::Timeout, now_ns);
                Ok(Next::GoesOn)
            }
        }
    }

    /// A connection that was to stay silent is gone, or did not stay silent. It is not made again:
    /// the crowd would become load.
    pub(super) fn lose_idle(&mut self, slot: usize) -> Action {
        self.idle_lost += 1;
        self.slots[slot].connection.close(Origin::Failure);
        Action::Close
    }

    /// Counts a failure, unless the request is sent again, ends the connection and has it made again.
    #[cold]
    pub(super) fn fail(&mut self, slot: usize, failure: Failure, now_ns: u64) -> Action {
        if self.is_retried(slot, &failure) {
            return self.retry(slot);
        }
        let was_connecting = self.slots[slot].connection.connecting_since().is_some();
        let in_flight = self.slots[slot].connection.in_flight() as u64;
        self.outstanding = self.outstanding.saturating_sub(in_flight);
        if failure == Failure::Timeout {
            self.count_overdue(slot, now_ns);
        } else {
            for stamp in self.slots[slot].connection.stamps() {
                self.recorder.unanswered(Unanswered::Failed, stamp, now_ns);
            }
            let request = self.oldest_request(slot);
            self.recorder.failed(failure, request, in_flight.saturating_sub(1));
        }
        self.slots[slot].connection.close(Origin::Failure);
        if was_connecting {
            self.throttle.end(slot);
        }
        match (self.phase, was_connecting) {
            (Phase::Connecting, true) => self.unsettled -= 1,
            // A request that waited for the connection has failed with it.
            (_, true) if in_flight > 0 => {
                self.end_requests(in_flight, now_ns);
                self.try_again_later(slot, now_ns);
            }
            (Phase::Connecting, false) | (Phase::Draining | Phase::Over, true) => {}
            (_, true) if slot >= self.first_idle || self.keeps_none() => {}
            (Phase::Resting, true) => self.try_again_later(slot, now_ns),
            (Phase::Warmup | Phase::Window, true) => {
                // The request that this connection would have carried fails with it, if there was
                // one: the last ones may be in flight on other connections.
                if self.slots[slot].left > 0 && self.pacer.cancel_one() {
                    self.slots[slot].left -= 1;
                    self.end_requests(1, now_ns);
                }
                self.try_again_later(slot, now_ns);
            }
            (_, false) => {
                self.end_requests(in_flight, now_ns);
                self.vacate(slot, now_ns);
            }
        }
        Action::Close
    }

    fn try_again_later(&mut self, slot: usize, now_ns: u64) {
        let until_ns = now_ns + BACKOFF_NS;
        self.backoff.push_back((until_ns, slot));
        self.attention_ns = self.attention_ns.min(until_ns);
    }

    /// Counts each request of a connection that is overdue; the others are lost with it.
    fn count_overdue(&mut self, slot: usize, now_ns: u64) {
        let request = self.oldest_request(slot);
        let connection = &self.slots[slot].connection;
        let (mut overdue, mut lost) = (0_u64, 0);
        for stamp in connection.stamps() {
            let timeout_ns = self.params.timeout_ns;
            if overdue == 0 || is_overdue(stamp.begun_ns, now_ns, timeout_ns) {
                overdue += 1;
                self.recorder.unanswered(
                    Unanswered::Failed,
                    stamp,
                    stamp.begun_ns.saturating_add(timeout_ns),
                );
            } else {
                lost += 1;
                self.recorder.unanswered(Unanswered::Failed, stamp, now_ns);
            }
        }
        for _ in 1..overdue {
            self.recorder.failed(Failure::Timeout, request, 0);
        }
        self.recorder.failed(Failure::Timeout, request, lost);
    }

    fn oldest_request(&self, slot: usize) -> Option<RequestId> {
        let connection = &self.slots[slot].connection;
        Some(connection.stamp(connection.oldest()?).request)
    }
}
