//! Selects the connections to check for overdue requests: all of them once per period, a few at a
//! time, so that a check delays no reply. Pure: the caller does the check.

use std::ops::Range;

const PERIOD_NS: u64 = 100_000_000;

const SHORTEST_NS: u64 = 1_000_000;

/// Connections that are looked at in one go. Looking at this many takes some 10 us.
const PLACES: usize = 1024;

#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    period_ns: u64,
    next_ns: u64,
    next_place: usize,
}

impl Scan {
    /// A scan that finds overdue requests at most an eighth of this timeout late.
    pub(super) fn new(timeout_ns: u64) -> Self {
        let period_ns = (timeout_ns / 8).clamp(SHORTEST_NS, PERIOD_NS);
        Self { period_ns, next_ns: 0, next_place: 0 }
    }

    pub(super) const fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The places to look at now, of `count`; none when it is too early.
    pub(super) fn places(&mut self, count: usize, now_ns: u64) -> Option<Range<usize>> {
        if now_ns < self.next_ns {
            return None;
        }
        let parts = count.div_ceil(PLACES).max(1);
        self.next_ns = now_ns + self.period_ns / parts as u64;
        let first = if self.next_place < count { self.next_place } else { 0 };
        self.next_place = count.min(first + count.div_ceil(parts));
        Some(first..self.next_place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_are_looked_at_once_in_a_period_and_few_at_a_time() {
        for count in [0, 1, 64, 1024, 1025, 100_000] {
            let mut scan = Scan::new(2_000_000_000);
            let (mut now_ns, mut seen) = (5, vec![0; count]);
            while now_ns < 5 + PERIOD_NS {
                for place in scan.places(count, now_ns).unwrap() {
                    seen[place] += 1;
                }
                assert!(scan.places(count, now_ns).is_none());
                assert!(scan.next_ns() > now_ns);
                now_ns = scan.next_ns();
            }
            assert!(seen.iter().all(|times| (1..=2).contains(times)), "{count}: {seen:?}");
        }
        assert!(Scan::new(u64::MAX).places(100_000, 0).unwrap().len() <= PLACES);
    }
}
