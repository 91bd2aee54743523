//! Where a sample lies and how sure that is: Hodges and Lehmann's estimate with the exact interval
//! that belongs to it.
//!
//! The estimate (Hodges & Lehmann 1963) is the median of the means of all pairs, each value with
//! itself included (Walsh averages). Against single strange runs it is as firm as a median needs to
//! be, and with plain noise it loses 5 % of the mean's precision where the median loses 36 %.
//!
//! The interval reaches from one order statistic of the Walsh averages to another, with the ranks
//! from Wilcoxon's signed rank distribution (Tukey; Hollander, Wolfe & Chicken, section 3.3). It is
//! what the signed rank test does not refuse. The true value is the pseudo-median of the
//! population; for symmetric noise, which the ratio of two equally noisy runs has, the coverage is
//! exact.
//!
//! How often the interval holds, in percent, by number of blocks (4000 experiments of each kind, so
//! that an error of 0.7 is chance):
//!
//! | noise | 6 | 10 | 30 |
//! |---|---|---|---|
//! | normal | 96.8 | 95.4 | 95.0 |
//! | skewed (lognormal) | 96.6 | 95.1 | 94.5 |
//! | exponential tail | 96.6 | 94.8 | 94.2 |
//! | two modes 10 % apart, 85 to 15 | 96.8 | 95.6 | 95.2 |
//! | the same with hardly any noise within the modes | 96.6 | 95.0 | 94.7 |
//! | two modes 10 % apart, evenly | 96.5 | 95.0 | 95.1 |
//!
//! Who adds blocks until the interval is narrow enough, looking after each, loses little of this:
//! with normal noise it then holds in 93 to 97 %, whether that takes seven blocks or eighteen. Who
//! adds blocks until the interval excludes something will always succeed, and knows nothing.
//!
//! Not here: a bootstrap over blocks. On the same noise the percentile interval holds in 82 to 86 %
//! with six blocks and in 90 to 93 % with ten, the bias-corrected accelerated one in 83 to 88 % and
//! 89 to 96 %, and Hesterberg's expanded percentile interval (2014) in 91 to 93 % and 95 to 99 %.
//! The values of so few blocks simply do not hold the tails from which a bootstrap would draw. The
//! interval of the signed rank test needs no seed either, and thousandfold less time.

use crate::estimate::{Estimate, Interval, MIN_BLOCKS};
use crate::rank_distribution::signed_rank_depth;
use crate::summary::{logarithms, median_of_sorted};

/// The median of all Walsh averages (Hodges & Lehmann 1963). None without finite values.
///
/// Time and memory grow with the square of the number of values; they are runs, so there are few.
#[must_use]
pub(crate) fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    median_of_sorted(&walsh_averages(&finite))
}

/// The estimate and the 95 % interval of a quantity that is no ratio, such as a percentile of each
/// run: its median over runs in the sense of Hodges and Lehmann. None without finite values.
#[must_use]
pub fn location_estimate(values: &[f64]) -> Option<Estimate> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let averages = walsh_averages(&finite);
    let value = median_of_sorted(&averages)?;
    let interval = signed_rank_depth(finite.len())
        .filter(|_| finite.len() >= MIN_BLOCKS)
        .map(|depth| Interval { low: averages[depth], high: averages[averages.len() - 1 - depth] });
    Some(Estimate { value, interval, samples: finite.len() })
}

/// The estimate and the 95 % interval of ratios within blocks. None without positive ratios.
///
/// It works on logarithms and gives back ratios. So exchanging the two sides turns the value and
/// both ends into their reciprocals, as it must; means of plain ratios would not agree on who won.
#[must_use]
pub fn ratio_estimate(ratios: &[f64]) -> Option<Estimate> {
    let estimate = location_estimate(&logarithms(ratios))?;
    Some(Estimate {
        value: estimate.value.exp(),
        interval: estimate.interval.map(|interval| interval.map(f64::exp)),
        samples: estimate.samples,
    })
}

/// The means of all pairs, each value with itself included, in order.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let mut averages = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, first) in values.iter().enumerate() {
        averages.extend(values[index..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    averages.sort_unstable_by(f64::total_cmp);
    averages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_the_median_of_the_walsh_averages() {
        // Averages: 1, 1.5, 2, 3, 3.5, 5.
        assert_eq!(hodges_lehmann(&[5.0, 1.0, 2.0]), Some(2.5));
        assert_eq!(hodges_lehmann(&[f64::NAN, 4.0, f64::INFINITY]), Some(4.0));
        assert_eq!(hodges_lehmann(&[]), None);
    }

    #[test]
    fn six_blocks_have_an_interval_from_the_least_to_the_most_and_five_have_none() {
        let six = location_estimate(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0]).unwrap();
        assert_eq!(six.interval, Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!(six.samples, 6);
        let five = location_estimate(&[3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
        assert_eq!((five.interval, five.samples), (None, 5));
    }

    #[test]
    fn nine_pairs_agree_with_a_published_example() {
        // Depression scores of Hollander and Wolfe, example 3.1, as R's wilcox.test shows them with
        // conf.int = TRUE: pseudo-median -0.46, 95 % interval -0.786 to -0.010.
        let first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        #[expect(clippy::approx_constant, reason = "3.14 is a measured value here")]
        let second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let shifts: Vec<f64> = second.iter().zip(&first).map(|(new, old)| new - old).collect();
        let estimate = location_estimate(&shifts).unwrap();
        let interval = estimate.interval.unwrap();
        assert!((estimate.value + 0.46).abs() < 1e-9, "{estimate:?}");
        assert!((interval.low + 0.786).abs() < 1e-9, "{estimate:?}");
        assert!((interval.high + 0.010).abs() < 1e-9, "{estimate:?}");
    }

    #[test]
    fn exchanging_the_sides_of_a_ratio_turns_everything_into_its_reciprocal() {
        let ratios = [1.1, 1.2, 0.9, 1.3, 1.05, 1.15, 1.0];
        let reciprocals: Vec<f64> = ratios.iter().map(|ratio| 1.0 / ratio).collect();
        let (one, other) =
            (ratio_estimate(&ratios).unwrap(), ratio_estimate(&reciprocals).unwrap());
        assert!((one.value * other.value - 1.0).abs() < 1e-12);
        let (one, other) = (one.interval.unwrap(), other.interval.unwrap());
        assert!((one.low * other.high - 1.0).abs() < 1e-12);
        assert!((one.high * other.low - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ratios_that_are_not_positive_do_not_count() {
        assert_eq!(ratio_estimate(&[2.0, 0.0, -1.0, f64::NAN]).unwrap().samples, 1);
        assert_eq!(ratio_estimate(&[0.0]), None);
    }
}
