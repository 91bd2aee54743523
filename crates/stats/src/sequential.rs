//! Verdicts at several looks while a comparison runs, so that it can end when the answer is known.
//!
//! Each look has levels of its own. Over all looks together at most 5 % of comparisons call any of
//! several equal rows *different*, and at most 5 % call a row *same* whose true ratio is the margin.
//! The levels spend these errors in proportion to the share of the budget that has passed (Lan and
//! DeMets 1983; Kim and DeMets 1987, exponent 1). The cohorts of two looks determine their correlation
//! (Lan and DeMets 1989). The levels come from numeric integration (Armitage, McPherson and Rowe 1969;
//! Jennison and Turnbull 2000, chapter 19). A look compares the t statistic of the moderated error
//! with Student's or Dunnett's value at its level. The interval at that level belongs to the look. It
//! holds whenever the comparison ends and for whatever reason (Jennison and Turnbull 1989).
//!
//! The levels of a look depend on the looks up to it, so later looks may be planned again from time.
//! They must not be planned from results.
//!
//! Not in this file: when to look, and when to end. No verb looks before its end yet.

use crate::estimate::CONFIDENCE;
use crate::judgement::{Judged, MIN_COHORTS, Rule, many_to_one};
use crate::simultaneous::{Family, normal_cdf, student_critical};
use crate::two_way::{Contrast, TwoWay};
use std::f64::consts::TAU;

/// The correlation of the noise of neighbouring cohorts that all errors allow for.
///
/// Without this allowance the simulated share of false differences is 4 % for independent cohorts,
/// 10 % for a correlation of 0.2 and 22 % for 0.4; with it, at most 0.4, 1.2 and 4.7 %. An estimate
/// cannot replace it: from three to six cohorts of four instances its standard error is 0.4 to 0.25.
/// The price is intervals 1.5 times as wide. Without correlation two programs that differ by 2 % take
/// 3.3 cohorts instead of 3.0 where a cohort has a deviation of 0.4 %, and 10.8 instead of 6.9 with
/// 1.5 %; equal ones with a margin of 1 % take 5.6 instead of 3.7 with 0.4 %.
/// The example `coverage looks` prints the figures with it.
const CORRELATION: f64 = 0.4;
/// The spent probability of calling a row *same* whose true ratio is the margin. The simulated one is
/// up to a quarter larger with a correlation of 0.4, which leaves fewer degrees of freedom than are
/// counted.
const SAME_ALPHA: f64 = 0.04;
/// The two-sided level whose value of t 9 of 10 values are below.
const ONE_OF_TEN_TAILS: f64 = 0.2;
/// Points of the integrals over the values at which no bound was crossed.
const POINTS: usize = 240;
/// The standard score at which integrals and searches end: 6e-16 is beyond it.
const SCORE_END: f64 = 8.0;
/// Halvings of the range of a bound.
const HALVINGS: usize = 50;

/// A time at which a running comparison may be judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedLook {
    /// Cohorts that are complete by then.
    pub cohorts: usize,
    /// The share of the budget that has passed, above 0; 1 at the last look.
    pub share: f64,
}

/// The levels of one look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The two-sided level at which one row is called different. Its interval has the confidence of
    /// 1 minus this, before the adjustment for several rows.
    pub different: f64,
    /// The level of each of the two one-sided tests for *same*.
    pub same: f64,
}

/// A load before it is measured, with the variances that are expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedLoad {
    pub cohorts: usize,
    /// Visits of each instance in a cohort.
    pub visits: usize,
    /// The variance of the logarithm of a figure between the visits of one instance.
    pub visit_variance: f64,
    /// Its variance between instances of one program.
    pub instance_variance: f64,
    /// Instances of each side in a cohort.
    pub instances: [usize; 2],
}

/// The bounds of each of `looks`, where this many rows are compared with one baseline. Cohorts must
/// grow from look to look, and shares must not shrink.
#[must_use]
pub fn bounds(looks: &[PlannedLook], rows: usize) -> Vec<Bounds> {
    // Independent rows together have the error (Sidak 1967).
    let alpha = 1.0 - CONFIDENCE.powf(1.0 / rows.max(1) as f64);
    let different = levels(looks, alpha, true);
    let same = levels(looks, SAME_ALPHA, false);
    let pairs = different.into_iter().zip(same);
    pairs.map(|(different, same)| Bounds { different, same }).collect()
}

impl Bounds {
    /// Judges as [`judge_against`](crate::judge_against) does, at the levels of this look. An
    /// inconclusive row is undecided until the last look. There are no p values.
    #[must_use]
    pub fn judge_against(
        self,
        model: &TwoWay,
        rows: &[usize],
        baseline: &[usize],
        margin: f64,
    ) -> Vec<Option<Judged>> {
        let (contrasts, family) = many_to_one(model, rows, baseline);
        self.judge(&contrasts, family, margin)
    }

    /// Judges as [`judge_sides`](crate::judge_sides) does, at the levels of this look. Its bounds are
    /// those of one row.
    #[must_use]
    pub fn judge_sides(
        self,
        model: &TwoWay,
        [first, second]: [&[usize]; 2],
        margin: f64,
    ) -> Option<Judged> {
        let family = Family::Separate { comparisons: 1 };
        self.judge(&[model.contrast(second, first)], family, margin).pop()?
    }

    fn judge(
        self,
        contrasts: &[Option<Contrast>],
        family: Family,
        margin: f64,
    ) -> Vec<Option<Judged>> {
        let alpha = 1.0 - (1.0 - self.different).powf(family.comparisons().max(1) as f64);
        let mut rule = Rule::new(family, alpha, margin);
        rule.plain_tails = 2.0 * self.same;
        let mut judge =
            |it: &Contrast| Judged { p_adjusted: None, ..rule.judge(&correlated(it, CORRELATION)) };
        contrasts.iter().map(|contrast| contrast.as_ref().map(&mut judge)).collect()
    }

    /// The smallest true difference that this look calls different in at least 9 of 10 runs, as a
    /// share of 1: exp((t of the level + t of 0.9) x error) - 1, at least the margin. Before a run the
    /// contrast is that of the plan; afterwards it is the measured one.
    #[must_use]
    pub fn detectable(self, contrast: &Contrast, margin: f64) -> f64 {
        let Contrast { error, freedom, .. } = correlated(contrast, CORRELATION);
        let reach =
            student_critical(self.different, freedom) + student_critical(ONE_OF_TEN_TAILS, freedom);
        (reach * error).exp_m1().max(margin)
    }
}

impl PlannedLoad {
    /// The contrast that the plan leads to. Its degrees of freedom are those of the smaller side
    /// without what it borrows.
    #[must_use]
    pub fn contrast(&self) -> Contrast {
        let [first, second] = self.instances.map(|it| it.max(1) as f64);
        let cohorts = self.cohorts.max(MIN_COHORTS) as f64;
        let variance = self.instance_variance + self.visit_variance / self.visits.max(1) as f64;
        Contrast {
            difference: 0.0,
            error: (variance * (1.0 / first + 1.0 / second) / cohorts).sqrt(),
            freedom: first.min(second) * (cohorts - 1.0) * (1.0 - 1.0 / (first + second)),
            borrowed: 0.0,
            reference_share: second / (first + second),
            cohorts: self.cohorts,
        }
    }
}

/// The contrast with its error under autoregressive noise, where cohorts at a distance of n have a
/// correlation of `correlation` to the power of n: the mean varies more, and the values scatter less.
fn correlated(contrast: &Contrast, correlation: f64) -> Contrast {
    let count = contrast.cohorts.max(MIN_COHORTS) as f64;
    let rest = 1.0 - correlation;
    let of_ends = 2.0 * correlation * (1.0 - correlation.powf(count)) / (count * rest.powi(2));
    let of_mean = (1.0 + correlation) / rest - of_ends;
    let of_values = (count - of_mean) / (count - 1.0);
    Contrast { error: contrast.error * (of_mean / of_values).sqrt(), ..*contrast }
}

/// The level of each look, such that a sum of independent normal values crosses a bound up to that
/// look with the probability `alpha` times its share.
fn levels(looks: &[PlannedLook], alpha: f64, is_two_sided: bool) -> Vec<f64> {
    // Sums without a crossing, each with its probability.
    let mut inside = vec![(0.0, 1.0)];
    let (mut before, mut spent) = (0.0, 0.0);
    let mut level = |look: &PlannedLook| {
        let cohorts = look.cohorts as f64;
        let deviation = (cohorts - before).sqrt();
        let beyond = |bound: f64| -> f64 {
            let tail = |sum: f64| normal_cdf((sum - bound) / deviation);
            let both = |sum: f64| tail(sum) + if is_two_sided { tail(-sum) } else { 0.0 };
            inside.iter().map(|(sum, weight)| weight * both(*sum)).sum()
        };
        let (mut low, mut high) = (0.0, SCORE_END);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            let is_low = beyond(middle * cohorts.sqrt()) > alpha * look.share - spent;
            if is_low { low = middle } else { high = middle }
        }
        let bottom = -cohorts.sqrt() * if is_two_sided { high } else { SCORE_END };
        let step = (high * cohorts.sqrt() - bottom) / POINTS as f64;
        let weight = |end: f64| -> f64 {
            let density = |start: f64| (-((end - start) / deviation).powi(2) / 2.0).exp();
            let sum: f64 = inside.iter().map(|(start, weight)| weight * density(*start)).sum();
            sum * step / (deviation * TAU.sqrt())
        };
        let ends = (0..POINTS).map(|point| bottom + (point as f64 + 0.5) * step);
        inside = ends.map(|end| (end, weight(end))).collect();
        (before, spent) = (cohorts, alpha * look.share);
        normal_cdf(-high) * if is_two_sided { 2.0 } else { 1.0 }
    };
    looks.iter().map(&mut level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks<const N: usize>(cohorts: [usize; N], shares: [f64; N]) -> [PlannedLook; N] {
        std::array::from_fn(|at| PlannedLook { cohorts: cohorts[at], share: shares[at] })
    }

    #[test]
    fn repeated_tests_at_5_percent_spend_the_published_errors() {
        // Armitage, McPherson and Rowe (1969), table 2.
        let spent = [0.05, 0.0831, 0.1072, 0.1262, 0.1417];
        let found = levels(&looks([1, 2, 3, 4, 5], spent), 1.0, true);
        assert!(found.iter().all(|level| (level - 0.05).abs() < 2e-4), "{found:?}");
    }

    #[test]
    fn a_look_depends_on_earlier_looks_alone_and_a_single_one_has_all_of_the_error() {
        let all = bounds(&looks([3, 4, 8, 16], [0.2, 0.3, 0.5, 1.0]), 8);
        let fewer = bounds(&looks([3, 4, 9], [0.2, 0.3, 1.0]), 8);
        assert_eq!(all[..2], fewer[..2]);
        let Bounds { different, same } = bounds(&looks([3], [1.0]), 1)[0];
        assert!((different - 0.05).abs() < 1e-9 && (same - SAME_ALPHA).abs() < 1e-9);
    }

    #[test]
    fn three_cohorts_whose_neighbours_correlate_have_the_known_variance() {
        let plain = Contrast::of_level(&[0.0, 0.01, 0.02]).unwrap();
        // The sum of the correlations 1, 0.4 and 0.16 is 4.92.
        let ratio = (correlated(&plain, 0.4).error / plain.error).powi(2);
        assert!((ratio - (4.92 / 3.0) / ((3.0 - 4.92 / 3.0) / 2.0)).abs() < 1e-9, "{ratio}");
        assert!((correlated(&plain, 0.0).error / plain.error - 1.0).abs() < 1e-12);
        // With 2 degrees of freedom t is 4.303 for the level and 1.886 for 9 of 10.
        let (bounds, error) = (Bounds { different: 0.05, same: 0.05 }, plain.error * ratio.sqrt());
        let detectable = bounds.detectable(&plain, 0.01);
        assert!(((6.189 * error).exp_m1() / detectable - 1.0).abs() < 1e-3, "{detectable}");
    }
}
