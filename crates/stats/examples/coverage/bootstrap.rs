//! The ways to make an interval that the crate does not use, for comparison.
//!
//! Not here: anything to be used elsewhere. The random numbers are the same for every sample.

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use wirebench_stats::{Interval, hodges_lehmann};

const RESAMPLES: usize = 1_000;
const TAIL: f64 = 0.025;

/// The estimates of resamples, in order.
fn resampled(values: &[f64]) -> Vec<f64> {
    let mut random = Rng::with_seed(values.len() as u64);
    let mut estimates: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let drawn: Vec<f64> =
                values.iter().map(|_| values[random.usize(..values.len())]).collect();
            hodges_lehmann(&drawn)
        })
        .collect();
    estimates.sort_unstable_by(f64::total_cmp);
    estimates
}

fn between(estimates: &[f64], low: f64, high: f64) -> Interval {
    let at = |share: f64| estimates[((share * estimates.len() as f64) as usize).min(RESAMPLES - 1)];
    Interval { low: at(low), high: at(high) }
}

/// The plain percentile interval.
pub(crate) fn percentile(values: &[f64]) -> Option<Interval> {
    Some(between(&resampled(values), TAIL, 1.0 - TAIL))
}

/// Hesterberg's expanded percentile interval (2014): the tails are those that Student's t would
/// have, for a deviation that is too small by sqrt((n - 1) / n).
pub(crate) fn expanded_percentile(values: &[f64]) -> Option<Interval> {
    let n = values.len() as f64;
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(TAIL);
    let tail = Normal::standard().cdf((n / (n - 1.0)).sqrt() * t);
    Some(between(&resampled(values), tail, 1.0 - tail))
}

/// Efron's interval, corrected for bias and acceleration.
pub(crate) fn bias_corrected_accelerated(values: &[f64]) -> Option<Interval> {
    let estimates = resampled(values);
    let found = hodges_lehmann(values)?;
    let below = estimates.iter().filter(|estimate| **estimate < found).count() as f64
        + estimates.iter().filter(|estimate| (**estimate - found).abs() < 1e-15).count() as f64
            / 2.0;
    let normal = Normal::standard();
    let bias = normal.inverse_cdf((below / RESAMPLES as f64).clamp(0.001, 0.999));
    let without: Vec<f64> = (0..values.len())
        .filter_map(|left_out| {
            let mut rest = values.to_vec();
            rest.remove(left_out);
            hodges_lehmann(&rest)
        })
        .collect();
    let mean = without.iter().sum::<f64>() / without.len() as f64;
    let moment = |power: i32| without.iter().map(|it| (mean - it).powi(power)).sum::<f64>();
    let acceleration = moment(3) / (6.0 * moment(2).powf(1.5)).max(f64::MIN_POSITIVE);
    let share = |tail: f64| {
        let z = bias + normal.inverse_cdf(tail);
        normal.cdf(bias + z / (1.0 - acceleration * z))
    };
    Some(between(&estimates, share(TAIL), share(1.0 - TAIL)))
}

/// Student's t interval around the mean, which is another parameter for skewed noise.
pub(crate) fn student(values: &[f64]) -> Option<Interval> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(1.0 - TAIL);
    let reach = t * (variance / n).sqrt();
    Some(Interval { low: mean - reach, high: mean + reach })
}
