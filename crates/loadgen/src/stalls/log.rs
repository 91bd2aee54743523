//! The slowest requests of a part of a load, each with the moment from which its latency counts.

/// Requests of one segment, and of a whole load.
const OF_SEGMENT: usize = 1 << 16;
const OF_LOAD: usize = 1 << 21;
/// Of the requests of a segment those above this quantile are slow.
const SLOW: f64 = 0.9;
/// A segment with fewer replies does not show where that is.
const ENOUGH: u64 = 1000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Slow {
    pub(crate) due_ns: u64,
    pub(crate) latency_ns: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct SlowLog {
    requests: Vec<Slow>,
    /// From this latency on a request is noted; `u64::MAX` where none is.
    from_ns: u64,
    /// From this latency on all of them are here.
    complete_from_ns: u64,
}

impl SlowLog {
    /// Of a segment, whose memory does not grow.
    pub(crate) fn new(is_kept: bool) -> Self {
        let (capacity, from_ns) = if is_kept { (OF_SEGMENT, 0) } else { (0, u64::MAX) };
        Self { requests: Vec::with_capacity(capacity), from_ns, complete_from_ns: from_ns }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.requests.capacity() > 0
    }

    #[inline]
    pub(crate) fn reply(&mut self, due_ns: u64, latency_ns: u64) {
        if latency_ns >= self.from_ns {
            self.note(Slow { due_ns, latency_ns });
        }
    }

    #[cold]
    fn note(&mut self, slow: Slow) {
        if self.requests.len() < self.requests.capacity() {
            self.requests.push(slow);
        } else {
            self.complete_from_ns = u64::MAX;
        }
    }

    /// Forgets them, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        if self.is_kept() {
            (self.from_ns, self.complete_from_ns) = (0, 0);
        }
    }

    /// Goes on behind a segment with this log and this many replies. The first one with enough of them,
    /// whose latency at a quantile is known, shows from where on requests are slow.
    pub(crate) fn follow(&mut self, last: &Self, replies: u64, quantile: impl Fn(f64) -> u64) {
        if !self.is_kept() {
            return;
        }
        let is_open = last.from_ns == 0 && replies >= ENOUGH;
        self.from_ns = if is_open { quantile(SLOW) } else { last.from_ns };
        self.complete_from_ns = self.from_ns;
    }

    /// Adds another segment.
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests.extend(&other.requests);
        self.complete_from_ns = self.complete_from_ns.max(other.complete_from_ns);
        if self.requests.len() > OF_LOAD {
            let middle = OF_LOAD / 2;
            let (_, least, _) = self
                .requests
                .select_nth_unstable_by(middle, |a, b| b.latency_ns.cmp(&a.latency_ns));
            self.complete_from_ns = self.complete_from_ns.max(least.latency_ns + 1);
            self.requests.truncate(middle);
        }
    }

    /// All requests from a latency on.
    pub(crate) fn complete(&self) -> (u64, impl Iterator<Item = Slow> + '_) {
        let from_ns = self.complete_from_ns;
        (from_ns, self.requests.iter().copied().filter(move |it| it.latency_ns >= from_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(latencies: impl IntoIterator<Item = u64>) -> SlowLog {
        let mut log = SlowLog::new(true);
        latencies.into_iter().for_each(|it| log.reply(1, it));
        log
    }

    #[test]
    fn the_first_segment_shows_which_requests_are_slow_and_the_others_have_these_alone() {
        let first = log([5; 2000]);
        let mut next = SlowLog::new(true);
        next.follow(&first, 999, |_| 7);
        assert_eq!((next.from_ns, next.complete_from_ns), (0, 0));
        next.follow(&first, 2000, |quantile| (quantile * 100.0) as u64);
        [94, 95, 96].into_iter().for_each(|it| next.reply(1, it));
        let mut third = SlowLog::new(true);
        third.follow(&next, 2000, |_| 7);
        let mut sum = first;
        sum.add(&next);
        let (from_ns, slow) = sum.complete();
        assert_eq!((from_ns, slow.count(), third.from_ns), (90, 3, 90));
    }

    #[test]
    fn a_log_that_is_full_or_not_kept_knows_no_slow_request() {
        let mut full = log((0..=OF_SEGMENT as u64).rev());
        assert_eq!((full.complete().0, full.complete().1.count()), (u64::MAX, 0));
        full.follow(&log([]), 0, |_| 1);
        assert_eq!(full.complete().0, 0);
        let mut none = SlowLog::new(false);
        none.reply(1, 5);
        none.follow(&log([]), 9999, |_| 1);
        assert_eq!((none.requests.len(), none.from_ns), (0, u64::MAX));
    }

    #[test]
    fn of_a_long_load_the_slowest_stay() {
        let mut sum = log([]);
        for part in 0..=(OF_LOAD / OF_SEGMENT) as u64 {
            sum.add(&log((0..OF_SEGMENT as u64).map(|it| it * 100 + part)));
        }
        let (from_ns, slow) = sum.complete();
        assert!(from_ns > OF_SEGMENT as u64 * 45, "{from_ns}");
        assert!(slow.count() > OF_LOAD / 3);
    }
}
