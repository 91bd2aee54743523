//! Load models: how requests are offered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::{Rate, RateCurve};
use crate::duration_text::DurationText;

/// The load model.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadModel {
    /// Each connection sends its next request when the last one is answered.
    #[default]
    Closed,
    /// Each connection sends its next request this long after the last one was answered.
    Think {
        /// The pause.
        #[serde(with = "DurationText")]
        delay: Duration,
    },
    /// Requests are due by a schedule that does not depend on the replies.
    Rate {
        /// Number of requests due per second, over all connections.
        curve: RateCurve,
        /// Their spacing.
        arrivals: Arrivals,
        /// From when on a latency counts.
        latency_from: LatencyOrigin,
    },
}

impl LoadModel {
    /// The rate, if it does not change.
    #[must_use]
    pub const fn constant_rate(&self) -> Option<Rate> {
        match self {
            Self::Rate { curve: RateCurve::Constant(rate), .. } => Some(*rate),
            _ => None,
        }
    }

    /// The same at the rate at which the window begins, all the time.
    #[must_use]
    pub fn constant(&self) -> Self {
        let mut model = self.clone();
        if let Self::Rate { curve, .. } = &mut model {
            curve.named().first().into_iter().for_each(|it| *curve = RateCurve::Constant(*it));
        }
        model
    }

    /// Requests at equal distances, with latencies from the moments at which they were due.
    #[must_use]
    pub const fn rate(curve: RateCurve) -> Self {
        Self::Rate { curve, arrivals: Arrivals::Even, latency_from: LatencyOrigin::Due }
    }

    /// The same with latencies from the times of sending.
    #[must_use]
    pub const fn slipping(curve: RateCurve) -> Self {
        Self::Rate { curve, arrivals: Arrivals::Even, latency_from: LatencyOrigin::Sent }
    }

    /// The length of a part of a load that shall last so long: at rates below 1000/s a whole number of the distances
    /// between requests, because each part begins with one.
    #[must_use]
    // Rates are checked.
    pub fn whole_intervals(&self, length: Duration) -> Duration {
        let Self::Rate { curve, .. } = self else { return length };
        let interval_ns = (1e9 / curve.first()) as u64;
        let whole_ns = (length.as_nanos() as u64).next_multiple_of(interval_ns.max(1));
        if interval_ns < 1_000_000 { length } else { Duration::from_nanos(whole_ns) }
    }
}

/// The spacing of requests at a given rate.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At equal distances.
    #[default]
    Even,
    /// At random and independently, as requests of many users are: a Poisson process.
    Poisson,
}

/// From when on a latency counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LatencyOrigin {
    /// The moment at which the request was due, whether or not it could be sent then.
    #[default]
    Due,
    /// The time of sending; requests due in the meantime are skipped. Paced closed loops measure
    /// like this, which hides the effect of a server's stall on its users: coordinated omission.
    Sent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_load_has_the_rate_with_which_the_window_begins() {
        let at = LoadModel::rate;
        let think = LoadModel::Think { delay: Duration::from_millis(1) };
        for (model, expected) in [
            (LoadModel::Closed, LoadModel::Closed),
            (think.clone(), think),
            (at(RateCurve::per_second(500)), at(RateCurve::per_second(500))),
            (at(RateCurve::ramp(200, 900)), at(RateCurve::per_second(200))),
            (at(RateCurve::steps([300, 100])), at(RateCurve::per_second(300))),
        ] {
            assert_eq!(model.constant(), expected);
        }
    }

    #[test]
    fn parts_at_a_low_rate_last_whole_distances_between_requests() {
        let ms = Duration::from_millis;
        let slow = LoadModel::rate(RateCurve::per_second(20));
        assert_eq!([0, 5, 50, 51].map(|it| slow.whole_intervals(ms(it))), [0, 50, 50, 100].map(ms));
        let fast = LoadModel::rate(RateCurve::per_second(30_000));
        assert_eq!([&fast, &LoadModel::Closed].map(|it| it.whole_intervals(ms(7))), [ms(7); 2]);
    }
}
