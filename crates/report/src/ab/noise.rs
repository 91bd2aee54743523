//! How far apart two runs of the same server appear, which the pairs show by themselves: in two
//! mirrored blocks each side is run twice.

use std::collections::BTreeMap;
use wirebench_stats::Floor;

/// The floor below which nothing is called a difference.
///
/// Of A it is the second run over the first, of B the first over the second. A drift that goes
/// evenly on is in both the other way round, so that what the mirrored order takes out of B over A
/// is not taken for noise.
pub(super) fn floor(a: &BTreeMap<u32, f64>, b: &BTreeMap<u32, f64>, first: u32) -> Floor {
    Floor::from_pairs(&same_over_same(a, b, first))
}

/// The ratios of both sides to themselves; `first` is the first block that counts.
pub(super) fn same_over_same(
    a: &BTreeMap<u32, f64>,
    b: &BTreeMap<u32, f64>,
    first: u32,
) -> Vec<f64> {
    let of = |values: &BTreeMap<u32, f64>, block: u32| {
        let (one, other) = (*values.get(&block)?, *values.get(&(block + 1))?);
        (one > 0.0 && other > 0.0).then_some(other / one)
    };
    let last = a.keys().chain(b.keys()).copied().max().unwrap_or(0);
    let pairs = (first..=last).step_by(2);
    pairs.flat_map(|block| [of(a, block), of(b, block).map(f64::recip)]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(values: &[f64]) -> BTreeMap<u32, f64> {
        (0..).zip(values.iter().copied()).collect()
    }

    #[test]
    fn each_pair_of_blocks_gives_a_ratio_of_either_side() {
        let (a, b) = (blocks(&[1.0, 2.0, 4.0]), blocks(&[8.0, 2.0, 4.0, 2.0]));
        assert_eq!(same_over_same(&a, &b, 0), [2.0, 4.0, 2.0]);
        assert_eq!(same_over_same(&a, &b, 1), [2.0, 0.5]);
        assert!(same_over_same(&blocks(&[]), &blocks(&[1.0]), 0).is_empty());
    }

    #[test]
    fn what_goes_evenly_on_is_no_noise_and_what_jumps_is() {
        // Each run takes 1 % longer than the one before it, in the order A B B A, B A A B, ...
        let run = |place: i32| 1.01_f64.powi(place);
        let a = blocks(&[0, 3, 5, 6, 8, 11, 13, 14].map(run));
        let b = blocks(&[1, 2, 4, 7, 9, 10, 12, 15].map(run));
        let drift = floor(&a, &b, 0).relative;
        assert!(drift < 0.021, "{drift}");
        let jump = |values: [f64; 6]| floor(&blocks(&values), &blocks(&values), 0).relative;
        assert!(jump([1.0, 1.1, 1.0, 0.9, 1.1, 1.0]) > 0.08);
        assert!((jump([1.0; 6]) - 0.01).abs() < 1e-9);
    }
}
