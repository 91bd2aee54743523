//! Variances that borrow from each other: each row's own noise is known from a few cohorts only, and
//! servers that are measured in the same way are about equally noisy.
//!
//! The form is Smyth's (2004): variances of rows are taken to follow a scaled inverse chi-square
//! distribution, whose middle and whose degrees of freedom (how alike rows are) come from all rows
//! together. Two additions make it safe for few rows. The spread between rows is taken to be larger
//! than it appears, by half of its standard error. And a row that is noisier than the others
//! borrows less, like the hypervariable genes of Phipson et al. (2016).
//!
//! Not in this file: where variances come from.

use crate::summary::median;
use statrs::function::gamma::digamma;

/// How much of its standard error is added to the estimated spread between rows.
const UNSURE: f64 = 0.5;
/// Rows are never taken to be more alike than this, which is a factor of 1.2 between their noise:
/// otherwise many rows that happen to look alike would vouch for one with a long tail.
const LEAST_SPREAD: f64 = 0.15;
/// Among many rows, one of this many times the variance of the others still borrows in full; beyond
/// it, what it borrows falls in inverse proportion.
const PLAIN_EXCESS: f64 = 2.0;
/// No figure of a server repeats better than to 0.01 %, whatever a few equal values suggest.
pub(crate) const LEAST_VARIANCE: f64 = 1e-8;
/// The variance between rows of the logarithm of their variance that is usual: noise that differs
/// by a factor of 1.4.
const USUAL_SPREAD: f64 = 0.5;
/// Logarithms of variances farther from the middle than this many deviations are drawn in.
const DRAWN_IN: f64 = 2.5;
/// Estimates with fewer degrees of freedom say nothing of the typical noise.
const LEAST_FREEDOM: f64 = 0.3;

/// A variance and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    pub(crate) variance: f64,
    pub(crate) freedom: f64,
    /// Which share of them comes from other rows, 0 to 1.
    pub(crate) borrowed: f64,
}

/// State shared by all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Typical {
    variance: f64,
    /// Degrees of freedom that it weighs in each row.
    freedom: f64,
    /// The degrees of freedom of all rows together, the maximum for any row.
    total: f64,
    /// The variance at which a row begins to borrow less, over that of the others.
    excess: f64,
}

/// The variances after borrowing, in the order given.
pub(crate) fn moderate(own: &[Noise]) -> Vec<Noise> {
    let alone = |noise: &Noise| Noise { variance: noise.variance.max(LEAST_VARIANCE), ..*noise };
    match Typical::of(own) {
        Some(typical) => own.iter().map(|noise| typical.lend_to(*noise)).collect(),
        None => own.iter().map(alone).collect(),
    }
}

impl Typical {
    fn of(own: &[Noise]) -> Option<Self> {
        let known: Vec<&Noise> =
            own.iter().filter(|noise| noise.freedom >= LEAST_FREEDOM).collect();
        let total: f64 = known.iter().map(|noise| noise.freedom).sum();
        if known.is_empty() {
            return None;
        }
        // What is better known counts more.
        let mean = |of: &dyn Fn(&Noise) -> f64| {
            known.iter().map(|noise| noise.freedom * of(noise)).sum::<f64>() / total
        };
        // A few rows of another kind leave the others as alike as they are.
        let logs: Vec<f64> = known.iter().map(|noise| log_variance(noise)).collect();
        let middle = median(&logs)?;
        let reach =
            |noise: &Noise| DRAWN_IN * (trigamma(noise.freedom / 2.0) + USUAL_SPREAD).sqrt();
        let off = |noise: &Noise| log_variance(noise) - middle;
        let is_near = |noise: &Noise| off(noise).abs() <= reach(noise);
        let near = mean(&|noise| if is_near(noise) { 1.0 } else { 0.0 });
        let shift = mean(&|noise| if is_near(noise) { off(noise) } else { 0.0 });
        let centre = if near > 0.0 { shift / near } else { 0.0 };
        let drawn = |noise: &Noise| off(noise).clamp(-reach(noise), reach(noise)) - centre;
        let rows = known.len() as f64;
        let spread = rows * mean(&|noise| drawn(noise).powi(2));
        let by_chance = (rows - 1.0) * mean(&|noise| trigamma(noise.freedom / 2.0));
        let others = (rows - 1.0).max(1.0);
        let unsure = (2.0 / others).sqrt() * mean(&|noise| trigamma(noise.freedom / 2.0));
        let excess = ((spread - by_chance) / others).max(0.0) + UNSURE * unsure;
        let freedom = 2.0 * inverse_trigamma(excess.max(LEAST_SPREAD));
        let variance = (middle + centre + bias(freedom)).exp();
        // Two or three rows that look alike may be so by chance, and no other one contradicts them.
        let excess = (PLAIN_EXCESS * (1.0 - 2.0 / rows)).max(1.0);
        Some(Self { variance, freedom, total, excess })
    }

    fn lend_to(self, own: Noise) -> Noise {
        let variance = own.variance.max(LEAST_VARIANCE);
        // A row's own noise must not hide how much it exceeds that of the others.
        let (typical, weight) = (self.variance.ln(), own.freedom / self.total);
        let apart = if weight < 1.0 { weight / (1.0 - weight) } else { 0.0 };
        let others = (typical + apart * (typical - log_variance(&own))).exp();
        let share = (self.excess * others / variance).min(1.0);
        let lent = if own.freedom >= LEAST_FREEDOM { self.freedom * share } else { self.freedom };
        let freedom = own.freedom + lent;
        Noise {
            variance: (own.freedom * variance + lent * self.variance) / freedom,
            freedom: freedom.min(self.total.max(own.freedom)),
            borrowed: lent / freedom,
        }
    }
}

/// The logarithm of a variance, without the bias that it has from being estimated.
fn log_variance(noise: &Noise) -> f64 {
    noise.variance.max(LEAST_VARIANCE).ln() - bias(noise.freedom)
}

/// How much lower the logarithm of an estimated variance is, on average, than that of the true one.
fn bias(freedom: f64) -> f64 {
    digamma(freedom / 2.0) - (freedom / 2.0).ln()
}

/// The derivative of the digamma function: by its recurrence to where its series is exact.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// The inverse by bisection on a logarithmic scale.
fn inverse_trigamma(value: f64) -> f64 {
    let (mut low, mut high) = (1e-3_f64, 1e4_f64);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value { low = middle } else { high = middle }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(variance: f64) -> Noise {
        Noise { variance, freedom: 3.0, borrowed: 0.0 }
    }

    #[test]
    fn trigamma_has_its_known_values_and_an_inverse() {
        let squared = std::f64::consts::PI.powi(2);
        assert!((trigamma(1.0) - squared / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - squared / 2.0).abs() < 1e-9);
        assert!((inverse_trigamma(trigamma(2.5)) - 2.5).abs() < 1e-6);
    }

    #[test]
    fn rows_that_are_alike_share_nearly_all_they_know() {
        let alike = moderate(&[0.8, 1.2, 1.0, 0.9, 1.1, 0.7, 1.3, 1.0].map(|it| noise(it * 1e-4)));
        for row in &alike {
            assert!((row.variance / 1.2e-4 - 1.0).abs() < 0.3, "{row:?}");
            assert!(row.freedom > 10.0 && row.freedom <= 24.0, "{row:?}");
        }
    }

    #[test]
    fn rows_that_differ_widely_keep_what_is_their_own() {
        let wide =
            moderate(&[0.1, 1.0, 10.0, 100.0, 0.1, 1.0, 10.0, 100.0].map(|it| noise(it * 1e-4)));
        assert!((wide[3].variance / 100e-4 - 1.0).abs() < 0.25, "{:?}", wide[3]);
        assert!(wide[3].freedom < 4.5, "{:?}", wide[3]);
    }

    #[test]
    fn one_row_that_is_far_noisier_than_the_others_borrows_hardly_anything() {
        let mut rows = vec![noise(1e-4); 9];
        rows.push(noise(400e-4));
        let moderated = moderate(&rows);
        let loud = moderated[9];
        assert!(loud.variance > 360e-4 && loud.freedom < 3.5, "{loud:?}");
        assert!(moderated[0].freedom > 5.0, "{:?}", moderated[0]);
    }

    #[test]
    fn a_noisy_row_borrows_less_from_one_other_row_than_from_many() {
        let loud = |rows: usize| {
            let mut all = vec![noise(1e-4); rows];
            all.push(noise(4e-4));
            moderate(&all)[rows]
        };
        assert!(loud(1).borrowed < 0.25, "{:?}", loud(1));
        assert!(loud(8).borrowed > 0.4, "{:?}", loud(8));
        assert!(loud(8).variance < loud(1).variance);
        // Nothing contradicts a row without others.
        assert!(moderate(&[noise(1e-4)])[0].freedom <= 3.0);
    }

    #[test]
    fn a_row_of_one_value_has_the_typical_noise_and_equal_values_are_not_exact() {
        let few = moderate(&[
            noise(1e-4),
            noise(1e-4),
            Noise { variance: 0.0, freedom: 0.0, borrowed: 0.0 },
        ]);
        assert!((few[2].variance / 1.4e-4 - 1.0).abs() < 0.5, "{:?}", few[2]);
        let exact = moderate(&[noise(0.0), noise(0.0)]);
        assert!(exact.iter().all(|row| row.variance >= LEAST_VARIANCE / 2.0), "{exact:?}");
        assert!(moderate(&[]).is_empty());
    }
}
