//! What changed between two results that were made at different times: nothing pairs their cohorts.
//!
//! A row's change is its difference from the baseline in the newer result, less that in the older
//! one. Each comes from the [model](crate::two_way) of its own result. Where the results have no
//! baseline in common, the row's own levels take the place of these differences.
//!
//! The error of a change is the root of the sum of both squares. Its degrees of freedom are those of
//! the side whose error is known worse. Where both sides borrow most of theirs from other rows, and so
//! hardly look quiet by chance, both count as far as they have a part in the error (Satterthwaite
//! 1946). All changes of one figure are one family (Sidak 1967).
//!
//! Not in this file: how far two results of the same program differ for reasons that all cohorts of a
//! result share. Each result is a sample of one, so no figure of this crate can contain that.

use crate::estimate::CONFIDENCE;
use crate::judgement::{Judged, MIN_COHORTS, Rule};
use crate::mean::Mean;
use crate::moderation::LEAST_VARIANCE;
use crate::simultaneous::Family;
use crate::two_way::{Contrast, MOSTLY};

impl Contrast {
    /// The level of a row by itself: the mean of its logarithms, one of each cohort. What the
    /// instances of a cohort have in common is in its error. None without finite values.
    #[must_use]
    pub fn of_level(logarithms: &[f64]) -> Option<Self> {
        let Mean { value, variance, count } = Mean::of(logarithms)?;
        Some(Self {
            difference: value,
            error: (variance.max(LEAST_VARIANCE) / count as f64).sqrt(),
            freedom: (count as f64 - 1.0).max(1.0),
            borrowed: 0.0,
            reference_share: 0.0,
            cohorts: count,
        })
    }

    /// This difference less the same one in an older result.
    #[must_use]
    pub fn since(&self, old: &Self) -> Self {
        let squares = self.error.powi(2) + old.error.powi(2);
        let share = |it: &Self| it.error.powi(2) / squares;
        let is_shared = self.borrowed.min(old.borrowed) >= MOSTLY;
        let alike = share(self).powi(2) + share(old).powi(2);
        let freedom = self.freedom.min(old.freedom) / if is_shared { alike } else { 1.0 };
        Self {
            difference: self.difference - old.difference,
            error: squares.sqrt(),
            freedom,
            borrowed: self.borrowed.min(old.borrowed),
            reference_share: self.reference_share * share(self) + old.reference_share * share(old),
            cohorts: self.cohorts.min(old.cohorts),
        }
    }
}

/// Judges the changes of one figure between two results as one family: new over old.
#[must_use]
pub fn judge_changes(changes: &[Contrast], margin: f64) -> Vec<Judged> {
    let comparisons = changes.iter().filter(|it| it.cohorts >= MIN_COHORTS).count();
    let mut rule = Rule::new(Family::Separate { comparisons }, 1.0 - CONFIDENCE, margin);
    changes.iter().map(|change| rule.judge(change)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgement::Outcome;

    const NOISE: [f64; 4] = [-0.004, 0.003, 0.002, -0.001];

    fn level(ratio: f64, cohorts: usize) -> Contrast {
        let logs: Vec<f64> = NOISE[..cohorts].iter().map(|noise| ratio.ln() + noise).collect();
        Contrast::of_level(&logs).unwrap()
    }

    #[test]
    fn the_error_of_a_change_is_that_of_both_sides() {
        let (old, new) = (level(1.0, 4), level(1.1, 3));
        let change = new.since(&old);
        assert!((change.error.powi(2) - old.error.powi(2) - new.error.powi(2)).abs() < 1e-15);
        assert!((change.freedom - 2.0).abs() < 1e-9 && change.cohorts == 3, "{change:?}");
        // Of equal sides that know their error from many rows both count.
        let alike = Contrast { borrowed: 0.8, ..old };
        assert!((alike.since(&alike).freedom - 6.0).abs() < 1e-9);
        let quiet = Contrast { error: old.error / 100.0, ..alike };
        assert!((quiet.since(&alike).freedom - 3.0).abs() < 0.01);
    }

    #[test]
    fn exchanging_old_and_new_gives_the_reciprocal() {
        let (old, new) = (level(1.0, 4), level(1.1, 4));
        let judged = judge_changes(&[new.since(&old), old.since(&new)], 0.03);
        assert_eq!((judged[0].outcome, judged[1].outcome), (Outcome::Higher, Outcome::Lower));
        assert!((judged[0].ratio * judged[1].ratio - 1.0).abs() < 1e-12);
        let (there, back) = (judged[0].interval.unwrap(), judged[1].interval.unwrap());
        assert!((there.low * back.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_side_with_two_cohorts_leaves_no_interval_and_does_not_widen_the_others() {
        let change = |old, new| level(1.1, new).since(&level(1.0, old));
        let judged = judge_changes(&[change(2, 4), change(4, 4)], 0.03);
        assert_eq!((judged[0].outcome, judged[0].interval), (Outcome::TooFewCohorts, None));
        assert_eq!(judged[1], judge_changes(&[change(4, 4)], 0.03)[0]);
        assert!(Contrast::of_level(&[f64::NAN]).is_none());
    }

    #[test]
    fn equal_values_are_the_same_and_not_exact() {
        let level = Contrast::of_level(&[1.0; 3]).unwrap();
        let judged = judge_changes(&[level.since(&level)], 0.03)[0];
        assert_eq!(judged.outcome, Outcome::Same);
        assert!(judged.interval.unwrap().width() > 0.0);
    }
}
