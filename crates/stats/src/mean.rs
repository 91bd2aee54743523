//! The mean of the values of a few cohorts, and how sure it is (Student 1908).
//!
//! What all instances of a cohort have in common is part of its error. The model of a load takes that
//! out; a mean stands by itself.

use crate::estimate::{CONFIDENCE, Interval};
use crate::judgement::MIN_COHORTS;
use crate::simultaneous::student_critical;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) value: f64,
    /// The variance of one value; infinite where there is only one.
    pub(crate) variance: f64,
    pub(crate) count: usize,
}

impl Mean {
    /// None without finite values; the others do not count.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let count = finite.len();
        if count == 0 {
            return None;
        }
        let value = finite.iter().sum::<f64>() / count as f64;
        let squares: f64 = finite.iter().map(|it| (it - value).powi(2)).sum();
        let variance = if count > 1 { squares / (count as f64 - 1.0) } else { f64::INFINITY };
        Some(Self { value, variance, count })
    }
}

/// The 95 % interval of the geometric mean of a quantity that was measured in a few cohorts, from the
/// logarithms as in the model of a load. None with fewer than [`MIN_COHORTS`] finite values, and
/// where one of them is not above zero and thus has no logarithm.
#[must_use]
pub fn geometric_mean_interval(values: &[f64]) -> Option<Interval> {
    let finite = values.iter().filter(|value| value.is_finite());
    let logs: Vec<f64> = finite.map(|value| value.ln()).collect();
    let mean = Mean::of(&logs).filter(|mean| mean.count >= MIN_COHORTS.max(logs.len()))?;
    let count = mean.count as f64;
    let reach = student_critical(1.0 - CONFIDENCE, count - 1.0) * (mean.variance / count).sqrt();
    Some(Interval { low: (mean.value - reach).exp(), high: (mean.value + reach).exp() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_students_of_the_logarithms_and_needs_three_values() {
        // Logarithms with mean 2 and standard error 1 / sqrt(3); t = 4.303 with 2 degrees of freedom.
        let interval = geometric_mean_interval(&[1.0, 2.0, 3.0].map(f64::exp)).unwrap();
        assert!((interval.high.ln() - 2.0 - 4.303 / 3.0_f64.sqrt()).abs() < 1e-3, "{interval:?}");
        assert!((interval.low.ln() + interval.high.ln() - 4.0).abs() < 1e-12);
        assert_eq!(geometric_mean_interval(&[1.0, 2.0, f64::NAN]), None);
        assert_eq!(geometric_mean_interval(&[]), None);
    }

    #[test]
    fn an_interval_of_positive_values_has_a_positive_end_and_zero_leaves_none() {
        let few_switches = geometric_mean_interval(&[0.0004, 0.0021, 0.0146]).unwrap();
        assert!(few_switches.low > 0.0, "{few_switches:?}");
        assert_eq!(geometric_mean_interval(&[0.0, 0.0021, 0.0030, 0.0146]), None);
        assert_eq!(geometric_mean_interval(&[-1.0, 2.0, 3.0, 4.0]), None);
    }
}
