//! Critical values of several comparisons at once, by numeric integration.
//!
//! Comparisons with one baseline share its noise, so their t statistics have a product correlation
//! (Dunnett 1955, 1964). All pairs of rows follow the studentized range (Tukey 1953; Kramer 1956
//! where rows have different errors). Both are averages over the scale of the error, which is the
//! root of a chi-square over its degrees of freedom. Where each comparison has an error of its own,
//! its scale is not the others', and Sidak's inequality (1967) holds.
//!
//! Not in this file: how large an error is, and what follows from an interval.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

/// Steps of the integrals, in standard deviations of what is integrated over. The trapezoidal rule
/// is exact far beyond the digits that matter here, because both integrands are smooth and vanish
/// at both ends.
const STEP: f64 = 0.5;
/// Where the normal density ends: 4e-8 of it lies beyond.
const NORMAL_END: f64 = 5.5;
/// The logarithm of the density, relative to its top, at which the scale ends.
const SCALE_END: f64 = -14.0;
/// A critical value, and the logarithm of its probability, are exact to this.
const EXACT: f64 = 1e-5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Family {
    /// A number of rows with one baseline. Any two of their differences have at least this
    /// correlation: the share of the baseline in the variance of a difference.
    ManyToOne { rows: usize, correlation: f64 },
    /// Each of a number of rows with every other one.
    AllPairs { rows: usize },
    /// A number of comparisons each of which has an error of its own.
    Separate { comparisons: usize },
}

impl Family {
    /// The probability that the largest of all t statistics is at least this large, if no row
    /// differs.
    pub(crate) fn p_value(self, t: f64, freedom: f64) -> f64 {
        if let Self::Separate { comparisons } = self {
            return 1.0 - (1.0 - student_p(t, freedom)).powf(comparisons as f64);
        }
        if self.comparisons() <= 1 {
            return student_p(t, freedom);
        }
        (1.0 - over_scale(freedom, |scale| self.within(t.abs() * scale))).clamp(0.0, 1.0)
    }

    /// The value that the largest of all t statistics exceeds with probability `alpha` if no row
    /// differs.
    pub(crate) fn critical(self, alpha: f64, freedom: f64) -> f64 {
        let count = self.comparisons().max(1) as f64;
        if let Self::Separate { .. } = self {
            return student_critical(1.0 - (1.0 - alpha).powf(1.0 / count), freedom);
        }
        // That of one comparison is too small, that of Bonferroni's inequality is too large.
        let mut low = student_critical(alpha, freedom);
        let mut high = student_critical(alpha / count, freedom);
        // How far a value is from the one that is sought: nearly a straight line.
        let excess = |t: f64| (self.p_value(t, freedom) / alpha).ln();
        let (mut above, mut below) = (excess(low), excess(high));
        while high - low > EXACT * high && above > EXACT && below < -EXACT {
            let middle = low + (high - low) * above / (above - below);
            let found = excess(middle);
            // The end that stays counts for half (Illinois), so that both ends move.
            if found > 0.0 {
                (low, above, below) = (middle, found, below / 2.0);
            } else {
                (high, below, above) = (middle, found, above / 2.0);
            }
        }
        if above > EXACT { high } else { low }
    }

    pub(crate) const fn comparisons(self) -> usize {
        match self {
            Self::ManyToOne { rows, .. } | Self::Separate { comparisons: rows } => rows,
            Self::AllPairs { rows } => rows * rows.saturating_sub(1) / 2,
        }
    }

    /// The probability that no difference is larger than `reach`, in errors that are known.
    fn within(self, reach: f64) -> f64 {
        match self {
            Self::ManyToOne { rows, correlation } if correlation <= 0.0 => {
                (1.0 - erfc(reach / SQRT_2)).powf(rows as f64)
            }
            Self::ManyToOne { rows, correlation } => {
                let (shared, own) = (correlation.sqrt(), (1.0 - correlation).sqrt());
                over_normal(|z| {
                    let (low, high) = ((shared * z - reach) / own, (shared * z + reach) / own);
                    (normal_cdf(high) - normal_cdf(low)).powf(rows as f64)
                })
            }
            // The least of all rows is at z, and no other is further above it than the range.
            Self::AllPairs { rows } => {
                let range = reach * SQRT_2;
                let others =
                    |z: f64| (normal_cdf(z + range) - normal_cdf(z)).powf(rows as f64 - 1.0);
                rows as f64 * over_normal(others)
            }
            Self::Separate { comparisons } => (1.0 - erfc(reach / SQRT_2)).powf(comparisons as f64),
        }
    }
}

/// The two-sided p value of one t statistic.
fn student_p(t: f64, freedom: f64) -> f64 {
    student(freedom).map_or(1.0, |student| 2.0 * student.cdf(-t.abs()))
}

/// The value that the size of one t statistic exceeds with probability `alpha`.
pub(crate) fn student_critical(alpha: f64, freedom: f64) -> f64 {
    student(freedom).map_or(f64::INFINITY, |student| -student.inverse_cdf(alpha / 2.0))
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}

pub(crate) fn normal_cdf(z: f64) -> f64 {
    erfc(-z / SQRT_2) / 2.0
}

/// The mean of a function of a standard normal variable.
fn over_normal(function: impl Fn(f64) -> f64) -> f64 {
    let steps = (NORMAL_END / STEP).ceil() as i32;
    let sum: f64 = (-steps..=steps)
        .map(|step| f64::from(step) * STEP)
        .map(|z| (-z * z / 2.0).exp() * function(z))
        .sum();
    sum * STEP / (2.0 * PI).sqrt()
}

/// The mean of a function of the scale, the root of a chi-square over its degrees of freedom. The
/// integral runs over the scale's logarithm, whose density is proportional to
/// exp(freedom * (u - exp(2 u) / 2)) and has its top at 0.
fn over_scale(freedom: f64, function: impl Fn(f64) -> f64) -> f64 {
    let step = STEP / (2.0 * freedom).sqrt();
    let log_density = |u: f64| freedom * (u - (2.0 * u).exp_m1() / 2.0);
    let (mut sum, mut weights) = (0.0, 0.0);
    let mut add = |u: f64| {
        let log = log_density(u);
        let weight = log.exp();
        sum += weight * function(u.exp());
        weights += weight;
        log > SCALE_END
    };
    let mut up = 0.0;
    while add(up) {
        up += step;
    }
    let mut down = -step;
    while add(down) {
        down -= step;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two digits behind the point, as tables have them.
    fn is(value: f64, published: f64) -> bool {
        (value - published).abs() < 0.006
    }

    #[test]
    fn comparisons_with_a_baseline_have_dunnetts_critical_values() {
        // Dunnett (1964), table II: two-sided 5 %, correlation 0.5.
        for (rows, freedom, published) in [
            (1, 20.0, 2.09),
            (2, 5.0, 3.03),
            (3, 10.0, 2.76),
            (5, 5.0, 3.62),
            (6, 10.0, 3.07),
            (9, 10.0, 3.24),
            (9, 20.0, 2.95),
            (9, 1e6, 2.69),
        ] {
            let critical = Family::ManyToOne { rows, correlation: 0.5 }.critical(0.05, freedom);
            assert!(is(critical, published), "{rows} rows, {freedom}: {critical}");
        }
    }

    #[test]
    fn all_pairs_have_the_critical_values_of_the_studentized_range() {
        // Tukey's q at 5 %, divided by the root of 2.
        for (rows, freedom, published) in [
            (2, 10.0, 3.15),
            (3, 10.0, 3.88),
            (5, 20.0, 4.23),
            (8, 20.0, 4.77),
            (9, 20.0, 4.90),
            (10, 5.0, 6.99),
        ] {
            let critical = Family::AllPairs { rows }.critical(0.05, freedom) * SQRT_2;
            assert!((critical - published).abs() < 0.01, "{rows} rows, {freedom}: {critical}");
        }
    }

    #[test]
    fn independent_comparisons_have_the_maximum_modulus() {
        // Without a common error the product of the single probabilities is exact.
        let single: f64 = 1.0 - 0.95_f64.powf(1.0 / 6.0);
        let expected = student_critical(single, 1e6);
        let critical = Family::ManyToOne { rows: 6, correlation: 0.0 }.critical(0.05, 1e6);
        assert!((critical - expected).abs() < 1e-3, "{critical} {expected}");
        let near = Family::ManyToOne { rows: 6, correlation: 1e-9 }.critical(0.05, 7.5);
        let none = Family::ManyToOne { rows: 6, correlation: 0.0 }.critical(0.05, 7.5);
        assert!((near - none).abs() < 1e-3, "{near} {none}");
    }

    #[test]
    fn p_values_and_critical_values_belong_together() {
        for family in [
            Family::ManyToOne { rows: 1, correlation: 0.3 },
            Family::ManyToOne { rows: 8, correlation: 0.3 },
            Family::AllPairs { rows: 8 },
            Family::Separate { comparisons: 8 },
        ] {
            for freedom in [1.5, 4.0, 30.0] {
                let p = family.p_value(family.critical(0.05, freedom), freedom);
                assert!((p - 0.05).abs() < 1e-4, "{family:?} {freedom}: {p}");
            }
            assert!(family.p_value(0.0, 5.0) > 0.999 && family.p_value(1e3, 5.0) < 1e-6);
        }
    }
}
