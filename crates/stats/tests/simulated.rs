//! The promises of the documentation, tested with simulated noise of known truth.
//!
//! Each seed is fixed, so a test passes always or never. The bounds leave three standard errors of
//! the few experiments that are affordable here; `examples/coverage` makes many more. The modules
//! test their arithmetic themselves.

mod simulation;

use fastrand::Rng;
use simulation::{Series, first_steady, percent_of};

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
fn a_drift_larger_than_the_noise_is_never_steady() {
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
