//! How far apart two equal things may look on this machine: the A/A floor.
//!
//! It comes from pairs of runs of the same thing within one block. Not here: the noise of a row;
//! that is in the row's own interval. The floor holds what an interval cannot see, because it does
//! not change from block to block: the order within the blocks, the layout of memory, the port.

use crate::estimate::{Interval, MIN_BLOCKS};
use crate::location::ratio_estimate;
use crate::summary::logarithms;

/// No floor is below this: a difference of less than 1 % is nobody's reason to choose a server, and
/// what the layout of a program does to its speed is of that size.
const LEAST_RELATIVE: f64 = 0.01;
/// What is assumed where nothing is known: twice the least.
const UNKNOWN_RELATIVE: f64 = 0.02;

/// The A/A floor: differences up to it are never called differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// A share: 0.01 stands for ratios from 1 / 1.01 to 1.01.
    pub relative: f64,
    /// Where it comes from.
    pub basis: FloorBasis,
}

/// What a floor rests on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FloorBasis {
    /// The pairs show less than 1 %, so the floor is 1 %.
    Least,
    /// The far end of the 95 % interval of the ratios of the pairs.
    Interval,
    /// Fewer than [`MIN_BLOCKS`] pairs: twice the largest distance that any of them showed, but not
    /// less than 1 %.
    Range,
    /// No pair at all: 2 %, which is an assumption.
    Assumed,
}

impl Floor {
    /// The floor from ratios between two runs of the same thing, one ratio per block.
    ///
    /// It is the larger of 1 % and the far end of their 95 % interval, taken on logarithms so that
    /// it does not matter which of the two was divided by the other. With fewer than [`MIN_BLOCKS`]
    /// pairs there is no interval; then it is twice the largest logarithm, because the few that
    /// were seen are unlikely to hold the worst that there is.
    #[must_use]
    pub fn from_pairs(ratios: &[f64]) -> Floor {
        let Some(estimate) = ratio_estimate(ratios) else {
            return Floor { relative: UNKNOWN_RELATIVE, basis: FloorBasis::Assumed };
        };
        let (distance, basis) = match estimate.interval {
            Some(interval) => {
                (interval.low.ln().abs().max(interval.high.ln().abs()), FloorBasis::Interval)
            }
            None => {
                let largest = logarithms(ratios).into_iter().map(f64::abs).fold(0.0, f64::max);
                (2.0 * largest, FloorBasis::Range)
            }
        };
        let relative = distance.exp_m1();
        if relative > LEAST_RELATIVE {
            Floor { relative, basis }
        } else {
            let basis = if estimate.samples < MIN_BLOCKS { basis } else { FloorBasis::Least };
            Floor { relative: LEAST_RELATIVE, basis }
        }
    }

    /// The ratios that lie within the floor, around 1.
    #[must_use]
    pub fn band(&self) -> Interval {
        Interval { low: 1.0 / (1.0 + self.relative), high: 1.0 + self.relative }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_has_a_floor_of_one_percent() {
        let floor = Floor::from_pairs(&[1.001, 0.999, 1.002, 0.998, 1.0, 1.001, 0.999]);
        assert_eq!(floor, Floor { relative: 0.01, basis: FloorBasis::Least });
    }

    #[test]
    fn a_noisy_one_has_the_far_end_of_the_interval_whichever_side_it_is_on() {
        let ratios = [0.95, 0.97, 0.99, 1.0, 1.01, 1.02];
        let floor = Floor::from_pairs(&ratios);
        assert_eq!(floor.basis, FloorBasis::Interval);
        assert!((floor.relative - (1.0 / 0.95 - 1.0)).abs() < 1e-12, "{floor:?}");
        let exchanged = Floor::from_pairs(&ratios.map(|ratio| 1.0 / ratio));
        assert!((floor.relative - exchanged.relative).abs() < 1e-12);
        assert!(floor.band().contains(0.95 + 1e-9) && !floor.band().contains(0.949));
    }

    #[test]
    fn few_pairs_have_twice_the_largest_distance_and_none_an_assumption() {
        let few = Floor::from_pairs(&[1.03, 1.0]);
        assert_eq!(few.basis, FloorBasis::Range);
        assert!((few.relative - (1.03 * 1.03 - 1.0)).abs() < 1e-12);
        assert_eq!(Floor::from_pairs(&[1.0]).basis, FloorBasis::Range);
        let none = Floor::from_pairs(&[]);
        assert_eq!(none, Floor { relative: 0.02, basis: FloorBasis::Assumed });
    }
}
