//! The model of a load: the logarithm of each value is its row's level, plus what all instances of
//! its cohort have in common, plus noise of that row.
//!
//! Levels and cohorts are fitted by weighted least squares, so that cells may be missing; with all
//! cells present a difference of levels is the mean difference within cohorts. Each row has a noise
//! of its own: its residuals from what the other rows say of the cohorts, less the noise of those,
//! [moderated](crate::moderation). Weights and noise follow from each other and are iterated.
//!
//! Not in this file: what follows from a difference; that is in `judgement`.

mod matrix;

use crate::moderation::{Noise, moderate};
use matrix::inverse;

/// Rounds of weights and noise. They settle within ten; the rest is for missing cells.
const ROUNDS: usize = 60;
/// A weight below this share of the whole is a rounding error.
const EXACT: f64 = 1e-9;
/// Rounds end when no variance changes by more than this share.
const SETTLED: f64 = 1e-6;
/// From this share on, most of the information about an error comes from other rows.
pub(crate) const MOSTLY: f64 = 0.5;

#[derive(Clone, Debug)]
pub struct TwoWay {
    /// The rows that are connected with each other by common cohorts.
    members: Vec<usize>,
    /// Their levels, in the same order.
    levels: Vec<f64>,
    noise: Vec<Noise>,
    /// In how many cohorts each has a value.
    counts: Vec<usize>,
    present: Vec<Vec<bool>>,
    /// The covariances of the levels relative to the first member.
    covariance: Vec<Vec<f64>>,
}

/// A difference of two levels, each of which is the mean of some rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The difference of the logarithms.
    pub difference: f64,
    pub error: f64,
    /// The degrees of freedom of the error: those of the side whose noise is known worse. Those of
    /// Satterthwaite (1946) are more, and wrong where a noisy row looks quiet by chance.
    pub freedom: f64,
    /// Which share of them comes from other rows, 0 to 1.
    pub borrowed: f64,
    /// The reference's share in the square of the error, 0 to 1.
    pub reference_share: f64,
    /// Cohorts in which both sides have a value.
    pub cohorts: usize,
}

/// The cells of a load: rows of values by cohort. What is not finite is missing.
type Cells = [Vec<f64>];

impl TwoWay {
    /// Fits the logarithms `cells[row][cohort]`. The rows in `same_program` are instances of one
    /// program, the baseline, and have one noise in common.
    ///
    /// None without a value. Rows that no common cohort connects with most of the others are not in
    /// the model.
    #[must_use]
    pub fn fit(cells: &Cells, same_program: &[usize]) -> Option<Self> {
        Self::fit_programs(cells, &[same_program])
    }

    /// The same with several programs that have more than one instance.
    #[must_use]
    pub fn fit_programs(cells: &Cells, programs: &[&[usize]]) -> Option<Self> {
        let members = largest_component(cells)?;
        let cells: Vec<Vec<f64>> = members.iter().map(|row| cells[*row].clone()).collect();
        let group = |place: usize| {
            let program = programs.iter().find(|rows| rows.contains(&members[place]));
            let first = |rows: &&[usize]| members.iter().position(|row| rows.contains(row));
            program.and_then(first).unwrap_or(place)
        };
        let groups: Vec<usize> = (0..members.len()).map(group).collect();
        let (levels, noise) = iterate(&cells, &groups);
        let present: Vec<Vec<bool>> =
            cells.iter().map(|row| row.iter().map(|value| value.is_finite()).collect()).collect();
        let counts = present.iter().map(|row| row.iter().filter(|it| **it).count()).collect();
        let covariance = covariance(&present, &noise)?;
        Some(Self { members, levels, noise, counts, present, covariance })
    }

    /// The mean level of `rows` minus that of `reference`. None where one of them is not in the
    /// model.
    #[must_use]
    pub fn contrast(&self, rows: &[usize], reference: &[usize]) -> Option<Contrast> {
        let places = |rows: &[usize]| -> Option<Vec<usize>> {
            rows.iter().map(|row| self.members.iter().position(|it| it == row)).collect()
        };
        let sides = [places(rows)?, places(reference)?];
        if sides.iter().any(Vec::is_empty) {
            return None;
        }
        let mut weights = vec![0.0; self.members.len()];
        for (side, sign) in sides.iter().zip([1.0, -1.0]) {
            side.iter().for_each(|place| weights[*place] += sign / side.len() as f64);
        }
        let difference = weights.iter().zip(&self.levels).map(|(weight, it)| weight * it).sum();
        let touched: Vec<usize> = sides.concat();
        let variance: f64 = touched
            .iter()
            .flat_map(|row| touched.iter().map(move |other| (*row, *other)))
            .map(|(row, other)| weights[row] * self.covariance[row][other] * weights[other])
            .sum();
        let share = |place: &usize| weights[*place].powi(2) * self.variance_of(*place);
        let total: f64 = touched.iter().map(share).sum();
        let by_freedom = |one: &&Noise, other: &&Noise| one.freedom.total_cmp(&other.freedom);
        let worst = touched.iter().map(|place| &self.noise[*place]).min_by(by_freedom)?;
        let of_reference: f64 = sides[1].iter().map(share).sum();
        let both = |cohort: &usize| {
            sides.iter().all(|side| side.iter().any(|place| self.present[*place][*cohort]))
        };
        let cohorts = (0..self.present[0].len()).filter(both).count();
        Some(Contrast {
            difference,
            error: variance.max(0.0).sqrt(),
            freedom: worst.freedom,
            borrowed: worst.borrowed,
            reference_share: of_reference / total,
            cohorts,
        })
    }

    /// The mean level of `rows` by itself, with the error that it has where the effects of the cohorts
    /// are known. None where one of them is not in the model.
    pub(crate) fn level(&self, rows: &[usize]) -> Option<Contrast> {
        let place = |row: &usize| self.members.iter().position(|it| it == row);
        let places: Vec<usize> = rows.iter().map(place).collect::<Option<_>>()?;
        let count = places.len() as f64;
        let variance = places.iter().map(|it| self.variance_of(*it)).sum::<f64>() / count.powi(2);
        let noise = places.iter().map(|it| &self.noise[*it]);
        let worst = noise.min_by(|one, other| one.freedom.total_cmp(&other.freedom))?;
        let has_value = |cohort: &usize| places.iter().any(|it| self.present[*it][*cohort]);
        Some(Contrast {
            difference: places.iter().map(|it| self.levels[*it]).sum::<f64>() / count,
            error: variance.sqrt(),
            freedom: worst.freedom,
            borrowed: worst.borrowed,
            reference_share: 0.0,
            cohorts: (0..self.present[0].len()).filter(has_value).count(),
        })
    }

    /// The variance of a row's level where its cohorts are known.
    fn variance_of(&self, place: usize) -> f64 {
        self.noise[place].variance / self.counts[place] as f64
    }
}

/// The rows that are connected by common cohorts, of which those with the most cells are taken.
fn largest_component(cells: &Cells) -> Option<Vec<usize>> {
    let count = |row: usize| cells[row].iter().filter(|value| value.is_finite()).count();
    let mut open: Vec<usize> = (0..cells.len()).filter(|row| count(*row) > 0).collect();
    let mut best: Option<Vec<usize>> = None;
    let size = |rows: &[usize]| rows.iter().map(|row| count(*row)).sum::<usize>();
    while let Some(first) = open.first().copied() {
        let mut component = vec![first];
        open.retain(|row| *row != first);
        let mut next = 0;
        while next < component.len() {
            let known = &cells[component[next]];
            let meets = |row: &usize| {
                known.iter().zip(&cells[*row]).any(|(a, b)| a.is_finite() && b.is_finite())
            };
            let (met, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|row| meets(row));
            component.extend(met);
            open = rest;
            next += 1;
        }
        component.sort_unstable();
        if best.as_ref().is_none_or(|best| size(&component) > size(best)) {
            best = Some(component);
        }
    }
    best
}

/// Levels and noise of all rows; those of one group share their noise.
fn iterate(cells: &Cells, groups: &[usize]) -> (Vec<f64>, Vec<Noise>) {
    let rows = cells.len();
    let mut levels: Vec<f64> = cells.iter().map(|row| mean(row.iter().copied())).collect();
    let mut noise = vec![Noise { variance: 1.0, freedom: 0.0, borrowed: 0.0 }; rows];
    for _ in 0..ROUNDS {
        let cohorts = Cohorts::of(cells, &levels, &noise);
        for (level, row) in levels.iter_mut().zip(cells) {
            *level = mean(row.iter().zip(&cohorts.effects).map(|(value, effect)| value - effect));
        }
        let own = own_noise(cells, groups, &levels, &noise, &cohorts);
        let of_groups: Vec<usize> = (0..rows).filter(|row| groups[*row] == *row).collect();
        let estimated: Vec<Noise> = of_groups.iter().map(|group| own[*group]).collect();
        let mut largest: f64 = 0.0;
        for (group, moderated) in of_groups.iter().zip(moderate(&estimated)) {
            largest = largest.max((moderated.variance / noise[*group].variance - 1.0).abs());
            (0..rows).filter(|row| groups[*row] == *group).for_each(|row| noise[row] = moderated);
        }
        if largest < SETTLED {
            break;
        }
    }
    (levels, noise)
}

/// The effect common to the instances of each cohort.
struct Cohorts {
    effects: Vec<f64>,
    /// The sum of the weights of those that have a value.
    weights: Vec<f64>,
}

impl Cohorts {
    fn of(cells: &Cells, levels: &[f64], noise: &[Noise]) -> Self {
        let count = cells.first().map_or(0, Vec::len);
        let (mut sums, mut weights) = (vec![0.0; count], vec![0.0; count]);
        for ((row, level), noise) in cells.iter().zip(levels).zip(noise) {
            for (cohort, value) in row.iter().enumerate().filter(|(_, value)| value.is_finite()) {
                sums[cohort] += (value - level) / noise.variance;
                weights[cohort] += 1.0 / noise.variance;
            }
        }
        let effect = |(sum, weight): (&f64, &f64)| if *weight > 0.0 { sum / weight } else { 0.0 };
        Self { effects: sums.iter().zip(&weights).map(effect).collect(), weights }
    }
}

/// The noise that each group shows by itself, at the place of its first row.
fn own_noise(
    cells: &Cells,
    groups: &[usize],
    levels: &[f64],
    noise: &[Noise],
    cohorts: &Cohorts,
) -> Vec<Noise> {
    let mut squares = vec![0.0; cells.len()];
    let mut by_others = vec![0.0; cells.len()];
    let mut freedom = vec![0.0; cells.len()];
    let mut counts = vec![0.0; cells.len()];
    for (row, values) in cells.iter().enumerate() {
        let weight = 1.0 / noise[row].variance;
        // Cohorts that other rows know too, and what these weigh.
        let known: Vec<(f64, f64)> = (0..values.len())
            .filter(|cohort| values[*cohort].is_finite())
            .map(|cohort| (cohort, cohorts.weights[cohort] - weight))
            .filter(|(cohort, others)| *others > EXACT * cohorts.weights[*cohort])
            .map(|(cohort, others)| {
                let rest = values[cohort] - levels[row] - cohorts.effects[cohort];
                (rest * cohorts.weights[cohort] / others, others)
            })
            .collect();
        let count = known.len() as f64;
        let group = groups[row];
        squares[group] += known.iter().map(|(rest, _)| rest.powi(2)).sum::<f64>();
        if known.len() > 1 {
            let of_others = known.iter().map(|(_, others)| 1.0 / others).sum::<f64>() / count;
            by_others[group] += (count - 1.0) * of_others;
            let share = known.iter().map(|(_, others)| others / (others + weight)).sum::<f64>();
            freedom[group] += (count - 1.0) * share / count;
            counts[group] += count - 1.0;
        }
    }
    let one = |row: usize| {
        let with_others = squares[row] / counts[row];
        let variance = (with_others - by_others[row] / counts[row]).max(with_others / 2.0);
        match counts[row] > 0.0 {
            true => Noise { variance, freedom: freedom[row], borrowed: 0.0 },
            false => Noise { variance: 0.0, freedom: 0.0, borrowed: 0.0 },
        }
    };
    (0..cells.len()).map(one).collect()
}

/// The covariances of the levels relative to the first, after the cohorts were taken out: the
/// inverse of the information matrix. None where it has none, which connected rows exclude.
fn covariance(present: &[Vec<bool>], noise: &[Noise]) -> Option<Vec<Vec<f64>>> {
    let rows = present.len();
    let weight = |row: usize| 1.0 / noise[row].variance;
    let mut information = vec![vec![0.0; rows]; rows];
    let cohorts = present.first().map_or(0, Vec::len);
    let of_cohort = |cohort| (0..rows).filter(|row| present[*row][cohort]).collect::<Vec<usize>>();
    for here in (0..cohorts).map(of_cohort) {
        let total: f64 = here.iter().map(|row| weight(*row)).sum();
        for row in &here {
            information[*row][*row] += weight(*row);
            for other in &here {
                information[*row][*other] -= weight(*row) * weight(*other) / total;
            }
        }
    }
    let rest: Vec<Vec<f64>> = information[1..].iter().map(|line| line[1..].to_vec()).collect();
    let inverse = inverse(rest)?;
    let mut covariance = vec![vec![0.0; rows]; rows];
    for (row, line) in inverse.into_iter().enumerate() {
        covariance[row + 1][1..].copy_from_slice(&line);
    }
    Some(covariance)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values.filter(|value| value.is_finite()) {
        sum += value;
        count += 1.0;
    }
    sum / count
}

#[cfg(test)]
mod tests;
