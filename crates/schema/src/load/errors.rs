//! Failure counts by kind. Single failures are not recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failures::ErrorKind;

/// Failures by kind: in the window, while waiting for its last replies, and while connecting. Each
/// failed request or connection is counted in exactly one field.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ErrorCounts {
    /// The server refused the connection.
    pub refused: u64,
    /// The connection could not be made for another reason.
    pub connect: u64,
    /// TLS failed: the handshake, or later.
    pub tls: u64,
    /// No reply, or no connection, within the timeout.
    pub timeout: u64,
    /// The server reset the connection.
    pub reset: u64,
    /// The server closed the connection while a reply was due.
    pub closed_early: u64,
    /// A reply that violates the protocol or the expectation.
    pub wrong_reply: u64,
    /// Bytes beyond the replies to all requests.
    pub surplus: u64,
    /// A complete HTTP reply with a status of 400 or above.
    pub status: u64,
    /// Any other failure of the socket.
    pub socket: u64,
    /// Further requests that were in flight on a connection that failed.
    pub lost: u64,
    /// The connection could not be made because no local port was free.
    pub no_port: u64,
}

impl ErrorCounts {
    /// The count of this kind.
    pub const fn of_mut(&mut self, kind: ErrorKind) -> &mut u64 {
        match kind {
            ErrorKind::Refused => &mut self.refused,
            ErrorKind::Connect => &mut self.connect,
            ErrorKind::Tls => &mut self.tls,
            ErrorKind::Timeout => &mut self.timeout,
            ErrorKind::Reset => &mut self.reset,
            ErrorKind::ClosedEarly => &mut self.closed_early,
            ErrorKind::WrongReply => &mut self.wrong_reply,
            ErrorKind::Surplus => &mut self.surplus,
            ErrorKind::Status => &mut self.status,
            ErrorKind::Socket => &mut self.socket,
            ErrorKind::Lost => &mut self.lost,
            ErrorKind::NoPort => &mut self.no_port,
        }
    }

    /// Count of each kind, in the order of the fields.
    #[must_use]
    pub fn kinds(&self) -> [(ErrorKind, u64); ErrorKind::ALL.len()] {
        let mut counts = *self;
        ErrorKind::ALL.map(|kind| (kind, *counts.of_mut(kind)))
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.kinds().iter().map(|(_, count)| count).sum()
    }

    /// Requests that failed. A timeout is one of them, though it may have been that of a connection
    /// being made.
    #[must_use]
    pub fn requests(&self) -> u64 {
        let failed = self.kinds().into_iter().filter(|(kind, _)| kind.is_of_request());
        failed.map(|(_, count)| count).sum()
    }

    /// Connections that failed.
    #[must_use]
    pub const fn connections(&self) -> u64 {
        self.refused + self.connect + self.tls + self.no_port
    }

    /// Adds the counts of another thread.
    pub fn add(&mut self, other: &Self) {
        other.kinds().iter().for_each(|(kind, count)| *self.of_mut(*kind) += count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_counts_in_the_total() {
        let mut counts = ErrorCounts::default();
        (0..).zip(ErrorKind::ALL).for_each(|(bit, kind)| *counts.of_mut(kind) = 1 << bit);
        assert_eq!(counts.total(), 4095);
        assert_eq!((counts.connections(), counts.surplus), (1 + 2 + 4 + 2048, 128));
        assert_eq!(counts.requests() + counts.connections() + counts.surplus, counts.total());
        let mut sum = counts;
        sum.add(&counts);
        assert_eq!(sum.total(), 8190);
    }
}
