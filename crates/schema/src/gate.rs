//! Conditions of `--fail-if`: a figure, the server or the requests that it belongs to, and a limit. Parses and shows
//! them; compares nothing with them.

mod read;
mod scope;

use serde::Serialize;
use std::{cmp::Ordering, fmt, time::Duration};

pub use self::{read::GRAMMAR, scope::GateScope};

use crate::{
    load::LatencyFigure,
    units::{spaced_duration, write_size},
};

/// A figure that a condition may limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GateFigure {
    /// Correct replies per second.
    Throughput,
    /// CPU time of the server per request.
    Cpu,
    /// A figure of latency.
    Latency(LatencyFigure),
    /// Requests that failed.
    Errors,
    /// Replies in the window over requests that were due in it.
    Achieved,
    /// Requests that were due and could not be sent.
    Unsent,
    /// Peak memory of the server.
    Memory,
}

/// When a verb fails: a figure is beyond a limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "String")]
pub struct Condition {
    /// The figure.
    pub figure: GateFigure,
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

/// The side of its limit on which a condition is violated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitSide {
    /// Below the limit.
    Below,
    /// Above it.
    Above,
}

impl GateFigure {
    /// The figures, in the order in which messages list them.
    pub const ALL: [Self; 14] = [
        Self::Throughput,
        Self::Cpu,
        Self::Latency(LatencyFigure::Mean),
        Self::Latency(LatencyFigure::P50),
        Self::Latency(LatencyFigure::P75),
        Self::Latency(LatencyFigure::P90),
        Self::Latency(LatencyFigure::P95),
        Self::Latency(LatencyFigure::P99),
        Self::Latency(LatencyFigure::P999),
        Self::Latency(LatencyFigure::Max),
        Self::Errors,
        Self::Achieved,
        Self::Unsent,
        Self::Memory,
    ];

    /// The name in conditions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Cpu => "cpu",
            Self::Latency(figure) => figure.name(),
            Self::Errors => "errors",
            Self::Achieved => "achieved",
            Self::Unsent => "unsent",
            Self::Memory => "memory",
        }
    }

    /// The side on which a figure is worse than its limit.
    #[must_use]
    pub const fn worse(self) -> LimitSide {
        match self {
            Self::Throughput | Self::Achieved => LimitSide::Below,
            Self::Cpu | Self::Latency(_) | Self::Errors | Self::Unsent | Self::Memory => {
                LimitSide::Above
            }
        }
    }

    /// Tells if it is about how requests ended, so that a run whose other figures are invalid has it too.
    #[must_use]
    pub const fn is_count(self) -> bool {
        matches!(self, Self::Errors | Self::Achieved | Self::Unsent)
    }

    /// Whether it is decided by few requests.
    #[must_use]
    pub const fn is_tail(self) -> bool {
        use LatencyFigure::{Max, P99, P999};
        matches!(self, Self::Latency(P99 | P999 | Max))
    }

    fn named(name: &str) -> Option<Self> {
        if name == "req/s" {
            return Some(Self::Throughput);
        }
        let latency = LatencyFigure::named(name).map(Self::Latency);
        latency.or_else(|| Self::ALL.into_iter().find(|it| it.name() == name))
    }

    /// A value as a limit is written.
    fn written(self, value: u64) -> String {
        match self {
            Self::Cpu | Self::Latency(_) => spaced_duration(Duration::from_nanos(value)),
            Self::Memory => write_size(value),
            Self::Throughput | Self::Errors | Self::Achieved | Self::Unsent => value.to_string(),
        }
    }
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

impl ChangeLimit {
    /// Whether a change of this share is beyond the limit.
    #[must_use]
    pub fn is_beyond(&self, share: f64) -> bool {
        self.beyond.is_beyond(share, self.share)
    }
}

impl LimitSide {
    /// Whether a value is on this side of a limit. What is not a number is on neither.
    #[must_use]
    pub fn is_beyond(self, value: f64, limit: f64) -> bool {
        let order = value.partial_cmp(&limit);
        match self {
            Self::Below => order == Some(Ordering::Less),
            Self::Above => order == Some(Ordering::Greater),
        }
    }

    /// Sorts by these values: the farthest beyond a limit first, or the nearest to it.
    pub fn sort<T>(self, items: &mut [T], value: impl Fn(&T) -> f64) {
        items.sort_by(|one, other| {
            let order = value(one).total_cmp(&value(other));
            if self == Self::Below { order } else { order.reverse() }
        });
    }

    /// The sign in conditions.
    #[must_use]
    pub const fn sign(self) -> char {
        match self {
            Self::Below => '<',
            Self::Above => '>',
        }
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
        let sign = figure.worse().sign();
        match limit {
            Limit::Change(ChangeLimit { beyond: LimitSide::Below, share }) => {
                write!(formatter, " < {}%", percent(*share))
            }
            Limit::Change(ChangeLimit { beyond: LimitSide::Above, share }) => {
                write!(formatter, " > {:+}%", percent(*share))
            }
            Limit::Value(value) => write!(formatter, " {sign} {}", figure.written(*value)),
            Limit::Share(share) => write!(formatter, " {sign} {}%", percent(*share)),
        }
    }
}

crate::names::as_text!(Condition);

#[cfg(test)]
mod tests;
