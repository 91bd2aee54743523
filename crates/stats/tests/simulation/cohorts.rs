//! Loads whose truth is known, measured in cohorts: the baseline's two instances and a number of
//! rows, all of which share what a cohort does to them.
//!
//! The tests and the example `coverage` share this file. Not in this file: what is good enough.

use super::{normal, percent_of};
use fastrand::Rng;
use wirebench_stats::{
    AaCheck, Better, Contrast, Judged, Outcome, TwoWay, check_baseline, judge_against,
    judge_changes, judge_sides, rank_levels,
};

/// The standard deviation of one instance between cohorts that visits of 100 ms show.
pub const NOISE: f64 = 0.012;
/// What all instances of a cohort have in common.
const COHORT: f64 = 0.03;
pub const BASELINE: [usize; 2] = [0, 1];

/// The shape of the noise of one value, with a mean of zero and a standard deviation of one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    Normal,
    /// Lognormal, with a skewness of 1.8: mostly a bit too little, sometimes far too much.
    Skewed,
    /// Student's t with three degrees of freedom.
    HeavyTailed,
    /// 85 % of the values in one mode and 15 % in another, six deviations of each mode away.
    TwoModes,
}

impl Shape {
    pub const ALL: [Shape; 4] = [Shape::Normal, Shape::Skewed, Shape::HeavyTailed, Shape::TwoModes];

    fn draw(self, random: &mut Rng) -> f64 {
        match self {
            Shape::Normal => normal(random),
            Shape::Skewed => {
                let variance: f64 = 0.25;
                let mean = (variance / 2.0).exp();
                let deviation = mean * variance.exp_m1().sqrt();
                ((variance.sqrt() * normal(random)).exp() - mean) / deviation
            }
            Shape::HeavyTailed => {
                let chi: f64 = (0..3).map(|_| normal(random).powi(2)).sum();
                normal(random) / (chi / 3.0).sqrt() / 3.0_f64.sqrt()
            }
            Shape::TwoModes => {
                let mode = if random.f64() < 0.15 { 6.0 } else { 0.0 };
                let deviation = (1.0 + 36.0 * 0.15 * 0.85_f64).sqrt();
                (normal(random) + mode - 0.9) / deviation
            }
        }
    }
}

/// What the changes between two results are changes of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Basis {
    /// Ratios to both instances of the baseline.
    TwoInstances,
    /// Ratios to a baseline of which each result has one instance.
    OneInstance,
    Levels,
}

impl Basis {
    pub const ALL: [Basis; 3] = [Basis::TwoInstances, Basis::OneInstance, Basis::Levels];
}

#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub rows: usize,
    pub cohorts: usize,
    pub shape: Shape,
    pub baseline: Shape,
    /// What the noise of the rows is multiplied by, in turn; the baseline keeps its own.
    pub loudness: &'static [f64],
    /// The true ratio of the first row to the baseline.
    pub first_row: f64,
    /// The true ratio of the baseline's second instance to its first.
    pub second_instance: f64,
    /// The share of cells that are missing.
    pub missing: f64,
}

impl Load {
    pub fn of_equals(rows: usize, cohorts: usize, shape: Shape) -> Load {
        Load {
            rows,
            cohorts,
            shape,
            baseline: shape,
            loudness: &[1.0],
            first_row: 1.0,
            second_instance: 1.0,
            missing: 0.0,
        }
    }

    fn cells(&self, random: &mut Rng) -> Vec<Vec<f64>> {
        let cohorts: Vec<f64> = (0..self.cohorts).map(|_| COHORT * normal(random)).collect();
        let row = |level: f64, shape: Shape, loudness: f64, random: &mut Rng| -> Vec<f64> {
            let one = |cohort: &f64| match random.f64() < self.missing {
                true => f64::NAN,
                false => level + cohort + NOISE * loudness * shape.draw(random),
            };
            cohorts.iter().map(one).collect()
        };
        let mut cells = vec![
            row(0.0, self.baseline, 1.0, random),
            row(self.second_instance.ln(), self.baseline, 1.0, random),
        ];
        for index in 0..self.rows {
            let level = if index == 0 { self.first_row.ln() } else { 0.0 };
            let loudness = self.loudness[index % self.loudness.len()];
            cells.push(row(level, self.shape, loudness, random));
        }
        cells
    }

    fn model(&self, random: &mut Rng) -> TwoWay {
        TwoWay::fit(&self.cells(random), &BASELINE).expect("there are values")
    }

    pub fn judged(&self, margin: f64, random: &mut Rng) -> Vec<Judged> {
        let rows: Vec<usize> = (2..self.rows + 2).collect();
        let judged = judge_against(&self.model(random), &rows, &BASELINE, margin);
        judged.into_iter().flatten().collect()
    }

    pub fn checked(&self, margin: f64, random: &mut Rng) -> AaCheck {
        check_baseline(&self.model(random), BASELINE, margin).expect("both instances have values")
    }

    /// The changes of all rows from an older result to this one.
    pub fn changes(&self, old: &Load, basis: Basis, margin: f64, random: &mut Rng) -> Vec<Judged> {
        let [old, new] = [old, self].map(|load| load.contrasts(basis, random));
        let changes: Vec<Contrast> = old
            .iter()
            .zip(&new)
            .filter_map(|(old, new)| Some(new.as_ref()?.since(old.as_ref()?)))
            .collect();
        judge_changes(&changes, margin)
    }

    fn contrasts(&self, basis: Basis, random: &mut Rng) -> Vec<Option<Contrast>> {
        let mut cells = self.cells(random);
        let baseline = match basis {
            Basis::TwoInstances => vec![0, 1],
            Basis::OneInstance | Basis::Levels => {
                cells[1].fill(f64::NAN);
                vec![0]
            }
        };
        let rows = 2..self.rows + 2;
        if basis == Basis::Levels {
            return rows.map(|row| Contrast::of_level(&cells[row])).collect();
        }
        let model = TwoWay::fit(&cells, &baseline).expect("there are values");
        rows.map(|row| model.contrast(&[row], &baseline)).collect()
    }

    /// How often the first row has an outcome among the changes, in percent, when it was as the others
    /// in the older result.
    pub fn first_change_is(
        &self,
        wanted: fn(Outcome) -> bool,
        (basis, margin): (Basis, f64),
        experiments: usize,
        random: &mut Rng,
    ) -> f64 {
        let old = Load { first_row: 1.0, ..*self };
        percent_of(experiments, || wanted(self.changes(&old, basis, margin, random)[0].outcome))
    }

    /// Pairs of results in which any row is called changed, in percent.
    pub fn any_changed(
        &self,
        old: &Load,
        basis: Basis,
        experiments: usize,
        random: &mut Rng,
    ) -> f64 {
        percent_of(experiments, || {
            self.changes(old, basis, 0.0, random).iter().any(|row| is_different(row.outcome))
        })
    }

    /// Two programs with one or two instances each: the baseline and the first rows, all of which
    /// have the level of the first.
    pub fn judged_sides(&self, instances: usize, margin: f64, random: &mut Rng) -> Judged {
        let drawn = Load { rows: 2, ..*self }.cells(random);
        let second = drawn[3].iter().map(|value| value + self.first_row.ln()).collect();
        let all = [drawn[0].clone(), drawn[1].clone(), drawn[2].clone(), second];
        let cells = [&all[..instances], &all[2..2 + instances]].concat();
        let rows: Vec<usize> = (0..2 * instances).collect();
        let (first, second) = rows.split_at(instances);
        let model = TwoWay::fit_programs(&cells, &[first, second]).expect("there are values");
        judge_sides(&model, [first, second], 1, margin).expect("both sides have values")
    }

    /// Whether the ranks draw any distinction.
    pub fn ranks_distinguish(&self, random: &mut Rng) -> bool {
        let mut items: Vec<Vec<usize>> = (2..self.rows + 2).map(|row| vec![row]).collect();
        items.push(BASELINE.to_vec());
        let ranks = rank_levels(&self.model(random), &items, Better::Less, 0.0);
        ranks.iter().flatten().any(|rank| rank.first != 1 || rank.last != items.len())
    }

    /// Loads in which any row is called different, in percent.
    pub fn any_different(&self, margin: f64, experiments: usize, random: &mut Rng) -> f64 {
        percent_of(experiments, || {
            self.judged(margin, random).iter().any(|row| is_different(row.outcome))
        })
    }

    /// How often the first row has an outcome, in percent.
    pub fn first_is(
        &self,
        wanted: fn(Outcome) -> bool,
        margin: f64,
        experiments: usize,
        random: &mut Rng,
    ) -> f64 {
        percent_of(experiments, || {
            self.judged(margin, random).first().is_some_and(|row| wanted(row.outcome))
        })
    }

    /// The median over experiments of half of the width of the first row's interval, in percent.
    pub fn half_width(&self, experiments: usize, random: &mut Rng) -> f64 {
        let widths: Vec<f64> = (0..experiments)
            .filter_map(|_| self.judged(0.0, random).first()?.interval)
            .map(|interval| 50.0 * interval.width())
            .collect();
        wirebench_stats::median(&widths).expect("there are intervals")
    }
}

pub fn is_different(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Higher | Outcome::Lower)
}

pub fn is_same(outcome: Outcome) -> bool {
    outcome == Outcome::Same
}
