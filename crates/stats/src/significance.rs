//! P values that reach below 2 / 2^n, and their adjustment for many rows.
//!
//! Holm's adjustment multiplies the smallest of fifty p values by fifty. With six blocks no test
//! that assumes nothing of the noise but symmetry gets below 2 / 64, so with any such test two rows
//! together could never show a difference, however plain. These p values come from Student's t on
//! logarithms instead, which has no such bound. That rests on an assumption, and the simulation says
//! what it is worth: see `verdict`.
//!
//! Not here: the exact tests; they are in `permutation`.

use crate::summary::logarithms;
use statrs::function::beta::checked_beta_reg;

/// A difference counts when it would appear in at most this share of experiments without one.
pub const SIGNIFICANCE: f64 = 0.05;

/// The two-sided p value of "the ratio is 1" by Student's t on the logarithms of ratios within
/// blocks. None with fewer than two positive ratios.
#[must_use]
pub fn student_p(ratios: &[f64]) -> Option<f64> {
    let side = Moments::of(&logarithms(ratios))?;
    two_sided(side.mean, side.variance / side.count, side.count - 1.0)
}

/// The two-sided p value of "new over old is 1" by Welch's t on logarithms (Welch 1947), which lets
/// each side have a noise of its own. None where a side has fewer than two positive values.
#[must_use]
pub fn welch_p(old: &[f64], new: &[f64]) -> Option<f64> {
    let (old, new) = (Moments::of(&logarithms(old))?, Moments::of(&logarithms(new))?);
    let (old_share, new_share) = (old.variance / old.count, new.variance / new.count);
    let variance = old_share + new_share;
    let spread = old_share.powi(2) / (old.count - 1.0) + new_share.powi(2) / (new.count - 1.0);
    let freedom = if spread > 0.0 {
        variance.powi(2) / spread
    } else {
        (old.count + new.count - 2.0).min(old.count.min(new.count))
    };
    two_sided(new.mean - old.mean, variance, freedom)
}

/// P values adjusted for being several, in the order given (Holm 1979). At most one in twenty
/// families has any adjusted p of 0.05 or less without a true difference, however the rows depend
/// on each other; that all are divided by the same baseline does no harm.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|first, second| p_values[*first].total_cmp(&p_values[*second]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - place) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// What Student's t needs of a sample.
struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Option<Moments> {
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Moments { count, mean, variance: squares / (count - 1.0) })
    }
}

/// P(|t| >= distance / sqrt(variance)). Without any noise it is 0 or 1: either the values differ
/// or they do not.
fn two_sided(distance: f64, variance: f64, freedom: f64) -> Option<f64> {
    if variance <= 0.0 {
        return Some(if distance.abs() > 0.0 { 0.0 } else { 1.0 });
    }
    let t_squared = distance.powi(2) / variance;
    checked_beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t_squared)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-3)
    }

    #[test]
    fn students_p_is_that_of_the_published_tables() {
        // The two-sided critical values of t with 5 degrees of freedom.
        assert!(near(two_sided(2.571, 1.0, 5.0), 0.05));
        assert!(near(two_sided(6.869, 1.0, 5.0), 0.001));
        // And one far out: with 2 degrees there is a closed form, 1 - t / sqrt(2 + t^2).
        let t: f64 = 40.0;
        assert!(near(two_sided(-t, 1.0, 2.0), 1.0 - t / (2.0 + t * t).sqrt()));
    }

    #[test]
    fn a_ratio_and_its_reciprocal_have_the_same_p() {
        let ratios = [1.02, 1.05, 0.99, 1.04, 1.03, 1.01];
        let reciprocals: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
        let p = student_p(&ratios);
        assert!(near(student_p(&reciprocals), p.unwrap()));
        assert!(p.unwrap() > 0.001 && p.unwrap() < 0.05, "{p:?}");
    }

    #[test]
    fn values_without_noise_differ_or_do_not() {
        assert_eq!(student_p(&[1.0; 6]), Some(1.0));
        assert!(student_p(&[1.5; 6]).unwrap() < 1e-12);
        assert_eq!(welch_p(&[2.0; 6], &[2.0; 6]), Some(1.0));
        assert!(welch_p(&[2.0; 6], &[3.0; 6]).unwrap() < 1e-12);
        assert_eq!(student_p(&[1.0]), None);
        assert_eq!(welch_p(&[1.0, 2.0], &[0.0, 2.0]), None);
    }

    #[test]
    fn welchs_p_agrees_with_a_worked_example() {
        // Equal spread and equal sizes: the same as Student's with 2 n - 2 degrees of freedom.
        let old: Vec<f64> = [1.0_f64, 2.0, 3.0].map(f64::exp).to_vec();
        let new: Vec<f64> = [3.0_f64, 4.0, 5.0].map(f64::exp).to_vec();
        // t = 2 / sqrt(2 / 3) = 2.4495 with 4 degrees: p = 0.0705.
        assert!(near(welch_p(&old, &new), 0.070_484));
    }

    #[test]
    fn holm_multiplies_by_how_many_are_left_and_never_decreases() {
        let adjusted = holm(&[0.04, 0.01, 0.03, 0.5]);
        for (value, expected) in adjusted.iter().zip([0.09, 0.04, 0.09, 0.5]) {
            assert!((value - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
