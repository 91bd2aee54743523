//! The search for the highest rate that holds. It decides which rate is tried next, and knows no
//! clock, no server and no objective.
//!
//! Every run is a trial that holds or misses, and all of them together say where the threshold is
//! ([`Threshold`]). The next run is made at the middle of what is known of it, at most at twice the
//! highest rate that held and at least at a quarter of the lowest one that was tried. The search ends when the
//! interval is as narrow as asked for, or when the threshold is beyond the range of rates.
//!
//! No run is repeated until it holds, because repetition until success finds a rate that is too
//! high. A run that misses by accident is one of many.

use wirebench_judge::objectives::Side;
use wirebench_schema::journal::{SearchLimit, SearchResult};
use wirebench_stats::{Interval, Threshold, Trial};

/// Between what a search goes on. All rates are requests per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// The first rate that is tried.
    pub start: u64,
    pub lowest: u64,
    pub highest: u64,
    /// The search ends when half of the interval is at most this share of the rate.
    pub precision: f64,
    pub most_runs: u32,
}

/// With fewer runs the prior decides and not the server.
const FEWEST_RUNS: usize = 4;
/// How certain it must be that the threshold is beyond the range of rates.
const CERTAIN: f64 = 0.95;
/// How far the next rate may be above those that held and below those that were tried.
const UP_MOST: f64 = 2.0;
const DOWN_MOST: f64 = 4.0;
/// Misses next to the threshold that show which side is at its limit.
const MISSES_NEAR: usize = 5;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProbeResult {
    Holds,
    /// They did not, and this side is the limit.
    Misses(Side),
}

#[derive(Clone, Debug)]
pub struct Search {
    plan: Plan,
    made: Vec<(u64, ProbeResult)>,
}

enum Place {
    Below,
    Within(Interval),
    Above,
}

impl Search {
    /// Begins at the plan's first rate, moved into its bounds.
    #[must_use]
    pub const fn new(plan: Plan) -> Self {
        Self { plan, made: Vec::new() }
    }

    /// The rate of the next run; none when the search is over.
    #[must_use]
    pub fn next_rate(&self) -> Option<u64> {
        let Plan { start, lowest, highest, precision, most_runs } = self.plan;
        let Some(least) = self.made.iter().map(|(rate, _)| *rate).min() else {
            return Some(round(start as f64, precision).clamp(lowest, highest));
        };
        let (low, high) = (least as f64 / DOWN_MOST, self.held().unwrap_or(least) as f64 * UP_MOST);
        let threshold = self.threshold();
        let is_over = match self.place(&threshold) {
            Place::Below | Place::Above => true,
            Place::Within(interval) => (interval.high / interval.low).ln() / 2.0 <= precision,
        };
        if (is_over && self.made.len() >= FEWEST_RUNS) || self.made.len() >= most_runs as usize {
            return None;
        }
        let middle = threshold.quantile(0.5).clamp(low, high);
        Some(round(middle, precision).clamp(lowest, highest))
    }

    /// Takes the result of a run at this rate.
    pub fn saw(&mut self, rate: u64, saw: ProbeResult) {
        self.made.push((rate, saw));
    }

    /// What is known: at the end of the search, or, with the reason, when it is cut off before.
    #[must_use]
    pub fn found(&self, cut: Option<SearchLimit>) -> SearchResult {
        let Plan { lowest, highest, precision, .. } = self.plan;
        let threshold = self.threshold();
        let missed = || {
            self.made.iter().filter(|(_, saw)| *saw != ProbeResult::Holds).map(|(rate, _)| *rate)
        };
        let (rate, low, high) = match (self.place(&threshold), self.held(), missed().min()) {
            (Place::Below, ..) | (_, None, _) => (None, None, None),
            (Place::Above, ..) => (Some(highest), None, None),
            // Nothing has missed yet, so what is above it is not known.
            (_, Some(held), None) => (Some(held), None, None),
            (Place::Within(interval), Some(held), _) => {
                let middle = threshold.quantile(0.5);
                // A middle far above all that held is that of the prior.
                let rate = if middle > held as f64 * UP_MOST { held as f64 } else { middle };
                let rate = round(rate, precision).clamp(lowest, highest);
                let low = round(interval.low, precision).clamp(lowest, rate);
                let high = round(interval.high, precision).max(rate);
                (Some(rate), Some(low), Some(high).filter(|high| *high <= highest))
            }
        };
        let above = missed().filter(|missed| rate.is_none_or(|rate| *missed > rate)).min();
        SearchResult {
            requests_per_second: rate,
            low,
            high,
            runs: u32::try_from(self.made.len()).unwrap_or(u32::MAX),
            held: 0,
            confirmations: 0,
            disturbed: None,
            missed: above,
            limit: cut.unwrap_or_else(|| self.limit(&threshold)),
        }
    }

    fn held(&self) -> Option<u64> {
        let held = self.made.iter().filter(|(_, saw)| *saw == ProbeResult::Holds);
        held.map(|(rate, _)| *rate).max()
    }

    fn threshold(&self) -> Threshold {
        let trial = |(rate, saw): &(u64, ProbeResult)| Trial {
            level: *rate as f64,
            passed: *saw == ProbeResult::Holds,
        };
        let trials: Vec<Trial> = self.made.iter().map(trial).collect();
        Threshold::of(&trials, (self.plan.lowest as f64, self.plan.highest as f64))
    }

    fn place(&self, threshold: &Threshold) -> Place {
        if threshold.probability_above(self.plan.highest as f64) >= CERTAIN {
            Place::Above
        } else if threshold.probability_above(self.plan.lowest as f64) <= 1.0 - CERTAIN {
            Place::Below
        } else {
            Place::Within(threshold.interval())
        }
    }

    /// What most of the misses next to the threshold come from.
    fn limit(&self, threshold: &Threshold) -> SearchLimit {
        let middle = threshold.quantile(0.5);
        let distance = |rate: u64| (rate as f64 / middle).ln().abs();
        let mut misses: Vec<(f64, Side)> = Vec::new();
        for (rate, saw) in &self.made {
            if let ProbeResult::Misses(side) = saw {
                misses.push((distance(*rate), *side));
            }
        }
        misses.sort_by(|one, other| one.0.total_cmp(&other.0));
        misses.truncate(MISSES_NEAR);
        let count = |wanted: Side| misses.iter().filter(|(_, side)| *side == wanted).count();
        let (generator, others) = (count(Side::Generator), count(Side::Others));
        match (self.place(threshold), count(Side::Server)) {
            (Place::Above, _) => SearchLimit::HighestRate,
            (_, 0) if misses.is_empty() => SearchLimit::HighestRate,
            (_, server) if 2 * server >= misses.len() => SearchLimit::Server,
            _ if generator >= others => SearchLimit::Generator,
            _ => SearchLimit::Others,
        }
    }
}

/// The nearest rate with as many digits as the precision needs, because it is read aloud: `61 200`
/// says what `61 237` does.
fn round(rate: f64, precision: f64) -> u64 {
    // Rates are positive and far below 2^53.
    let rate = rate.round().max(1.0) as u64;
    let digits = if precision < 0.01 { 4 } else { 3 };
    let all = rate.checked_ilog10().map_or(1, |log| log + 1);
    let step = 10_u64.pow(all.saturating_sub(digits));
    (rate + step / 2) / step * step
}

#[cfg(test)]
mod tests;
