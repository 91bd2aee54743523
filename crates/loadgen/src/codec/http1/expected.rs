//! The body that every reply must have: its bytes, and a hash of those for which there is no room.

use std::hash::Hasher;
use twox_hash::XxHash64;

use crate::codec::{Expectation, ReplyError};

/// Length of an expected body that is kept for comparison.
const KEPT_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// A hash of the bytes that are not kept.
pub(super) const fn new_hash() -> XxHash64 {
    XxHash64::with_seed(0)
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ExpectedBody {
    /// Its beginning.
    kept: Vec<u8>,
    kept_limit_bytes: usize,
    /// Of what follows.
    rest: XxHash64,
    total_bytes: u64,
    expectation: Expectation,
}

impl ExpectedBody {
    /// Expects these bytes, given by the configuration.
    pub(crate) fn given(body: &[u8]) -> Self {
        let mut expected = Self::learned(usize::MAX);
        expected.push(body);
        Self { expectation: Expectation::Given, ..expected }
    }

    /// Expects the body of the first reply, which is still being pushed. At most this many bytes are kept.
    pub(super) fn learned(room_bytes: usize) -> Self {
        Self {
            kept: Vec::new(),
            kept_limit_bytes: room_bytes.min(KEPT_LIMIT_BYTES),
            rest: new_hash(),
            total_bytes: 0,
            expectation: Expectation::Learned,
        }
    }

    /// The body goes on with this part.
    pub(super) fn push(&mut self, part: &[u8]) {
        let room = self.kept_limit_bytes - self.kept.len();
        let (kept, rest) = part.split_at(part.len().min(room));
        self.kept.extend_from_slice(kept);
        self.rest.write(rest);
        self.total_bytes += part.len() as u64;
    }

    /// Its length in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(super) const fn kept_bytes(&self) -> usize {
        self.kept.len()
    }

    /// Of what follows only the hash is kept.
    pub(super) const fn keep_no_more(&mut self) {
        self.kept_limit_bytes = self.kept.len();
    }

    /// The body, if it is kept completely and has at most `limit_bytes`.
    pub(super) fn whole(&self, limit_bytes: usize) -> Option<&[u8]> {
        let kept = self.kept.len();
        (kept as u64 == self.total_bytes && kept <= limit_bytes).then_some(&self.kept[..])
    }

    pub(super) fn check_length(&self, received: u64) -> Result<(), ReplyError> {
        if self.total_bytes == received { Ok(()) } else { Err(self.wrong_length(received)) }
    }

    fn wrong_length(&self, received: u64) -> ReplyError {
        let Self { total_bytes, expectation, .. } = *self;
        ReplyError::BodyLength { expected: total_bytes, received, expectation }
    }

    /// Compares a part of a body that begins at this position with the bytes that are kept, and gives back what is
    /// behind those.
    pub(super) fn check_part<'a>(
        &self,
        position: u64,
        part: &'a [u8],
    ) -> Result<&'a [u8], ReplyError> {
        let end = position + part.len() as u64;
        if end > self.total_bytes {
            return Err(self.wrong_length(end));
        }
        let from = usize::try_from(position).unwrap_or(usize::MAX).min(self.kept.len());
        let wanted = &self.kept[from..];
        let compared = wanted.len().min(part.len());
        if part[..compared] == wanted[..compared] {
            return Ok(&part[compared..]);
        }
        // The place of the difference is looked for only once there is one.
        let at = part.iter().zip(wanted).position(|(a, b)| a != b).unwrap_or(0);
        let expectation = self.expectation;
        Err(ReplyError::BodyDiffers { at: position + at as u64, expectation })
    }

    /// Compares the hash of what is not kept.
    pub(super) fn check_rest(&self, rest: Option<&XxHash64>) -> Result<(), ReplyError> {
        let (from, expectation) = (self.kept.len() as u64, self.expectation);
        match rest {
            Some(rest) if from < self.total_bytes && rest.finish() != self.rest.finish() => {
                Err(ReplyError::BodyRestDiffers { from, expectation })
            }
            _ => Ok(()),
        }
    }
}
