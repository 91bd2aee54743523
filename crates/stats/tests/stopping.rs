//! The effect of a stop rule on false differences: experiments without a difference, ended after a
//! fixed number of pairs, on the width of the interval, after further looks, or on significance.
//!
//! The interval is Student's, of values with normal noise; each seed is fixed. The rules themselves
//! are in the crate that runs experiments.

use fastrand::Rng;
use statrs::distribution::{ContinuousCDF, StudentsT};

const EXPERIMENTS: usize = 1000;
const FEWEST: usize = 6;
/// As `wirebench ab` has it.
const BLOCKS_MOST: usize = 200;
const STEP: usize = 2;

/// A normal number (Box & Muller).
fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
}

/// The mean, and half of the width of its 95 % interval.
fn estimate(values: &[f64], quantiles: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, quantiles[values.len()] * (variance / n).sqrt())
}

/// The share of experiments, in percent, that end with an interval without 0, when they end at the
/// first block at which `ends` says so of the number of blocks, the mean and the half width.
fn false_differences_percent(seed: u64, ends: impl Fn(usize, f64, f64) -> bool) -> f64 {
    let degrees =
        |n: usize| StudentsT::new(0.0, 1.0, (n.max(2) - 1) as f64).expect("degrees of freedom");
    let quantiles: Vec<f64> = (0..=BLOCKS_MOST).map(|n| degrees(n).inverse_cdf(0.975)).collect();
    let mut random = Rng::with_seed(seed);
    let mut found = 0;
    for _ in 0..EXPERIMENTS {
        let mut values: Vec<f64> = (0..FEWEST).map(|_| normal(&mut random)).collect();
        let (mean, half) = loop {
            let (mean, half) = estimate(&values, &quantiles);
            if values.len() >= BLOCKS_MOST || ends(values.len(), mean, half) {
                break (mean, half);
            }
            values.extend((0..STEP).map(|_| normal(&mut random)));
        };
        found += usize::from(mean.abs() > half);
    }
    100.0 * found as f64 / EXPERIMENTS as f64
}

/// Three standard errors of a share of 5 %.
const ERROR_PERCENT: f64 = 2.1;

#[test]
fn a_plan_that_is_completed_keeps_the_error_rate_however_often_it_was_looked_at() {
    let found = false_differences_percent(1, |blocks, _, _| blocks >= 40);
    assert!((found - 5.0).abs() <= ERROR_PERCENT, "{found} %");
}

#[test]
fn stopping_on_the_width_of_the_interval_changes_the_error_rate_little() {
    // With these the usual experiment ends after 8, 18, 64 and 200 blocks.
    for half_width in [0.9, 0.5, 0.25, 0.1] {
        let found = false_differences_percent(2, |_, _, half| half <= half_width);
        eprintln!("half width {half_width}: {found} %");
        assert!(found <= 7.0 + ERROR_PERCENT, "{half_width}: {found} %");
    }
}

#[test]
fn more_pairs_after_a_look_and_stopping_on_significance_do_not_keep_it() {
    let looks = [20, 40, 80, 160];
    let looked = false_differences_percent(3, |blocks, mean, half| {
        looks.contains(&blocks) && (mean.abs() > half || blocks == looks[3])
    });
    eprintln!("four looks: {looked} %");
    assert!(looked >= 9.0, "{looked} %");
    let always = false_differences_percent(4, |_, mean, half| mean.abs() > half);
    eprintln!("every pair: {always} %");
    assert!(always >= 20.0, "{always} %");
}
