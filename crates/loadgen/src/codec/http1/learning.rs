//! Bodies that replies must have because the first one had them, learned before the load or from it.

use std::sync::Arc;

use super::{ExpectedBody, Http1, Http1Connection};
use crate::codec::RequestId;

/// Limit of the memory for learned bodies over all requests of a load. What has no room is hashed.
pub(super) const LEARNED_LIMIT_BYTES: usize = 256 * 1024 * 1024;

/// The expectation learned from a reply.
#[derive(Debug, PartialEq)]
pub(crate) struct LearnedReply {
    pub(crate) body: ExpectedBody,
    pub(crate) reply_bytes: usize,
    /// Its media type in lower case, without parameters.
    pub(crate) content_type: String,
}

/// Whether the expected body is still to be learned from a reply of the load.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Learning {
    Off,
    /// From the next reply.
    Due,
    /// One connection notes its reply.
    UnderWay,
}

impl Http1 {
    /// The next reply of the connection is noted.
    pub(crate) fn learn(&self, connection: &mut Http1Connection) {
        connection.learn(self.learned_limit_bytes.saturating_sub(self.learned_bytes));
    }

    /// The reply that a connection has noted, unless its status is unsuitable for an expectation.
    pub(crate) fn take_learned(
        &mut self,
        request: RequestId,
        connection: &mut Http1Connection,
    ) -> Option<LearnedReply> {
        self.learned_bytes -= connection.learned_bytes();
        connection.take_learned(&self.kind(request).rules)
    }

    /// From now on the replies to this request must have this body. What was remembered under other rules is forgotten.
    pub(crate) fn expect(&mut self, request: RequestId, body: ExpectedBody) {
        self.learned_bytes += body.kept_bytes();
        let kind = self.kind_mut(request);
        kind.rules.expected = Some(Arc::new(body));
        kind.cache.forget();
    }

    /// Takes the expected body from the first correct reply of this thread.
    pub(crate) fn learn_from_load(&mut self, request: RequestId) {
        self.kind_mut(request).learning = Learning::Due;
    }

    /// Drops what the connection has noted of a reply: another one is noted.
    pub(super) fn drop_learned(&mut self, request: RequestId, connection: &mut Http1Connection) {
        self.learned_bytes -= connection.learned_bytes();
        let kind = self.kind_mut(request);
        if connection.forget_learned() && kind.learning == Learning::UnderWay {
            kind.learning = Learning::Due;
        }
    }

    /// Ends the learning on this connection, with the reply that it has noted, if there is one.
    pub(super) fn end_learning(&mut self, request: RequestId, connection: &mut Http1Connection) {
        if self.kind(request).learning != Learning::UnderWay || !connection.is_learning() {
            return;
        }
        self.kind_mut(request).learning = Learning::Due;
        if let Some(learned) = self.take_learned(request, connection) {
            self.kind_mut(request).learning = Learning::Off;
            self.reply_bytes = self.reply_bytes.max(learned.reply_bytes);
            self.expect(request, learned.body);
        }
    }
}
