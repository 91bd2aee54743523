//! Noise of known kinds, and experiments with it whose truth is known.
//!
//! The tests and the example `coverage` share this file: the same experiments, few or many of them.
//! Not here: what counts as good enough; the tests say that.
#![allow(dead_code, reason = "each of the two users needs a part")]
#![allow(unreachable_pub, reason = "this file is a module of two programs")]

pub mod cohorts;
pub mod sweeps;

use fastrand::Rng;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use wirebench_stats::{
    Floor, FloorBasis, Interval, Judgement, Steadiness, Verdict, judge, median, ratios_by_block,
    steadiness,
};

/// From how many draws a truth is taken: its error is a three-hundredth of the noise.
const DRAWS: usize = 200_000;

/// A kind of noise, in shares of the value: 0.01 is one percent too much.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Noise {
    /// Gauss's, 1 %.
    Normal,
    /// Lognormal, skewed by 1.3: mostly a bit too little, sometimes far too much.
    Skewed,
    /// An exponential tail of 1 %.
    Exponential,
    /// 85 % of the runs in one mode and 15 % in another that is 10 % away, each with 1 % of noise.
    Bimodal,
    /// The same modes with a tenth of the noise, so that they are nearly two points.
    TwoPoints,
    /// Two equally likely modes, 10 % apart.
    EvenModes,
}

impl Noise {
    pub const ALL: [Noise; 6] = [
        Noise::Normal,
        Noise::Skewed,
        Noise::Exponential,
        Noise::Bimodal,
        Noise::TwoPoints,
        Noise::EvenModes,
    ];

    pub fn draw(self, random: &mut Rng) -> f64 {
        match self {
            Noise::Normal => 0.01 * normal(random),
            Noise::Skewed => 0.01 * (0.4 * normal(random)).exp() / 0.4,
            Noise::Exponential => -0.01 * (1.0 - random.f64()).ln(),
            Noise::Bimodal => mode(0.15, random) + 0.01 * normal(random),
            Noise::TwoPoints => mode(0.15, random) + 0.001 * normal(random),
            Noise::EvenModes => mode(0.5, random) + 0.01 * normal(random),
        }
    }

    /// The median of the mean of two draws, from many draws.
    pub fn pseudo_median(self, random: &mut Rng) -> f64 {
        let means: Vec<f64> =
            (0..DRAWS).map(|_| f64::midpoint(self.draw(random), self.draw(random))).collect();
        median(&means).expect("there are draws")
    }
}

/// A draw from the normal distribution (Box & Muller).
pub fn normal(random: &mut Rng) -> f64 {
    (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (TAU * random.f64()).cos()
}

fn mode(share: f64, random: &mut Rng) -> f64 {
    if random.f64() < share { -0.1 } else { 0.0 }
}

/// How often an interval of so many draws holds the truth, which is their pseudo-median, in
/// percent.
pub fn coverage_percent(
    (noise, truth): (Noise, f64),
    blocks: usize,
    experiments: usize,
    random: &mut Rng,
    interval_of: impl Fn(&[f64]) -> Option<Interval>,
) -> f64 {
    let held = (0..experiments).filter(|_| {
        let values: Vec<f64> = (0..blocks).map(|_| noise.draw(random)).collect();
        interval_of(&values).is_some_and(|interval| interval.contains(truth))
    });
    100.0 * held.count() as f64 / experiments as f64
}

/// A suite in which all rows are equal to the baseline, or all but the first.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    pub rows: usize,
    pub blocks: u32,
    /// The noise of the rows.
    pub noise: Noise,
    /// The noise of the baseline.
    pub baseline: Noise,
    /// What the first row is multiplied by.
    pub first_row: f64,
    /// What the noise of the rows is multiplied by, in turn; the baseline keeps its own.
    pub loudness: &'static [f64],
}

impl Suite {
    /// All rows and the baseline are the same.
    pub fn of_equals(rows: usize, blocks: u32, noise: Noise) -> Suite {
        Suite { rows, blocks, noise, baseline: noise, first_row: 1.0, loudness: &[1.0] }
    }

    /// The values of every row and of the baseline, by block. All of a block share a slow drift: a
    /// random walk with steps of 2 %.
    pub fn run(&self, random: &mut Rng) -> (Vec<BTreeMap<u32, f64>>, BTreeMap<u32, f64>) {
        let mut level: f64 = 100.0;
        let mut rows = vec![BTreeMap::new(); self.rows];
        let mut baseline = BTreeMap::new();
        for block in 0..self.blocks {
            level *= (0.02 * normal(random)).exp();
            baseline.insert(block, level * self.baseline.draw(random).exp());
            for (index, row) in rows.iter_mut().enumerate() {
                let factor = if index == 0 { self.first_row } else { 1.0 };
                let loudness = self.loudness[index % self.loudness.len()];
                let noise = loudness * self.noise.draw(random);
                row.insert(block, factor * level * noise.exp());
            }
        }
        (rows, baseline)
    }

    pub fn judged(&self, floor: &Floor, random: &mut Rng) -> Vec<Judgement> {
        let (rows, baseline) = self.run(random);
        let ratios: Vec<Vec<f64>> =
            rows.iter().map(|row| ratios_by_block(row, &baseline)).collect();
        judge(&ratios, floor)
    }
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

/// Without a floor, so that nothing but the statistics stands between noise and a verdict.
pub const NO_FLOOR: Floor = Floor { relative: 0.0, basis: FloorBasis::Least };

/// Whether any row is called different.
pub fn any_difference(judged: &[Judgement]) -> bool {
    judged.iter().any(|row| matches!(row.verdict, Verdict::Higher | Verdict::Lower))
}

/// In how many of so many experiments something happened, in percent.
pub fn percent_of(experiments: usize, mut happens: impl FnMut() -> bool) -> f64 {
    100.0 * (0..experiments).filter(|_| happens()).count() as f64 / experiments as f64
}
