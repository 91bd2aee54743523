//! The time between two windows on the same connections. Nothing is sent and nothing counts:
//! outstanding replies arrive, and connections that the server has closed are made again.

use super::{Edges, Parking, Phase, Session};
use crate::{
    codec::Codec,
    director::Command,
    failure::Failure,
    pace::{Pacer, Supply},
    plan::ThreadParams,
};

/// Where for so long no reply comes and no connection is made, none is awaited any more. A server with fewer threads
/// than connections never answers some of them, may not even accept them again, and each rest would take a timeout.
pub(super) const SILENCE_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RestLimit {
    /// The clock has not been read yet.
    Whole,
    Until {
        since_ns: u64,
        end_ns: u64,
    },
    Over,
}

impl RestLimit {
    const fn pass(&mut self, now_ns: u64, timeout_ns: u64) {
        match *self {
            Self::Whole => {
                let end_ns = now_ns.saturating_add(timeout_ns);
                *self = Self::Until { since_ns: now_ns, end_ns };
            }
            Self::Until { end_ns, .. } if now_ns >= end_ns => *self = Self::Over,
            Self::Until { .. } | Self::Over => {}
        }
    }
}

impl<C: Codec> Session<C> {
    /// Whether the window is over and its last reply has arrived or is no longer awaited.
    pub(crate) const fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Resting | Phase::Over)
    }

    /// Whether the thread's own count has ended the load; other threads may go on.
    pub(crate) fn has_ended_alone(&self) -> bool {
        self.phase == Phase::Over && self.quota.is_some()
    }

    pub(super) const fn finish(&mut self) {
        self.phase = if self.params.keeps_connections { Phase::Resting } else { Phase::Over };
        self.phase_end_ns = u64::MAX;
        self.attention_ns = 0;
        // Where nothing is in flight, nothing would end the engine's next wait.
        self.looks = self.params.keeps_connections;
    }

    /// From now on the rest may take one timeout.
    pub(crate) fn begin_rest(&mut self) {
        if self.phase == Phase::Connecting {
            self.unsettled = 0;
            self.finish();
        }
        let is_vacant = |slot: &usize| {
            let connection = &self.slots[*slot].connection;
            connection.is_closed() && connection.in_flight() == 0
        };
        let first = if self.params.one_request_each { self.first_idle } else { 0 };
        self.to_connect = (first..self.first_idle).filter(is_vacant).collect();
        self.backoff.clear();
        self.rest_limit = RestLimit::Whole;
        self.attention_ns = 0;
    }

    /// Time has passed. The next moment at which the rest, or the wait for replies, ends.
    pub(super) fn pass_rest(&mut self, now_ns: u64) -> u64 {
        self.rest_limit.pass(now_ns, self.params.timeout_ns);
        let RestLimit::Until { since_ns, end_ns } = self.rest_limit else { return u64::MAX };
        let reply_ns = if self.outstanding > 0 { self.silent_since_ns } else { 0 };
        let silent_ns = since_ns.max(reply_ns).max(self.last_made_ns).saturating_add(SILENCE_NS);
        if now_ns < silent_ns {
            return end_ns.min(silent_ns);
        }
        self.give_up_replies(now_ns);
        self.rest_limit = RestLimit::Over;
        u64::MAX
    }

    /// Connections that still wait for a reply are made again.
    fn give_up_replies(&mut self, now_ns: u64) {
        for slot in 0..self.first_idle {
            if self.slots[slot].connection.in_flight() > 0 {
                self.fail(slot, Failure::Timeout, now_ns);
                self.commands.push_back(Command::Close(slot));
            }
        }
    }

    /// Whether no reply is awaited any more.
    pub(crate) fn is_answered(&self) -> bool {
        self.phase == Phase::Over || self.outstanding == 0 || self.rest_limit == RestLimit::Over
    }

    /// Whether, besides, every connection is open, or the rest has taken too long.
    pub(crate) fn is_rested(&self) -> bool {
        self.rest_limit == RestLimit::Over || self.is_answered() && self.ready() == self.first_idle
    }

    /// Number of connections for requests that are open, or are made when requests need them.
    fn ready(&self) -> usize {
        if self.params.one_request_each {
            return self.first_idle;
        }
        self.slots[..self.first_idle].iter().filter(|slot| slot.connection.is_open()).count()
    }

    /// The engine's next turn handles pending events without waiting.
    pub(crate) const fn look(&mut self) {
        self.looks = true;
    }

    /// The next window is a load like this one, and ends after `quota` requests if there is one. It counts from zero.
    pub(crate) fn prepare(&mut self, params: ThreadParams, quota: Option<u64>) {
        self.pacer = Pacer::new(params.rule(self.thread), Supply::new(quota));
        self.recorder.renew(&params);
        self.params = params;
        for slot in &mut self.slots {
            slot.parking = Parking::Unknown;
            slot.left = u64::MAX;
            slot.replies = 0;
        }
        self.quota = quota;
        self.edges = Edges::never();
        self.ended_requests = 0;
        self.to_drain = 0;
        self.gave_up = false;
        self.cpu_end_ns = None;
        self.made = self.ready();
    }
}
