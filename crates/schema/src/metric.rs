//! The figures by which results are compared and which conditions limit: their names, and which side of a limit is the
//! worse one.

use std::{cmp::Ordering, fmt};

use crate::load::LatencyFigure;

/// A figure of a run or of a load. Its order is that in which reports show them.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Metric {
    /// Correct replies per second.
    Throughput,
    /// CPU time of the server's whole process tree per request, in nanoseconds.
    Cpu,
    /// A figure of latency, in nanoseconds.
    Latency(LatencyFigure),
    /// Context switches of the server's process tree per request, voluntary or not.
    Switches,
    /// Peak memory of the server, in bytes.
    Memory,
    /// Time from the start of the server until it accepts connections, in nanoseconds.
    Ready,
    /// Memory of the server before the first connection, in bytes.
    MemoryAtRest,
    /// Memory of the server with all connections open and idle, in bytes.
    MemoryIdle,
    /// Growth of the server's memory for each idle connection, in bytes.
    MemoryPerConnection,
    /// CPU time of the server over the time, while all connections are idle. 1 is one CPU.
    IdleCpu,
    /// Requests that failed.
    Errors,
    /// Replies in the window over requests that were due in it.
    Achieved,
    /// Requests that were due and could not be sent.
    Unsent,
}

/// The side of its limit on which a condition is violated.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LimitSide {
    /// Below the limit.
    Below,
    /// Above it.
    Above,
}

// The sign in conditions.
crate::names! { LimitSide: Below = "<", Above = ">" }

impl Metric {
    /// The median latency.
    pub const P50: Self = Self::Latency(LatencyFigure::P50);
    /// The 99th percentile of latency.
    pub const P99: Self = Self::Latency(LatencyFigure::P99);
    /// The 99.9th percentile of latency.
    pub const P999: Self = Self::Latency(LatencyFigure::P999);

    /// The metrics that a condition may limit, in the order in which messages list them.
    pub fn limitable() -> impl Iterator<Item = Self> {
        // The mean precedes the percentiles.
        let latencies = [LatencyFigure::Mean].into_iter().chain(LatencyFigure::ALL);
        let latencies = latencies.take(LatencyFigure::ALL.len()).map(Self::Latency);
        let last = [Self::Errors, Self::Achieved, Self::Unsent, Self::Memory];
        [Self::Throughput, Self::Cpu].into_iter().chain(latencies).chain(last)
    }

    /// The name on command lines and in conditions, and the side on which a figure is worse than another one.
    const fn name_and_worse(self) -> (&'static str, LimitSide) {
        match self {
            Self::Throughput => ("throughput", LimitSide::Below),
            Self::Cpu => ("cpu", LimitSide::Above),
            Self::Latency(figure) => (figure.name(), LimitSide::Above),
            Self::Switches => ("switches", LimitSide::Above),
            Self::Memory => ("memory", LimitSide::Above),
            Self::Ready => ("ready", LimitSide::Above),
            Self::MemoryAtRest => ("memory-at-rest", LimitSide::Above),
            Self::MemoryIdle => ("memory-idle", LimitSide::Above),
            Self::MemoryPerConnection => ("memory-per-connection", LimitSide::Above),
            Self::IdleCpu => ("idle-cpu", LimitSide::Above),
            Self::Errors => ("errors", LimitSide::Above),
            Self::Achieved => ("achieved", LimitSide::Below),
            Self::Unsent => ("unsent", LimitSide::Above),
        }
    }

    /// The name on command lines and in conditions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name_and_worse().0
    }

    /// The side on which a figure is worse than another one.
    #[must_use]
    pub const fn worse(self) -> LimitSide {
        self.name_and_worse().1
    }

    /// Requests that met a stall of the machine do not count.
    #[must_use]
    pub const fn is_without_stalls(self) -> bool {
        matches!(self, Self::Latency(figure) if figure.is_without_stalls())
    }

    /// Whether it is decided by few requests.
    #[must_use]
    pub const fn is_tail(self) -> bool {
        use LatencyFigure::{Max, P99, P99WithoutStalls, P999, P999WithoutStalls};
        matches!(self, Self::Latency(P99 | P999 | P99WithoutStalls | P999WithoutStalls | Max))
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
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
