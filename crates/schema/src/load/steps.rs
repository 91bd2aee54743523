//! The parts of a window whose rate changes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{LatencySummary, LoadConfig, LoadModel, RateCurve, Stop};

/// The parts in which a ramp is reported, as far as each has this length.
const RAMP_PARTS: usize = 10;
const RAMP_PART: Duration = Duration::from_millis(500);

/// A part of the window of a load whose rate changes: a step, or a tenth of a ramp.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RateStep {
    /// Its start, since the start of the window.
    pub start_ns: u64,
    /// Its length.
    pub length_ns: u64,
    /// Requests per second of the schedule, on average over it.
    pub offered_per_second: f64,
    /// Correct replies that arrived in it.
    pub requests: u64,
    /// `requests` over `length_ns`.
    pub requests_per_second: f64,
    /// Failures of all kinds.
    pub errors: u64,
    /// Latency of the replies that arrived in it, with two significant digits. Those of the 100 ms in which the rate
    /// changes are in no step, and requests that could not be sent are in the last one.
    pub latency: Option<LatencySummary>,
}

impl RateStep {
    /// The steps of a load before it runs; none where the rate is constant, or where a count ends the load.
    #[must_use]
    // A load has few steps, and rates are far below 2^53.
    pub fn of(config: &LoadConfig) -> Vec<Self> {
        let LoadModel::Rate { curve, .. } = &config.model else { return Vec::new() };
        let Stop::After(window) = config.stop else { return Vec::new() };
        let rates: Vec<f64> = match curve {
            RateCurve::Constant(_) => return Vec::new(),
            RateCurve::Steps(_) => curve.rates(),
            RateCurve::Ramp(from, to) => {
                let parts = (window.as_millis() / RAMP_PART.as_millis()).max(1);
                let parts = usize::try_from(parts).map_or(RAMP_PARTS, |it| it.min(RAMP_PARTS));
                let rise = to.as_f64() - from.as_f64();
                let middle = |part: usize| (part as f64 + 0.5) / parts as f64;
                (0..parts).map(|part| rise.mul_add(middle(part), from.as_f64())).collect()
            }
        };
        let window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        let length_ns = window_ns / (rates.len() as u64).max(1);
        let share = config.share.count.max(1) as f64;
        let step = |(place, rate): (u64, f64)| Self {
            start_ns: place * length_ns,
            length_ns,
            offered_per_second: rate / share,
            ..Self::default()
        };
        (0..).zip(rates).map(step).collect()
    }

    /// The same with what was counted until the window ended, this long after its start; none if it did not begin.
    #[must_use]
    // Counts of a load are far below 2^53.
    pub fn until(self, window_ns: u64) -> Option<Self> {
        let length_ns = self.length_ns.min(window_ns.checked_sub(self.start_ns)?);
        let requests_per_second = self.requests as f64 * 1e9 / length_ns as f64;
        (length_ns > 0).then_some(Self { length_ns, requests_per_second, ..self })
    }

    /// Adds the counts of another generator in the same step.
    pub(super) fn add(&mut self, part: &Self) {
        self.length_ns = self.length_ns.max(part.length_ns);
        self.offered_per_second += part.offered_per_second;
        self.requests += part.requests;
        self.requests_per_second += part.requests_per_second;
        self.errors += part.errors;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(curve: RateCurve, stop: Stop) -> Vec<RateStep> {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        RateStep::of(&LoadConfig { model: LoadModel::rate(curve), stop, ..config })
    }

    fn rates(steps: &[RateStep]) -> Vec<f64> {
        steps.iter().map(|it| it.offered_per_second.round()).collect()
    }

    #[test]
    fn a_step_is_an_equal_part_of_the_window_and_a_ramp_has_tenths_of_it() {
        let window = |seconds| Stop::After(Duration::from_secs(seconds));
        let found = steps(RateCurve::steps([10, 30, 20]), window(6));
        assert_eq!(rates(&found), [10.0, 30.0, 20.0]);
        let places: Vec<_> = found.iter().map(|it| (it.start_ns, it.length_ns)).collect();
        assert_eq!(places, [0, 2, 4].map(|second| (second * 1_000_000_000, 2_000_000_000)));
        let ramp = steps(RateCurve::ramp(1000, 0), window(60));
        assert_eq!((ramp.len(), rates(&ramp)[0], rates(&ramp)[9]), (10, 950.0, 50.0));
        assert_eq!(rates(&steps(RateCurve::ramp(0, 100), window(1))), [25.0, 75.0]);
        assert_eq!(steps(RateCurve::per_second(10), window(6)), []);
        assert_eq!(steps(RateCurve::steps([1, 2]), Stop::Requests(9)), []);
    }

    #[test]
    fn an_interrupted_load_has_the_steps_that_began() {
        let found = steps(RateCurve::steps([10, 10, 10]), Stop::After(Duration::from_secs(3)));
        let of = |step: &RateStep| RateStep { requests: 5, ..step.clone() }.until(1_500_000_000);
        let ended: Vec<RateStep> = found.iter().filter_map(of).collect();
        let figures: Vec<_> = ended.iter().map(|it| it.requests_per_second).collect();
        assert_eq!((figures, ended[1].length_ns), (vec![5.0, 10.0], 500_000_000));
    }
}
