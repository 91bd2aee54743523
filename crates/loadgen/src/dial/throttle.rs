//! Paces the connections of one thread, so that a backlog is not flooded.
//!
//! Before the load, the threads share a limit of concurrent attempts. A server on the same host
//! rarely has concurrent attempts, since its kernel answers within the call; there the rate
//! matters. When the kernel reports a full backlog, the gap between attempts grows, and each
//! success shrinks it.
//!
//! A Unix socket reports a full backlog. TCP silently drops the packet and resends it a second
//! later. An attempt that takes far longer than usual is therefore closed and retried, but only
//! before the load: during the load, such a second is what users of the server would see, and it is
//! measured.
//!
//! Pure: time is a parameter.

use std::collections::VecDeque;

/// Concurrent attempts: before the load over all threads, during the load per thread.
pub(crate) const PENDING_LIMIT: usize = 128;

/// The gap between attempts when a backlog is full for the first time, and the widest.
const GAP_NS: (u64, u64) = (100_000, 20_000_000);

/// A gap narrower than this is none at all.
const NO_GAP_NS: u64 = 5_000;

/// Each connection that is made narrows the gap by this part of it.
const NARROWING: u64 = 256;

/// The shortest time after which an attempt without an answer is taken for dropped.
const ANSWER_LIMIT_NS: u64 = 50_000_000;

/// An attempt may also take this part of the time that all before it have taken, so that none is cut
/// off for ever where answers take longer than the first one did.
const ANSWER_LIMIT_PART: u64 = 4;

/// An answer is in time up to this many times the duration of the first connection's.
const ANSWER_LIMIT_ROUND_TRIPS: u64 = 4;

/// The shortest and the longest wait before an attempt is made again.
const WAIT_NS: (u64, u64) = (1_000_000, 20_000_000);

/// The event that a connection being made waits for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum AttemptState {
    Asked {
        begun_ns: u64,
    },
    Waits {
        until_ns: u64,
    },
    /// The end of a handshake on a connection that the kernel has established.
    Shakes,
}

/// A connection that is being made.
#[derive(Clone, Copy, Debug)]
struct Attempt {
    slot: usize,
    since_ns: u64,
    state: AttemptState,
}

/// The connections that one thread is making.
#[derive(Debug)]
pub(crate) struct ConnectThrottle {
    attempts: VecDeque<Attempt>,
    limit: usize,
    answer_limit_ns: u64,
    gap_ns: u64,
    next_ns: u64,
    /// The first wait among the attempts ends.
    retry_ns: u64,
    /// Time of the last check for dropped attempts.
    looked_ns: u64,
    /// Time when the gap was last widened. Earlier attempts were not affected by it.
    widened_ns: u64,
}

impl ConnectThrottle {
    /// One of `threads` threads that make connections, each of which takes `round_trip_ns`.
    pub(crate) fn new(threads: usize, round_trip_ns: u64) -> Self {
        Self {
            attempts: VecDeque::new(),
            limit: (PENDING_LIMIT / threads.max(1)).max(1),
            answer_limit_ns: ANSWER_LIMIT_NS
                .max(round_trip_ns.saturating_mul(ANSWER_LIMIT_ROUND_TRIPS)),
            gap_ns: 0,
            next_ns: 0,
            retry_ns: u64::MAX,
            looked_ns: 0,
            widened_ns: 0,
        }
    }

    /// The load begins. From now on connections are made because it demands them, at once.
    pub(crate) fn begin_load(&mut self) {
        self.limit = PENDING_LIMIT;
        (self.gap_ns, self.next_ns) = (0, 0);
    }

    /// Number of connections that are being made.
    pub(crate) fn pending(&self) -> usize {
        self.attempts.len()
    }

    /// Whether another connection may be begun.
    pub(crate) fn is_open(&self, now_ns: u64) -> bool {
        self.attempts.len() < self.limit && now_ns >= self.next_ns
    }

    /// The time at which another connection may be started, if nothing else prevents it.
    pub(crate) fn opens_at(&self) -> u64 {
        if self.attempts.len() < self.limit { self.next_ns } else { u64::MAX }
    }

    /// The time of the next retry.
    pub(crate) fn retries_at(&self) -> u64 {
        // Without an attempt that waits this is `u64::MAX` whatever the gap.
        self.retry_ns.max(self.next_ns)
    }

    pub(crate) fn begin(&mut self, slot: usize, now_ns: u64) {
        let state = AttemptState::Asked { begun_ns: now_ns };
        self.attempts.push_back(Attempt { slot, since_ns: now_ns, state });
        self.next_ns = now_ns + self.gap_ns;
    }

    /// The connection that is to be tried again now.
    pub(crate) fn retry(&mut self, now_ns: u64) -> Option<usize> {
        if now_ns < self.retries_at() {
            return None;
        }
        let is_due = |attempt: &Attempt| match attempt.state {
            AttemptState::Waits { until_ns } => now_ns >= until_ns,
            AttemptState::Asked { .. } | AttemptState::Shakes => false,
        };
        let place = self.attempts.iter().position(is_due)?;
        let mut attempt = self.attempts.remove(place)?;
        attempt.state = AttemptState::Asked { begun_ns: now_ns };
        self.attempts.push_back(attempt);
        self.next_ns = now_ns + self.gap_ns;
        self.find_retry();
        Some(attempt.slot)
    }

    /// The server's kernel has accepted the connection, but a handshake must follow. Nothing was
    /// dropped, however long that takes.
    pub(crate) fn taken(&mut self, slot: usize) {
        if let Some(place) = self.place(slot) {
            self.attempts[place].state = AttemptState::Shakes;
        }
    }

    pub(crate) fn made(&mut self, slot: usize) {
        self.end(slot);
        if self.gap_ns > 0 {
            self.gap_ns -= (self.gap_ns / NARROWING).max(1);
            if self.gap_ns < NO_GAP_NS {
                self.gap_ns = 0;
            }
        }
    }

    /// The connection is no longer being made.
    pub(crate) fn end(&mut self, slot: usize) {
        let Some(place) = self.place(slot) else { return };
        self.attempts.remove(place);
        if self.retry_ns != u64::MAX {
            self.find_retry();
        }
    }

    /// The server's backlog has no room for this connection.
    pub(crate) fn crowded(&mut self, slot: usize, now_ns: u64) {
        let Some(place) = self.place(slot) else { return };
        let attempt = &mut self.attempts[place];
        let AttemptState::Asked { begun_ns } = attempt.state else { return };
        let spent_ns = now_ns.saturating_sub(attempt.since_ns);
        let until_ns = now_ns + spent_ns.clamp(WAIT_NS.0, WAIT_NS.1);
        attempt.state = AttemptState::Waits { until_ns };
        self.retry_ns = self.retry_ns.min(until_ns);
        if begun_ns >= self.widened_ns {
            self.widened_ns = now_ns;
            self.gap_ns = self.gap_ns.saturating_mul(2).clamp(GAP_NS.0, GAP_NS.1);
            self.next_ns = self.next_ns.max(now_ns + self.gap_ns);
        }
    }

    /// A connection whose attempt has not been answered for so long that it must have been dropped.
    /// It is to be closed, and comes again as one to retry.
    ///
    /// The answer may have come while this thread was busy or slept. An attempt therefore counts as
    /// dropped only if it was too late at the previous check already, and arrivals since then were
    /// received.
    pub(crate) fn dropped(&mut self, now_ns: u64) -> Option<usize> {
        let looked_ns = self.looked_ns;
        let is_dropped = |attempt: &&Attempt| match attempt.state {
            AttemptState::Asked { begun_ns } => {
                let answer_limit_ns =
                    self.answer_limit_ns.max((begun_ns - attempt.since_ns) / ANSWER_LIMIT_PART);
                looked_ns.saturating_sub(begun_ns) >= answer_limit_ns
            }
            AttemptState::Waits { .. } | AttemptState::Shakes => false,
        };
        let Some(slot) = self.attempts.iter().find(is_dropped).map(|attempt| attempt.slot) else {
            self.looked_ns = now_ns;
            return None;
        };
        self.crowded(slot, now_ns);
        Some(slot)
    }

    fn place(&self, slot: usize) -> Option<usize> {
        self.attempts.iter().position(|attempt| attempt.slot == slot)
    }

    fn find_retry(&mut self) {
        let waits = self.attempts.iter().filter_map(|attempt| match attempt.state {
            AttemptState::Waits { until_ns } => Some(until_ns),
            AttemptState::Asked { .. } | AttemptState::Shakes => None,
        });
        self.retry_ns = waits.min().unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn all_threads_together_keep_the_bound_and_each_makes_at_least_one() {
        for (threads, limit) in [(1, 128), (2, 64), (3, 42), (128, 1), (1000, 1)] {
            let mut pacing = ConnectThrottle::new(threads, 0);
            let mut begun = 0;
            while pacing.is_open(5) {
                pacing.begin(begun, 5);
                begun += 1;
            }
            assert_eq!((begun, pacing.opens_at()), (limit, u64::MAX));
            pacing.made(0);
            assert_eq!((pacing.is_open(5), pacing.opens_at()), (true, 5));
        }
    }

    #[test]
    fn a_full_backlog_makes_the_gap_wider_once_for_all_that_began_before() {
        let mut pacing = ConnectThrottle::new(1, 0);
        (0..3).for_each(|slot| pacing.begin(slot, 0));
        (0..3).for_each(|slot| pacing.crowded(slot, MS));
        assert_eq!(pacing.gap_ns, GAP_NS.0);
        assert!(!pacing.is_open(MS));
        assert_eq!((pacing.opens_at(), pacing.retries_at()), (MS + GAP_NS.0, 2 * MS));
        assert_eq!(pacing.retry(2 * MS - 1), None);
        assert_eq!(pacing.retry(2 * MS), Some(0));
        // The gap holds for attempts that are made again as well.
        assert_eq!(pacing.retry(2 * MS), None);
        assert_eq!(pacing.retry(2 * MS + GAP_NS.0), Some(1));
        pacing.crowded(0, 3 * MS);
        assert_eq!(pacing.gap_ns, 2 * GAP_NS.0);
    }

    #[test]
    fn connections_that_are_made_narrow_the_gap_until_there_is_none() {
        let mut pacing = ConnectThrottle::new(1, 0);
        pacing.begin(0, 0);
        pacing.crowded(0, MS);
        assert_eq!(pacing.retry(2 * MS), Some(0));
        pacing.crowded(0, 3 * MS);
        pacing.end(0);
        assert_eq!((pacing.gap_ns, pacing.retries_at()), (2 * GAP_NS.0, u64::MAX));
        let mut made = 0;
        while pacing.gap_ns > 0 {
            let before_ns = pacing.gap_ns;
            pacing.begin(0, 4 * MS);
            pacing.made(0);
            made += 1;
            assert!(pacing.gap_ns < before_ns);
        }
        assert!((900..1000).contains(&made), "{made}");
    }

    #[test]
    fn an_unanswered_attempt_is_retried_each_time_with_a_longer_limit() {
        let mut pacing = ConnectThrottle::new(1, 0);
        pacing.begin(7, 0);
        let (mut tries, mut now_ns) = (Vec::new(), 0);
        while now_ns < 2000 * MS {
            now_ns += MS;
            if pacing.dropped(now_ns) == Some(7) {
                tries.push(now_ns / MS);
            }
            if let Some(slot) = pacing.retry(now_ns) {
                assert_eq!(slot, 7);
            }
        }
        let waits: Vec<_> = tries.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(tries[0], 51);
        assert!((8..20).contains(&tries.len()), "{tries:?}");
        assert!(waits.is_sorted() && waits.last() > Some(&300), "{waits:?}");
    }

    #[test]
    fn a_connection_that_was_taken_is_not_dropped_however_long_its_handshake_takes() {
        let mut pacing = ConnectThrottle::new(1, 0);
        pacing.begin(7, 0);
        pacing.taken(7);
        assert_eq!((pacing.dropped(1000 * MS), pacing.dropped(2000 * MS)), (None, None));
        assert_eq!(pacing.attempts.len(), 1);
        pacing.made(7);
        assert_eq!(pacing.attempts.len(), 0);
    }

    #[test]
    fn slow_answers_raise_the_limit_for_dropped_attempts() {
        let mut pacing = ConnectThrottle::new(1, 300 * MS);
        pacing.begin(7, 0);
        assert_eq!(pacing.dropped(1199 * MS), None);
        assert_eq!(pacing.dropped(1200 * MS), None);
        assert_eq!(pacing.dropped(1201 * MS), Some(7));
    }

    #[test]
    fn an_answer_while_the_thread_slept_does_not_count_as_dropped() {
        let mut pacing = ConnectThrottle::new(1, 0);
        (0..2).for_each(|slot| pacing.begin(slot, 0));
        assert_eq!(pacing.dropped(5000 * MS), None);
        pacing.made(0);
        assert_eq!(pacing.dropped(5001 * MS), Some(1));
        assert_eq!(pacing.dropped(5001 * MS), None);
    }

    #[test]
    fn the_load_is_not_delayed_by_earlier_attempts() {
        let mut pacing = ConnectThrottle::new(64, 0);
        pacing.begin(0, 0);
        pacing.crowded(0, MS);
        pacing.end(0);
        assert!(!pacing.is_open(MS));
        pacing.begin_load();
        for slot in 0..PENDING_LIMIT {
            assert!(pacing.is_open(MS));
            pacing.begin(slot, MS);
        }
        assert!(!pacing.is_open(MS));
    }
}
