//! P values that reach below 2 / 2^n, and their adjustment for many rows.
//!
//! They are Student's on logarithms, which assumes that noise has normal tails where an exact test
//! assumes nothing. What that is worth with other noise is measured; `verdict` has the tables.

use crate::location::hodges_lehmann;
use crate::summary::logarithms;
use statrs::function::beta::checked_beta_reg;

/// A difference counts when it would appear in at most this share of experiments without one.
pub const SIGNIFICANCE: f64 = 0.05;
/// How many degrees of freedom the typical noise of a family weighs in each of its rows.
const TYPICAL_FREEDOM: f64 = 2.0;

/// The two-sided p value of "the ratio is 1" by Student's t on the logarithms of ratios within
/// blocks, for the mean or for [`hodges_lehmann`]'s estimate, whichever is nearer to no difference.
/// None with fewer than two positive ratios.
#[cfg(test)]
pub(crate) fn student_p(ratios: &[f64]) -> Option<f64> {
    Evidence::of_ratios(ratios)?.p_value()
}

/// P values adjusted for being several, in the order given (Holm 1979). At most one in twenty
/// families has any adjusted p of 0.05 or less without a true difference, however the rows depend
/// on each other; that all are divided by the same baseline does no harm.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|first, second| p_values[*first].total_cmp(&p_values[*second]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        largest = largest.max(p_values[index] * (p_values.len() - place) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// What a t test weighs against each other, on logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// How far the estimate is from that of equal sides.
    distance: f64,
    /// The square of its standard error.
    error_squared: f64,
    /// The degrees of freedom of that error.
    freedom: f64,
}

impl Evidence {
    pub(crate) fn of_ratios(ratios: &[f64]) -> Option<Evidence> {
        let logs = logarithms(ratios);
        let side = Moments::of(&logs)?;
        let error_squared = side.variance / side.count;
        Some(Evidence {
            distance: nearer(side.mean, hodges_lehmann(&logs)?),
            error_squared,
            freedom: side.count - 1.0,
        })
    }

    /// P(|t| >= distance / error). Without any noise it is 0 or 1: either the sides differ or they
    /// do not.
    pub(crate) fn p_value(&self) -> Option<f64> {
        if self.error_squared <= 0.0 {
            return Some(if self.distance.abs() > 0.0 { 0.0 } else { 1.0 });
        }
        let t_squared = self.distance.powi(2) / self.error_squared;
        let share = self.freedom / (self.freedom + t_squared);
        checked_beta_reg(self.freedom / 2.0, 0.5, share).ok()
    }

    /// The same with an error that knows of the typical one of its family.
    ///
    /// A row that has two modes may happen to stay in one of them for six blocks. It then looks
    /// both different and free of noise, and of fifty such rows some always do. So the error is
    /// drawn towards the typical one, as if a few of its degrees of freedom came from there (Smyth
    /// 2004 has the same form), and those count. A row that is noisier than its family keeps its
    /// error, and what the family knows of it counts the less.
    fn beside(self, typical_error_squared: f64) -> Evidence {
        let drawn = (self.freedom * self.error_squared + TYPICAL_FREEDOM * typical_error_squared)
            / (self.freedom + TYPICAL_FREEDOM);
        let credit = (typical_error_squared / self.error_squared.max(f64::MIN_POSITIVE)).min(1.0);
        Evidence {
            error_squared: self.error_squared.max(drawn),
            freedom: self.freedom + TYPICAL_FREEDOM * credit,
            ..self
        }
    }
}

/// The p values of all rows of a family, each with the typical error of the others in mind,
/// adjusted for being several.
pub(crate) fn family_p_values(family: &[Evidence]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..family.len()).collect();
    let error = |index: usize| family[index].error_squared;
    order.sort_by(|first, second| error(*first).total_cmp(&error(*second)));
    let mut p_values = vec![1.0; family.len()];
    for (place, index) in order.iter().enumerate() {
        let row = family[*index];
        // The middle of the others: places after this row's own move up by one. Of two middle ones
        // the larger is taken.
        let others = family.len() - 1;
        let middle = if others / 2 < place { others / 2 } else { others / 2 + 1 };
        let typical = order.get(middle).map(|other| error(*other));
        let beside = typical.map_or(row, |typical| row.beside(typical));
        // What cannot be computed is no evidence of a difference.
        p_values[*index] = beside.p_value().unwrap_or(1.0);
    }
    holm(&p_values)
}

/// The smaller of two distances; none at all where they disagree on the direction.
///
/// The mean of noise with two modes is steadier than Hodges and Lehmann's estimate, which jumps
/// between them. Where the noise of the two sides has different shapes, the means differ although
/// the estimates agree. So a difference must show in both.
fn nearer(one: f64, other: f64) -> f64 {
    if one * other <= 0.0 {
        0.0
    } else if one.abs() < other.abs() {
        one
    } else {
        other
    }
}

/// The moments of a sample.
struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(values: &[f64]) -> Option<Moments> {
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Moments { count, mean, variance: squares / (count - 1.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-3)
    }

    #[test]
    fn students_p_is_that_of_the_published_tables() {
        // The two-sided critical values of t with 5 degrees of freedom.
        let p = |distance, freedom| Evidence { distance, error_squared: 1.0, freedom }.p_value();
        assert!(near(p(2.571, 5.0), 0.05));
        assert!(near(p(6.869, 5.0), 0.001));
        // And one far out: with 2 degrees there is a closed form, 1 - t / sqrt(2 + t^2).
        let t: f64 = 40.0;
        assert!(near(p(-t, 2.0), 1.0 - t / (2.0 + t * t).sqrt()));
    }

    #[test]
    fn a_ratio_and_its_reciprocal_have_the_same_p() {
        let ratios = [1.02, 1.05, 0.99, 1.04, 1.03, 1.01];
        let reciprocals: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
        let p = student_p(&ratios);
        assert!(near(student_p(&reciprocals), p.unwrap()));
        assert!(p.unwrap() > 0.001 && p.unwrap() < 0.05, "{p:?}");
    }

    #[test]
    fn values_without_noise_differ_or_do_not() {
        assert_eq!(student_p(&[1.0; 6]), Some(1.0));
        assert!(student_p(&[1.5; 6]).unwrap() < 1e-12);
        assert_eq!(student_p(&[1.0]), None);
    }

    #[test]
    fn a_row_that_is_far_quieter_than_its_family_is_not_taken_at_its_word() {
        let row = |error_squared| Evidence { distance: 1.0, error_squared, freedom: 5.0 };
        let quiet = row(0.01).beside(1.0);
        assert!((quiet.error_squared - 2.05 / 7.0).abs() < 1e-12, "{quiet:?}");
        assert!((quiet.freedom - 7.0).abs() < 1e-12, "{quiet:?}");
        assert!(quiet.p_value() > row(0.01).p_value());
        let noisy = row(4.0).beside(1.0);
        assert!((noisy.error_squared - 4.0).abs() < 1e-12, "{noisy:?}");
        assert!((noisy.freedom - 5.5).abs() < 1e-12, "{noisy:?}");
    }

    #[test]
    fn a_row_is_held_against_the_others_and_alone_against_nothing() {
        let row = |error_squared| Evidence { distance: 1.0, error_squared, freedom: 5.0 };
        assert_eq!(family_p_values(&[row(0.01)]), [row(0.01).p_value().unwrap()]);
        // The others of the quietest are 1 and 3; of two middle ones the larger is taken.
        let three = family_p_values(&[row(0.01), row(3.0), row(1.0)]);
        let beside = [row(0.01).beside(3.0), row(3.0).beside(1.0), row(1.0).beside(3.0)];
        assert_eq!(three, holm(&beside.map(|row| row.p_value().unwrap())));
        assert!(family_p_values(&[]).is_empty());
    }

    #[test]
    fn holm_multiplies_by_how_many_are_left_and_never_decreases() {
        let adjusted = holm(&[0.04, 0.01, 0.03, 0.5]);
        for (value, expected) in adjusted.iter().zip([0.09, 0.04, 0.09, 0.5]) {
            assert!((value - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
