//! The plain summaries: median, range, and ratios within blocks.
//!
//! Not here: anything that says how sure a number is; see `location` for that.

use std::collections::BTreeMap;

/// The median: the middle value, or the mean of the two middle ones. None without values; values
/// that are not numbers do not count.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The standard deviation of normal noise with the same median of distances from `middle`, which outliers do not widen.
#[must_use]
pub fn median_deviation(values: &[f64], middle: f64) -> f64 {
    /// The median of distances in noise with a standard deviation of one.
    const NORMAL: f64 = 0.674_489_750_196_082;
    let distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&distances).unwrap_or(0.0) / NORMAL
}

/// The smallest and the largest value. None without values.
#[must_use]
pub fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    Some((least, most))
}

/// The ratio of `values` to `baseline` within each block that has both, in the order of the blocks.
///
/// Pairing within a block takes out what changes slowly on the machine, because both runs of a
/// block saw the same of it.
#[must_use]
pub fn ratios_by_block(values: &BTreeMap<u32, f64>, baseline: &BTreeMap<u32, f64>) -> Vec<f64> {
    values
        .iter()
        .filter_map(|(block, value)| {
            let base = baseline.get(block).filter(|base| **base > 0.0)?;
            Some(value / base)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::NAN, 1.0]), Some(1.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_range_spans_all_values() {
        assert_eq!(range(&[2.0, 9.0, 1.0]), Some((1.0, 9.0)));
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn ratios_are_made_within_blocks_and_blocks_without_a_pair_are_left_out() {
        let values = BTreeMap::from([(0, 10.0), (1, 30.0), (2, 5.0)]);
        let baseline = BTreeMap::from([(0, 20.0), (1, 20.0), (3, 1.0)]);
        assert_eq!(ratios_by_block(&values, &baseline), [0.5, 1.5]);
        assert!(ratios_by_block(&values, &BTreeMap::from([(0, 0.0)])).is_empty());
    }
}
