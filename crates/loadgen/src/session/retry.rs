//! Sends a request once more whose connection the server has closed, as HTTP clients do.
//!
//! Pipelined requests behind a reply that announced the close were not handled by the server. They
//! are always sent again.
//!
//! A server may close a connection at any time between two requests, and a client may send the next
//! request before it notices. RFC 9112, 9.5 lets a client repeat such a request if it has the same
//! effect twice. The request keeps its place, its times and its share of every count; only its
//! connection is another one. On a new connection nothing is repeated.

use super::Session;
use crate::{codec::Codec, director::Action, failure::Failure};
use wirebench_schema::load::ClosedPolicy;

impl<C: Codec> Session<C> {
    /// Whether the request in flight is sent again after this failure: the server has closed a
    /// connection that has carried a reply, and no byte of the next one has come.
    pub(super) fn is_retried(&self, slot: usize, failure: &Failure) -> bool {
        let connection = &self.slots[slot].connection;
        self.params.on_closed == ClosedPolicy::Retry
            && matches!(failure, Failure::ClosedEarly | Failure::Reset)
            && connection.is_open()
            && connection.in_flight() == 1
            && connection.begun() > 1
            && self.codec.is_between_replies(&self.slots[slot].codec)
    }

    /// Ends the connection and has another one made for its requests.
    pub(super) fn retry(&mut self, slot: usize) -> Action {
        self.recorder.server_closed();
        self.recorder.retried(self.slots[slot].connection.in_flight() as u64);
        self.slots[slot].connection.close_to_retry();
        self.to_connect_first.push_back(slot);
        Action::Close
    }
}
