//! How deep into the ordered averages the end of an exact 95 % interval lies, from the distribution
//! of Wilcoxon's signed rank statistic.
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
    fn the_approximation_continues_the_exact_depths() {
        for samples in [55_usize, 60] {
            let n = samples as f64;
            let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
            let near = normal_depth(n * (n + 1.0) / 4.0, deviation);
            assert!(signed_rank_depth(samples).unwrap().abs_diff(near) <= 1, "{samples}");
        }
    }
}
