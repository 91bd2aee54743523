//! The requirements that a load adds to the grammar of HTTP replies.

use memchr::memmem;
use std::sync::Arc;
use twox_hash::XxHash64;

use super::{
    expected::ExpectedBody,
    head::{Framing, Head},
};
use crate::codec::ReplyError;

/// Whether the method of the request lets replies have a body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ReplyBody {
    /// As the head of the reply says.
    AsFramed,
    /// Never: the request is a `HEAD`.
    Never,
}

impl ReplyBody {
    /// Whether replies to this method have one.
    pub(crate) fn to(method: &str) -> Self {
        if method == "HEAD" { Self::Never } else { Self::AsFramed }
    }
}

/// A text that is looked for in bodies, at least one byte.
#[derive(Clone, Debug)]
pub(crate) struct Needle(Arc<memmem::Finder<'static>>);

impl Needle {
    pub(crate) fn new(text: &str) -> Self {
        Self(Arc::new(memmem::Finder::new(text.as_bytes()).into_owned()))
    }

    /// Whether it ends in this part of a body. `tail` is the end of the parts before, and becomes that of this one.
    pub(super) fn ends_in(&self, tail: &mut Vec<u8>, part: &[u8]) -> bool {
        let kept = self.0.needle().len() - 1;
        let before = tail.len();
        tail.extend_from_slice(&part[..part.len().min(kept)]);
        if self.0.find(part).is_some() || before > 0 && self.0.find(tail).is_some() {
            return true;
        }
        if part.len() >= kept {
            tail.clear();
            tail.extend_from_slice(&part[part.len() - kept..]);
        } else {
            tail.drain(..tail.len().saturating_sub(kept));
        }
        false
    }
}

/// The framing of one reply's body, if it has one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ending {
    /// There is none.
    Bodiless,
    Framed(Framing),
}

#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) reply_body: ReplyBody,
    /// The statuses of correct replies; empty for all below 400.
    pub(crate) statuses: Vec<u16>,
    /// The body of every correct reply; without it only its framing is checked.
    pub(crate) expected: Option<Arc<ExpectedBody>>,
    /// A text that the body of every correct reply contains.
    pub(crate) contains: Option<Needle>,
    /// The longest head, interim replies included, the longest trailer, and the longest line with the
    /// size of a chunk.
    pub(crate) head_limit_bytes: usize,
}

impl Rules {
    /// Whether a reply with this status is correct.
    #[inline]
    pub(super) fn expects_status(&self, status: u16) -> bool {
        if self.statuses.is_empty() { status < 400 } else { self.statuses.contains(&status) }
    }

    /// The required body of a reply with this status. Error pages are not checked.
    pub(super) fn expected(&self, status: u16) -> Option<&ExpectedBody> {
        let expected = self.expected.as_deref()?;
        let bodiless = self.reply_body == ReplyBody::Never;
        (self.expects_status(status) && !bodiless).then_some(expected)
    }

    /// The text that the body of a reply with this status contains. Error pages are not checked.
    pub(super) fn needle(&self, status: u16) -> Option<&Needle> {
        self.contains.as_ref().filter(|_| self.expects_status(status))
    }

    /// Whether only whole replies that were accepted are known to be correct.
    pub(super) fn knows_bodies(&self, status: u16) -> bool {
        self.expected(status).is_some() || self.needle(status).is_some()
    }

    /// The end of the reply with this head.
    pub(super) fn ending(&self, head: &Head) -> Ending {
        let bodiless = self.reply_body == ReplyBody::Never || matches!(head.status, 204 | 304);
        if bodiless { Ending::Bodiless } else { Ending::Framed(head.framing) }
    }

    /// Checks the length of a whole body.
    pub(super) fn check_length(&self, status: u16, received: u64) -> Result<(), ReplyError> {
        self.expected(status).map_or(Ok(()), |expected| expected.check_length(received))
    }

    /// Checks a part of a body that begins at this position. What it gives back is still to be hashed.
    pub(super) fn check_part<'a>(
        &self,
        status: u16,
        position: u64,
        part: &'a [u8],
    ) -> Result<&'a [u8], ReplyError> {
        self.expected(status).map_or(Ok(&[]), |expected| expected.check_part(position, part))
    }

    /// Checks the hash of what no part of a whole body was compared with.
    pub(super) fn check_rest(
        &self,
        status: u16,
        rest: Option<&XxHash64>,
    ) -> Result<(), ReplyError> {
        self.expected(status).map_or(Ok(()), |expected| expected.check_rest(rest))
    }
}
