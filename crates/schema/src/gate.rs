//! Conditions of `--fail-if`: a figure, the server or the requests that it belongs to, and a limit. Parses and shows
//! them; compares nothing with them.

mod read;
mod scope;

use serde::Serialize;
use std::{fmt, time::Duration};

pub use self::{read::GRAMMAR, scope::GateScope};

use crate::{
    metric::{LimitSide, Metric},
    units::{spaced_duration, write_size},
};

/// When a verb fails: a figure is beyond a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub struct Condition {
    /// The figure.
    pub figure: Metric,
    /// The server, or the requests of a set; absent for all that the verb measures.
    pub of: Option<String>,
    /// What it must not exceed or fall below.
    pub limit: Limit,
}

/// What a figure is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Its change against another result or server.
    Change(ChangeLimit),
    /// A value: nanoseconds, bytes, requests per second, or a number of errors.
    Value(u64),
    /// A share of the requests, such as 0.001.
    Share(f64),
}

/// The largest change that passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeLimit {
    /// The side on which the condition is violated.
    pub beyond: LimitSide,
    /// New over old, less one: -0.03 is 3 % less.
    pub share: f64,
}

impl Condition {
    /// The limit of its change; none for a condition on a value.
    #[must_use]
    pub const fn change(&self) -> Option<&ChangeLimit> {
        match &self.limit {
            Limit::Change(change) => Some(change),
            Limit::Value(_) | Limit::Share(_) => None,
        }
    }
}

/// A value as a limit is written.
fn written(figure: Metric, value: u64) -> String {
    match figure {
        Metric::Cpu | Metric::Latency(_) => spaced_duration(Duration::from_nanos(value)),
        Metric::Memory => write_size(value),
        _ => value.to_string(),
    }
}

/// A share in percent without the digits that binary fractions add.
fn percent(share: f64) -> f64 {
    (share * 100.0 * 1e6).round() / 1e6
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { figure, of, limit } = self;
        write!(formatter, "{}", figure.name())?;
        if let Some(name) = of {
            write!(formatter, " of {name}")?;
        }
        let sign = figure.worse();
        match limit {
            Limit::Change(ChangeLimit { beyond: LimitSide::Below, share }) => {
                write!(formatter, " < {}%", percent(*share))
            }
            Limit::Change(ChangeLimit { beyond: LimitSide::Above, share }) => {
                write!(formatter, " > {:+}%", percent(*share))
            }
            Limit::Value(value) => write!(formatter, " {sign} {}", written(*figure, *value)),
            Limit::Share(share) => write!(formatter, " {sign} {}%", percent(*share)),
        }
    }
}

crate::names::as_text!(Condition);

#[cfg(test)]
mod tests;
