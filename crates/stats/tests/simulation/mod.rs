//! Noise of known kinds, and experiments with it whose truth is known.
//!
//! The tests and the example `coverage` share this file: the same experiments, few or many of them.
//! Not here: what counts as good enough; the tests say that.
#![allow(dead_code, reason = "each of the two users needs a part")]
#![allow(unreachable_pub, reason = "this file is a module of two programs")]

pub mod cohorts;
pub mod states;
pub mod sweeps;

use fastrand::Rng;
use std::f64::consts::TAU;
use wirebench_stats::{Steadiness, steadiness};

/// A draw from the normal distribution (Box & Muller).
pub fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

/// What a series does besides its noise.
#[derive(Clone, Copy, Debug)]
pub enum Series {
    Flat,
    /// So much across each eight values.
    Linear(f64),
    /// From three times the final level down to it, by a factor of e in five values.
    Decay,
}

impl Series {
    pub fn values(self, count: usize, noise: f64, random: &mut Rng) -> Vec<f64> {
        let level = |place: f64| match self {
            Series::Flat => 1.0,
            Series::Linear(change) => 1.0 + change * place / 7.0,
            Series::Decay => 1.0 + 2.0 * (-place / 5.0).exp(),
        };
        (0..count).map(|place| level(place as f64) * (1.0 + noise * normal(random))).collect()
    }
}

/// After how many values a series is first called steady.
pub fn first_steady(values: &[f64]) -> Option<usize> {
    (1..=values.len())
        .find(|count| matches!(steadiness(&values[..*count]), Steadiness::Steady { .. }))
}

/// Share of `experiments` in which something happened, in percent.
pub fn percent_of(experiments: usize, mut happens: impl FnMut() -> bool) -> f64 {
    100.0 * (0..experiments).filter(|_| happens()).count() as f64 / experiments as f64
}
