//! What the documentation promises, tried with simulated noise whose truth is known.
//!
//! Each seed is fixed, so that a test passes always or never. The bounds leave three standard
//! errors of the few experiments that are affordable here; `examples/coverage` makes many more. Not
//! here: the arithmetic, which the modules test themselves.

mod simulation;

use fastrand::Rng;
use simulation::{
    NO_FLOOR, Noise, Series, Suite, any_difference, coverage_percent, first_steady, percent_of,
};
use wirebench_stats::{Floor, MIN_BLOCKS, Verdict, judge, location_estimate};

/// Three standard errors of a share in percent.
fn error_percent(expected: f64, experiments: usize) -> f64 {
    3.0 * (expected * (100.0 - expected) / experiments as f64).sqrt()
}

#[test]
fn intervals_hold_in_about_95_percent_whatever_the_noise() {
    const EXPERIMENTS: usize = 600;
    let mut random = Rng::with_seed(1);
    let interval = |values: &[f64]| location_estimate(values)?.interval;
    for noise in Noise::ALL {
        let truth = (noise, noise.pseudo_median(&mut random));
        for blocks in [6, 10, 30] {
            let held = coverage_percent(truth, blocks, EXPERIMENTS, &mut random, interval);
            let allowed =
                94.0 - error_percent(94.0, EXPERIMENTS)..=97.0 + error_percent(97.0, EXPERIMENTS);
            assert!(allowed.contains(&held), "{noise:?}, {blocks} blocks: {held} %");
        }
    }
}

#[test]
fn equal_rows_are_called_different_in_at_most_one_of_twenty_suites() {
    let mut random = Rng::with_seed(3);
    for noise in Noise::ALL {
        for (blocks, experiments) in [(6, 200), (10, 100), (30, 20)] {
            for rows in [1, 5, 20] {
                let suite = Suite::of_equals(rows, blocks, noise);
                let wrong = percent_of(experiments, || {
                    any_difference(&suite.judged(&NO_FLOOR, &mut random))
                });
                let allowed = 5.0 + error_percent(5.0, experiments);
                assert!(wrong <= allowed, "{noise:?}, {rows} rows, {blocks} blocks: {wrong} %");
            }
        }
    }
}

#[test]
fn fifty_rows_of_unequal_noise_do_not_differ_either() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(5);
    let suite =
        Suite { loudness: &[0.3, 1.0, 3.0, 10.0], ..Suite::of_equals(50, 6, Noise::Normal) };
    let wrong = percent_of(EXPERIMENTS, || any_difference(&suite.judged(&NO_FLOOR, &mut random)));
    assert!(wrong <= 5.0 + error_percent(5.0, EXPERIMENTS), "{wrong} %");
}

#[test]
fn six_blocks_find_five_percent_among_fifty_rows_with_one_percent_of_noise() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(6);
    let suite = Suite { first_row: 1.05, ..Suite::of_equals(50, 6, Noise::Normal) };
    let floor = Floor { relative: 0.01, ..NO_FLOOR };
    let found =
        percent_of(EXPERIMENTS, || suite.judged(&floor, &mut random)[0].verdict == Verdict::Higher);
    assert!(found >= 90.0 - error_percent(90.0, EXPERIMENTS), "{found} %");
}

#[test]
fn five_blocks_never_say_anything() {
    let mut random = Rng::with_seed(7);
    let blocks = MIN_BLOCKS as u32 - 1;
    let suite = Suite { first_row: 2.0, ..Suite::of_equals(5, blocks, Noise::Normal) };
    for _ in 0..50 {
        let judged = suite.judged(&NO_FLOOR, &mut random);
        assert!(judged.iter().all(|row| row.verdict == Verdict::CannotTell));
    }
}

#[test]
fn rows_that_are_the_same_are_called_so_once_the_blocks_suffice() {
    const EXPERIMENTS: usize = 100;
    let mut random = Rng::with_seed(8);
    let floor = Floor { relative: 0.01, ..NO_FLOOR };
    let suite = Suite::of_equals(3, 30, Noise::Normal);
    let same =
        percent_of(EXPERIMENTS, || suite.judged(&floor, &mut random)[1].verdict == Verdict::Same);
    assert!(same >= 80.0, "{same} %");
    // And one that differs by twice the floor never is.
    let suite = Suite { first_row: 1.02, ..suite };
    let same =
        percent_of(EXPERIMENTS, || suite.judged(&floor, &mut random)[0].verdict == Verdict::Same);
    assert!(same < 1.0, "{same} %");
}

#[test]
fn a_drift_that_is_common_within_blocks_makes_no_row_different() {
    // A drift of 10 % from block to block, with hardly any noise besides.
    let ratios: Vec<Vec<f64>> = (0..4_u32)
        .map(|row| {
            (0..6_u32)
                .map(|block| {
                    let level = 1.1_f64.powi(block as i32);
                    let noise = 1.0 + f64::from((block * 7 + row * 5) % 11) * 1e-4;
                    level * noise / level
                })
                .collect()
        })
        .collect();
    let judged = judge(&ratios, &Floor { relative: 0.01, ..NO_FLOOR });
    assert!(judged.iter().all(|row| row.verdict == Verdict::Same), "{judged:?}");
}

#[test]
fn flat_series_become_steady_the_later_the_noisier_they_are() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(11);
    let mut by = |count: usize, noise: f64| {
        percent_of(EXPERIMENTS, || {
            first_steady(&Series::Flat.values(count, noise, &mut random)).is_some()
        })
    };
    for noise in [0.02, 0.03] {
        assert!(by(8, noise) >= 35.0, "{noise}");
        assert!(by(16, noise) >= 90.0, "{noise}");
        assert!(by(24, noise) >= 98.0, "{noise}");
    }
    assert!(by(40, 0.05) >= 95.0 && by(60, 0.10) >= 85.0);
    // So much noise needs a longer time than any run has.
    assert!(by(60, 0.50) <= 10.0);
}

#[test]
fn a_drift_is_not_hidden_by_noise_of_its_own_size() {
    const EXPERIMENTS: usize = 200;
    let mut random = Rng::with_seed(15);
    for (drift, noise) in [(0.10, 0.05), (0.20, 0.10), (0.40, 0.20)] {
        let steady = percent_of(EXPERIMENTS, || {
            first_steady(&Series::Linear(drift).values(24, noise, &mut random)).is_some()
        });
        assert!(steady <= 25.0, "{drift} with {noise}: {steady} %");
    }
}

#[test]
fn a_drift_beyond_the_noise_is_never_steady() {
    let mut random = Rng::with_seed(12);
    for (drift, noise) in [(0.03, 0.003), (0.05, 0.01), (-0.03, 0.003), (-0.05, 0.01)] {
        for _ in 0..100 {
            let values = Series::Linear(drift).values(60, noise, &mut random);
            // A falling series ends before it reaches nothing.
            let values: Vec<f64> = values.into_iter().take_while(|value| *value > 0.2).collect();
            let steady = first_steady(&values);
            assert_eq!(steady, None, "{drift} with {noise}");
        }
    }
}

#[test]
fn a_decay_is_refused_until_it_is_flat() {
    let mut random = Rng::with_seed(13);
    for noise in [0.003, 0.01, 0.02] {
        for _ in 0..100 {
            let values = Series::Decay.values(80, noise, &mut random);
            let first = first_steady(&values).unwrap();
            // What is left of the decay at the beginning of the last eight values.
            let left = 2.0 * (-((first - 8) as f64) / 5.0).exp();
            assert!(left < 0.05, "{noise}: {left} left after {first} values");
            assert!(first <= 60, "{noise}: {first}");
        }
    }
}
