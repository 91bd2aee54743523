//! HTTP/1.1, strictly: the request, and the check of its reply however the bytes are split.
//!
//! It is not a client library: a duplicate length or an unexpected body is a wrong reply and is never
//! tolerated. What RFC 9112 lets a client accept is accepted: a bare LF as line end, and folded header
//! lines. It keeps at most one head in memory per connection, and at most [`HEADS_LIMIT_BYTES`] over
//! all connections.
//!
//! The parser judges each reply, unless the reply equals one that the parser has accepted. The
//! comparison is only a faster way to the same verdict.

mod head;
mod parser;
mod requests;
mod rules;
mod template;

use std::sync::Arc;
use wirebench_schema::scenario::HeavyConnections;

pub(crate) use self::{
    parser::{Http1Connection, LearnedReply},
    requests::Requests,
    rules::{ExpectedBody, ReplyBody, Rules},
};

use self::template::ReplyCache;
use crate::codec::{Codec, Event, Fed, Reply, ReplyError, Ticket, equal::EqualRequests};

/// Limit of the memory for incomplete heads over all connections of a load. A server that sends
/// whole heads needs none of it.
pub(crate) const HEADS_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Whether the expected body is still to be learned from a reply of the load.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Learning {
    Off,
    /// From the next reply.
    Due,
    /// One connection notes its reply.
    UnderWay,
}

/// HTTP state shared by the connections of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Http1 {
    requests: Requests,
    /// The connections that send others, of the same length.
    heavy: Option<(HeavyConnections, Requests)>,
    rules: Rules,
    cache: ReplyCache,
    learning: Learning,
    /// Length of replies, as far as it is known.
    pub(crate) reply_bytes: usize,
    /// Memory of incomplete heads, and its limit.
    heads_bytes: usize,
    heads_limit_bytes: usize,
}

impl Http1 {
    /// Sends these requests, from each of this many threads, and judges their replies by these rules.
    pub(crate) fn new(requests: Requests, rules: Rules, threads: usize) -> Self {
        Self {
            requests,
            heavy: None,
            heads_limit_bytes: (HEADS_LIMIT_BYTES / threads.max(1)).max(rules.head_limit_bytes),
            rules,
            cache: ReplyCache::new(),
            learning: Learning::Off,
            reply_bytes: 0,
            heads_bytes: 0,
        }
    }

    /// The same, but these connections send other requests, of the same length.
    pub(crate) fn with_heavy(self, heavy: Option<(HeavyConnections, Requests)>) -> Self {
        Self { heavy, ..self }
    }

    /// The same with every reply judged by the parser alone.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn by_parser_alone(self) -> Self {
        Self { cache: ReplyCache::never(), ..self }
    }

    const fn request_bytes(&self) -> u64 {
        self.requests.length() as u64
    }

    #[cfg(test)]
    pub(crate) const fn requests(&self) -> &Requests {
        &self.requests
    }

    /// Whether it is already known which body replies must have.
    pub(crate) const fn expects_body(&self) -> bool {
        self.rules.expected.is_some()
    }

    /// The reply that a connection has noted, unless its status is unsuitable for an expectation.
    pub(crate) fn take_learned(&self, connection: &mut Http1Connection) -> Option<LearnedReply> {
        connection.take_learned(&self.rules)
    }

    /// From now on replies must have this body. What was remembered under other rules is forgotten.
    pub(crate) fn expect(&mut self, body: ExpectedBody) {
        self.rules.expected = Some(Arc::new(body));
        self.cache.forget();
    }

    /// Takes the expected body from the first correct reply of this thread.
    pub(crate) fn learn_from_load(&mut self) {
        self.learning = Learning::Due;
    }

    /// Ends the learning on this connection, with the reply that it has noted, if there is one.
    fn end_learning(&mut self, connection: &mut Http1Connection) {
        if self.learning != Learning::UnderWay || !connection.is_learning() {
            return;
        }
        self.learning = Learning::Due;
        if let Some(learned) = self.take_learned(connection) {
            self.learning = Learning::Off;
            self.reply_bytes = learned.reply_bytes;
            self.expect(learned.body);
        }
    }

    /// Handles everything except a complete, known reply in one piece.
    fn feed_to_parser(
        &mut self,
        connection: &mut Http1Connection,
        bytes: &[u8],
    ) -> Result<Fed, ReplyError> {
        let begins = connection.is_between_replies();
        if begins && self.learning == Learning::Due {
            self.learning = Learning::UnderWay;
            connection.learn();
        }
        let held_bytes = connection.head_capacity();
        let mut fed = connection.feed(&self.rules, &mut self.cache, bytes);
        self.heads_bytes = self.heads_bytes - held_bytes + connection.head_capacity();
        if self.heads_bytes > self.heads_limit_bytes && connection.head_capacity() > held_bytes {
            fed = Err(ReplyError::HeadsTooLong { limit: self.heads_limit_bytes });
        }
        let fed = fed.inspect_err(|_| self.restart(connection))?;
        if let Some(Event::Reply(reply)) = &fed.event {
            connection.requests.answer();
            let whole = begins.then(|| &bytes[..fed.consumed]);
            self.cache.ended(&self.rules, reply, whole);
            self.end_learning(connection);
        }
        Ok(fed)
    }
}

impl Codec for Http1 {
    type Connection = Http1Connection;

    fn connection(&self, number: usize) -> Http1Connection {
        Http1Connection::new(self.heavy.as_ref().is_some_and(|(heavy, _)| heavy.has(number)))
    }

    #[inline]
    fn is_sample(&self, connection: &Http1Connection) -> bool {
        !connection.is_heavy
    }

    fn restart(&mut self, connection: &mut Http1Connection) {
        self.heads_bytes -= connection.head_capacity();
        connection.restart();
        connection.requests = EqualRequests::default();
        self.heads_bytes += connection.head_capacity();
        if connection.forget_learned() && self.learning == Learning::UnderWay {
            self.learning = Learning::Due;
        }
    }

    #[inline]
    fn begin(&mut self, connection: &mut Http1Connection, _: Ticket) {
        connection.requests.begin();
    }

    #[inline]
    fn unsent_bytes(&self, connection: &Http1Connection) -> u64 {
        connection.requests.unsent_bytes(self.request_bytes())
    }

    #[inline]
    fn outgoing<'a>(&'a self, connection: &'a Http1Connection) -> &'a [u8] {
        let requests = match &self.heavy {
            Some((_, requests)) if connection.is_heavy => requests,
            _ => &self.requests,
        };
        requests.from(connection.requests.position(), self.unsent_bytes(connection))
    }

    #[inline]
    fn sent(&mut self, connection: &mut Http1Connection, bytes: usize) {
        connection.requests.sent(bytes);
    }

    #[inline]
    fn is_answered_sent(&self, connection: &Http1Connection) -> bool {
        connection.requests.is_answered_sent(self.request_bytes())
    }

    fn is_between_replies(&self, connection: &Http1Connection) -> bool {
        connection.is_between_replies()
    }

    fn page(&self, connection: &Http1Connection) -> String {
        connection.page()
    }

    fn reply_bytes_hint(&self) -> usize {
        self.reply_bytes
    }

    #[inline]
    fn feed(&mut self, connection: &mut Http1Connection, bytes: &[u8]) -> Result<Fed, ReplyError> {
        if connection.is_between_replies()
            && let Some(fed) = self.cache.whole_reply(bytes)
        {
            connection.requests.answer();
            return Ok(fed);
        }
        self.feed_to_parser(connection, bytes)
    }

    fn finish(&mut self, connection: &mut Http1Connection) -> Result<Option<Reply>, ReplyError> {
        let reply = connection.finish(&self.rules)?;
        if reply.is_some() {
            connection.requests.answer();
        }
        self.end_learning(connection);
        Ok(reply)
    }
}

#[cfg(test)]
mod tests;
