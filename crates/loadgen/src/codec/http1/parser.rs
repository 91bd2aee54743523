//! Parses the replies of one connection step by step as their bytes arrive. Its verdict is
//! authoritative.
//!
//! It asks the template whether a head is already known, and does not decide what that remembers.

use std::hash::Hasher;
use twox_hash::XxHash64;

use super::{
    expected::{ExpectedBody, new_hash},
    head::{self, Framing, Head},
    learning::LearnedReply,
    rules::{Ending, Rules},
    stream::Stream,
    template::ReplyCache,
};
use crate::codec::{
    Check, Event, Fed, Persistence, Reply, ReplyError,
    chunked::{ChunkEvent, ChunkedScanner},
    lines::{Line, LineScanner},
    page_text,
};

/// Buffer for split heads that a connection keeps between replies.
const KEPT_HEAD_BYTES: usize = 1024;

/// Start of a body that is kept for an error message.
const PAGE_BYTES: usize = 512;

/// A wrong body that is at most so much longer than the right one is read to its end: its connection goes on.
const READ_ON_BYTES: u64 = 1 << 20;

#[derive(Debug)]
enum Step {
    /// None of its bytes have.
    Between,
    Head(LineScanner),
    Sized {
        left: u64,
    },
    Chunked(ChunkedScanner),
    UntilClose,
}

#[derive(Debug)]
pub(crate) struct Http1Connection {
    /// Whether it is one of the connections that send other requests.
    pub(super) is_heavy: bool,
    pub(super) stream: Stream,
    step: Step,
    status: u16,
    persistence: Persistence,
    check: Check,
    interim_replies: u32,
    /// Bytes of the interim heads before the one that is read.
    interim_bytes: u32,
    body_bytes: u64,
    /// Whether the text that the body must contain has come, or else the end of the body before.
    contains: bool,
    tail: Vec<u8>,
    /// The start of a head whose end has not come yet; empty as long as heads come whole.
    head: Vec<u8>,
    /// The start of the body of the last reply, if its status was not one of a correct reply.
    page: Vec<u8>,
    /// The hash of that part of the body that no kept byte was compared with.
    rest: Option<Box<XxHash64>>,
    /// The first fault of the body.
    wrong: Option<Box<ReplyError>>,
    /// Copy of the next reply, if it is to become the expectation.
    learned: Option<Box<LearnedReply>>,
}

/// Whether a reply ends with the bytes just seen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Reached,
    Ahead,
}

impl Http1Connection {
    /// A connection on which nothing has come yet.
    pub(super) const fn new(is_heavy: bool, stream: Stream) -> Self {
        Self {
            is_heavy,
            stream,
            step: Step::Between,
            status: 0,
            persistence: Persistence::Keep,
            check: Check::Slow,
            interim_replies: 0,
            interim_bytes: 0,
            body_bytes: 0,
            contains: false,
            tail: Vec::new(),
            head: Vec::new(),
            page: Vec::new(),
            rest: None,
            wrong: None,
            learned: None,
        }
    }

    pub(super) fn restart(&mut self) {
        self.step = Step::Between;
        self.forget_head();
        self.interim_bytes = 0;
        self.interim_replies = 0;
        self.body_bytes = 0;
        self.wrong = None;
        if let Some(rest) = &mut self.rest {
            **rest = new_hash();
        }
    }

    /// Whether the next byte is the first one of a reply.
    #[inline]
    pub(super) const fn is_between_replies(&self) -> bool {
        matches!(self.step, Step::Between)
    }

    /// Notes the next reply, so that its body can become the expectation, and keeps at most this much of it.
    pub(super) fn learn(&mut self, room_bytes: usize) {
        // Not between replies: a body that is known by comparison would not come by here.
        self.step = Step::Head(LineScanner::default());
        let body = ExpectedBody::learned(room_bytes);
        self.learned =
            Some(Box::new(LearnedReply { body, reply_bytes: 0, content_type: String::new() }));
    }

    /// The text of the last reply, if its status was not one of a correct reply.
    pub(super) fn page(&self) -> String {
        page_text(&self.page)
    }

    /// Bytes that it keeps of the body of a reply that it notes.
    pub(super) fn learned_bytes(&self) -> usize {
        self.learned.as_ref().map_or(0, |learned| learned.body.kept_bytes())
    }

    /// Keeps no further byte of it.
    pub(super) fn keep_no_more(&mut self) {
        if let Some(learned) = &mut self.learned {
            learned.body.keep_no_more();
        }
    }

    /// Whether it notes a reply.
    pub(super) const fn is_learning(&self) -> bool {
        self.learned.is_some()
    }

    /// Drops the noted part of a reply. Says whether there was one.
    pub(super) fn forget_learned(&mut self) -> bool {
        self.learned.take().is_some()
    }

    /// The recorded reply, unless its status is unsuitable for an expectation.
    pub(super) fn take_learned(&mut self, rules: &Rules) -> Option<LearnedReply> {
        let learned = self.learned.take().map(|learned| *learned);
        learned.filter(|_| self.status >= 200 && rules.expects_status(self.status))
    }

    /// Reads on, until the end of a reply at most.
    pub(super) fn feed(
        &mut self,
        rules: &Rules,
        cache: &mut ReplyCache,
        bytes: &[u8],
    ) -> Result<Fed, ReplyError> {
        let (mut consumed, mut end) = (0, End::Ahead);
        while consumed < bytes.len() && end == End::Ahead {
            let used;
            (used, end) = self.advance(rules, cache, &bytes[consumed..])?;
            consumed += used;
        }
        if let Some(learned) = &mut self.learned {
            learned.reply_bytes += consumed;
        }
        match end {
            End::Ahead => Ok(Fed { consumed, event: None }),
            End::Reached => Ok(Fed { consumed, event: Some(self.complete(rules)) }),
        }
    }

    /// The peer has closed its side.
    pub(super) fn finish(&mut self, rules: &Rules) -> Option<Event> {
        match self.step {
            Step::UntilClose => Some(self.complete(rules)),
            Step::Between | Step::Head(_) | Step::Sized { .. } | Step::Chunked(_) => None,
        }
    }

    /// One step over bytes of which there is at least one.
    fn advance(
        &mut self,
        rules: &Rules,
        cache: &mut ReplyCache,
        bytes: &[u8],
    ) -> Result<(usize, End), ReplyError> {
        match &mut self.step {
            Step::Between => {
                self.step = Step::Head(LineScanner::default());
                match cache.head_at_start(bytes) {
                    None => self.advance_head(rules, cache, bytes),
                    Some((head, used)) => {
                        self.enter(rules, &head, Check::Fast, used).map(|end| (used, end))
                    }
                }
            }
            Step::Head(_) => self.advance_head(rules, cache, bytes),
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

    fn advance_head(
        &mut self,
        rules: &Rules,
        cache: &mut ReplyCache,
        bytes: &[u8],
    ) -> Result<(usize, End), ReplyError> {
        let Step::Head(scanner) = &mut self.step else { return Ok((0, End::Ahead)) };
        if self.head.len() < head::MAGIC.len() {
            head::check_start(&self.head, bytes)?;
        }
        let mut used = 0;
        let complete = loop {
            match scanner.next(&bytes[used..]) {
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
        let head_bytes = self.head.len() + taken;
        if self.interim_bytes as usize + head_bytes > rules.head_limit_bytes {
            return Err(ReplyError::TooLong { part: "head", limit: rules.head_limit_bytes });
        }
        if !complete {
            self.head.extend_from_slice(bytes);
            return Ok((taken, End::Ahead));
        }
        let whole = match self.head.is_empty() {
            true => &bytes[..taken],
            false => {
                self.head.extend_from_slice(&bytes[..taken]);
                &self.head
            }
        };
        let (head, check) = cache.read_head(rules, whole)?;
        if let Some(learned) = &mut self.learned {
            learned.content_type = head::media_type(whole);
        }
        self.forget_head();
        self.enter(rules, &head, check, head_bytes).map(|end| (taken, end))
    }

    /// Continues with the body that a complete head announces.
    fn enter(
        &mut self,
        rules: &Rules,
        head: &Head,
        check: Check,
        head_bytes: usize,
    ) -> Result<End, ReplyError> {
        if head.status == 101 {
            return Err(ReplyError::Framing(
                "the reply is 101, but the request asked for no other protocol",
            ));
        }
        if head.status < 200 {
            self.interim_bytes += u32::try_from(head_bytes).unwrap_or(0);
            self.interim_replies += 1;
            self.step = Step::Head(LineScanner::default());
            return Ok(End::Ahead);
        }
        self.status = head.status;
        self.persistence = head.persistence;
        self.check = if self.interim_replies == 0 { check } else { Check::Slow };
        self.body_bytes = 0;
        self.contains = false;
        self.tail.clear();
        self.page.clear();
        self.step = match rules.ending(head) {
            Ending::Bodiless => return Ok(End::Reached),
            Ending::Framed(Framing::Length(length)) => {
                self.note(rules.check_length(self.status, length));
                self.read_on(rules, length)?;
                if length == 0 {
                    return Ok(End::Reached);
                }
                Step::Sized { left: length }
            }
            Ending::Framed(Framing::Chunked) => {
                // Where the body ends is read, even if the head was known.
                self.check = Check::Slow;
                Step::Chunked(ChunkedScanner::new(rules.head_limit_bytes))
            }
            Ending::Framed(Framing::UntilClose) => {
                self.persistence = Persistence::Close;
                Step::UntilClose
            }
        };
        Ok(End::Ahead)
    }

    /// Notes the first fault of the body.
    fn note<T: Default>(&mut self, found: Result<T, ReplyError>) -> T {
        found.unwrap_or_else(|error| {
            self.wrong.get_or_insert_with(|| Box::new(error));
            T::default()
        })
    }

    /// Fails if a wrong body with this many bytes is too long to be read to its end.
    fn read_on(&mut self, rules: &Rules, bytes: u64) -> Result<(), ReplyError> {
        let expected = rules.expected(self.status).map_or(0, ExpectedBody::bytes);
        let is_too_long = |_: &mut _| bytes > expected.saturating_add(READ_ON_BYTES);
        self.wrong.take_if(is_too_long).map_or(Ok(()), |wrong| Err(*wrong))
    }

    fn body(&mut self, rules: &Rules, part: &[u8]) -> Result<(), ReplyError> {
        if self.wrong.is_none() {
            let unkept = self.note(rules.check_part(self.status, self.body_bytes, part));
            if !unkept.is_empty() {
                self.rest.get_or_insert_with(|| Box::new(new_hash())).write(unkept);
            }
        }
        if !rules.expects_status(self.status) {
            let room = PAGE_BYTES.saturating_sub(self.page.len());
            self.page.extend_from_slice(&part[..part.len().min(room)]);
        }
        if !self.contains
            && let Some(needle) = rules.needle(self.status)
        {
            self.contains = needle.ends_in(&mut self.tail, part);
        }
        if let Some(learned) = &mut self.learned {
            learned.body.push(part);
        }
        self.body_bytes += part.len() as u64;
        self.read_on(rules, self.body_bytes)
    }

    /// Ends the reply and makes ready for the next one.
    fn complete(&mut self, rules: &Rules) -> Event {
        self.note(rules.check_length(self.status, self.body_bytes));
        self.note(rules.check_rest(self.status, self.rest.as_deref()));
        if !self.contains && rules.needle(self.status).is_some() {
            self.note::<()>(Err(ReplyError::BodyLacks { received: self.body_bytes }));
        }
        let reply = Reply {
            status: Some(self.status),
            is_refusal: !rules.expects_status(self.status),
            interim_replies: self.interim_replies,
            persistence: self.persistence,
            check: self.check,
        };
        let wrong = self.wrong.take();
        self.restart();
        match wrong {
            None => Event::Reply(reply),
            Some(error) => Event::Wrong(Box::new((reply, *error))),
        }
    }

    /// Capacity of its buffer for split heads.
    pub(super) fn head_capacity(&self) -> usize {
        self.head.capacity()
    }

    /// A long head in pieces is no reason to keep so much room for the next one.
    fn forget_head(&mut self) {
        self.head.clear();
        if self.head.capacity() > KEPT_HEAD_BYTES {
            self.head = Vec::new();
        }
    }
}
