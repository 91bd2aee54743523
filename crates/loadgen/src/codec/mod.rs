//! Codecs: the bytes of a request and the check of its reply, without I/O.
//!
//! A codec knows nothing of sockets, time or counters. Bytes go in as they arrive; the verdict
//! depends on the bytes alone, never on how they were split. Only the speed does.

mod chunked;
pub(crate) mod echo;
pub(crate) mod http1;
mod lines;

use std::fmt;
use wirebench_schema::printable::printable;

/// The protocol state of one thread: shared by its connections, and learned from their replies.
///
/// The requests of a connection are one stream of bytes: requests of equal length in sequence. A
/// position in that stream gives the next bytes to send, so that no request is ever copied, and
/// several of them go out in one piece. Replies are checked in the order of their requests.
pub(crate) trait Codec: Clone {
    type Connection: fmt::Debug;

    /// The state of the connection with this number, which is unique over all threads.
    fn connection(&self, number: usize) -> Self::Connection;

    /// Whether the latencies of this connection count.
    fn is_sample(&self, _: &Self::Connection) -> bool {
        true
    }

    /// Drops an incomplete reply: the connection is made again, and its stream restarts.
    fn restart(&mut self, connection: &mut Self::Connection);

    /// Length of each request, at least one byte.
    fn request_bytes(&self) -> u64;

    /// The bytes of the stream of requests from `position` on: at least one, at most `wanted`.
    fn outgoing<'a>(
        &'a self,
        connection: &'a Self::Connection,
        position: u64,
        wanted: u64,
    ) -> &'a [u8];

    /// Whether a reply with this status is correct.
    fn expects_status(&self, status: u16) -> bool {
        status < 400
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

    /// Checks at least one byte of a reply. It stops at the end of a reply, so that the caller sees
    /// the bytes after it.
    ///
    /// After an error only [`Self::restart`] makes sense.
    fn feed(
        &mut self,
        connection: &mut Self::Connection,
        bytes: &[u8],
    ) -> Result<FeedResult, ReplyError>;

    /// The peer has closed its side: the reply if this was its end, nothing if more was due.
    fn finish(&mut self, connection: &mut Self::Connection) -> Result<Option<Reply>, ReplyError>;
}

/// The result of feeding bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct FeedResult {
    /// Number of them that belong to this reply. All, unless the reply is complete.
    pub(crate) consumed: usize,
    /// The reply, when it is complete.
    pub(crate) reply: Option<Reply>,
}

/// A complete reply that passed the check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Reply {
    /// The status of an HTTP reply.
    pub(crate) status: Option<u16>,
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
    #[error("the echo differs at byte {at}: 0x{sent:02x} was sent, 0x{received:02x} came back")]
    EchoDiffers {
        /// Index of the first wrong byte in the message.
        at: u64,
        /// The byte sent there.
        sent: u8,
        /// The byte received there.
        received: u8,
    },
    /// The reply was complete before the request was.
    #[error("the reply came before the whole request was sent")]
    BeforeRequest,
}

/// At most the first 32 bytes, escaped so that they can stand in a sentence.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const EXCERPT_BYTES: usize = 32;
    let shown = &bytes[..bytes.len().min(EXCERPT_BYTES)];
    let mut text = shown.escape_ascii().to_string();
    if shown.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// The text at the start of a page in one line, without markup and control characters.
pub(crate) fn page_text(bytes: &[u8]) -> String {
    const TEXT_CHARACTERS: usize = 160;
    let page = String::from_utf8_lossy(bytes);
    let mut parts = page.split('<');
    let before = parts.next().unwrap_or_default();
    let behind_tags = parts.filter_map(|part| part.split_once('>').map(|(_, text)| text));
    let words = std::iter::once(before).chain(behind_tags).flat_map(str::split_whitespace);
    let text = words.collect::<Vec<_>>().join(" ");
    let shown: String = text.chars().take(TEXT_CHARACTERS).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", printable(&shown))
}
