//! What one thread counts and measures. Single writer, fixed memory, nothing shared, nothing merged
//! while it runs.
//!
//! The recorder is told when the window begins and ends; it reads no clock.

use hdrhistogram::Histogram;
use wirebench_schema::load::ErrorCounts;

use crate::failure::{Failure, KINDS};

/// Significant decimal digits of a latency.
const DIGITS: u8 = 3;

/// Length of the intervals whose requests are counted one by one.
pub(crate) const INTERVAL_NS: u64 = 100_000_000;

/// What is counted at the moment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// Failures to connect; the load has not begun.
    Failures,
    /// Nothing: warm-up, or over.
    Nothing,
    /// Everything.
    Everything,
}

/// The counts and measurements of one thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    scope: Scope,
    interval_end_ns: u64,
    interval_requests: u64,
    record: Record,
}

/// What is left when the load is over.
#[derive(Debug)]
pub(crate) struct Record {
    /// Latencies in nanoseconds.
    pub(crate) latency: Histogram<u64>,
    /// Correct replies.
    pub(crate) requests: u64,
    /// Samples of `latency` that stand for a request without a reply.
    pub(crate) censored: u64,
    /// Bytes received.
    pub(crate) bytes_received: u64,
    /// Bytes sent.
    pub(crate) bytes_sent: u64,
    /// Failures by kind.
    pub(crate) errors: ErrorCounts,
    /// The first failure of each kind.
    pub(crate) examples: [Option<Failure>; KINDS],
    /// HTTP replies by class of status.
    pub(crate) status_classes: [u64; 5],
    /// Correct replies of each connection.
    pub(crate) replies_per_connection: Vec<u64>,
    /// Correct replies in each whole interval of the window.
    pub(crate) requests_per_interval: Vec<u64>,
    /// Connections made again after a failure, over the whole load.
    pub(crate) reconnects: u64,
    /// Sum over all waits that found something of how many connections were ready.
    pub(crate) ready_found: u64,
    /// The same sum, had every wait found as many as it could.
    pub(crate) ready_possible: u64,
}

/// A histogram in which every latency up to the timeout has its place.
pub(crate) fn latency_histogram(timeout_ns: u64) -> Histogram<u64> {
    // Three digits and a highest value of at least twice the lowest are always accepted.
    #[allow(clippy::expect_used, reason = "the bounds are right by construction")]
    Histogram::new_with_bounds(1, timeout_ns.max(2), DIGITS).expect("bounds of a histogram")
}

impl Recorder {
    /// Counts for so many connections.
    pub(crate) fn new(connections: usize, timeout_ns: u64) -> Self {
        Self {
            scope: Scope::Failures,
            interval_end_ns: u64::MAX,
            interval_requests: 0,
            record: Record {
                latency: latency_histogram(timeout_ns),
                requests: 0,
                censored: 0,
                bytes_received: 0,
                bytes_sent: 0,
                errors: ErrorCounts::default(),
                examples: [const { None }; KINDS],
                status_classes: [0; 5],
                replies_per_connection: vec![0; connections],
                // Room for a minute, so that a usual load allocates nothing here.
                requests_per_interval: Vec::with_capacity(600),
                reconnects: 0,
                ready_found: 0,
                ready_possible: 0,
            },
        }
    }

    /// All connections are made; the warm-up begins.
    pub(crate) const fn begin_warmup(&mut self) {
        self.scope = Scope::Nothing;
    }

    /// The window begins.
    pub(crate) const fn open_window(&mut self, now_ns: u64) {
        self.scope = Scope::Everything;
        self.interval_end_ns = now_ns.saturating_add(INTERVAL_NS);
    }

    /// The window has ended.
    pub(crate) fn close_window(&mut self, now_ns: u64) {
        if self.scope == Scope::Everything {
            self.roll(now_ns);
        }
        self.scope = Scope::Nothing;
    }

    /// A wait has found `ready` connections of `possible` with something to do.
    pub(crate) const fn found(&mut self, ready: usize, possible: usize) {
        if matches!(self.scope, Scope::Everything) && ready > 0 {
            self.record.ready_found += ready as u64;
            self.record.ready_possible += possible as u64;
        }
    }

    /// A correct reply has arrived.
    pub(crate) fn reply(&mut self, connection: usize, now_ns: u64, latency_ns: u64) {
        if self.scope != Scope::Everything {
            return;
        }
        if now_ns >= self.interval_end_ns {
            self.roll(now_ns);
        }
        self.interval_requests += 1;
        self.record.requests += 1;
        self.record.replies_per_connection[connection] += 1;
        self.record.latency.saturating_record(latency_ns);
    }

    /// An HTTP reply had this status, after so many interim ones.
    pub(crate) fn status(&mut self, status: u16, interim_replies: u32) {
        if self.scope != Scope::Everything {
            return;
        }
        self.record.status_classes[0] += u64::from(interim_replies);
        // The parser lets three digits pass; a class that does not exist is counted as the nearest
        // one.
        let class = usize::from(status / 100).clamp(1, 5);
        self.record.status_classes[class - 1] += 1;
    }

    /// A request has been in flight for the whole timeout; how much longer it would have taken is
    /// unknown.
    pub(crate) fn censored(&mut self, timeout_ns: u64) {
        if self.scope == Scope::Everything {
            self.record.censored += 1;
            self.record.latency.saturating_record(timeout_ns);
        }
    }

    /// Bytes have arrived.
    pub(crate) fn received(&mut self, bytes: usize) {
        if self.scope == Scope::Everything {
            self.record.bytes_received += bytes as u64;
        }
    }

    /// Bytes have been handed to the kernel.
    pub(crate) fn sent(&mut self, bytes: usize) {
        if self.scope == Scope::Everything {
            self.record.bytes_sent += bytes as u64;
        }
    }

    /// Something has failed.
    pub(crate) fn failed(&mut self, failure: Failure) {
        if self.scope == Scope::Nothing {
            return;
        }
        let (kind, count) = failure.count(&mut self.record.errors);
        *count += 1;
        self.record.examples[kind].get_or_insert(failure);
    }

    /// A connection was made again after a failure.
    pub(crate) const fn reconnected(&mut self) {
        self.record.reconnects += 1;
    }

    /// Everything that was recorded.
    pub(crate) fn into_record(self) -> Record {
        self.record
    }

    /// Ends the intervals that lie before this moment.
    #[cold]
    fn roll(&mut self, now_ns: u64) {
        while now_ns >= self.interval_end_ns {
            self.record.requests_per_interval.push(self.interval_requests);
            self.interval_requests = 0;
            self.interval_end_ns = self.interval_end_ns.saturating_add(INTERVAL_NS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT_NS: u64 = 2_000_000_000;

    #[test]
    fn only_the_window_counts_but_failures_to_connect_count_too() {
        let mut recorder = Recorder::new(1, TIMEOUT_NS);
        recorder.failed(Failure::Refused);
        recorder.begin_warmup();
        recorder.reply(0, 5, 5);
        recorder.failed(Failure::Reset);
        recorder.received(7);
        recorder.open_window(10);
        recorder.reply(0, 15, 5);
        recorder.received(9);
        recorder.sent(3);
        recorder.status(200, 1);
        recorder.close_window(20);
        recorder.reply(0, 25, 5);
        recorder.status(200, 0);
        let record = recorder.into_record();
        assert_eq!((record.requests, record.latency.len()), (1, 1));
        assert_eq!((record.bytes_received, record.bytes_sent), (9, 3));
        assert_eq!((record.errors.refused, record.errors.reset), (1, 0));
        assert_eq!(record.status_classes, [1, 1, 0, 0, 0]);
        assert_eq!(record.replies_per_connection, [1]);
    }

    #[test]
    fn intervals_without_a_reply_are_counted_as_empty() {
        let mut recorder = Recorder::new(1, TIMEOUT_NS);
        recorder.open_window(0);
        recorder.reply(0, 1, 1);
        recorder.reply(0, 3 * INTERVAL_NS, 1);
        recorder.close_window(5 * INTERVAL_NS + 1);
        assert_eq!(recorder.into_record().requests_per_interval, [1, 0, 0, 1, 0]);
    }

    #[test]
    fn a_timeout_is_a_sample_at_the_timeout() {
        let mut recorder = Recorder::new(1, TIMEOUT_NS);
        recorder.open_window(0);
        recorder.censored(TIMEOUT_NS);
        let record = recorder.into_record();
        assert_eq!((record.censored, record.latency.len(), record.requests), (1, 1, 0));
        assert!(record.latency.equivalent(record.latency.max(), TIMEOUT_NS));
    }

    #[test]
    fn the_first_failure_of_a_kind_is_its_example() {
        let mut recorder = Recorder::new(1, TIMEOUT_NS);
        recorder.failed(Failure::Surplus(1));
        recorder.failed(Failure::Surplus(2));
        let record = recorder.into_record();
        assert_eq!(record.errors.surplus, 2);
        assert_eq!(record.examples.iter().flatten().collect::<Vec<_>>(), [&Failure::Surplus(1)]);
    }
}
