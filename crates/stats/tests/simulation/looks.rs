//! Comparisons judged at several looks, with noise that correlates between neighbouring cohorts.

use super::{cohorts::is_different, normal, percent_of};
use fastrand::Rng;
use wirebench_stats::{Bounds, Interval, Judged, Outcome, PlannedLook, TwoWay, bounds};

/// Cohorts at each look, in proportion to which the budget passes.
pub const COHORTS: [usize; 8] = [3, 4, 5, 6, 8, 10, 12, 16];

#[derive(Clone, Copy, Debug)]
pub struct SequentialRun {
    /// Rows compared with a baseline of two instances; 0 for two programs with two instances each.
    pub rows: usize,
    /// The standard deviation of the logarithm of a ratio in one cohort.
    pub deviation: f64,
    pub correlation: f64,
    /// The true difference of the second program, or of the first row.
    pub truth: f64,
    pub margin: f64,
}

impl SequentialRun {
    pub const TWO_PROGRAMS: Self =
        Self { rows: 0, deviation: 0.004, correlation: 0.0, truth: 0.0, margin: 0.0 };

    pub fn bounds(&self) -> Vec<Bounds> {
        bounds(&COHORTS.map(|it| PlannedLook { cohorts: it, share: it as f64 / 16.0 }), self.rows)
    }

    /// The judgements of the first `wanted` rows, look by look.
    fn judged(
        &self,
        bounds: &[Bounds],
        wanted: usize,
        random: &mut Rng,
    ) -> impl Iterator<Item = Vec<Judged>> {
        // Instances of the second program, and their share of the deviation of a ratio.
        let (instances, share) =
            if self.rows == 0 { (2, 1.0) } else { (1, 1.5_f64.sqrt().recip()) };
        let row = |row: usize| -> Vec<f64> {
            let is_different = (2..2 + instances).contains(&row);
            let level = if is_different { self.truth.ln_1p() } else { 0.0 };
            let mut noise = normal(random);
            let mut next = |_| {
                let value = level + self.deviation * share * noise;
                let fresh = (1.0 - self.correlation.powi(2)).sqrt() * normal(random);
                noise = self.correlation * noise + fresh;
                value
            };
            (0..COHORTS[7]).map(&mut next).collect()
        };
        let cells: Vec<Vec<f64>> = (0..2 + self.rows.max(instances)).map(row).collect();
        bounds.iter().zip(COHORTS).map(move |(bounds, cohorts)| {
            let cells: Vec<Vec<f64>> = cells.iter().map(|row| row[..cohorts].to_vec()).collect();
            if self.rows == 0 {
                let model = TwoWay::fit_programs(&cells, &[&[0, 1], &[2, 3]]).expect("values");
                return bounds
                    .judge_sides(&model, [&[0, 1], &[2, 3]], self.margin)
                    .into_iter()
                    .collect();
            }
            let model = TwoWay::fit(&cells, &[0, 1]).expect("values");
            let rows: Vec<usize> = (2..2 + self.rows.min(wanted)).collect();
            bounds
                .judge_against(&model, &rows, &[0, 1], self.margin)
                .into_iter()
                .flatten()
                .collect()
        })
    }

    /// Percentage of runs in which any look calls any row different.
    pub fn any_different(&self, experiments: usize, random: &mut Rng) -> f64 {
        let bounds = self.bounds();
        let is_any = |rows: Vec<Judged>| rows.iter().any(|row| is_different(row.outcome));
        percent_of(experiments, || self.judged(&bounds, self.rows, random).any(is_any))
    }

    /// Percentage of runs in which any look has the first row's plain interval inside the margin.
    pub fn any_same(&self, experiments: usize, random: &mut Rng) -> f64 {
        let (bounds, margin) = (self.bounds(), Interval::of_margin(self.margin));
        let is_inside = |rows: Vec<Judged>| rows[0].plain.is_some_and(|it| it.lies_within(&margin));
        percent_of(experiments, || self.judged(&bounds, 1, random).any(is_inside))
    }

    /// Percentages of runs that call the first row different and the same, and the mean of cohorts.
    pub fn decided(&self, experiments: usize, random: &mut Rng) -> [f64; 3] {
        let (bounds, mut sums) = (self.bounds(), [0.0; 3]);
        for _ in 0..experiments {
            let outcomes = self.judged(&bounds, self.rows, random).map(|rows| rows[0].outcome);
            let decided = outcomes.zip(COHORTS).find(|it| it.0 != Outcome::Inconclusive);
            let (outcome, cohorts) = decided.unwrap_or((Outcome::Inconclusive, COHORTS[7]));
            sums[0] += f64::from(u8::from(is_different(outcome))) * 100.0;
            sums[1] += f64::from(u8::from(outcome == Outcome::Same)) * 100.0;
            sums[2] += cohorts as f64;
        }
        sums.map(|sum| sum / experiments as f64)
    }
}
