//! Rates of requests, and their course over the time of a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Requests per second over all connections, in thousandths. In files it is a number, or a text such as `20k`.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(try_from = "StoredRate", into = "StoredRate")]
pub struct Rate(u64);

impl Rate {
    /// A whole number of requests per second.
    #[must_use]
    pub const fn per_second(requests: u64) -> Self {
        Self(requests.saturating_mul(1000))
    }

    /// Its name: `20k` for 20 000.
    #[must_use]
    pub fn short(self) -> String {
        match self.whole() {
            Some(whole) if whole > 0 && whole.is_multiple_of(1000) => format!("{}k", whole / 1000),
            _ => self.to_string(),
        }
    }

    /// The number of requests per second if it has no fraction.
    #[must_use]
    pub const fn whole(self) -> Option<u64> {
        if self.0.is_multiple_of(1000) { Some(self.0 / 1000) } else { None }
    }

    /// The number of requests per second.
    #[must_use]
    // Rates are checked and far below 2^53.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl From<u64> for Rate {
    fn from(requests: u64) -> Self {
        Self::per_second(requests)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(formatter)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        crate::units::parse_thousandths(text).map(Self)
    }
}

/// A rate in a file.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(untagged, expecting = "expected requests/s, such as 2000, 0.5 or \"20k\"")]
enum StoredRate {
    Whole(u64),
    Fraction(f64),
    Text(String),
}

impl From<Rate> for StoredRate {
    fn from(rate: Rate) -> Self {
        rate.whole().map_or_else(|| Self::Fraction(rate.as_f64()), Self::Whole)
    }
}

impl TryFrom<StoredRate> for Rate {
    type Error = String;

    fn try_from(stored: StoredRate) -> Result<Self, String> {
        match stored {
            StoredRate::Whole(requests) => Ok(Self::per_second(requests)),
            StoredRate::Fraction(requests) => requests.to_string().parse(),
            StoredRate::Text(text) => text.parse(),
        }
    }
}

/// The rate over the time of the window. The warm-up has the rate at which the window begins.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", from = "StoredCurve")]
pub enum RateCurve {
    /// One rate all the time.
    Constant(Rate),
    /// A rate that changes evenly to another one.
    Ramp(Rate, Rate),
    /// One rate after the other, each for an equal part of the window.
    Steps(Vec<Rate>),
}

/// A curve in a file. Older versions had a constant of its own for fractions.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StoredCurve {
    Constant(Rate),
    Thousandths(u64),
    Ramp(Rate, Rate),
    Steps(Vec<Rate>),
}

impl From<StoredCurve> for RateCurve {
    fn from(stored: StoredCurve) -> Self {
        match stored {
            StoredCurve::Constant(rate) => Self::Constant(rate),
            StoredCurve::Thousandths(rate) => Self::Constant(Rate(rate)),
            StoredCurve::Ramp(from, to) => Self::Ramp(from, to),
            StoredCurve::Steps(rates) => Self::Steps(rates),
        }
    }
}

impl RateCurve {
    /// A constant rate, a whole number of requests per second.
    #[must_use]
    pub const fn per_second(requests: u64) -> Self {
        Self::Constant(Rate::per_second(requests))
    }

    /// A rate that changes evenly, in whole numbers of requests per second.
    #[must_use]
    pub const fn ramp(from: u64, to: u64) -> Self {
        Self::Ramp(Rate::per_second(from), Rate::per_second(to))
    }

    /// Rates one after the other, in whole numbers of requests per second.
    #[must_use]
    pub fn steps<const N: usize>(rates: [u64; N]) -> Self {
        Self::Steps(rates.map(Rate::per_second).into())
    }

    /// The rate at which the window begins.
    #[must_use]
    pub fn first(&self) -> f64 {
        self.named().first().map_or(0.0, |rate| rate.as_f64())
    }

    /// The mean over a whole window.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let rates = self.rates();
        rates.iter().sum::<f64>() / rates.len().max(1) as f64
    }

    /// All rates that are named.
    #[must_use]
    pub fn rates(&self) -> Vec<f64> {
        self.named().into_iter().map(Rate::as_f64).collect()
    }

    pub(super) fn named(&self) -> Vec<Rate> {
        match self {
            Self::Constant(rate) => vec![*rate],
            Self::Ramp(from, to) => vec![*from, *to],
            Self::Steps(rates) => rates.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_in_files_and_a_fraction_of_older_files_is_read() {
        let read = |text: &str| serde_json::from_str::<RateCurve>(text).unwrap();
        let half = RateCurve::Constant("0.5".parse().unwrap());
        assert_eq!(read(r#"{"thousandths":500}"#), half);
        assert_eq!(read(r#"{"constant":0.5}"#), half);
        assert_eq!(serde_json::to_string(&half).unwrap(), r#"{"constant":0.5}"#);
        assert_eq!(read(r#"{"constant":20000}"#), read(r#"{"constant":"20k"}"#));
        let steps = r#"{"steps":[1,20000,1.125]}"#;
        assert_eq!(serde_json::to_string(&read(steps)).unwrap(), steps);
        assert_eq!(read(r#"{"ramp":[1,20]}"#).rates(), [1.0, 20.0]);
        for wrong in ["-1", "0.0001", "\"x\"", "null"] {
            assert!(serde_json::from_str::<Rate>(wrong).is_err(), "{wrong}");
        }
    }
}
