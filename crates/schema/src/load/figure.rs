//! The named figures of a distribution of latency, and which of them are only lower bounds.

use super::latency::LatencySummary;

crate::names! {
    /// One figure of a distribution of latency.
    pub enum LatencyFigure {
        /// The median.
        P50 = "p50",
        /// 75th percentile.
        P75 = "p75",
        /// 90th percentile.
        P90 = "p90",
        /// 95th percentile.
        P95 = "p95",
        /// 99th percentile.
        P99 = "p99",
        /// 99.9th percentile.
        P999 = "p999",
        /// 99th percentile without stalls of the machine.
        P99WithoutStalls = "p99-without-stalls",
        /// 99.9th percentile without them.
        P999WithoutStalls = "p999-without-stalls",
        /// The largest.
        Max = "max",
        /// The arithmetic mean.
        Mean = "mean",
    }
}

impl LatencyFigure {
    /// The figure of this name, of which `p99.9` is another way to write `p999`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "p99.9" { Self::P999.name() } else { name };
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Requests that met a stall of the machine do not count.
    #[must_use]
    pub const fn is_without_stalls(self) -> bool {
        matches!(self, Self::P99WithoutStalls | Self::P999WithoutStalls)
    }

    /// Its value in `latency`, in nanoseconds.
    #[must_use]
    pub const fn of(self, latency: &LatencySummary) -> f64 {
        let whole = match self {
            Self::P50 => latency.latency_ns_p50,
            Self::P75 => latency.latency_ns_p75,
            Self::P90 => latency.latency_ns_p90,
            Self::P95 => latency.latency_ns_p95,
            Self::P99 | Self::P99WithoutStalls => latency.latency_ns_p99,
            Self::P999 | Self::P999WithoutStalls => latency.latency_ns_p999,
            Self::Max => latency.latency_ns_max,
            Self::Mean => return latency.latency_ns_mean,
        };
        whole as f64
    }

    /// Thousandths of the samples that lie beyond it. None lies beyond a mean, which contains every sample, like
    /// the largest, which precedes it in [`Self::ALL`].
    const fn thousandths_beyond(self) -> u16 {
        match self {
            Self::P50 => 500,
            Self::P75 => 250,
            Self::P90 => 100,
            Self::P95 => 50,
            Self::P99 | Self::P99WithoutStalls => 10,
            Self::P999 | Self::P999WithoutStalls => 1,
            Self::Max | Self::Mean => 0,
        }
    }

    /// The percentile that it is.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(1000 - self.thousandths_beyond()) / 10.0
    }

    /// Whether it is only known to be at least its value in `latency`.
    #[must_use]
    pub fn is_lower_bound(self, latency: &LatencySummary) -> bool {
        latency.is_lower_bound(self.percent())
    }

    /// Samples that a distribution needs before ten of them lie beyond the figure; fewer, and a
    /// single one decides what it is. Neither a mean nor the largest improves with samples beyond it.
    #[must_use]
    pub fn enough_samples(self) -> u64 {
        10_000_u64.checked_div(self.thousandths_beyond().into()).unwrap_or(1)
    }

    /// The share of the samples that must be slow before the figure is; 0 where one is enough.
    #[must_use]
    pub fn tail_share(self) -> f64 {
        // A mean has no tail; disturbances of this size change it noticeably.
        let same_as = if self == Self::Mean { Self::P99 } else { self };
        f64::from(same_as.thousandths_beyond()) / 1000.0
    }
}
