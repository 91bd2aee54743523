//! Verdicts: which rows differ from what they are compared with, and which are the same.
//!
//! No row is judged for itself: the more rows there are, the more of them look different by chance.
//! So p values are adjusted for all rows of a family (Holm 1979). An exact test could then never
//! find anything with six blocks, because its smallest p is 2 / 64 before it is multiplied by the
//! number of rows. The p values come from Student's t instead, made firm in two ways: a row counts
//! as different only as far as both the mean and Hodges and Lehmann's estimate say so, and a row
//! that looks quieter than the rest of its family is not believed all of it. Beside it stands the
//! row's exact interval, which must exclude 1 as well: with six blocks, all six must agree.
//!
//! How many families of equal rows hold any false difference, in percent, without the help of a
//! floor (800 of each kind, so that an error of 2 is chance; `examples/coverage` makes them). First
//! for [`judge`], then for [`judge_changes`]; the worst of 1, 5, 20 and 50 rows:
//!
//! | noise | 6 blocks | 10 | 30 |
//! |---|---|---|---|
//! | normal | 2.2, 3.2 | 3.4, 4.4 | 4.1, 5.8 |
//! | skewed (lognormal) | 2.9, 2.4 | 4.1, 2.8 | 2.4, 3.6 |
//! | exponential tail | 1.0, 1.5 | 3.9, 2.6 | 2.0, 2.1 |
//! | two modes, 85 to 15 | 1.0, 1.9 | 1.5, 2.1 | 1.1, 0.2 |
//! | the same with hardly any noise within the modes | 0.4, 1.5 | 1.4, 0.9 | 1.8, 0.1 |
//! | two modes, evenly | 2.9, 3.5 | 3.6, 5.1 | 4.9, 4.1 |
//! | normal, rows 0.3 to 10 times as noisy as the baseline | 3.4 | 2.9 | 3.4 |
//!
//! No figure is above 5 by more than chance: the 5.8, which is of a single row, became 3.4 in 4000
//! further experiments.
//!
//! Its limit are rows whose noise has another shape than the baseline's, with the same
//! pseudo-median. Skewed and exponential rows beside a normal baseline stay below 4.3; with two
//! modes, 85 to 15, up to 9.6 are wrong with thirty blocks, and with two even modes 10 % apart up
//! to 10.9.
//!
//! How often one row that differs is found among equal ones, in percent (1 % of noise in each run,
//! so 1.4 % in each ratio; floor 1 %). Again [`judge`], then [`judge_changes`]:
//!
//! | blocks | rows | 2 % | 3 % | 5 % | 7 % |
//! |---|---|---|---|---|---|
//! | 6 | 1 | 55, 48 | 88, 82 | 100, 100 | 100, 100 |
//! | 6 | 5 | 43, 26 | 82, 65 | 99, 98 | 100, 100 |
//! | 6 | 20 | 23, 10 | 61, 38 | 97, 92 | 100, 100 |
//! | 6 | 50 | 12, 5 | 43, 26 | 91, 83 | 99, 99 |
//! | 10 | 5 | 83, 56 | 100, 94 | 100, 100 | 100, 100 |
//! | 10 | 50 | 48, 24 | 91, 68 | 100, 100 | 100, 100 |
//! | 30 | 50 | 100, 96 | 100, 100 | 100, 100 | 100, 100 |
//!
//! Not here: whether rows differ from each other; that is in `ranks`.

use crate::change::change_estimate;
use crate::estimate::{Estimate, MIN_BLOCKS};
use crate::floor::Floor;
use crate::location::ratio_estimate;
use crate::significance::{Evidence, SIGNIFICANCE, family_p_values};

/// What can be said of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// The ratio is above 1: the interval excludes 1, the adjusted p is at most 0.05, and the ratio
    /// is beyond the floor.
    Higher,
    /// The ratio is below 1, in the same sense.
    Lower,
    /// The whole interval lies within the floor: any difference is smaller than what equal things
    /// show. A row that is not within it gets this by chance in at most 2.5 % of all cases.
    Same,
    /// Neither; or fewer than [`MIN_BLOCKS`] blocks.
    CannotTell,
}

/// A row that was judged among others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judgement {
    /// The ratio and its interval, which is the row's own and is not adjusted; None without
    /// values.
    pub estimate: Option<Estimate>,
    /// The p value of "the ratio is 1", adjusted for all rows (Holm); None below [`MIN_BLOCKS`].
    pub p_adjusted: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// The values of one row in two results.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// One value of each run in the old result.
    pub old: &'a [f64],
    /// One value of each run in the new result.
    pub new: &'a [f64],
}

/// Judges all rows of one workload together: for each its ratios to the baseline, one per block.
///
/// The rows come back in the order given.
#[must_use]
pub fn judge<Row: AsRef<[f64]>>(rows: &[Row], floor: &Floor) -> Vec<Judgement> {
    judge_family(rows, floor, |row| {
        (ratio_estimate(row.as_ref()), Evidence::of_ratios(row.as_ref()))
    })
}

/// Judges the changes of all rows of one workload together, between two results that were made at
/// different times.
#[must_use]
pub fn judge_changes(rows: &[Change<'_>], floor: &Floor) -> Vec<Judgement> {
    judge_family(rows, floor, |row| {
        (change_estimate(row.old, row.new), Evidence::of_change(row.old, row.new))
    })
}

/// Estimates and tests each row, then adjusts and judges all.
fn judge_family<Row>(
    rows: &[Row],
    floor: &Floor,
    measure: impl Fn(&Row) -> (Option<Estimate>, Option<Evidence>),
) -> Vec<Judgement> {
    let measured: Vec<(Option<Estimate>, Option<Evidence>)> = rows
        .iter()
        .map(|row| {
            let (estimate, evidence) = measure(row);
            let suffices = estimate.is_some_and(|estimate| estimate.samples >= MIN_BLOCKS);
            (estimate, evidence.filter(|_| suffices))
        })
        .collect();
    let tested: Vec<Evidence> = measured.iter().filter_map(|(_, evidence)| *evidence).collect();
    let mut adjusted = family_p_values(&tested).into_iter();
    measured
        .into_iter()
        .map(|(estimate, evidence)| {
            let p_adjusted = evidence.and_then(|_| adjusted.next());
            Judgement { estimate, p_adjusted, verdict: verdict_of(estimate, p_adjusted, floor) }
        })
        .collect()
}

/// The verdict of one row whose p is adjusted already.
fn verdict_of(estimate: Option<Estimate>, p_adjusted: Option<f64>, floor: &Floor) -> Verdict {
    let (Some(estimate), Some(p)) = (estimate, p_adjusted) else { return Verdict::CannotTell };
    let Some(interval) = estimate.interval else { return Verdict::CannotTell };
    let band = floor.band();
    if p <= SIGNIFICANCE && interval.low > 1.0 && estimate.value > band.high {
        Verdict::Higher
    } else if p <= SIGNIFICANCE && interval.high < 1.0 && estimate.value < band.low {
        Verdict::Lower
    } else if interval.lies_within(&band) {
        Verdict::Same
    } else {
        Verdict::CannotTell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::FloorBasis;
    use crate::significance::student_p;

    const FLOOR: Floor = Floor { relative: 0.01, basis: FloorBasis::Least };
    const NOISE: [f64; 6] = [0.99, 1.004, 1.01, 0.998, 1.006, 0.995];

    fn row(ratio: f64) -> Vec<f64> {
        NOISE.iter().map(|noise| noise * ratio).collect()
    }

    fn verdict(values: &[f64], floor: &Floor) -> Verdict {
        judge(&[values], floor)[0].verdict
    }

    #[test]
    fn six_blocks_and_fifty_rows_suffice_for_a_plain_difference() {
        let mut rows = vec![row(1.0); 48];
        rows.insert(7, row(1.05));
        rows.push(row(0.95));
        let judged = judge(&rows, &FLOOR);
        assert_eq!(judged[7].verdict, Verdict::Higher, "{:?}", judged[7]);
        assert_eq!(judged[49].verdict, Verdict::Lower, "{:?}", judged[49]);
        assert!(judged.iter().filter(|row| row.verdict == Verdict::CannotTell).count() == 48);
    }

    #[test]
    fn five_blocks_never_tell_anything_and_do_not_burden_the_others() {
        let five = row(2.0)[..5].to_vec();
        let judged = judge(&[five, row(1.05), vec![]], &FLOOR);
        assert_eq!(judged[0].verdict, Verdict::CannotTell);
        assert!(judged[0].p_adjusted.is_none() && judged[0].estimate.is_some());
        assert_eq!(judged[1].p_adjusted, student_p(&row(1.05)));
        assert!(judged[2].estimate.is_none() && judged[2].verdict == Verdict::CannotTell);
    }

    #[test]
    fn what_lies_within_the_floor_is_the_same_and_what_straddles_it_cannot_be_told() {
        let quiet = [1.003, 1.004, 1.005, 1.004, 1.003, 1.005];
        assert_eq!(verdict(&quiet, &FLOOR), Verdict::Same);
        assert_eq!(verdict(&row(1.0), &Floor { relative: 0.02, ..FLOOR }), Verdict::Same);
        assert_eq!(verdict(&row(1.02), &FLOOR), Verdict::Higher);
        assert_eq!(verdict(&row(1.02), &Floor { relative: 0.025, ..FLOOR }), Verdict::CannotTell);
    }

    #[test]
    fn a_change_needs_six_runs_on_both_sides() {
        let (old, new) = (row(10.0), row(11.0));
        let change = |old, new| judge_changes(&[Change { old, new }], &FLOOR)[0].verdict;
        assert_eq!(change(&old, &new), Verdict::Higher);
        assert_eq!(change(&new, &old), Verdict::Lower);
        assert_eq!(change(&old[..5], &new), Verdict::CannotTell);
        assert_eq!(change(&old, &old), Verdict::CannotTell);
    }
}
