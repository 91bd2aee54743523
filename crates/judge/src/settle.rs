//! How long a server needs after a rest until its CPU time per request is what it stays at, found from
//! the series of one long visit. Pure.
//!
//! Caches, batches and schedulers find another pace while a server is parked. A runtime that shares
//! work between threads may take a quarter of a second to find it again.

use std::time::Duration;
use wirebench_schema::agent::{VisitPiece, series_ns};

/// How long the visit is that shows how long a server needs to settle.
pub const PILOT_LENGTH: Duration = Duration::from_millis(300);
/// Share of the pieces, at the end of the series, from which the value is taken that it settles to.
pub const TAIL_SHARE: f64 = 0.4;
/// Pieces that are judged together: single ones scatter by 3 to 5 %.
const TOGETHER: usize = 3;
/// A difference below this share is no unrest.
const TOLERANCE: f64 = 0.03;
/// A difference must be larger than the scatter of the tail explains.
const STANDARD_ERRORS: f64 = 3.0;

/// How long the server took after its rest; none when the series is too short, or has not settled before its tail.
#[must_use]
pub fn settle_ns(series: &[VisitPiece]) -> Option<u64> {
    let values: Vec<f64> = series
        .iter()
        .filter(|piece| piece.requests > 0 && piece.cpu_ns > 0)
        .map(|piece| piece.cpu_ns as f64 / piece.requests as f64)
        .collect();
    let tail = (values.len() as f64 * TAIL_SHARE) as usize;
    if tail < 2 * TOGETHER {
        return None;
    }
    let head = values.len() - tail;
    let (mean, deviation) = moments(&values[head..]);
    let (early, _) = moments(&values[head..head + tail / 2]);
    let (late, _) = moments(&values[head + tail / 2..]);
    if (early - late).abs() > (TOLERANCE * mean).max(STANDARD_ERRORS * deviation * halves(tail)) {
        return None;
    }
    let share_of_tail = (1.0 / TOGETHER as f64 + 1.0 / tail as f64).sqrt();
    let allowed = (TOLERANCE * mean).max(STANDARD_ERRORS * deviation * share_of_tail);
    // The last group of pieces that is off.
    let is_off = |start: &usize| {
        let (group, _) = moments(&values[*start..start + TOGETHER]);
        (group - mean).abs() > allowed
    };
    let last_off = (0..head).rev().find(is_off);
    let settled = last_off.map_or(0, |start| start + 1);
    // The first piece holds the start itself.
    (settled < head).then(|| series_ns(settled.max(1)))
}

/// The standard error of the difference of two halves, over the deviation of one value.
fn halves(count: usize) -> f64 {
    2.0 / (count as f64).sqrt()
}

/// The mean, and the deviation of one value from its neighbours, which contains no drift (von Neumann
/// 1941, Annals of Mathematical Statistics 12).
#[must_use]
pub fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    (mean, (squares / (2.0 * (count - 1.0).max(1.0))).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: impl Iterator<Item = f64>) -> Vec<VisitPiece> {
        values.map(|value| VisitPiece { requests: 1000, cpu_ns: (value * 1e6) as u64 }).collect()
    }

    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        let mut random = fastrand::Rng::with_seed(seed);
        std::iter::from_fn(move || Some(1.0 + 0.04 * (random.f64() + random.f64() - 1.0)))
    }

    #[test]
    fn a_server_that_is_at_its_pace_at_once_loses_one_piece() {
        let early = (0..200)
            .filter(|seed| settle_ns(&series(noise(*seed).take(18))) == Some(series_ns(1)))
            .count();
        assert!(early >= 190, "{early} of 200");
    }

    #[test]
    fn a_server_that_needs_long_is_given_long() {
        // 15 % above its pace at first, and e times closer to it after each 40 ms.
        let above = |n| 1.0 + 0.15 * (-(series_ns(n) as f64) / 4e7).exp();
        let slow = |seed| noise(seed).enumerate().map(move |(n, noise)| noise * above(n));
        let found: Vec<u64> =
            (0..100).filter_map(|seed| settle_ns(&series(slow(seed).take(18)))).collect();
        let is_right = |found: &u64| (20..=140).contains(&(found / 1_000_000));
        assert!(found.len() >= 90 && found.iter().all(is_right), "{found:?}");
    }

    #[test]
    fn what_goes_on_changing_or_is_too_short_does_not_settle() {
        let drifting = noise(1).enumerate().map(|(n, noise)| noise * (2.0 - n as f64 / 25.0));
        assert_eq!(settle_ns(&series(drifting.take(25))), None);
        assert_eq!(settle_ns(&series(noise(1).take(10))), None);
        assert_eq!(settle_ns(&[]), None);
    }
}
