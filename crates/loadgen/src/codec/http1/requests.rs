//! The bytes of HTTP requests: one request, repeated for pipelining.

use std::sync::Arc;

/// The most bytes of copies of a request that are kept in a row, so that pipelined ones go out
/// together.
const COPIES_LIMIT_BYTES: usize = 64 * 1024;

/// The request, as often as it may be in flight on one connection, in a row.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    copies: Arc<[u8]>,
    length: usize,
}

impl Requests {
    /// `depth` of them may be in flight.
    pub(crate) fn new(request: &[u8], depth: usize) -> Self {
        let length = request.len();
        let copies = depth.min(COPIES_LIMIT_BYTES / length.max(1)).max(1);
        Self { copies: Arc::from(request.repeat(copies)), length }
    }

    pub(super) const fn length(&self) -> usize {
        self.length
    }

    #[cfg(test)]
    pub(crate) fn one(&self) -> &[u8] {
        &self.copies[..self.length]
    }

    /// The stream of requests from `position` on, at most `wanted` bytes.
    pub(super) fn from(&self, position: u64, wanted: u64) -> &[u8] {
        // The remainder is smaller than a length in memory.
        let start = usize::try_from(position % self.length as u64).unwrap_or(0);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        let rest = &self.copies[start..];
        &rest[..rest.len().min(wanted)]
    }
}
