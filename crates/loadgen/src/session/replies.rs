//! Complete replies: which figures they are part of, and whether their connection goes on.

use super::{
    Phase, Session,
    events::{Next, is_overdue},
};
use crate::{
    codec::{Codec, Persistence, Reply, ReplyError, Ticket},
    connection::Stamp,
    failure::Failure,
    segment::{WRONG_BODY, refusal},
};

impl<C: Codec> Session<C> {
    /// A reply is complete, and its body is right. It may still be too late, or have come too early.
    pub(super) fn answered(
        &mut self,
        slot: usize,
        ticket: Ticket,
        reply: Reply,
        now_ns: u64,
    ) -> Result<Next, Failure> {
        if self.is_late(slot, ticket, now_ns)? {
            return self.late(slot, ticket, now_ns);
        }
        let stamp = self.ended(slot, ticket, &reply, now_ns);
        if !reply.is_refusal {
            self.recorder.reply(reply, stamp, now_ns);
            let replies = &mut self.slots[slot].replies;
            if self.params.is_whole && *replies < self.params.depth as u64 {
                self.recorder.began(stamp, now_ns);
            }
            *replies += u64::from(self.phase == Phase::Window || self.params.is_whole);
        }
        Ok(self.next(&reply, now_ns))
    }

    /// A reply is complete, and its body is wrong.
    #[cold]
    pub(super) fn answered_wrongly(
        &mut self,
        slot: usize,
        ticket: Ticket,
        (reply, why): (Reply, ReplyError),
        now_ns: u64,
    ) -> Result<Next, Failure> {
        if self.is_late(slot, ticket, now_ns)? {
            return self.late(slot, ticket, now_ns);
        }
        let stamp = self.ended(slot, ticket, &reply, now_ns);
        self.recorder.failed(Failure::WrongReply(why), Some(stamp.request), 0);
        self.recorder.refusal(WRONG_BODY, stamp, now_ns);
        Ok(self.next(&reply, now_ns))
    }

    /// Tells if a reply came after the timeout. One that came before its request is none.
    #[inline]
    fn is_late(&self, slot: usize, ticket: Ticket, now_ns: u64) -> Result<bool, Failure> {
        let place = &self.slots[slot];
        if !self.codec.is_answered_begun(&place.codec) {
            return Err(Failure::WrongReply(ReplyError::BeforeRequest));
        }
        let begun_ns = place.connection.stamp(ticket).begun_ns;
        Ok(is_overdue(begun_ns, now_ns, self.params.timeout_ns))
    }

    /// The request is no longer in flight, and its reply had this status.
    #[inline]
    fn ended(&mut self, slot: usize, ticket: Ticket, reply: &Reply, now_ns: u64) -> Stamp {
        let stamp = self.slots[slot].connection.ended(ticket);
        self.outstanding = self.outstanding.saturating_sub(1);
        self.turns.replied();
        self.silent_since_ns = if self.outstanding == 0 { u64::MAX } else { now_ns };
        if let Some(status) = reply.status {
            self.recorder.status(status, reply.interim_replies);
            if reply.is_refusal {
                let (codec, place) = (&self.codec, &self.slots[slot]);
                self.recorder.refused(status, stamp.request, || codec.page(&place.codec));
                self.recorder.refusal(refusal(status), stamp, now_ns);
            }
        }
        stamp
    }

    #[inline]
    fn next(&mut self, reply: &Reply, now_ns: u64) -> Next {
        self.end_requests(1, now_ns);
        match reply.persistence {
            Persistence::Keep => Next::GoesOn,
            Persistence::Close => Next::Ends,
        }
    }
}
