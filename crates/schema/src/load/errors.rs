//! Failure counts by kind. Single failures are not recorded.

use super::failures::{ErrorCounts, ErrorKind};

impl ErrorCounts {
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
