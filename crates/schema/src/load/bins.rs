//! Ranges of latencies for a picture: each ends at 1, 2 or 5 times a power of ten, from 1 us to 50 s.

use hdrhistogram::Histogram;

/// The number of ranges. The last one has no end.
pub const LATENCY_BINS: usize = 25;

/// The end of a range in microseconds; none of the last one.
#[must_use]
pub const fn latency_bin_us(bin: usize) -> Option<u64> {
    if bin + 1 >= LATENCY_BINS {
        return None;
    }
    let (mut power, mut end) = (bin / 3, [1, 2, 5][bin % 3]);
    while power > 0 {
        (power, end) = (power - 1, end * 10);
    }
    Some(end)
}

/// The samples in each range.
pub(super) fn counts(latency: &Histogram<u64>) -> Vec<u64> {
    let mut counts = vec![0; LATENCY_BINS];
    let mut bin = 0;
    for step in latency.iter_recorded() {
        while latency_bin_us(bin).is_some_and(|end| step.value_iterated_to() > end * 1000) {
            bin += 1;
        }
        counts[bin] += step.count_since_last_iteration();
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_the_range_that_ends_above_it() {
        let ends: Vec<_> = (0..LATENCY_BINS).map(latency_bin_us).collect();
        assert_eq!(ends[..5], [1, 2, 5, 10, 20].map(Some));
        assert_eq!(ends[22..], [Some(20_000_000), Some(50_000_000), None]);
        let mut histogram = Histogram::new_with_bounds(1, 1 << 40, 3).unwrap();
        for ns in [1, 900, 1_900, 19_000, 600_000_000_000] {
            histogram.record(ns).unwrap();
        }
        let found = counts(&histogram);
        assert_eq!((found[0], found[1], found[4], found[24]), (2, 1, 1, 1));
        assert_eq!(found.iter().sum::<u64>(), 5);
    }
}
