//! From the visits of a cohort to one value for each instance, for one load.
//!
//! All instances meet the same machine within a round, so each visit is centred by its round's
//! median first (median polish, Tukey 1977). An instance's value is the 20 % trimmed mean of its
//! centred visits, with the standard error of Tukey & McLaughlin (1963), but at least the least and the
//! greatest of three or four are cut off, so that one that was disturbed does not decide. A line through
//! the centred visits shows a warm-up that had not ended.
//!
//! Visits of one instance are not samples of its program. The error between visits says how many
//! visits are enough; what differs between programs is decided between cohorts, in `two_way`.

use crate::simultaneous::student_critical;
use crate::summary::{median, median_deviation};

/// The share of visits that are cut off at each end, rounded down.
const TRIMMED: f64 = 0.2;
/// With fewer visits none is cut off, with this many one at each end at least.
pub const FEWEST_TRIMMED: usize = 3;
/// A round has no median of its own with fewer instances.
const MIN_INSTANCES: usize = 3;
/// A line has no error with fewer visits.
const MIN_TREND: usize = 5;
/// Rounds of the median polish; it settles within a few.
const ROUNDS: usize = 20;
/// How often a trend is found where there is none.
const TREND_ALPHA: f64 = 0.01;
/// Visits farther from the middle than this many deviations are drawn in before a line is fitted.
const DRAWN_IN: f64 = 3.0;

/// The combined value of an instance's visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InstanceValue {
    /// Their trimmed mean, in the unit of the visits; a logarithm for logarithms.
    pub value: f64,
    /// Its standard error between visits; None if it is that of one visit.
    pub error: Option<f64>,
    pub visits: usize,
    /// The line through them; None with fewer than five.
    pub trend: Option<Trend>,
}

/// A line through the visits of an instance, by their rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// The change from one round to the next.
    pub slope: f64,
    /// The slope over its standard error.
    pub t: f64,
    pub freedom: f64,
    /// The change from the first visit to the last.
    pub change: f64,
}

impl Trend {
    /// Whether chance would make so steep a line in at most 1 % of instances. A change that is
    /// smaller than the margin of the comparison does no harm although it is certain.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.t.abs() > student_critical(TREND_ALPHA, self.freedom)
    }
}

/// One value for each instance, from `visits[instance][round]`: the logarithm of the figure in each
/// visit, or None where the visit is missing or was dropped. None for an instance without visits.
///
/// Rounds are numbered in the order in which they were made. With fewer than three instances visits
/// are not centred.
#[must_use]
pub fn instance_values(visits: &[Vec<Option<f64>>]) -> Vec<Option<InstanceValue>> {
    let rounds = round_effects(visits);
    // Rounds that are estimated from m instances take a share of 1 / m of the noise with them.
    let instances = visits.iter().filter(|row| row.iter().any(Option::is_some)).count();
    let taken = match instances >= MIN_INSTANCES {
        true => (instances as f64 / (instances as f64 - 1.0)).sqrt(),
        false => 1.0,
    };
    let one = |row: &Vec<Option<f64>>| {
        let centred: Vec<(f64, f64)> = row
            .iter()
            .zip(&rounds)
            .enumerate()
            .filter_map(|(round, (value, effect))| Some((round as f64, finite(*value)? - effect)))
            .collect();
        let values: Vec<f64> = centred.iter().map(|(_, value)| *value).collect();
        let (value, error) = trimmed_mean(&values)?;
        let error = error.map(|error| error * taken);
        Some(InstanceValue { value, error, visits: values.len(), trend: trend(&centred) })
    };
    visits.iter().map(one).collect()
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// The common effect of each round's visits, with a median of zero.
fn round_effects(visits: &[Vec<Option<f64>>]) -> Vec<f64> {
    let count = visits.iter().map(Vec::len).max().unwrap_or(0);
    let mut effects = vec![0.0; count];
    let known = |row: &Vec<Option<f64>>, round: usize| finite(row.get(round).copied().flatten());
    if visits.iter().filter(|row| row.iter().any(Option::is_some)).count() < MIN_INSTANCES {
        return effects;
    }
    for _ in 0..ROUNDS {
        let level = |row: &Vec<Option<f64>>| {
            let rest = (0..count).filter_map(|round| Some(known(row, round)? - effects[round]));
            median(&rest.collect::<Vec<f64>>())
        };
        let levels: Vec<Option<f64>> = visits.iter().map(level).collect();
        let effect = |round: usize| {
            let rest = visits.iter().zip(&levels);
            let rest = rest.filter_map(|(row, level)| Some(known(row, round)? - (*level)?));
            median(&rest.collect::<Vec<f64>>()).unwrap_or(0.0)
        };
        let next: Vec<f64> = (0..count).map(effect).collect();
        let middle = median(&next).unwrap_or(0.0);
        effects = next.into_iter().map(|effect| effect - middle).collect();
    }
    effects
}

/// The trimmed mean and its standard error: that of the values whose tails were replaced by the
/// last ones that are not cut off (winsorized), over the share that is kept.
fn trimmed_mean(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let count = sorted.len();
    let least = usize::from(count >= FEWEST_TRIMMED);
    let cut = ((TRIMMED * count as f64) as usize).max(least);
    let kept = sorted.get(cut..count.checked_sub(cut)?).filter(|kept| !kept.is_empty())?;
    let mean = kept.iter().sum::<f64>() / kept.len() as f64;
    let winsorized = sorted.iter().map(|value| value.clamp(kept[0], kept[kept.len() - 1]));
    let centre = winsorized.clone().sum::<f64>() / count as f64;
    let squares: f64 = winsorized.map(|value| (value - centre).powi(2)).sum();
    let error = (kept.len() >= 2).then(|| {
        // Where nothing is cut off this is the usual error of a mean.
        let left = kept.len() as f64;
        (squares / (left * (left - 1.0).max(1.0))).sqrt()
    });
    Some((mean, error))
}

/// The least squares line, after visits far from the middle were drawn in.
fn trend(centred: &[(f64, f64)]) -> Option<Trend> {
    let count = centred.len() as f64;
    if centred.len() < MIN_TREND {
        return None;
    }
    let values: Vec<f64> = centred.iter().map(|(_, value)| *value).collect();
    let middle = median(&values)?;
    let reach = DRAWN_IN * median_deviation(&values, middle);
    let drawn = |value: f64| match reach > 0.0 {
        true => value.clamp(middle - reach, middle + reach),
        false => value,
    };
    let centre = centred.iter().map(|(round, _)| round).sum::<f64>() / count;
    let mean = values.iter().map(|value| drawn(*value)).sum::<f64>() / count;
    let across: f64 = centred.iter().map(|(round, _)| (round - centre).powi(2)).sum();
    let along = |(round, value): &(f64, f64)| (round - centre) * (drawn(*value) - mean);
    let slope = centred.iter().map(along).sum::<f64>() / across;
    let rest =
        |(round, value): &(f64, f64)| (drawn(*value) - mean - slope * (round - centre)).powi(2);
    let freedom = count - 2.0;
    let error = (centred.iter().map(rest).sum::<f64>() / freedom / across).sqrt();
    let t = if slope.abs() > 0.0 { slope / error } else { 0.0 };
    let last = centred[centred.len() - 1].0 - centred[0].0;
    Some(Trend { slope, t, freedom, change: slope * last })
}

#[cfg(test)]
mod tests;
