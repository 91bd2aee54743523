//! Exact tests: how often would chance alone look like this, if the two sides were exchangeable?
//!
//! They assume nothing else, and so say nothing below 2 / 2^n (or two over the number of ways to
//! divide the values). That is right for one comparison and too coarse for the best of fifty, for
//! which `significance` has other p values.

use crate::summary::logarithms;
use fastrand::Rng;

/// Up to so many arrangements are all tried; beyond it as many are drawn.
pub const ENUMERATED_LIMIT: u64 = 1 << 16;
/// How many are drawn. The p value's own error is then at most 0.002 where it matters, at 0.05.
const DRAWN: u64 = 20_000;
/// Sums of the same numbers in another order may differ in their last digits.
const ROUNDING: f64 = 1e-9;

/// The two-sided p value of "the ratio is 1", by exchanging the sides of every block in all ways;
/// the statistic is the mean of the logarithms. None without positive ratios.
///
/// Up to 17 blocks all are tried (2^16, because exchanging all sides at once changes nothing).
/// Beyond it they are drawn from `seed`, and the arrangement that was found is counted as one more,
/// so that p is never too small (Phipson & Smyth 2010).
#[must_use]
pub fn sign_flip_p(ratios: &[f64], seed: u64) -> Option<f64> {
    let logs = logarithms(ratios);
    let free = u32::try_from(logs.len().checked_sub(1)?).ok()?;
    let found = logs.iter().sum::<f64>().abs();
    let as_far = |flips: u64| {
        let sum = logs
            .iter()
            .enumerate()
            .map(|(block, log)| if block < 64 && flips >> block & 1 == 1 { -log } else { *log });
        reaches(sum.sum(), found)
    };
    let all = 1_u64.checked_shl(free).filter(|all| *all <= ENUMERATED_LIMIT);
    if let Some(all) = all {
        return Some(share((0..all).filter(|flips| as_far(*flips)).count() as u64, all));
    }
    let mut random = Rng::with_seed(seed);
    let extreme = (0..DRAWN).filter(|_| {
        let sum: f64 = logs.iter().map(|log| if random.bool() { -log } else { *log }).sum();
        reaches(sum, found)
    });
    Some(share(extreme.count() as u64 + 1, DRAWN + 1))
}

/// The two-sided p value of "new over old is 1", by dividing all values into two sides in all ways;
/// the statistic is the difference of the means of the logarithms. None where a side is empty.
///
/// It assumes that without a change both sides are equally noisy. As above, what is too much to be
/// tried is drawn from `seed`.
#[must_use]
pub fn permutation_p(old: &[f64], new: &[f64], seed: u64) -> Option<f64> {
    let (mut pooled, new) = (logarithms(old), logarithms(new));
    if pooled.is_empty() || new.is_empty() {
        return None;
    }
    let old_count = pooled.len();
    pooled.extend(new);
    // The difference of the means depends on the sum of one side alone; its expectation is
    // `centre`.
    let centre = pooled.iter().sum::<f64>() * old_count as f64 / pooled.len() as f64;
    let found = (pooled[..old_count].iter().sum::<f64>() - centre).abs();
    if let Some(all) = ways(pooled.len(), old_count) {
        let extreme = count_choices(&pooled, old_count, 0.0, &|sum| reaches(sum - centre, found));
        return Some(share(extreme, all));
    }
    let mut random = Rng::with_seed(seed);
    let extreme = (0..DRAWN).filter(|_| {
        random.shuffle(&mut pooled);
        reaches(pooled[..old_count].iter().sum::<f64>() - centre, found)
    });
    Some(share(extreme.count() as u64 + 1, DRAWN + 1))
}

/// Whether a sum lies as far out as the one that was found.
fn reaches(sum: f64, found: f64) -> bool {
    sum.abs() >= found * (1.0 - ROUNDING)
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// In how many ways `chosen` of `from` can be taken, if that is few enough to try them all.
fn ways(from: usize, chosen: usize) -> Option<u64> {
    let mut ways: u64 = 1;
    for step in 0..chosen.min(from - chosen) {
        ways = ways.checked_mul((from - step) as u64)? / (step as u64 + 1);
        if ways > ENUMERATED_LIMIT {
            return None;
        }
    }
    Some(ways)
}

/// How many choices of `left` more of the values bring `sum` to where `counts` says yes.
fn count_choices(values: &[f64], left: usize, sum: f64, counts: &dyn Fn(f64) -> bool) -> u64 {
    if left == 0 {
        return u64::from(counts(sum));
    }
    let last = values.len() - left;
    (0..=last)
        .map(|index| count_choices(&values[index + 1..], left - 1, sum + values[index], counts))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-12)
    }

    #[test]
    fn six_blocks_on_one_side_have_the_smallest_p_that_six_can_have() {
        assert!(near(sign_flip_p(&[1.1, 1.2, 1.3, 1.4, 1.5, 1.6], 1), 2.0 / 64.0));
        assert!(near(sign_flip_p(&[1.1, 1.1, 1.1, 1.1, 1.1], 1), 2.0 / 32.0));
        assert_eq!(sign_flip_p(&[0.0], 1), None);
    }

    #[test]
    fn equal_sides_have_a_p_of_one() {
        assert!(near(sign_flip_p(&[1.0; 8], 1), 1.0));
        assert!(near(sign_flip_p(&[2.0, 0.5], 1), 1.0));
        assert!(near(permutation_p(&[3.0; 6], &[3.0; 7], 1), 1.0));
    }

    #[test]
    fn two_sides_that_do_not_meet_have_the_smallest_p_of_their_divisions() {
        let (old, new) = ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]);
        assert!(near(permutation_p(&old, &new, 1), 2.0 / 924.0));
        // Three of four and one: 4 ways; only the found one is that far out.
        assert!(near(permutation_p(&[1.0, 1.0, 1.0], &[8.0], 1), 0.25));
        assert_eq!(permutation_p(&[], &[1.0], 1), None);
    }

    #[test]
    fn what_is_drawn_agrees_with_what_is_enumerated_and_repeats_with_its_seed() {
        // Signs of equal sizes: p is that of a fair coin, here of 6 or fewer heads in 20.
        let ratios: Vec<f64> = (0..20).map(|block| if block < 6 { 0.5 } else { 2.0 }).collect();
        let p = sign_flip_p(&ratios, 7).unwrap();
        assert!((p - 0.115_318).abs() < 0.01, "{p}");
        assert_eq!(sign_flip_p(&ratios, 7), Some(p));
        let old: Vec<f64> = (0..14).map(|run| 1.0 + f64::from(run) / 100.0).collect();
        let same = permutation_p(&old, &old, 7).unwrap();
        assert!(same > 0.99, "{same}");
        let far: Vec<f64> = old.iter().map(|value| value * 2.0).collect();
        assert!(near(permutation_p(&old, &far, 7), 1.0 / 20_001.0));
    }
}
