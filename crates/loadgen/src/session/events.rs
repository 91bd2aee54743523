//! What happens to the connections of a session, and what follows from it.

use rustix::io::Errno;

use super::{Action, Phase, Session};
use crate::{
    codec::{Codec, ConnectionCodec, Persistence, Reply, ReplyError},
    connection::{Next, Origin},
    failure::Failure,
    pace::Pace,
};

/// How long a place waits after its connection could not be made.
const BACKOFF_NS: u64 = 10_000_000;

impl<C: Codec> Session<C> {
    /// The connection stands.
    pub(crate) fn connected(&mut self, slot: usize, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        self.pending -= 1;
        if self.slots[slot].connection.connected() == Origin::Failure {
            self.recorder.reconnected();
        }
        if self.phase == Phase::Connecting {
            self.unsettled -= 1;
            self.made += 1;
            self.last_made_ns = now_ns;
        }
        self.proceed(slot, now_ns)
    }

    /// A connection that the pacer made wait may ask again. The time is that of the request, so it
    /// is read for each one.
    pub(crate) fn resume(&mut self, slot: usize, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        let connection = &self.slots[slot].connection;
        if connection.is_open() && connection.in_flight() == 0 {
            return self.proceed(slot, now_ns);
        }
        Action::Wait
    }

    /// Bytes were handed to the kernel.
    pub(crate) fn sent(&mut self, slot: usize, bytes: usize) -> Action {
        self.recorder.sent(bytes);
        let slot = &mut self.slots[slot];
        match slot.connection.sent(bytes, slot.codec.request().len()) {
            Next::Send => Action::Send,
            Next::Await => Action::Wait,
        }
    }

    /// Bytes have arrived, at least one.
    pub(crate) fn received(&mut self, slot: usize, bytes: &[u8], now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over {
            return Action::Wait;
        }
        self.recorder.received(bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.slots[slot].connection.in_flight() == 0 {
                return self.fail(slot, Failure::Surplus(rest.len()), now_ns);
            }
            let fed = match self.slots[slot].codec.feed(rest) {
                Ok(fed) => fed,
                Err(error) => return self.fail(slot, Failure::WrongReply(error), now_ns),
            };
            rest = &rest[fed.consumed..];
            if let Some(reply) = fed.reply
                && let Err(failure) = self.answered(slot, reply, now_ns)
            {
                return self.fail(slot, failure, now_ns);
            }
            if let Some(Reply { persistence: Persistence::Close, .. }) = fed.reply
                && rest.is_empty()
            {
                return self.renew(slot);
            }
        }
        if self.slots[slot].connection.in_flight() == 0 {
            return self.proceed(slot, now_ns);
        }
        Action::Wait
    }

    /// The server has closed its side.
    pub(crate) fn finished(&mut self, slot: usize, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over {
            return Action::Close;
        }
        if self.slots[slot].connection.in_flight() == 0 {
            return self.renew(slot);
        }
        let failure = match self.slots[slot].codec.finish() {
            Ok(Some(reply)) => match self.answered(slot, reply, now_ns) {
                Ok(()) => return self.renew(slot),
                Err(failure) => failure,
            },
            Ok(None) => Failure::ClosedEarly,
            Err(error) => Failure::WrongReply(error),
        };
        self.fail(slot, failure, now_ns)
    }

    /// The socket has failed, or could not be made.
    pub(crate) fn failed(&mut self, slot: usize, error: Errno, now_ns: u64) -> Action {
        self.cross_edges(now_ns);
        if self.phase == Phase::Over {
            return Action::Close;
        }
        let failure = if self.slots[slot].connection.is_connecting() {
            Failure::of_connecting(error)
        } else {
            Failure::of_open(error)
        };
        self.fail(slot, failure, now_ns)
    }

    /// A reply is complete. It may still be too late, or have come too early.
    fn answered(&mut self, slot: usize, reply: Reply, now_ns: u64) -> Result<(), Failure> {
        let connection = &mut self.slots[slot].connection;
        if connection.sending_from().is_some() {
            return Err(Failure::WrongReply(ReplyError::BeforeRequest));
        }
        let since_ns = connection.waiting_since().unwrap_or(now_ns);
        let latency_ns = now_ns.saturating_sub(since_ns);
        if latency_ns >= self.timing.timeout_ns {
            return Err(Failure::Timeout);
        }
        connection.answered();
        self.last_reply_ns = now_ns;
        if let Some(status) = reply.status {
            self.recorder.status(status, reply.interim_replies);
            if status >= 400 {
                self.recorder.failed(Failure::Status(status));
                self.end_requests(1, now_ns);
                return Ok(());
            }
        }
        self.recorder.reply(slot, now_ns, latency_ns);
        self.end_requests(1, now_ns);
        Ok(())
    }

    /// A connection without anything in flight goes on as the pacer says.
    fn proceed(&mut self, slot: usize, now_ns: u64) -> Action {
        if self.phase == Phase::Over {
            return Action::Wait;
        }
        match self.pacer.next(now_ns) {
            Pace::Send => {
                let slot = &mut self.slots[slot];
                slot.codec.begin();
                slot.connection.begin(now_ns);
                Action::Send
            }
            Pace::Wait { until_ns } => {
                self.parked.push(slot);
                self.parked_until_ns = self.parked_until_ns.min(until_ns);
                self.attention_ns = self.attention_ns.min(until_ns);
                Action::Wait
            }
            Pace::Done => Action::Wait,
        }
    }

    /// The server has ended the connection in an orderly way; another one takes its place at once.
    fn renew(&mut self, slot: usize) -> Action {
        self.slots[slot].connection.close(Origin::Renewal);
        if self.phase != Phase::Connecting {
            self.to_connect.push_back(slot);
        }
        Action::Close
    }

    /// Counts a failure, ends the connection and has it made again.
    #[cold]
    pub(super) fn fail(&mut self, slot: usize, failure: Failure, now_ns: u64) -> Action {
        let connection = &mut self.slots[slot].connection;
        let was_connecting = connection.is_connecting();
        let in_flight = connection.in_flight() as u64;
        connection.close(Origin::Failure);
        if failure == Failure::Timeout {
            self.recorder.censored(self.timing.timeout_ns);
        }
        self.recorder.failed(failure);
        if was_connecting {
            self.pending -= 1;
        }
        match (self.phase, was_connecting) {
            (Phase::Connecting, true) => self.unsettled -= 1,
            (Phase::Connecting, false) => {}
            (_, true) => {
                // The request that this connection would have carried fails with it, if there was
                // one: the last ones may be in flight on other connections.
                if self.pacer.forgo() {
                    self.end_requests(1, now_ns);
                }
                let until_ns = now_ns + BACKOFF_NS;
                self.backoff.push_back((until_ns, slot));
                self.attention_ns = self.attention_ns.min(until_ns);
            }
            (_, false) => {
                self.end_requests(in_flight, now_ns);
                self.to_connect.push_back(slot);
            }
        }
        Action::Close
    }

    /// So many requests were answered or failed. The last one of the quota ends the load.
    pub(super) fn end_requests(&mut self, count: u64, now_ns: u64) {
        if self.phase != Phase::Window {
            return;
        }
        self.ended_requests += count;
        if self.quota.is_some_and(|quota| self.ended_requests >= quota) {
            self.end(Some(now_ns));
        }
    }
}
