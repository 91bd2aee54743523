//! What changed between two results made at different times: nothing pairs their runs.
//!
//! The estimate is Hodges and Lehmann's shift (1963), the median of all differences between a new
//! and an old value, on logarithms. The interval reaches from one order statistic of these
//! differences to another, with the ranks from the distribution of Mann and Whitney's statistic
//! (Moses; Hollander, Wolfe & Chicken, section 4.3).
//!
//! How often the interval holds, in percent, by the numbers of old and new runs (4000 experiments
//! of each kind, so that an error of 0.7 is chance; `examples/coverage` makes them):
//!
//! | old noise | new noise | 6, 6 | 10, 10 | 30, 30 | 6, 30 | 30, 6 |
//! |---|---|---|---|---|---|---|
//! | normal | normal | 95.8 | 95.5 | 94.7 | 95.2 | 95.3 |
//! | skewed | skewed | 96.0 | 95.9 | 94.8 | 96.1 | 95.8 |
//! | exponential | exponential | 96.9 | 95.3 | 95.6 | 96.1 | 95.6 |
//! | two modes, 85 to 15 | the same | 96.3 | 96.0 | 94.9 | 96.8 | 96.1 |
//! | two modes, evenly | the same | 96.2 | 95.4 | 94.8 | 95.8 | 95.3 |
//! | normal | exponential | 95.6 | 96.2 | 94.8 | 94.1 | 97.6 |
//! | normal | two modes, 85 to 15 | 96.0 | 95.3 | 94.3 | 97.5 | 95.0 |
//! | normal | two modes, evenly | 97.2 | 88.9 | 90.9 | 99.4 | 77.8 |
//!
//! The last line is its limit: when a side jumps evenly between two modes and the other does not,
//! the median of the differences lies in the gap between the modes, where nothing ever is. Such a
//! row shows by its runs, not by its estimate.
//!
//! Not here: anything that could tell a change of the software from one of the machine. What drifts
//! between the two times counts as change, so that ratios to a baseline are the better values.

use crate::estimate::{Estimate, Interval, MIN_BLOCKS};
use crate::rank_distribution::rank_sum_depth;
use crate::summary::{logarithms, median_of_sorted};

/// With equal noise on both sides the deviation that the runs show is seldom larger than the
/// supposed one by more than this. Without such an allowance intervals would be wider than they
/// need be whenever chance made the deviation large: with six runs on each side they would hold in
/// 98.5 %.
const DEVIATION_BY_CHANCE: f64 = 1.15;

/// The median of all differences `second - first`. None where a side has no finite value.
#[must_use]
pub fn hodges_lehmann_shift(first: &[f64], second: &[f64]) -> Option<f64> {
    median_of_sorted(&differences(first, second))
}

/// The estimate and the 95 % interval of new over old, as a ratio. The numbers of runs may differ.
/// None where a side has no positive value; no interval where one has fewer than [`MIN_BLOCKS`].
#[must_use]
pub fn change_estimate(old: &[f64], new: &[f64]) -> Option<Estimate> {
    let (old, new) = (logarithms(old), logarithms(new));
    let differences = differences(&old, &new);
    let value = median_of_sorted(&differences)?.exp();
    let samples = old.len().min(new.len());
    let interval = interval_depth(&old, &new, value.ln()).filter(|_| samples >= MIN_BLOCKS);
    let interval = interval
        .map(|depth| Interval {
            low: differences[depth],
            high: differences[differences.len() - 1 - depth],
        })
        .map(|interval| interval.map(f64::exp));
    Some(Estimate { value, interval, samples })
}

/// How many differences lie outside the interval at each end.
///
/// The exact number holds for two sides with the same noise. Where the noise that they show, after
/// the new side was shifted back, lets the rank sum stray plainly further than that (Brunner &
/// Munzel 2000), the interval is wider by the same factor. It is never narrower.
fn interval_depth(old: &[f64], new: &[f64], shift: f64) -> Option<usize> {
    let exact = rank_sum_depth(old.len(), new.len())?;
    let (first, second) = (old.len() as f64, new.len() as f64);
    let centre = first * second / 2.0;
    let supposed = first * second * (first + second + 1.0) / 12.0;
    let shifted: Vec<f64> = new.iter().map(|value| value - shift).collect();
    let shown = placement_variance(old, &shifted) + placement_variance(&shifted, old);
    let factor = ((shown / supposed).sqrt() / DEVIATION_BY_CHANCE).max(1.0);
    Some((centre - (centre - exact as f64) * factor).max(0.0).floor() as usize)
}

/// What one side adds to the variance of the rank sum: its size times the variance of how many
/// values of the other side lie below each of its own.
fn placement_variance(side: &[f64], other: &[f64]) -> f64 {
    let placements: Vec<f64> = side
        .iter()
        .map(|value| {
            let below = other.iter().filter(|other| *other < value).count();
            let at_most = other.iter().filter(|other| *other <= value).count();
            (below + at_most) as f64 / 2.0
        })
        .collect();
    let count = side.len() as f64;
    let mean = placements.iter().sum::<f64>() / count;
    let squares: f64 = placements.iter().map(|placement| (placement - mean).powi(2)).sum();
    count * squares / (count - 1.0)
}

/// All differences `second - first`, in order.
fn differences(first: &[f64], second: &[f64]) -> Vec<f64> {
    let mut differences: Vec<f64> = first
        .iter()
        .flat_map(|old| second.iter().map(move |new| new - old))
        .filter(|difference| difference.is_finite())
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shift_is_the_median_of_all_differences() {
        // Differences: 9, 8, 19, 18.
        assert_eq!(hodges_lehmann_shift(&[1.0, 2.0], &[10.0, 20.0]), Some(13.5));
        assert_eq!(hodges_lehmann_shift(&[], &[1.0]), None);
    }

    #[test]
    fn the_shift_agrees_with_a_published_example() {
        // Permeability constants of Hollander and Wolfe, example 4.1, as R's wilcox.test shows
        // them.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let earlier = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert!((hodges_lehmann_shift(&earlier, &term).unwrap() - 0.305).abs() < 1e-9);
    }

    #[test]
    fn the_interval_leaves_out_what_the_rank_sum_test_refuses() {
        let old = [1.00, 1.07, 1.02, 1.11, 1.05, 1.16];
        let new = [1.21, 1.03, 1.30, 1.13, 1.09, 1.24];
        let interval = change_estimate(&old, &new).unwrap().interval.unwrap();
        // Mann and Whitney's statistic after the new side was divided by a supposed change. Six
        // against six are refused at 5 or less and at 31 or more (two-sided 4.1 %).
        let statistic = |change: f64| -> usize {
            new.iter().map(|new| old.iter().filter(|old| new / change > **old).count()).sum()
        };
        assert!(
            statistic(interval.low * 0.999_999) >= 31 && statistic(interval.low * 1.000_001) < 31
        );
        assert!(
            statistic(interval.high * 1.000_001) <= 5 && statistic(interval.high * 0.999_999) > 5
        );
    }

    #[test]
    fn a_side_with_too_few_runs_leaves_no_interval() {
        let (few, many) = ([1.0, 1.1, 1.2, 1.3, 1.4], [2.0; 30]);
        let estimate = change_estimate(&few, &many).unwrap();
        assert_eq!((estimate.interval, estimate.samples), (None, 5));
        assert!((estimate.value - 2.0 / 1.2).abs() < 1e-12);
        assert_eq!(change_estimate(&[0.0], &many), None);
    }
}
