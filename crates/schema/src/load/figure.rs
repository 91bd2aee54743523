//! The named figures of a distribution of latency, and which of them are only lower bounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

use super::LatencySummary;

/// One figure of a distribution of latency.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "lowercase")]
pub enum LatencyFigure {
    /// The median.
    P50,
    /// 75th percentile.
    P75,
    /// 90th percentile.
    P90,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// The largest.
    Max,
    /// The arithmetic mean.
    Mean,
}

impl LatencyFigure {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 8] =
        [Self::P50, Self::P75, Self::P90, Self::P95, Self::P99, Self::P999, Self::Max, Self::Mean];

    /// The name on command lines and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P75 => "p75",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
            Self::Mean => "mean",
        }
    }

    /// Its value in `latency`, in nanoseconds.
    #[must_use]
    pub const fn of(self, latency: &LatencySummary) -> f64 {
        let whole = match self {
            Self::P50 => latency.latency_ns_p50,
            Self::P75 => latency.latency_ns_p75,
            Self::P90 => latency.latency_ns_p90,
            Self::P95 => latency.latency_ns_p95,
            Self::P99 => latency.latency_ns_p99,
            Self::P999 => latency.latency_ns_p999,
            Self::Max => latency.latency_ns_max,
            Self::Mean => return latency.latency_ns_mean,
        };
        whole as f64
    }

    /// The percentile that it is. A mean contains every sample, like the largest, which precedes it in [`Self::ALL`].
    #[must_use]
    pub const fn percent(self) -> f64 {
        match self {
            Self::P50 => 50.0,
            Self::P75 => 75.0,
            Self::P90 => 90.0,
            Self::P95 => 95.0,
            Self::P99 => 99.0,
            Self::P999 => 99.9,
            Self::Max | Self::Mean => 100.0,
        }
    }

    /// Whether it is only known to be at least its value in `latency`.
    #[must_use]
    pub fn is_lower_bound(self, latency: &LatencySummary) -> bool {
        latency.is_lower_bound(self.percent())
    }

    /// Those of `latency` that are lower bounds.
    pub fn lower_bounds(latency: &LatencySummary) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|figure| figure.is_lower_bound(latency))
    }

    /// Samples that a distribution needs before ten of them lie beyond the figure; fewer, and a
    /// single one decides what it is.
    #[must_use]
    pub const fn enough_samples(self) -> u64 {
        match self {
            Self::P50 => 20,
            Self::P75 => 40,
            Self::P90 => 100,
            Self::P95 => 200,
            Self::P99 => 1000,
            Self::P999 => 10_000,
            // Neither is an estimate that improves with samples beyond it.
            Self::Max | Self::Mean => 1,
        }
    }
}

impl LatencyFigure {
    /// The share of the samples that must be slow before the figure is; 0 where one is enough.
    #[must_use]
    pub const fn tail_share(self) -> f64 {
        match self {
            Self::P50 => 0.5,
            Self::P75 => 0.25,
            Self::P90 => 0.1,
            Self::P95 => 0.05,
            // A mean has no tail; disturbances of this size change it noticeably.
            Self::P99 | Self::Mean => 0.01,
            Self::P999 => 0.001,
            Self::Max => 0.0,
        }
    }
}

impl fmt::Display for LatencyFigure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
