//! How deep into the ordered averages or differences the end of an exact 95 % interval lies, from
//! the distributions of Wilcoxon's two rank statistics.
//!
//! Not here: p values of rank tests. With few blocks they are too coarse to be adjusted for many
//! rows; see `significance`.

use crate::CONFIDENCE;
use std::sync::LazyLock;

/// What may lie beyond one end of an interval.
const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;
/// Up to here the distribution of the signed rank statistic is computed exactly. Beyond it the
/// normal approximation is off by less than one part in a thousand of the confidence.
const SIGNED_RANK_EXACT: usize = 60;
/// The same for the product of the two sample sizes of the rank sum.
const RANK_SUM_EXACT: usize = 2_000;
/// Computed once, because a verdict over many rows asks for the same few again and again.
static SIGNED_RANK_DEPTHS: LazyLock<Vec<Option<usize>>> = LazyLock::new(exact_signed_rank_depths);
/// The 97.5 % quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

/// How many of the smallest Walsh averages of `samples` values, and of the largest, lie outside
/// the 95 % interval of the pseudo-median. None where even none is too many.
///
/// The interval consists of the values that the signed rank test does not refuse, so its depth is
/// the largest w with P(W <= w) <= 2.5 %, plus one, minus the one that is the end itself.
pub(crate) fn signed_rank_depth(samples: usize) -> Option<usize> {
    if let Some(depth) = SIGNED_RANK_DEPTHS.get(samples) {
        return *depth;
    }
    let n = samples as f64;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    Some(normal_depth(n * (n + 1.0) / 4.0, deviation))
}

/// The exact depths of 0 to [`SIGNED_RANK_EXACT`] samples, which one pass gives together.
fn exact_signed_rank_depths() -> Vec<Option<usize>> {
    // Each further rank counts or does not, with equal probability.
    let mut probabilities = vec![1.0];
    let mut depths = vec![None];
    for rank in 1..=SIGNED_RANK_EXACT {
        probabilities.resize(probabilities.len() + rank, 0.0);
        for sum in (0..probabilities.len()).rev() {
            let with = if sum >= rank { probabilities[sum - rank] } else { 0.0 };
            probabilities[sum] = f64::midpoint(probabilities[sum], with);
        }
        depths.push(depth_of(&probabilities));
    }
    depths
}

/// How many of the smallest pairwise differences of two samples, and of the largest, lie outside
/// the 95 % interval of the shift. None where even none is too many.
pub(crate) fn rank_sum_depth(first: usize, second: usize) -> Option<usize> {
    let (n, m) = (first as f64, second as f64);
    let pairs = first * second;
    if pairs > RANK_SUM_EXACT {
        return Some(normal_depth(n * m / 2.0, (n * m * (n + m + 1.0) / 12.0).sqrt()));
    }
    // The counts are the coefficients of a Gaussian binomial: the product over k = 1..=first of
    // (1 - q^(second + k)) / (1 - q^k).
    let mut counts = vec![0.0; pairs + 1];
    counts[0] = 1.0;
    for k in 1..=first {
        for sum in (second + k..=pairs).rev() {
            counts[sum] -= counts[sum - second - k];
        }
        for sum in k..=pairs {
            counts[sum] += counts[sum - k];
        }
    }
    let total: f64 = counts.iter().sum();
    let probabilities: Vec<f64> = counts.iter().map(|count| count / total).collect();
    depth_of(&probabilities)
}

/// The largest value whose cumulated probability does not exceed the tail.
fn depth_of(probabilities: &[f64]) -> Option<usize> {
    let mut cumulated = 0.0;
    let within = probabilities.iter().take_while(|probability| {
        cumulated += **probability;
        // Sums of floating point numbers may miss the tail by their last digits.
        cumulated <= TAIL + 1e-12
    });
    within.count().checked_sub(1)
}

/// The same by the normal distribution, with the correction for continuity.
fn normal_depth(mean: f64, deviation: f64) -> usize {
    (mean - NORMAL_QUANTILE * deviation - 0.5).floor().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_depths_of_the_signed_rank_statistic_are_those_of_the_published_tables() {
        // Hollander, Wolfe and Chicken: two-sided 5 %, the largest value that is still refused.
        let table = [(6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (20, 52), (30, 137)];
        for (samples, depth) in table {
            assert_eq!(signed_rank_depth(samples), Some(depth), "{samples} samples");
        }
        assert_eq!(signed_rank_depth(5), None);
        assert_eq!(signed_rank_depth(0), None);
    }

    #[test]
    fn the_depths_of_the_rank_sum_are_those_of_the_published_tables() {
        // Mann and Whitney: two-sided 5 %.
        let table = [(4, 4, 0), (5, 5, 2), (6, 6, 5), (6, 10, 11), (10, 10, 23), (20, 20, 127)];
        for (first, second, depth) in table {
            assert_eq!(rank_sum_depth(first, second), Some(depth), "{first} and {second}");
            assert_eq!(rank_sum_depth(second, first), Some(depth), "{second} and {first}");
        }
        assert_eq!(rank_sum_depth(3, 3), None);
    }

    #[test]
    fn the_approximation_continues_the_exact_depths() {
        for samples in [55_usize, 60] {
            let n = samples as f64;
            let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
            let near = normal_depth(n * (n + 1.0) / 4.0, deviation);
            assert!(signed_rank_depth(samples).unwrap().abs_diff(near) <= 1, "{samples}");
        }
        let exact = rank_sum_depth(40, 50).unwrap();
        assert!(exact.abs_diff(normal_depth(1000.0, (2000.0_f64 * 91.0 / 12.0).sqrt())) <= 1);
    }
}
