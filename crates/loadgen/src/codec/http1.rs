//! HTTP/1.1, strictly: the request, and the check of its reply however the bytes are split.
//!
//! It is not a client library: a duplicate length or an unexpected body is a wrong reply and is never
//! tolerated. What RFC 9112 lets a client accept is accepted: a bare LF as line end, and folded header
//! lines. It keeps at most one head in memory per connection, and at most [`HEADS_LIMIT_BYTES`] over
//! all connections.
//!
//! The parser judges each reply, unless the reply equals one that the parser has accepted. The
//! comparison is only a faster way to the same verdict.

mod expected;
mod head;
mod learning;
mod parser;
mod requests;
mod rules;
mod stream;
mod template;

use std::{
    sync::LazyLock,
    time::{SystemTime, UNIX_EPOCH},
};
use wirebench_schema::{load::SeqStart, scenario::HeavyConnections};

pub(crate) use self::{
    expected::ExpectedBody,
    learning::LearnedReply,
    parser::Http1Connection,
    requests::Requests,
    rules::{Needle, ReplyBody, Rules},
};

use self::{
    learning::{LEARNED_LIMIT_BYTES, Learning},
    stream::Stream,
    template::ReplyCache,
};
use crate::codec::{
    Codec, Event, Fed, ReplyError, RequestId, Ticket,
    equal::EqualRequests,
    requests::{Picker, Rendered, Template},
};

/// Limit of the memory for incomplete heads over all connections of a load. A server that sends
/// whole heads needs none of it.
pub(crate) const HEADS_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// What is done with a request before the load.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FirstUse {
    /// Whether it changes nothing on the server and may be sent.
    pub(crate) is_safe: bool,
    /// Whether all replies must have the body of the first one.
    pub(crate) learns_body: bool,
}

/// How the replies to one of the requests are judged.
#[derive(Clone, Debug)]
struct Kind {
    first_use: FirstUse,
    rules: Rules,
    cache: ReplyCache,
    learning: Learning,
}

/// Where requests come from.
#[derive(Clone, Debug)]
enum Source {
    /// All are the same, or of the same length.
    Equal {
        requests: Requests,
        /// The connections that send others.
        heavy: Option<(HeavyConnections, Requests)>,
    },
    /// Each kind has its own.
    Set { templates: Vec<Template>, picker: Box<Picker>, rendered: Rendered, seq: Option<SeqStart> },
}

/// HTTP state shared by the connections of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Http1 {
    source: Source,
    /// By [`RequestId`].
    kinds: Vec<Kind>,
    /// Length of replies, as far as it is known.
    pub(crate) reply_bytes: usize,
    /// Memory of incomplete heads, and its limit.
    heads_bytes: usize,
    heads_limit_bytes: usize,
    /// Memory of learned bodies, and its limit.
    learned_bytes: usize,
    learned_limit_bytes: usize,
}

/// Commands at the same time must not send the same numbers: each adds its own to the time. All are below 2^53.
static OF_PROCESS: LazyLock<u64> = LazyLock::new(|| fastrand::u64(..1 << 52));

/// The least number of a load that begins now.
fn first_seq(seq: Option<SeqStart>) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now_us = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
    seq.map_or(now_us.saturating_add(*OF_PROCESS), |it| it.at(now_us))
}

impl Http1 {
    /// Sends these requests, from each of this many threads, and judges their replies by these rules.
    pub(crate) fn new(requests: Requests, rules: Rules, threads: usize) -> Self {
        let first_use = FirstUse { is_safe: true, learns_body: rules.expected.is_none() };
        Self::of(Source::Equal { requests, heavy: None }, vec![(rules, first_use)], threads)
    }

    /// The same with this use of its request before the load.
    pub(crate) fn with_first_use(mut self, first_use: FirstUse) -> Self {
        self.kinds[0].first_use = first_use;
        self
    }

    /// Sends the requests of a set, each with its rules.
    pub(crate) fn of_set(
        set: Vec<(Template, Rules, FirstUse)>,
        (picker, seq): (Picker, Option<SeqStart>),
        threads: usize,
    ) -> Self {
        let split = |(template, rules, first_use)| (template, (rules, first_use));
        let (templates, rules) = set.into_iter().map(split).unzip();
        let (picker, rendered) = (Box::new(picker), Rendered::new((0, 1), 0, first_seq(seq)));
        Self::of(Source::Set { templates, picker, rendered, seq }, rules, threads)
    }

    fn of(source: Source, rules: Vec<(Rules, FirstUse)>, threads: usize) -> Self {
        let head_limit_bytes = rules.iter().map(|(it, _)| it.head_limit_bytes).max().unwrap_or(0);
        let caches = rules.len() * threads.max(1);
        let kind = |(rules, first_use)| Kind {
            first_use,
            rules,
            cache: ReplyCache::new(caches),
            learning: Learning::Off,
        };
        Self {
            source,
            kinds: rules.into_iter().map(kind).collect(),
            heads_limit_bytes: (HEADS_LIMIT_BYTES / threads.max(1)).max(head_limit_bytes),
            reply_bytes: 0,
            heads_bytes: 0,
            learned_bytes: 0,
            learned_limit_bytes: LEARNED_LIMIT_BYTES,
        }
    }

    /// The same, but these connections send other requests, of the same length.
    pub(crate) fn with_heavy(mut self, others: Option<(HeavyConnections, Requests)>) -> Self {
        if let Source::Equal { heavy, .. } = &mut self.source {
            *heavy = others;
        }
        self
    }

    /// The same with every reply judged by the parser alone.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn by_parser_alone(mut self) -> Self {
        self.kinds.iter_mut().for_each(|kind| kind.cache = ReplyCache::never());
        self
    }

    #[cfg(test)]
    pub(crate) fn requests(&self) -> &Requests {
        match &self.source {
            Source::Equal { requests, .. } => requests,
            Source::Set { .. } => panic!("a set has several"),
        }
    }

    #[inline]
    fn request_bytes(&self) -> u64 {
        match &self.source {
            Source::Equal { requests, .. } => requests.length() as u64,
            Source::Set { .. } => 0,
        }
    }

    fn kind(&self, RequestId(kind): RequestId) -> &Kind {
        &self.kinds[kind as usize]
    }

    fn kind_mut(&mut self, RequestId(kind): RequestId) -> &mut Kind {
        &mut self.kinds[kind as usize]
    }

    /// Its requests, one of each.
    pub(crate) fn all_requests(&self) -> impl Iterator<Item = RequestId> + use<> {
        (0..u32::try_from(self.kinds.len()).unwrap_or(u32::MAX)).map(RequestId)
    }

    pub(crate) fn first_use(&self, request: RequestId) -> FirstUse {
        self.kind(request).first_use
    }

    /// Handles everything except a complete, known reply in one piece.
    fn feed_to_parser(
        &mut self,
        connection: &mut Http1Connection,
        bytes: &[u8],
    ) -> Result<Fed, ReplyError> {
        let begins = connection.is_between_replies();
        let request = connection.stream.oldest();
        let kind = &mut self.kinds[request.0 as usize];
        if begins && kind.learning == Learning::Due {
            kind.learning = Learning::UnderWay;
            self.learn(connection);
        }
        let held_bytes = connection.head_capacity();
        self.learned_bytes -= connection.learned_bytes();
        let kind = &mut self.kinds[request.0 as usize];
        let mut fed = connection.feed(&kind.rules, &mut kind.cache, bytes);
        self.learned_bytes += connection.learned_bytes();
        if self.learned_bytes > self.learned_limit_bytes {
            connection.keep_no_more();
        }
        self.heads_bytes = self.heads_bytes - held_bytes + connection.head_capacity();
        if self.heads_bytes > self.heads_limit_bytes && connection.head_capacity() > held_bytes {
            fed = Err(ReplyError::HeadsTooLong { limit: self.heads_limit_bytes });
        }
        let fed = fed.inspect_err(|_| self.restart(connection))?;
        if let Some(event) = &fed.event {
            if let Event::Reply(reply) = event {
                let whole = begins.then(|| &bytes[..fed.consumed]);
                let kind = &mut self.kinds[request.0 as usize];
                kind.cache.ended(&kind.rules, reply, whole);
            }
            self.ended(request, connection, event);
        }
        Ok(fed)
    }

    /// A reply is complete.
    fn ended(&mut self, request: RequestId, connection: &mut Http1Connection, event: &Event) {
        connection.stream.answer();
        match event {
            Event::Reply(_) => self.end_learning(request, connection),
            _ => self.drop_learned(request, connection),
        }
    }
}

impl Codec for Http1 {
    type Connection = Http1Connection;

    fn connection(&self, number: usize) -> Http1Connection {
        match &self.source {
            Source::Equal { heavy, .. } => {
                let is_heavy = heavy.as_ref().is_some_and(|(heavy, _)| heavy.has(number));
                Http1Connection::new(is_heavy, Stream::Equal(EqualRequests::default()))
            }
            Source::Set { .. } => Http1Connection::new(false, Stream::Set(Box::default())),
        }
    }

    #[inline]
    fn is_sample(&self, connection: &Http1Connection) -> bool {
        !connection.is_heavy
    }

    fn restart(&mut self, connection: &mut Http1Connection) {
        self.heads_bytes -= connection.head_capacity();
        connection.restart();
        let request = connection.stream.oldest();
        connection.stream.restart();
        self.heads_bytes += connection.head_capacity();
        self.drop_learned(request, connection);
    }

    fn on_thread(&mut self, thread: usize, threads: usize) {
        // What was learned before is common to all; what each learns itself is its own.
        let room = self.learned_limit_bytes.saturating_sub(self.learned_bytes);
        self.learned_limit_bytes = self.learned_bytes + room / threads.max(1);
        if let Source::Set { picker, rendered, seq, .. } = &mut self.source {
            picker.on_thread(thread, threads);
            *rendered = Rendered::new((thread, threads), picker.seed(), first_seq(*seq));
        }
    }

    #[inline]
    fn next_request(&mut self) -> RequestId {
        match &mut self.source {
            Source::Equal { .. } => RequestId::default(),
            Source::Set { picker, .. } => picker.next(),
        }
    }

    #[inline]
    fn begin(&mut self, connection: &mut Http1Connection, request: RequestId, _: Ticket) {
        match (&mut connection.stream, &mut self.source) {
            (Stream::Equal(requests), _) => requests.begin(),
            (Stream::Set(outbox), Source::Set { templates, rendered, .. }) => {
                rendered.begin(&templates[request.0 as usize], request, outbox);
            }
            (Stream::Set(_), Source::Equal { .. }) => {}
        }
    }

    #[inline]
    fn unsent_bytes(&self, connection: &Http1Connection) -> u64 {
        match &connection.stream {
            Stream::Equal(requests) => requests.unsent_bytes(self.request_bytes()),
            Stream::Set(outbox) => outbox.unsent_bytes(),
        }
    }

    #[inline]
    fn outgoing<'a>(&'a self, connection: &'a Http1Connection) -> &'a [u8] {
        match (&connection.stream, &self.source) {
            (Stream::Equal(sent), Source::Equal { requests, heavy }) => {
                let requests = match heavy {
                    Some((_, others)) if connection.is_heavy => others,
                    _ => requests,
                };
                requests.from(sent.position(), sent.unsent_bytes(requests.length() as u64))
            }
            (Stream::Set(outbox), _) => outbox.outgoing(),
            (Stream::Equal(_), Source::Set { .. }) => &[],
        }
    }

    #[inline]
    fn sent(&mut self, connection: &mut Http1Connection, bytes: usize) {
        match &mut connection.stream {
            Stream::Equal(requests) => requests.sent(bytes),
            Stream::Set(outbox) => outbox.sent(bytes),
        }
    }

    #[inline]
    fn is_answered_begun(&self, connection: &Http1Connection) -> bool {
        match &connection.stream {
            Stream::Equal(requests) => requests.is_answered_begun(self.request_bytes()),
            Stream::Set(outbox) => outbox.is_answered_begun(),
        }
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
        let request = connection.stream.oldest();
        if connection.is_between_replies()
            && let Some(fed) = self.kinds[request.0 as usize].cache.whole_reply(bytes)
        {
            connection.stream.answer();
            return Ok(fed);
        }
        self.feed_to_parser(connection, bytes)
    }

    fn finish(&mut self, connection: &mut Http1Connection) -> Result<Option<Event>, ReplyError> {
        let request = connection.stream.oldest();
        let event = connection.finish(&self.kind(request).rules);
        match &event {
            Some(event) => self.ended(request, connection, event),
            None => self.end_learning(request, connection),
        }
        Ok(event)
    }
}

#[cfg(test)]
mod tests;
