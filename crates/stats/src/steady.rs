//! Whether a server has warmed up, from a series of values that were taken at equal distances, such
//! as its rate or its CPU time per request in every 100 ms.
//!
//! The last values are steady when nothing in them goes anywhere: no step between their halves, no
//! slope, and no sudden end. All three use medians, so a single pause in the window does no harm.
//!
//! A change of 1.5 % from one end of the window to the other is not steady, unless the values
//! themselves are noisier than that: the tolerance is the noise of a single value, up to a bound of
//! 5 %. Values that are noisier than the bound are joined with their neighbours, two by two, until
//! they are quiet enough; the window then covers a longer time. So a noisy server warms up for
//! longer, and a series that stays too noisy in the time that there is never passes. A drift of less
//! than the noise of its values may pass.
//!
//! How many series have been called steady by N values, in percent, with normal noise (800 of
//! each kind; `examples/coverage` makes them; drifts are across each eight values):
//!
//! | series | noise | 8 | 10 | 12 | 16 | 24 | 40 |
//! |---|---|---|---|---|---|---|---|
//! | flat | 1 % | 82 | 94 | 97 | 100 | 100 | 100 |
//! | flat | 2 % | 54 | 80 | 90 | 99 | 100 | 100 |
//! | flat | 5 % | 25 | 47 | 59 | 84 | 98 | 100 |
//! | flat | 10 % | 3 | 7 | 9 | 21 | 53 | 91 |
//! | drift of 3 % | 0.3 % | 0 | 0 | 0 | 0 | 0 | 0 |
//! | drift of 3 % | 1 % | 11 | 12 | 12 | 12 | 13 | 16 |
//! | drift of 3 % | 2 % | 29 | 39 | 42 | 50 | 68 | 89 |
//! | drift of 5 % | 1 % | 0 | 0 | 0 | 0 | 0 | 0 |
//! | drift of 5 % | 2 % | 12 | 15 | 15 | 15 | 18 | 26 |
//! | drift of 10 % | 2 % | 0 | 0 | 0 | 0 | 0 | 0 |
//! | drift of 10 % | 5 % | 7 | 9 | 9 | 11 | 18 | 41 |
//! | drift of 10 % | 10 % | 2 | 5 | 5 | 8 | 13 | 24 |
//! | from 3 down to 1, by e in 5 values | 1 % | 0 | 0 | 0 | 0 | 0 | 97 |
//! | the same | 5 % | 0 | 0 | 0 | 0 | 1 | 90 |
//!
//! Not here: any waiting. The caller asks again with one more value.

use crate::summary::{median, median_of_sorted};

/// The fewest values that can be steady: 800 ms of values that were taken every 100 ms.
pub const STEADY_WINDOW: usize = 8;
/// Once there are more values, twelve of the last ones are examined. A slope is known from twelve
/// values nearly twice as well as from eight (its error falls with the power 3 / 2), so that a slow
/// drift does not pass because it is looked at often; what was steady from the beginning need not
/// wait for it.
const LONGEST_WINDOW: usize = 12;
/// The change across the window that is tolerated however quiet the values are: half of the 3 %
/// that must not pass, so that it does not when its estimate errs by the other half.
const TOLERANCE_RELATIVE: f64 = 0.015;
/// The change across the window that is tolerated in terms of the noise of single values. The error
/// of a change across eight values is 1.1 of it, across twelve 0.9.
const TOLERANCE_NOISE: f64 = 1.0;
/// The tolerance does not grow beyond this. A server that changed by more within a second would be
/// measured at a level that it does not keep.
const TOLERANCE_MOST: f64 = 0.05;
/// How far the newest value may be from the middle of the others, in terms of their noise: the
/// usual limit for outliers.
const NEWEST_NOISE: f64 = 3.5;
/// The median absolute deviation of normal noise, in standard deviations.
const MEDIAN_DEVIATION: f64 = 0.674_489_750_196_082;

/// The state of a series of values. Changes are shares of the window's median; positive ones grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// There are fewer than [`STEADY_WINDOW`] values; this many are missing.
    TooFew {
        /// How many more values it takes.
        missing: usize,
    },
    /// The values are noisier than any tolerance, and too few to be joined.
    Noisy {
        /// The standard deviation of a single value.
        noise_relative: f64,
    },
    /// The window's median is not positive, or a value is not finite, so that nothing can be said
    /// relative to it.
    Unusable,
    /// The second half of the window differs from the first, or the newest value from the others.
    Stepping {
        /// By how much.
        change_relative: f64,
    },
    /// The values go on in one direction.
    Drifting {
        /// How far from one end of the window to the other.
        change_relative: f64,
    },
    /// The last values are steady.
    Steady {
        /// The place of the first value that belongs to them, possibly before the window.
        settled_from: usize,
    },
}

/// Judges the end of a series; call it again with each new value.
#[must_use]
pub fn steadiness(values: &[f64]) -> Steadiness {
    if values.len() < STEADY_WINDOW {
        return Steadiness::TooFew { missing: STEADY_WINDOW - values.len() };
    }
    let mut joined = values.to_vec();
    let mut width = 1;
    loop {
        match judge(&joined) {
            Steadiness::Noisy { .. } if joined.len() >= 2 * STEADY_WINDOW => {
                joined = in_pairs(&joined);
                width *= 2;
            }
            Steadiness::Steady { settled_from } => {
                let settled_from = values.len() - (joined.len() - settled_from) * width;
                return Steadiness::Steady { settled_from };
            }
            judged => return judged,
        }
    }
}

/// The means of neighbours, two by two. The oldest value of an odd number has none.
fn in_pairs(values: &[f64]) -> Vec<f64> {
    values[values.len() % 2..].chunks_exact(2).map(|it| f64::midpoint(it[0], it[1])).collect()
}

/// Judges the end of a series that is long enough as it is.
fn judge(values: &[f64]) -> Steadiness {
    let window = &values[values.len() - values.len().min(LONGEST_WINDOW)..];
    if window.iter().any(|value| !value.is_finite()) {
        return Steadiness::Unusable;
    }
    let Some(level) = median(window).filter(|level| *level > 0.0) else {
        return Steadiness::Unusable;
    };
    let line = Line::through(window);
    let noise = line.noise(window) / level;
    let tolerance = TOLERANCE_RELATIVE.max(TOLERANCE_NOISE * noise);
    if tolerance > TOLERANCE_MOST {
        return Steadiness::Noisy { noise_relative: noise };
    }
    let change_relative = step_between_halves(window) / level;
    if change_relative.abs() > tolerance {
        return Steadiness::Stepping { change_relative };
    }
    let change_relative = line.slope * (window.len() - 1) as f64 / level;
    if change_relative.abs() > tolerance {
        return Steadiness::Drifting { change_relative };
    }
    let change_relative = newest_from_others(window) / level;
    let reach = TOLERANCE_RELATIVE.max(NEWEST_NOISE * noise);
    if change_relative.abs() > reach {
        return Steadiness::Stepping { change_relative };
    }
    Steadiness::Steady { settled_from: settled_from(values, window.len(), level, reach * level) }
}

/// The median of the second half minus the median of the first; of an odd number of values the
/// middle one belongs to neither.
fn step_between_halves(window: &[f64]) -> f64 {
    let half = window.len() / 2;
    let of = |part: &[f64]| median(part).unwrap_or(f64::NAN);
    of(&window[window.len() - half..]) - of(&window[..half])
}

/// How far the newest value is from the median of the others.
fn newest_from_others(window: &[f64]) -> f64 {
    let others = &window[..window.len() - 1];
    window[others.len()] - median(others).unwrap_or(f64::NAN)
}

/// The first of the values that lie within reach of the level without a gap of two in a row.
fn settled_from(values: &[f64], window: usize, level: f64, reach: f64) -> usize {
    let mut first = values.len() - window;
    let near = |value: f64| (value - level).abs() <= reach;
    loop {
        if first >= 1 && near(values[first - 1]) {
            first -= 1;
        } else if first >= 2 && near(values[first - 2]) {
            first -= 2;
        } else {
            return first;
        }
    }
}

/// The line of Theil and Sen: the median of the slopes between all pairs of values.
struct Line {
    slope: f64,
}

impl Line {
    fn through(window: &[f64]) -> Line {
        let mut slopes: Vec<f64> = Vec::with_capacity(window.len() * (window.len() - 1) / 2);
        for (place, first) in window.iter().enumerate() {
            for (distance, second) in window[place + 1..].iter().enumerate() {
                slopes.push((second - first) / (distance + 1) as f64);
            }
        }
        slopes.sort_unstable_by(f64::total_cmp);
        Line { slope: median_of_sorted(&slopes).unwrap_or(f64::NAN) }
    }

    /// The standard deviation of single values around the line, by their median absolute deviation.
    /// What is left of n values after a line was put through them is too small by the share of the
    /// two degrees of freedom that the line took.
    fn noise(&self, window: &[f64]) -> f64 {
        let flat: Vec<f64> = window
            .iter()
            .enumerate()
            .map(|(place, value)| value - self.slope * place as f64)
            .collect();
        let Some(middle) = median(&flat) else { return f64::NAN };
        let distances: Vec<f64> = flat.iter().map(|value| (value - middle).abs()).collect();
        let n = window.len() as f64;
        median(&distances).unwrap_or(f64::NAN) / MEDIAN_DEVIATION * (n / (n - 2.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_steady(values: &[f64]) -> bool {
        matches!(steadiness(values), Steadiness::Steady { .. })
    }

    #[test]
    fn seven_values_are_too_few_and_eight_equal_ones_suffice() {
        assert_eq!(steadiness(&[5.0; 7]), Steadiness::TooFew { missing: 1 });
        assert_eq!(steadiness(&[5.0; 8]), Steadiness::Steady { settled_from: 0 });
    }

    #[test]
    fn a_step_is_seen_at_once_and_forgotten_when_the_window_has_passed_it() {
        let mut values = vec![100.0; 10];
        for after in 1..=11 {
            values.push(110.0);
            let judged = steadiness(&values);
            assert!(
                matches!(judged, Steadiness::Stepping { .. } | Steadiness::Drifting { .. })
                    || after >= 9,
                "{after}: {judged:?}"
            );
        }
        values.push(110.0);
        assert_eq!(steadiness(&values), Steadiness::Steady { settled_from: 10 });
    }

    #[test]
    fn a_single_pause_within_the_window_does_no_harm_but_at_its_end_it_waits() {
        let mut values = vec![100.0, 101.0, 99.0, 100.0, 100.5, 99.5, 100.0];
        values.push(40.0);
        assert!(!is_steady(&values));
        values.push(100.0);
        assert_eq!(steadiness(&values), Steadiness::Steady { settled_from: 0 });
    }

    #[test]
    fn three_percent_across_eight_quiet_values_is_a_drift_in_either_direction() {
        for direction in [1.0, -1.0] {
            let values: Vec<f64> =
                (0..40).map(|place| 100.0 + direction * f64::from(place) * 3.0 / 7.0).collect();
            assert!((STEADY_WINDOW..=40).all(|count| !is_steady(&values[..count])));
        }
    }

    #[test]
    fn a_drift_within_loud_noise_is_never_steady_although_the_noise_is_as_large() {
        // 30 % up and down, and 40 % lower from one end of eight values to the other.
        let loud = |place: i32| if place % 2 == 0 { 1.3 } else { 0.7 };
        let level = |place: i32| (1.0 - f64::from(place) * 0.4 / 7.0).max(0.2);
        let values: Vec<f64> = (0..14).map(|place| 100.0 * level(place) * loud(place)).collect();
        assert!((STEADY_WINDOW..=14).all(|count| !is_steady(&values[..count])));
        let noisy = steadiness(&values[..STEADY_WINDOW]);
        assert!(matches!(noisy, Steadiness::Noisy { noise_relative } if noise_relative > 0.05));
    }

    #[test]
    fn a_loud_series_that_is_flat_passes_once_there_are_enough_values_to_join() {
        let values: Vec<f64> =
            (0..32).map(|place| if place % 2 == 0 { 130.0 } else { 70.0 }).collect();
        let first = (STEADY_WINDOW..=32).find(|count| is_steady(&values[..*count]));
        assert_eq!(first, Some(2 * STEADY_WINDOW));
        // The oldest of an odd number of values belongs to no pair.
        assert_eq!(steadiness(&values[..19]), Steadiness::Steady { settled_from: 1 });
    }

    #[test]
    fn nothing_is_said_relative_to_nothing() {
        assert_eq!(steadiness(&[0.0; 9]), Steadiness::Unusable);
        assert!(!is_steady(&[f64::NAN; 9]));
        assert!(!is_steady(&[f64::INFINITY; 9]));
    }
}
