//! HTTP/1.1, strictly: the request, and the check of its reply however the bytes are split.
//!
//! It is no client library: a line that ends with a bare LF, a length that is said twice or a body
//! that is not the expected one is a wrong reply, never something to get along with. It keeps no
//! more than one head in memory.

mod head;
mod requests;

use std::sync::Arc;

pub(crate) use self::requests::Requests;

use self::head::{Framing, Head};
use crate::codec::{
    Check, Codec, Fed, Persistence, Reply, ReplyError,
    chunked::{ChunkEvent, ChunkedScanner},
    lines::{Line, LineScanner},
};

/// The longest head, interim replies included, and the longest trailer.
pub(crate) const HEAD_LIMIT_BYTES: usize = 64 * 1024;

/// How much of an expected body is kept for the comparison; of what lies behind it only the length
/// counts.
const EXPECTED_BODY_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// Whether the method of the request lets replies have a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReplyBody {
    /// As the head of the reply says.
    AsFramed,
    /// Never: the request is a `HEAD`.
    Never,
}

/// The body that every reply must have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ExpectedBody {
    start: Vec<u8>,
    total_bytes: u64,
}

impl ExpectedBody {
    /// Expects these bytes.
    pub(crate) fn new(body: &[u8]) -> Self {
        let mut expected = Self::default();
        expected.push(body);
        expected
    }

    fn push(&mut self, part: &[u8]) {
        let room = EXPECTED_BODY_LIMIT_BYTES - self.start.len();
        self.start.extend_from_slice(&part[..part.len().min(room)]);
        self.total_bytes += part.len() as u64;
    }
}

/// What the HTTP of one thread has in common.
#[derive(Clone, Debug)]
pub(crate) struct Http1 {
    /// What is sent.
    pub(crate) requests: Requests,
    /// What replies must be.
    pub(crate) rules: Rules,
    /// How long replies are, as far as it is known.
    pub(crate) reply_bytes: usize,
}

/// What replies must be.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Whether replies have bodies.
    pub(crate) reply_body: ReplyBody,
    /// The body of every reply below status 400; without it only its framing is checked.
    pub(crate) expected: Option<Arc<ExpectedBody>>,
}

impl Rules {
    /// What the reply with this status must contain. The page of an error is its own affair.
    fn expected(&self, status: u16) -> Option<&ExpectedBody> {
        let expected = self.expected.as_deref()?;
        let bodiless = self.reply_body == ReplyBody::Never;
        (status < 400 && !bodiless).then_some(expected)
    }

    fn check_length(&self, status: u16, received: u64) -> Result<(), ReplyError> {
        match self.expected(status) {
            Some(expected) if expected.total_bytes != received => {
                Err(ReplyError::BodyLength { expected: expected.total_bytes, received })
            }
            _ => Ok(()),
        }
    }
}

/// How far the body of the reply goes.
#[derive(Debug)]
enum Step {
    Head(LineScanner),
    Sized { left: u64 },
    Chunked(ChunkedScanner),
    UntilClose,
}

/// The replies of one connection.
#[derive(Debug)]
pub(crate) struct Http1Connection {
    step: Step,
    /// The start of a head whose end has not come yet; empty as long as heads come whole.
    head: Vec<u8>,
    /// Bytes of the interim heads before the one that is read.
    interim_bytes: usize,
    interim_replies: u32,
    status: u16,
    persistence: Persistence,
    body_bytes: u64,
    /// Where the body is kept, when it is to become the expectation.
    learned: Option<ExpectedBody>,
}

impl Codec for Http1 {
    type Connection = Http1Connection;

    fn connection(&self, _number: usize) -> Http1Connection {
        Http1Connection {
            step: Step::Head(LineScanner::default()),
            head: Vec::new(),
            interim_bytes: 0,
            interim_replies: 0,
            status: 0,
            persistence: Persistence::Keep,
            body_bytes: 0,
            learned: None,
        }
    }
    fn restart(&self, connection: &mut Http1Connection) {
        connection.restart();
    }

    fn request_bytes(&self) -> u64 {
        self.requests.length() as u64
    }

    fn outgoing<'a>(&'a self, _: &'a Http1Connection, position: u64, wanted: u64) -> &'a [u8] {
        self.requests.from(position, wanted)
    }

    fn reply_bytes_hint(&self) -> usize {
        self.reply_bytes
    }

    fn feed(&mut self, connection: &mut Http1Connection, bytes: &[u8]) -> Result<Fed, ReplyError> {
        let mut consumed = 0;
        while consumed < bytes.len() {
            let (used, end) = connection.advance(&self.rules, &bytes[consumed..])?;
            consumed += used;
            if end == End::Reached {
                return Ok(Fed { consumed, reply: Some(connection.complete(&self.rules)?) });
            }
        }
        Ok(Fed { consumed, reply: None })
    }

    fn finish(&mut self, connection: &mut Http1Connection) -> Result<Option<Reply>, ReplyError> {
        match connection.step {
            Step::UntilClose => connection.complete(&self.rules).map(Some),
            Step::Head(_) | Step::Sized { .. } | Step::Chunked(_) => Ok(None),
        }
    }
}

/// Whether a reply ends with the bytes just seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Reached,
    Ahead,
}

impl Http1Connection {
    fn restart(&mut self) {
        self.step = Step::Head(LineScanner::default());
        self.head.clear();
        self.interim_bytes = 0;
        self.interim_replies = 0;
        self.body_bytes = 0;
    }

    /// Keeps the body of the next reply, so that it can become the expectation.
    pub(crate) fn learn(&mut self) {
        self.learned = Some(ExpectedBody::default());
    }

    /// The body that was kept, unless its reply had a status that no expectation is made of.
    pub(crate) fn learned(self) -> Option<ExpectedBody> {
        self.learned.filter(|_| (200..400).contains(&self.status))
    }

    /// One step over bytes of which there is at least one.
    fn advance(&mut self, rules: &Rules, bytes: &[u8]) -> Result<(usize, End), ReplyError> {
        match &mut self.step {
            Step::Head(_) => self.advance_head(rules, bytes),
            Step::Sized { left } => {
                let part = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                *left -= part as u64;
                let end = if *left == 0 { End::Reached } else { End::Ahead };
                self.body(rules, &bytes[..part])?;
                Ok((part, end))
            }
            Step::Chunked(scanner) => match scanner.advance(bytes)? {
                ChunkEvent::Framing { used } => Ok((used, End::Ahead)),
                ChunkEvent::Data { used } => {
                    self.body(rules, &bytes[..used])?;
                    Ok((used, End::Ahead))
                }
                ChunkEvent::End { used } => Ok((used, End::Reached)),
            },
            Step::UntilClose => {
                self.body(rules, bytes)?;
                Ok((bytes.len(), End::Ahead))
            }
        }
    }

    fn advance_head(&mut self, rules: &Rules, bytes: &[u8]) -> Result<(usize, End), ReplyError> {
        let Step::Head(scanner) = &mut self.step else { return Ok((0, End::Ahead)) };
        if self.head.len() < head::MAGIC.len() {
            head::check_start(&self.head, bytes)?;
        }
        let mut used = 0;
        let complete = loop {
            match scanner.next(&bytes[used..])? {
                Line::Partial => break false,
                Line::Whole { used: line_used, empty } => {
                    used += line_used;
                    if empty {
                        break true;
                    }
                }
            }
        };
        let taken = if complete { used } else { bytes.len() };
        if self.interim_bytes + self.head.len() + taken > HEAD_LIMIT_BYTES {
            return Err(ReplyError::HeadTooLong { limit: HEAD_LIMIT_BYTES });
        }
        if !complete {
            self.head.extend_from_slice(bytes);
            return Ok((taken, End::Ahead));
        }
        let head = if self.head.is_empty() {
            head::read(&bytes[..taken])?
        } else {
            self.head.extend_from_slice(&bytes[..taken]);
            head::read(&self.head)?
        };
        let head_bytes = self.head.len().max(taken);
        self.head.clear();
        self.enter(rules, &head, head_bytes).map(|end| (taken, end))
    }

    /// Goes on to what a complete head announces.
    fn enter(&mut self, rules: &Rules, head: &Head, head_bytes: usize) -> Result<End, ReplyError> {
        if head.status == 101 {
            return Err(ReplyError::Framing(
                "the reply is 101, but nobody asked for another protocol",
            ));
        }
        if head.status < 200 {
            self.interim_bytes += head_bytes;
            self.interim_replies += 1;
            self.step = Step::Head(LineScanner::default());
            return Ok(End::Ahead);
        }
        self.status = head.status;
        self.persistence = head.persistence;
        self.body_bytes = 0;
        let bodiless = rules.reply_body == ReplyBody::Never || matches!(head.status, 204 | 304);
        match head.framing {
            _ if bodiless => return Ok(End::Reached),
            Framing::Length(length) => {
                rules.check_length(self.status, length)?;
                if length == 0 {
                    return Ok(End::Reached);
                }
                self.step = Step::Sized { left: length };
            }
            Framing::Chunked => self.step = Step::Chunked(ChunkedScanner::new(HEAD_LIMIT_BYTES)),
            Framing::UntilClose => {
                self.persistence = Persistence::Close;
                self.step = Step::UntilClose;
            }
        }
        Ok(End::Ahead)
    }

    fn body(&mut self, rules: &Rules, part: &[u8]) -> Result<(), ReplyError> {
        let start = self.body_bytes;
        let end = start + part.len() as u64;
        if let Some(expected) = rules.expected(self.status) {
            if end > expected.total_bytes {
                return Err(ReplyError::BodyLength {
                    expected: expected.total_bytes,
                    received: end,
                });
            }
            let from = usize::try_from(start).unwrap_or(usize::MAX).min(expected.start.len());
            let wanted = &expected.start[from..];
            let compared = wanted.len().min(part.len());
            if part[..compared] != wanted[..compared] {
                let at = part.iter().zip(wanted).position(|(a, b)| a != b).unwrap_or(0);
                return Err(ReplyError::BodyDiffers { at: start + at as u64 });
            }
        }
        if let Some(learned) = &mut self.learned {
            learned.push(part);
        }
        self.body_bytes = end;
        Ok(())
    }

    /// Ends the reply and makes ready for the next one.
    fn complete(&mut self, rules: &Rules) -> Result<Reply, ReplyError> {
        rules.check_length(self.status, self.body_bytes)?;
        let reply = Reply {
            status: Some(self.status),
            interim_replies: self.interim_replies,
            persistence: self.persistence,
            check: Check::Slow,
        };
        self.restart();
        Ok(reply)
    }
}

#[cfg(test)]
mod tests;
