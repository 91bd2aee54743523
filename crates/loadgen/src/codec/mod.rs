//! Codecs: the bytes of a request and the check of its reply, without I/O.
//!
//! A codec knows nothing of sockets or counters, and of time only where the numbers of `{seq}` begin. Bytes go in as
//! they arrive; the verdict depends on the bytes alone, never on how they were split. Only the speed does. Which
//! requests are in flight is known to the session, which gives each a [`Ticket`]; their bytes are the codec's.

mod chunked;
pub(crate) mod echo;
mod equal;
mod excerpt;
pub(crate) mod http1;
mod lines;
mod outbox;
pub(crate) mod requests;

use std::fmt;

pub(crate) use excerpt::{excerpt, page_text};

/// Names one of the requests that a load makes; 0 is that of a load with one.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct RequestId(pub(crate) u32);

/// Names a request in flight on its connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Ticket(pub(crate) u32);

/// The protocol state of one thread: shared by its connections, and learned from their replies.
pub(crate) trait Codec: Clone {
    type Connection: fmt::Debug;

    /// Whether the protocol has bytes of its own, which belong to no request: a greeting, or the answer to a ping. They
    /// are sent in every phase of a load, also on silent connections.
    const SPEAKS: bool = false;

    /// The state of the connection with this number, which is unique over all threads.
    fn connection(&self, number: usize) -> Self::Connection;

    /// Whether the latencies of this connection count.
    fn is_sample(&self, _: &Self::Connection) -> bool {
        true
    }

    /// The connection is made again. What is left of the one before is dropped, requests in flight included.
    fn restart(&mut self, connection: &mut Self::Connection);

    /// How many requests may be in flight, where `depth` are wanted: none before a handshake has ended.
    fn room(&self, _: &Self::Connection, depth: usize) -> usize {
        depth
    }

    /// The state belongs to this thread of all threads of all generators.
    fn on_thread(&mut self, _thread: usize, _threads: usize) {}

    /// Which request is next.
    fn next_request(&mut self) -> RequestId {
        RequestId::default()
    }

    /// A request is to be sent behind the others. Those that wait for their connection come before there is room.
    fn begin(&mut self, connection: &mut Self::Connection, request: RequestId, ticket: Ticket);

    /// Number of bytes left to send.
    fn unsent_bytes(&self, connection: &Self::Connection) -> u64;

    /// These bytes, or their first piece; at least one if there are any.
    fn outgoing<'a>(&'a self, connection: &'a Self::Connection) -> &'a [u8];

    /// This many of them have been sent.
    fn sent(&mut self, connection: &mut Self::Connection, bytes: usize);

    /// Tells if sending the request of the reply that has just come has begun, where that is known. A server may
    /// answer before it has read the whole request (RFC 9112, 9.5).
    fn is_answered_begun(&self, _: &Self::Connection) -> bool {
        true
    }

    /// Gives up waiting for a reply.
    fn cancel(&mut self, _: &mut Self::Connection, _: Ticket) -> Cancelled {
        Cancelled::WithConnection
    }

    /// The text at the start of the last reply, if its status was not one of a correct reply.
    fn page(&self, _: &Self::Connection) -> String {
        String::new()
    }

    /// Number of reply bytes worth receiving in one piece.
    fn reply_bytes_hint(&self) -> usize;

    /// Whether no byte of the next reply has come. Where nothing is sent twice, that does not matter.
    fn is_between_replies(&self, _: &Self::Connection) -> bool {
        false
    }

    /// Checks at least one byte. It stops at each event, so that the caller sees the bytes after it.
    ///
    /// After an error only [`Self::restart`] makes sense.
    fn feed(&mut self, connection: &mut Self::Connection, bytes: &[u8]) -> Result<Fed, ReplyError>;

    /// The peer has closed its side: the reply to the oldest request if this was its end, nothing if more was due.
    fn finish(&mut self, connection: &mut Self::Connection) -> Result<Option<Event>, ReplyError>;
}

/// What a request that is given up takes with it.
#[cfg_attr(not(test), expect(dead_code, reason = "HTTP/1 and the echo answer in order"))]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cancelled {
    /// Nothing.
    Alone,
    /// Its connection, since replies come in the order of the requests.
    WithConnection,
}

/// The result of feeding bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Fed {
    /// Number of them that were read. All, unless there is an event.
    pub(crate) consumed: usize,
    pub(crate) event: Option<Event>,
}

#[cfg(any(test, feature = "fuzzing"))]
impl Fed {
    /// The reply, where replies come in the order of the requests.
    pub(crate) fn reply(&self) -> Option<Reply> {
        match self.event {
            Some(Event::Reply(reply)) => Some(reply),
            _ => None,
        }
    }

    /// Takes a wrong body for an error.
    pub(crate) fn correct(self) -> Result<Self, ReplyError> {
        match self.event {
            Some(Event::Wrong(wrong)) => Err(wrong.1),
            _ => Ok(self),
        }
    }
}

/// What bytes of the server mean for the requests of a connection.
#[cfg_attr(not(test), expect(dead_code, reason = "HTTP/1 and the echo answer in order"))]
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Event {
    /// The reply to the oldest request is complete, and correct.
    Reply(Reply),
    /// A complete reply to the oldest request whose body is wrong. The bytes after it belong to the next reply.
    Wrong(Box<(Reply, ReplyError)>),
    /// The same for this request, in a protocol that names them.
    ReplyTo(Ticket, Reply),
    /// The server has not processed the request: it may be sent again, whatever it is.
    Refused(Ticket),
    /// This request has failed, and no other with it.
    Failed(Ticket, Box<ReplyError>),
    /// There may be more room for requests than before.
    Ready,
    /// The server takes no further request on this connection.
    Closing,
}

/// A complete reply that passed the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Reply {
    /// The status of an HTTP reply.
    pub(crate) status: Option<u16>,
    /// Whether it has another status than the request expects.
    pub(crate) is_refusal: bool,
    /// Interim replies (1xx) that came before it.
    pub(crate) interim_replies: u32,
    /// Whether the connection may carry another request.
    pub(crate) persistence: Persistence,
    pub(crate) check: Check,
}

/// The kind of check of a reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Check {
    /// By comparison with a known reply.
    Fast,
    Slow,
}

/// Whether a connection outlives a reply.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Persistence {
    /// The next request may follow on it.
    Keep,
    /// The reply announced that it is the last one.
    Close,
}

/// The source of the body that replies must have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expectation {
    /// From the configuration.
    Given,
    /// From the first reply.
    Learned,
}

impl Expectation {
    /// The advice if the expectation is wrong.
    const fn advice(self) -> &'static str {
        match self {
            Self::Given => "",
            Self::Learned => "; if bodies may differ, give --any-body to check the framing alone",
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum ReplyError {
    /// The first byte is that of a TLS alert.
    #[error("the reply is a TLS alert: write https://")]
    TlsAlert,
    /// The first bytes are not those of an HTTP/1 reply.
    #[error("the reply is not HTTP/1.1, it starts with \"{start}\"")]
    NotHttp {
        /// Its first bytes, escaped.
        start: String,
    },
    /// A part of the framing does not end where it must have ended.
    #[error("the {part} is longer than {limit} bytes: give a larger --head-limit")]
    TooLong { part: &'static str, limit: usize },
    /// Too many heads have come in part.
    #[error(
        "incomplete heads hold {limit} bytes over all connections of a thread: give fewer connections"
    )]
    HeadsTooLong { limit: usize },
    #[error("the head cannot be read: {0}")]
    Head(httparse::Error),
    /// A `Content-Length` that is not one number.
    #[error("Content-Length is \"{value}\"")]
    ContentLength { value: String },
    /// The length of the body is said twice, or in an unknown way.
    #[error("{0}")]
    Framing(&'static str),
    /// The chunked coding breaks the grammar.
    #[error("the chunked body is broken: {0}")]
    Chunk(&'static str),
    /// The body is longer or shorter than expected.
    #[error("the body has {received} bytes instead of {expected}{}", .expectation.advice())]
    BodyLength {
        expected: u64,
        received: u64,
        /// The source of the expected body.
        expectation: Expectation,
    },
    /// The body has other content than expected.
    #[error("the body differs from the expected one at byte {at}{}", .expectation.advice())]
    BodyDiffers {
        /// Index of the first wrong byte.
        at: u64,
        /// The source of the expected body.
        expectation: Expectation,
    },
    /// The body has the expected length and beginning, and another content behind that.
    #[error("the body differs from the expected one behind byte {from}{}", .expectation.advice())]
    BodyRestDiffers {
        /// Length of the beginning that is as expected.
        from: u64,
        /// The source of the expected body.
        expectation: Expectation,
    },
    /// The body has none of the text that it must contain.
    #[error("the body, {received} bytes, does not contain the expected text")]
    BodyLacks { received: u64 },
    #[error("the echo differs at byte {at}: 0x{sent:02x} was sent, 0x{received:02x} came back")]
    EchoDiffers {
        /// Index of the first wrong byte in the message.
        at: u64,
        /// The byte sent there.
        sent: u8,
        /// The byte received there.
        received: u8,
    },
    /// The server has not processed the request, again and again.
    #[error(
        "the server refuses to process the request, and did so each time that it was sent again"
    )]
    NotProcessed,
    /// The reply was complete before the request was begun.
    #[error("the reply came before the request was sent")]
    BeforeRequest,
}
