//! What may be claimed of a ratio, some of which are only bounds: the side that was measured while
//! the load generator was at its limit may be better than its figure. It estimates nothing.

use schemars::JsonSchema;
use serde::Serialize;
use wirebench_stats::{Interval, Judged, Outcome};

use super::{Metric, MetricFacts};

/// How a ratio is to be read when the generator was at its limit.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    Exactly,
    /// The true ratio may be higher.
    AtLeast,
    /// The true ratio may be lower.
    AtMost,
    /// Both sides may be better, so that the true ratio may be anything.
    Either,
}

wirebench_schema::names! { Reads: Exactly = "exactly", AtLeast = "at-least", AtMost = "at-most", Either = "either" }
// The same for every metric.
wirebench_schema::names! {
    Claim: Higher = "higher", Lower = "lower", Same = "same", NotHigher = "not-higher", NotLower = "not-lower",
    CannotTell = "inconclusive",
}

impl Reads {
    /// The sign in front of the ratio.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Exactly => "",
            Self::AtLeast => ">=",
            Self::AtMost => "<=",
            Self::Either => "~",
        }
    }

    /// Of the ratio of `metric`, of a row to its baseline.
    ///
    /// A server may do more requests, and may answer sooner, if the load generator was at its limit with it. So such a
    /// row bounds a ratio of throughput from below, and one of latency from above; such a baseline does the reverse.
    #[must_use]
    pub fn of(metric: Metric, row_is_limited: bool, baseline_is_limited: bool) -> Self {
        let of_row = if metric.more_is_better() { Self::AtLeast } else { Self::AtMost };
        match (row_is_limited, baseline_is_limited) {
            _ if !metric.is_bounded_by_generator() => Self::Exactly,
            (false, false) => Self::Exactly,
            (true, true) => Self::Either,
            (true, false) => of_row,
            (false, true) => of_row.inverse(),
        }
    }

    /// Of the inverse of the ratio.
    #[must_use]
    pub const fn inverse(self) -> Self {
        match self {
            Self::AtLeast => Self::AtMost,
            Self::AtMost => Self::AtLeast,
            Self::Exactly | Self::Either => self,
        }
    }

    /// Of the product of two ratios.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly, it) | (it, Self::Exactly) => it,
            (one, other) if one == other => one,
            _ => Self::Either,
        }
    }
}

/// What is claimed of a row's ratio to the baseline. Higher and lower are of the value, not of its
/// merit; [`Claim::words`] says what that means for a metric.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It is higher: the interval excludes 1 and is not inside the margin.
    Higher,
    /// It is lower, in the same sense.
    Lower,
    /// Any difference is smaller than the margin.
    Same,
    /// It is not higher by more than the margin; it may be lower.
    NotHigher,
    /// It is not lower by more than the margin; it may be higher.
    NotLower,
    /// None of these can be said.
    #[serde(rename = "inconclusive")]
    CannotTell,
}

impl Claim {
    /// What remains of a judgement when its ratio is a bound.
    ///
    /// A ratio that is at most so much can be lower for certain, and can be not higher; that it is
    /// higher, or the same, does not follow from it. The reverse holds of one that is at least so
    /// much, and nothing follows from one that may be anything.
    ///
    /// The plain interval of 90 % has 5 % beyond either end, so each end decides by itself whether
    /// a bound lies on the near side of the margin.
    #[must_use]
    pub fn of(judged: &Judged, reads: Reads, margin: f64) -> Self {
        let band = Interval::of_margin(margin);
        let is_above = judged.plain.is_some_and(|it| it.low >= band.low);
        let is_below = judged.plain.is_some_and(|it| it.high <= band.high);
        match (reads, judged.outcome) {
            (Reads::Exactly | Reads::AtLeast, Outcome::Higher) => Self::Higher,
            (Reads::Exactly | Reads::AtMost, Outcome::Lower) => Self::Lower,
            (Reads::Exactly, Outcome::Same) => Self::Same,
            (Reads::AtLeast, _) if is_above => Self::NotLower,
            (Reads::AtMost, _) if is_below => Self::NotHigher,
            _ => Self::CannotTell,
        }
    }

    /// Of the inverse of the ratio.
    #[must_use]
    pub const fn inverse(self) -> Self {
        match self {
            Self::Higher => Self::Lower,
            Self::Lower => Self::Higher,
            Self::NotHigher => Self::NotLower,
            Self::NotLower => Self::NotHigher,
            Self::Same | Self::CannotTell => self,
        }
    }

    /// The claim in the words of a metric, such as `slower` or `not more CPU`.
    #[must_use]
    pub fn words(self, metric: Metric) -> String {
        let (higher, lower) = metric.words();
        match self {
            Self::Higher => higher.to_owned(),
            Self::Lower => lower.to_owned(),
            Self::Same => "same".to_owned(),
            Self::NotHigher => format!("not {higher}"),
            Self::NotLower => format!("not {lower}"),
            Self::CannotTell => "inconclusive".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is claimed of a ratio of `middle` with little noise, with a margin of 3 %.
    fn claim(middle: f64, reads: Reads) -> Claim {
        let around = |reach: f64| Interval { low: middle - reach, high: middle + reach };
        let outcome = match middle {
            it if it > 1.05 => Outcome::Higher,
            it if it < 0.95 => Outcome::Lower,
            _ => Outcome::Same,
        };
        let judged = Judged {
            ratio: middle,
            cohorts: 4,
            interval: Some(around(0.01)),
            plain: Some(around(0.008)),
            p_adjusted: Some(0.01),
            outcome,
        };
        Claim::of(&judged, reads, 0.03)
    }

    #[test]
    fn a_bound_supports_only_what_lies_on_its_own_side() {
        use Claim::{CannotTell, Higher, Lower, NotHigher, NotLower, Same};
        for (reads, [lower, same, higher]) in [
            (Reads::Exactly, [Lower, Same, Higher]),
            (Reads::AtMost, [Lower, NotHigher, CannotTell]),
            (Reads::AtLeast, [CannotTell, NotLower, Higher]),
            (Reads::Either, [CannotTell; 3]),
        ] {
            assert_eq!(claim(0.9, reads), lower, "{reads:?}");
            assert_eq!(claim(1.0, reads), same, "{reads:?}");
            assert_eq!(claim(1.1, reads), higher, "{reads:?}");
        }
    }

    #[test]
    fn a_limited_side_bounds_throughput_and_latency_in_opposite_directions_and_cost_not_at_all() {
        let row = |metric| Reads::of(metric, true, false);
        let baseline = |metric| Reads::of(metric, false, true);
        assert_eq!(row(Metric::Throughput), Reads::AtLeast);
        assert_eq!(row(Metric::P99), Reads::AtMost);
        assert_eq!(baseline(Metric::Throughput), Reads::AtMost);
        assert_eq!(baseline(Metric::P99), Reads::AtLeast);
        assert_eq!(row(Metric::Cpu), Reads::Exactly);
        assert_eq!(Reads::of(Metric::P50, true, true), Reads::Either);
    }

    #[test]
    fn words_are_those_of_the_metric() {
        assert_eq!(Claim::Higher.words(Metric::Throughput), "faster");
        assert_eq!(Claim::Higher.words(Metric::Cpu), "more CPU");
        assert_eq!(Claim::NotLower.words(Metric::Throughput), "not slower");
        assert_eq!(Claim::CannotTell.words(Metric::Memory), "inconclusive");
    }
}
