//! What may be said of rows: each against the baseline, and the baseline's two instances against
//! each other.
//!
//! A row is *different* when its 95 % interval, adjusted for all rows of the load, excludes a ratio
//! of 1 and does not lie inside the margin. It is the *same* when its plain 90 % interval lies inside
//! the margin, which is two one-sided tests at 5 % (Schuirmann 1987). Otherwise the result is
//! inconclusive. The margin is fixed before anything is measured and does not grow with the noise.
//!
//! `examples/coverage` measures how often these rules err and what they find;
//! `docs/methodology.md` has its tables.
//!
//! Not in this file: rows against each other; that is in `ranks`.

use crate::estimate::{CONFIDENCE, Interval};
use crate::simultaneous::{Family, student_critical};
use crate::two_way::{Contrast, MOSTLY, TwoWay};
use std::collections::BTreeMap;

/// With fewer cohorts there are estimates and no verdicts: the noise of two cohorts is known from a
/// single difference.
pub const MIN_COHORTS: usize = 3;
/// The probability beyond the two ends of the plain interval.
pub(crate) const PLAIN_TAILS: f64 = 0.10;
/// Critical values are computed for degrees of freedom in steps of 2 %.
const FREEDOM_STEP: f64 = 0.02;
/// How often the check of the baseline is suspicious without a cause. It is stricter than a verdict because
/// it withholds all verdicts of a load, and a suite has several loads.
const CHECK_ALPHA: f64 = 0.01;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It is above 1.
    Higher,
    /// It is below 1.
    Lower,
    Same,
    /// The noise leaves open which of these holds.
    Inconclusive,
    /// There are fewer than [`MIN_COHORTS`] cohorts of both sides.
    TooFewCohorts,
}

/// The ratio of a row to the baseline, or of one row to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The ratio of the geometric means.
    pub ratio: f64,
    /// Cohorts in which both sides have a value.
    pub cohorts: usize,
    /// The 95 % interval, which holds for all rows of the family at once; None below
    /// [`MIN_COHORTS`].
    pub interval: Option<Interval>,
    /// The 90 % interval of this row by itself; None below [`MIN_COHORTS`].
    pub plain: Option<Interval>,
    /// The p value of "the ratio is 1", adjusted for all rows of the family; None below
    /// [`MIN_COHORTS`].
    pub p_adjusted: Option<f64>,
    pub outcome: Outcome,
}

/// The baseline's second instance compared with its first (A/A).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AaCheck {
    /// Second over first, with a 99 % interval.
    pub judged: Judged,
    /// Whether the two differ: then what makes them differ may be in every other difference too.
    pub differ: bool,
}

impl Interval {
    /// The ratios that count as no difference: from 1 / (1 + margin) to 1 + margin.
    #[must_use]
    pub fn of_margin(margin: f64) -> Self {
        Self { low: 1.0 / (1.0 + margin), high: 1.0 + margin }
    }
}

/// Judges each of `rows` against the mean of the rows in `baseline`, as one family. A row that the
/// model does not connect with the baseline has no judgement.
#[must_use]
pub fn judge_against(
    model: &TwoWay,
    rows: &[usize],
    baseline: &[usize],
    margin: f64,
) -> Vec<Option<Judged>> {
    let (contrasts, family) = many_to_one(model, rows, baseline);
    let mut rule = Rule::new(family, 1.0 - CONFIDENCE, margin);
    contrasts.into_iter().map(|contrast| contrast.map(|it| rule.judge(&it))).collect()
}

/// The difference of each of `rows` from the mean of the rows in `baseline`, and the family of these.
pub(crate) fn many_to_one(
    model: &TwoWay,
    rows: &[usize],
    baseline: &[usize],
) -> (Vec<Option<Contrast>>, Family) {
    let contrasts: Vec<Option<Contrast>> =
        rows.iter().map(|row| model.contrast(&[*row], baseline)).collect();
    let tested = || contrasts.iter().flatten().filter(|it| it.cohorts >= MIN_COHORTS);
    // The correlation of two rows is the root of the product of their shares, so none is below the
    // smallest share; and the smaller it is, the wider are the intervals.
    let correlation = tested().map(|it| it.reference_share).fold(1.0, f64::min).min(0.99);
    let family = Family::ManyToOne { rows: tested().count(), correlation };
    (contrasts, family)
}

/// Judges the mean of the rows of the second side against that of the first, as one of this many
/// comparisons, each of which has an error of its own. None where a row is not in the model.
#[must_use]
pub fn judge_sides(
    model: &TwoWay,
    [first, second]: [&[usize]; 2],
    comparisons: usize,
    margin: f64,
) -> Option<Judged> {
    let contrast = model.contrast(second, first)?;
    let mut rule = Rule::new(Family::Separate { comparisons }, 1.0 - CONFIDENCE, margin);
    Some(rule.judge(&contrast))
}

/// Compares the two instances of the baseline. They are suspicious when the 99 % interval of their ratio
/// excludes 1 and does not lie inside the margin, which equal instances do in at most 1 % of loads.
#[must_use]
pub fn check_baseline(model: &TwoWay, baseline: [usize; 2], margin: f64) -> Option<AaCheck> {
    let [first, second] = baseline;
    let contrast = model.contrast(&[second], &[first])?;
    let family = Family::ManyToOne { rows: 1, correlation: 0.0 };
    let judged = Rule::new(family, CHECK_ALPHA, margin).judge(&contrast);
    Some(AaCheck { judged, differ: matches!(judged.outcome, Outcome::Higher | Outcome::Lower) })
}

/// How the differences of one family are judged.
#[derive(Debug)]
pub(crate) struct Rule {
    family: Family,
    /// The probability of any error in the family.
    alpha: f64,
    /// The probability beyond the two ends of the plain interval.
    pub(crate) plain_tails: f64,
    margin: f64,
    /// Critical values by steps of their degrees of freedom, because each takes a while.
    critical: BTreeMap<(i64, bool), f64>,
}

impl Rule {
    pub(crate) const fn new(family: Family, alpha: f64, margin: f64) -> Self {
        Self { family, alpha, plain_tails: PLAIN_TAILS, margin, critical: BTreeMap::new() }
    }

    pub(crate) fn judge(&mut self, contrast: &Contrast) -> Judged {
        let Contrast { difference, error, freedom, cohorts, .. } = *contrast;
        let ratio = difference.exp();
        if cohorts < MIN_COHORTS {
            let (interval, plain, p_adjusted) = (None, None, None);
            let outcome = Outcome::TooFewCohorts;
            return Judged { ratio, cohorts, interval, plain, p_adjusted, outcome };
        }
        let around = |reach: f64| Interval {
            low: (difference - reach * error).exp(),
            high: (difference + reach * error).exp(),
        };
        let interval = around(self.critical(contrast));
        let plain = around(student_critical(self.plain_tails, freedom));
        Judged {
            ratio,
            cohorts,
            interval: Some(interval),
            plain: Some(plain),
            p_adjusted: Some(self.family_of(contrast).p_value(difference / error, freedom)),
            outcome: outcome(&interval, &plain, &Interval::of_margin(self.margin)),
        }
    }

    /// The conclusion from a difference, without its p value.
    pub(crate) fn outcome(&mut self, contrast: &Contrast) -> Outcome {
        let Contrast { difference, error, .. } = *contrast;
        let reach = self.critical(contrast) * error;
        let band = Interval::of_margin(self.margin);
        let interval =
            Interval { low: (difference - reach).exp(), high: (difference + reach).exp() };
        outcome(&interval, &interval, &band)
    }

    /// The errors of a family are one error as far as rows borrow from each other. A row that knows
    /// most of its error by itself is judged as if all did.
    const fn family_of(&self, contrast: &Contrast) -> Family {
        let comparisons = self.family.comparisons();
        if contrast.borrowed < MOSTLY { Family::Separate { comparisons } } else { self.family }
    }

    /// The critical value of slightly fewer degrees of freedom, so that rows share it.
    pub(crate) fn critical(&mut self, contrast: &Contrast) -> f64 {
        let step = (contrast.freedom.ln() / FREEDOM_STEP).floor();
        let (family, alpha) = (self.family_of(contrast), self.alpha);
        let compute = || family.critical(alpha, (step * FREEDOM_STEP).exp());
        let key = (step as i64, family == self.family);
        *self.critical.entry(key).or_insert_with(compute)
    }
}

fn outcome(interval: &Interval, plain: &Interval, margin: &Interval) -> Outcome {
    let is_beyond = !interval.lies_within(margin);
    if is_beyond && interval.low > 1.0 {
        Outcome::Higher
    } else if is_beyond && interval.high < 1.0 {
        Outcome::Lower
    } else if plain.lies_within(margin) {
        Outcome::Same
    } else {
        Outcome::Inconclusive
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: [f64; 6] = [-0.010, 0.004, 0.010, -0.002, 0.006, -0.005];

    /// Rows at these ratios, with the same noise in another order.
    fn model(ratios: &[f64], cohorts: usize) -> TwoWay {
        let row = |(turn, ratio): (usize, &f64)| -> Vec<f64> {
            (0..cohorts).map(|it| ratio.ln() + NOISE[(it * 5 + turn) % 6]).collect()
        };
        let cells: Vec<Vec<f64>> = ratios.iter().enumerate().map(row).collect();
        TwoWay::fit(&cells, &[0, 1]).unwrap()
    }

    fn outcomes(ratios: &[f64], cohorts: usize, margin: f64) -> Vec<Outcome> {
        let model = model(&[&[1.0, 1.0], ratios].concat(), cohorts);
        let rows: Vec<usize> = (2..ratios.len() + 2).collect();
        let judged = judge_against(&model, &rows, &[0, 1], margin);
        judged.into_iter().map(|it| it.unwrap().outcome).collect()
    }

    #[test]
    fn a_plain_difference_is_found_with_four_cohorts_and_equal_rows_are_the_same() {
        let found = outcomes(&[1.0, 1.08, 0.9, 1.0, 1.0, 1.0], 4, 0.03);
        assert_eq!(found[1], Outcome::Higher);
        assert_eq!(found[2], Outcome::Lower);
        assert!(found.iter().filter(|it| **it == Outcome::Same).count() >= 3, "{found:?}");
    }

    #[test]
    fn two_cohorts_have_estimates_and_no_verdict() {
        let model = model(&[1.0, 1.0, 2.5], 2);
        let judged = judge_against(&model, &[2], &[0, 1], 0.03)[0].unwrap();
        assert_eq!(judged.outcome, Outcome::TooFewCohorts);
        assert_eq!((judged.interval, judged.plain, judged.p_adjusted), (None, None, None));
        assert!((judged.ratio - 2.5).abs() < 0.1, "{judged:?}");
    }

    #[test]
    fn a_factor_of_two_and_a_half_is_different_from_three_cohorts_on() {
        assert_eq!(outcomes(&[2.5, 1.0], 3, 0.03)[0], Outcome::Higher);
    }

    #[test]
    fn the_margin_decides_what_is_the_same_and_the_noise_does_not() {
        let at = |low: f64, high: f64, plain: (f64, f64)| {
            let of = |(low, high)| Interval { low, high };
            outcome(&of((low, high)), &of(plain), &Interval::of_margin(0.03))
        };
        assert_eq!(at(1.001, 1.02, (1.005, 1.015)), Outcome::Same);
        assert_eq!(at(1.001, 1.05, (1.01, 1.04)), Outcome::Higher);
        assert_eq!(at(0.95, 0.999, (0.96, 0.99)), Outcome::Lower);
        assert_eq!(at(0.96, 1.04, (0.98, 1.02)), Outcome::Same);
        assert_eq!(at(0.96, 1.04, (0.96, 1.02)), Outcome::Inconclusive);
        assert_eq!(at(0.5, 2.0, (0.6, 1.6)), Outcome::Inconclusive);
    }

    #[test]
    fn two_instances_of_the_baseline_that_differ_are_suspicious() {
        let check = |second: f64| {
            check_baseline(&model(&[1.0, second, 1.0, 1.0], 4), [0, 1], 0.03).unwrap()
        };
        assert!(!check(1.0).differ && !check(1.01).differ);
        assert!(check(1.08).differ && check(0.92).differ);
        assert!((check(1.08).judged.ratio - 1.08).abs() < 0.02);
    }

    #[test]
    fn more_rows_make_wider_intervals() {
        let width = |rows: usize| {
            let model = model(&vec![1.0; rows + 2], 6);
            let rows: Vec<usize> = (2..rows + 2).collect();
            let judged = judge_against(&model, &rows, &[0, 1], 0.03)[0].unwrap();
            judged.interval.unwrap().width() / judged.plain.unwrap().width()
        };
        assert!(width(9) > width(2) && width(2) > 1.1, "{} {}", width(9), width(2));
    }
}
