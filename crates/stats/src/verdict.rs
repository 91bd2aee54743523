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
//! Not here: whether rows differ from each other; that is in `ranks`.

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

/// Judges all rows of one workload together: for each its ratios to the baseline, one per block.
///
/// The rows come back in the order given.
#[must_use]
pub fn judge<Row: AsRef<[f64]>>(rows: &[Row], floor: &Floor) -> Vec<Judgement> {
    let measured: Vec<(Option<Estimate>, Option<Evidence>)> = rows
        .iter()
        .map(|row| {
            let estimate = ratio_estimate(row.as_ref());
            let suffices = estimate.is_some_and(|estimate| estimate.samples >= MIN_BLOCKS);
            (estimate, Evidence::of_ratios(row.as_ref()).filter(|_| suffices))
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
}
