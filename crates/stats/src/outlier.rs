//! Strange runs: flagged, never dropped.
//!
//! Not in this file: anything that leaves a value out.

use crate::summary::{median, median_deviation};

/// With fewer values none is an outlier: the median absolute deviation of so few is often a small
/// fraction of the true one, so that ordinary values stand out.
const MIN_VALUES: usize = 8;
/// Beyond this modified z score a value is an outlier (Iglewicz & Hoaglin 1993).
const MODIFIED_Z_LIMIT: f64 = 3.5;
/// The mean absolute deviation of normal noise, in standard deviations: sqrt(2 / pi).
const MEAN_DEVIATION: f64 = 0.797_884_560_802_865;

/// How far each value lies from the median, in standard deviations that are estimated by the median
/// absolute deviation, which the outliers themselves do not widen (Iglewicz & Hoaglin 1993).
///
/// Where more than half of the values are equal, that deviation is 0 and the mean absolute
/// deviation takes its place. Where all are equal, every score is 0. Values that are not finite
/// score infinity.
fn modified_z_scores(values: &[f64]) -> Vec<f64> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let Some(middle) = median(&finite) else { return vec![f64::INFINITY; values.len()] };
    let distances: Vec<f64> = finite.iter().map(|value| (value - middle).abs()).collect();
    let by_median = median_deviation(&finite, middle);
    let by_mean = distances.iter().sum::<f64>() / distances.len() as f64 / MEAN_DEVIATION;
    let deviation = if by_median > 0.0 { by_median } else { by_mean };
    let score = |value: &f64| {
        if !value.is_finite() {
            f64::INFINITY
        } else if deviation > 0.0 {
            (value - middle) / deviation
        } else {
            0.0
        }
    };
    values.iter().map(score).collect()
}

/// The places of the values whose modified z score is beyond 3.5; none of fewer
/// than eight values.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < MIN_VALUES {
        return Vec::new();
    }
    let scores = modified_z_scores(values);
    (0..values.len()).filter(|place| scores[*place].abs() > MODIFIED_Z_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_far_from_the_others_is_flagged_on_either_side() {
        let values = [10.0, 10.1, 9.9, 10.2, 9.8, 14.0, 6.0, 10.0];
        assert_eq!(outliers(&values), [5, 6]);
        assert!(outliers(&values[..7]).is_empty(), "seven values are too few");
    }

    #[test]
    fn the_score_is_the_published_one() {
        // Median 3, median absolute deviation 1: the score of 10 is 0.6745 * 7.
        let scores = modified_z_scores(&[1.0, 2.0, 3.0, 4.0, 10.0]);
        assert!((scores[4] - 0.6745 * 7.0).abs() < 1e-3, "{scores:?}");
    }

    #[test]
    fn where_most_values_are_equal_the_mean_deviation_decides() {
        let mut values = vec![5.0; 9];
        assert!(outliers(&values).is_empty());
        values.push(6.0);
        assert_eq!(outliers(&values), [9]);
        assert!(outliers(&[]).is_empty());
    }

    #[test]
    fn what_is_no_number_is_strange() {
        let values = [1.0, f64::NAN, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02];
        assert_eq!(outliers(&values), [1]);
    }
}
