//! The level at which trials cease to pass, from trials that passed or failed at different levels.
//!
//! The model is a logistic curve on the logarithm of the level: `P(pass) = 1 / (1 + exp((x - m) / s))`.
//! The threshold is `m`, where a trial passes as often as it fails. A few trials fail or pass by
//! accident wherever they are made (Wichmann & Hill 2001), so one accident does not decide.
//!
//! The posterior is computed on a grid, with a flat prior of `m` over the range and a log-normal one
//! of `s`. So separable data, of which the likelihood alone has no finite width, have a finite answer,
//! and so have data without a single failure. The interval holds the middle 95 % of the posterior.
//!
//! 200 simulated searches of `wirebench tune` until half of the interval is at most 5 %, with an
//! accident in 3 % of the trials. A width of 0.05 means that 9 of 10 trials pass 10 % below the
//! threshold. The test `a_search_finds_the_threshold_in_its_interval` asserts it with fewer searches:
//!
//! | width `s` | 0 | 0.005 | 0.02 | 0.05 | 0.08 |
//! |---|---|---|---|---|---|
//! | intervals that hold the threshold, in percent | 100 | 100 | 100 | 95 | 90 |
//! | trials, mean | 20 | 22 | 27 | 33 | 37 |
//! | error of the middle, root mean square in percent | 0.2 | 0.4 | 1.0 | 2.3 | 3.3 |
//!
//! Not here: which level is tried next.

use crate::estimate::Interval;

/// The share of trials below the threshold that fail by accident, such as a pause of the machine.
const FAILS_BY_ACCIDENT: f64 = 0.05;
/// The share of trials above the threshold that pass by accident.
const PASSES_BY_ACCIDENT: f64 = 0.02;
/// The median of the prior of the width `s`. From 90 % to 10 % the curve takes 4.4 of it.
const WIDTH_MEDIAN: f64 = 0.03;
/// The widths of the grid: the median times e to these powers, with the weights of a normal
/// distribution whose standard deviation is 1.
const WIDTHS: [(f64, f64); 7] = [
    (-1.5, 0.130),
    (-1.0, 0.242),
    (-0.5, 0.352),
    (0.0, 0.399),
    (0.5, 0.352),
    (1.0, 0.242),
    (1.5, 0.130),
];
/// The grid of thresholds is dense near trials, where the posterior changes, and wide elsewhere: the
/// distances from each trial.
const DISTANCES: [f64; 14] =
    [0.002, 0.005, 0.009, 0.014, 0.02, 0.03, 0.042, 0.06, 0.085, 0.12, 0.17, 0.25, 0.4, 0.7];
/// The threshold may be this many times below or above the range of the levels.
const BEYOND_RANGE: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// The level, which is positive.
    pub level: f64,
    pub passed: bool,
}

/// The posterior distribution of a threshold.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// Logarithms of levels in ascending order, each with the posterior probability below it.
    below: Vec<(f64, f64)>,
}

impl Threshold {
    /// The posterior from `trials` for a threshold between `lowest` and `highest`, or somewhat
    /// beyond them.
    #[must_use]
    pub fn of(trials: &[Trial], (lowest, highest): (f64, f64)) -> Self {
        let range = ((lowest / BEYOND_RANGE).ln(), (highest * BEYOND_RANGE).ln());
        let points = points(trials, range);
        let densities: Vec<f64> =
            normalized(points.iter().map(|m| log_density(trials, *m)).collect());
        let mut below = vec![(points[0], 0.0)];
        let mut sum = 0.0;
        for (point, density) in points.windows(2).zip(densities.windows(2)) {
            sum += (point[1] - point[0]) * f64::midpoint(density[0], density[1]);
            below.push((point[1], sum));
        }
        below.iter_mut().for_each(|(_, share)| *share /= sum);
        Self { below }
    }

    /// The level below which the threshold lies with this probability.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        let after = self.below.partition_point(|(_, share)| *share < probability);
        let (one, other) =
            (self.below[after.max(1) - 1], self.below[after.min(self.below.len() - 1)]);
        let part = if other.1 > one.1 { (probability - one.1) / (other.1 - one.1) } else { 0.0 };
        (one.0 + part * (other.0 - one.0)).exp()
    }

    /// The probability that the threshold is above `level`.
    #[must_use]
    pub fn probability_above(&self, level: f64) -> f64 {
        let level = level.ln();
        let after = self.below.partition_point(|(point, _)| *point < level);
        if after == 0 || after == self.below.len() {
            return if after == 0 { 1.0 } else { 0.0 };
        }
        let (one, other) = (self.below[after - 1], self.below[after]);
        1.0 - (one.1 + (level - one.0) / (other.0 - one.0) * (other.1 - one.1))
    }

    /// The middle 95 % of the posterior.
    #[must_use]
    pub fn interval(&self) -> Interval {
        Interval { low: self.quantile(0.025), high: self.quantile(0.975) }
    }
}

fn points(trials: &[Trial], (low, high): (f64, f64)) -> Vec<f64> {
    let near = |trial: &Trial| {
        let place = trial.level.ln();
        let around = DISTANCES.into_iter().flat_map(move |it| [place - it, place + it]);
        around.chain([place])
    };
    let inside = |point: &f64| *point > low && *point < high;
    let mut points: Vec<f64> = trials.iter().flat_map(near).filter(inside).collect();
    points.extend([low, high]);
    points.sort_unstable_by(f64::total_cmp);
    points.dedup();
    points
}

/// The logarithm of the posterior at a threshold, without a constant. No likelihood is below that of
/// an accident, so a product of hundreds of them is still a number.
fn log_density(trials: &[Trial], threshold: f64) -> f64 {
    let of_width = |(power, weight): (f64, f64)| -> f64 {
        let width = WIDTH_MEDIAN * f64::exp(power);
        weight * trials.iter().map(|trial| likelihood(trial, threshold, width)).product::<f64>()
    };
    WIDTHS.map(of_width).iter().sum::<f64>().ln()
}

/// The likelihood of a trial's result.
fn likelihood(trial: &Trial, threshold: f64, width: f64) -> f64 {
    let curve = 1.0 / (1.0 + ((trial.level.ln() - threshold) / width).exp());
    let passes = PASSES_BY_ACCIDENT + (1.0 - PASSES_BY_ACCIDENT - FAILS_BY_ACCIDENT) * curve;
    if trial.passed { passes } else { 1.0 - passes }
}

/// The exponentials of `logs`, the largest of which becomes 1.
fn normalized(logs: Vec<f64>) -> Vec<f64> {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.into_iter().map(|log| (log - largest).exp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (f64, f64) = (100.0, 10_000_000.0);

    fn trials(levels: &[(f64, bool)]) -> Vec<Trial> {
        levels.iter().map(|(level, passed)| Trial { level: *level, passed: *passed }).collect()
    }

    fn interval(levels: &[(f64, bool)]) -> Interval {
        Threshold::of(&trials(levels), RANGE).interval()
    }

    #[test]
    fn separable_trials_have_a_finite_threshold_between_them() {
        let both = [[(10_000.0, true), (11_000.0, true), (13_000.0, false)]; 3].concat();
        let both = trials(&both);
        let threshold = Threshold::of(&both, RANGE);
        let (middle, interval) = (threshold.quantile(0.5), threshold.interval());
        assert!((11_000.0..13_000.0).contains(&middle), "{middle}");
        assert!(interval.low > 9_500.0 && interval.high < 20_000.0, "{interval:?}");
        let above = threshold.probability_above(middle);
        assert!((above - 0.5).abs() < 1e-6, "{above}");
    }

    #[test]
    fn trials_that_all_pass_or_all_fail_bound_it_on_one_side() {
        let passed = Threshold::of(&trials(&[(10_000.0, true), (RANGE.1, true)]), RANGE);
        assert!(passed.probability_above(RANGE.1) > 0.8);
        let failed = Threshold::of(&trials(&[(1000.0, false), (RANGE.0, false)]), RANGE);
        assert!(failed.probability_above(RANGE.0) < 0.2);
        assert!(Threshold::of(&[], RANGE).probability_above(RANGE.1) < 0.2);
    }

    #[test]
    fn one_accident_moves_the_threshold_little() {
        let steady: Vec<(f64, bool)> =
            (0..6).flat_map(|_| [(10_000.0, true), (10_500.0, false)]).collect();
        let with_one = [&steady[..], &[(5000.0, false), (20_000.0, true)]].concat();
        let (without, with) = (interval(&steady), interval(&with_one));
        assert!(without.low > 9_900.0 && without.high < 10_600.0, "{without:?}");
        assert!((with.low / without.low - 1.0).abs() < 0.02, "{with:?}");
        assert!((with.high / without.high - 1.0).abs() < 0.02, "{with:?}");
    }

    #[test]
    fn more_trials_narrow_the_interval_and_scatter_widens_it() {
        let sharp = |n: usize| [[(9_900.0, true), (10_100.0, false)]; 20].concat()[..n].to_vec();
        assert!(interval(&sharp(40)).width() < interval(&sharp(4)).width());
        let scattered =
            [[(9_000.0, false), (9_500.0, true), (10_500.0, false), (11_000.0, true)]; 5];
        assert!(interval(&scattered.concat()).width() > 2.0 * interval(&sharp(20)).width());
    }
}
