//! The effect of a stop rule on false differences: experiments without a difference, ended after a
//! fixed number of pairs, on the width of the interval, after further looks, or on significance; and
//! comparisons with bounds for each look, of which `--example coverage looks` makes more.
//!
//! The interval is Student's, of values with normal noise; each seed is fixed. The rules themselves
//! are in the crate that runs experiments.

mod simulation;

use fastrand::Rng;
use simulation::{at_most_five, looks::SequentialRun, normal};
use statrs::distribution::{ContinuousCDF, StudentsT};

const EXPERIMENTS: usize = 1000;
const FEWEST: usize = 6;
/// As `wirebench ab` has it.
const BLOCKS_MOST: usize = 200;
const STEP: usize = 2;

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

#[test]
fn no_look_calls_equal_rows_different_in_more_than_one_of_twenty_runs() {
    let mut random = Rng::with_seed(61);
    for (rows, experiments) in [(0, 300), (1, 300), (2, 40), (8, 20)] {
        for correlation in [0.0, 0.2, 0.4] {
            let run = SequentialRun { rows, correlation, ..SequentialRun::TWO_PROGRAMS };
            let wrong = run.any_different(experiments, &mut random);
            assert!(wrong <= at_most_five(experiments), "{run:?}: {wrong} %");
        }
    }
}

#[test]
fn no_look_calls_a_row_at_the_margin_the_same_in_more_than_one_of_twenty_runs() {
    let mut random = Rng::with_seed(62);
    for (rows, correlation) in
        [0, 1, 8].into_iter().flat_map(|it| [(it, 0.0), (it, 0.2), (it, 0.4)])
    {
        for (margin, deviation) in [(0.01, 0.002), (0.01, 0.008), (0.005, 0.002)] {
            let run = SequentialRun { rows, deviation, correlation, truth: margin, margin };
            let wrong = run.any_same(100, &mut random);
            assert!(wrong <= at_most_five(100), "{run:?}: {wrong} %");
        }
    }
}

#[test]
fn four_cohorts_find_five_times_the_noise_and_six_or_seven_show_equality() {
    let mut random = Rng::with_seed(63);
    for rows in [0, 1] {
        let equal = SequentialRun { rows, margin: 0.01, ..SequentialRun::TWO_PROGRAMS };
        let [_, same, cohorts] = equal.decided(100, &mut random);
        assert!(same > 99.0 && cohorts <= 7.0, "{rows}: {same} %, {cohorts}");
        let two = SequentialRun { truth: 0.02, ..equal };
        let [different, _, cohorts] = two.decided(100, &mut random);
        assert!(different > 99.0 && cohorts <= 4.5, "{rows}: {different} %, {cohorts}");
    }
}
