//! Percentiles of independent samples, with an interval from their order alone.
//!
//! Not here: percentiles over requests of one run with a claim about their sureness. Requests
//! depend on each other; how sure a run's percentile is shows between runs, by
//! [`location_estimate`](crate::location_estimate) over one percentile of each run.

use crate::CONFIDENCE;
use crate::estimate::{Estimate, Interval};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Beyond this variance of the binomial distribution the normal one takes its place; the ranks
/// differ by at most one among many thousands.
const NORMAL_VARIANCE: f64 = 10_000.0;

/// The two ranks, counted from 1, between whose order statistics the percentile lies with at least
/// 95 % confidence, whatever the distribution (Conover 1999, section 3.2; lancet does the same).
/// `percentile` runs from 0 to 100. None where the samples are too few for it.
///
/// How many samples lie at or below the true percentile is binomial; each tail gets 2.5 % at most.
#[must_use]
pub fn percentile_ranks(samples: u64, percentile: f64) -> Option<(u64, u64)> {
    let share = percentile / 100.0;
    if !(0.0..=1.0).contains(&share) || samples == 0 {
        return None;
    }
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let variance = samples as f64 * share * (1.0 - share);
    let (low, high) = if variance > NORMAL_VARIANCE {
        let reach = Normal::standard().inverse_cdf(1.0 - tail) * variance.sqrt();
        let centre = samples as f64 * share;
        ((centre - reach).floor(), (centre + reach).ceil() + 1.0)
    } else {
        let below = Binomial::new(share, samples).ok()?;
        // P(fewer than `low` at or below) <= tail, and P(`high` or more) <= tail.
        let least = first(samples, |rank| below.cdf(rank) > tail);
        let most = first(samples, |rank| below.cdf(rank) >= 1.0 - tail);
        (least as f64, most as f64 + 1.0)
    };
    let (low, high) = (low as u64, high as u64);
    (low >= 1 && high <= samples).then_some((low, high))
}

/// The percentile of independent samples by nearest rank, with its interval if they suffice. None
/// without values that are numbers, or where `percentile` is not between 0 and 100.
#[must_use]
pub fn percentile_interval(values: &[f64], percentile: f64) -> Option<Estimate> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() || !(0.0..=100.0).contains(&percentile) {
        return None;
    }
    let nearest = (percentile / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
    let interval = percentile_ranks(sorted.len() as u64, percentile).map(|(low, high)| Interval {
        low: sorted[low as usize - 1],
        high: sorted[high as usize - 1],
    });
    Some(Estimate { value: sorted[nearest - 1], interval, samples: sorted.len() })
}

/// The first rank for which a condition holds that holds for all later ones too.
fn first(samples: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, samples);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_few_has_the_published_ranks() {
        // The table for the sign test: six values reach from the least to the most.
        assert_eq!(percentile_ranks(5, 50.0), None);
        assert_eq!(percentile_ranks(6, 50.0), Some((1, 6)));
        assert_eq!(percentile_ranks(10, 50.0), Some((2, 9)));
        assert_eq!(percentile_ranks(20, 50.0), Some((6, 15)));
        assert_eq!(percentile_ranks(100, 50.0), Some((40, 61)));
    }

    #[test]
    fn a_high_percentile_needs_many_samples() {
        // The largest of n must lie beyond the percentile with 97.5 %: 0.99^n <= 0.025.
        assert_eq!(percentile_ranks(367, 99.0), None);
        assert!(percentile_ranks(368, 99.0).is_some());
        assert_eq!(percentile_ranks(100, 0.0), None);
        assert_eq!(percentile_ranks(100, 100.0), None);
        assert_eq!(percentile_ranks(0, 50.0), None);
        assert_eq!(percentile_ranks(100, f64::NAN), None);
    }

    #[test]
    fn very_many_samples_go_on_where_many_end() {
        let (exact_low, exact_high) = percentile_ranks(39_999, 50.0).unwrap();
        let (near_low, near_high) = percentile_ranks(40_001, 50.0).unwrap();
        assert!(exact_low.abs_diff(near_low) <= 2 && exact_high.abs_diff(near_high) <= 3);
        let (low, high) = percentile_ranks(1_000_000_000, 99.9).unwrap();
        assert!(low < 999_000_000 && high > 999_000_000 && high - low < 5_000, "{low} {high}");
    }

    #[test]
    fn the_percentile_is_a_value_that_occurred() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let estimate = percentile_interval(&values, 90.0).unwrap();
        assert_eq!((estimate.value, estimate.samples), (90.0, 100));
        assert_eq!(estimate.interval, Some(Interval { low: 84.0, high: 96.0 }));
        assert_eq!(percentile_interval(&values, 99.0).unwrap().interval, None);
        assert_eq!(percentile_interval(&[], 50.0), None);
    }
}
