//! Noise of known kinds, and experiments with it whose truth is known.
//!
//! The tests and the example `coverage` share this file: the same experiments, few or many of them.
//! Not here: what counts as good enough; the tests say that.
#![allow(dead_code, reason = "each of the two users needs a part")]
#![allow(unreachable_pub, reason = "this file is a module of two programs")]

pub mod cohorts;
pub mod looks;
pub mod states;
pub mod sweeps;

use fastrand::Rng;
use std::f64::consts::TAU;

/// A draw from the normal distribution (Box & Muller).
pub fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

/// Share of `experiments` in which something happened, in percent.
pub fn percent_of(experiments: usize, mut happens: impl FnMut() -> bool) -> f64 {
    100.0 * (0..experiments).filter(|_| happens()).count() as f64 / experiments as f64
}

/// The largest share in percent that an error of 5 % may show in this number of experiments.
pub fn at_most_five(experiments: usize) -> f64 {
    5.0 + 3.0 * (5.0 * 95.0 / experiments as f64).sqrt()
}
