//! Synthetic latencies for the tests of this crate.

use wirebench_schema::load::LatencySummary;

/// A distribution of `count` samples that all took `latency_ns`.
pub(crate) fn summary(count: u64, latency_ns: u64) -> LatencySummary {
    LatencySummary {
        count,
        latency_ns_mean: latency_ns as f64,
        within_stdev: 1.0,
        latency_ns_min: latency_ns,
        latency_ns_p50: latency_ns,
        latency_ns_p75: latency_ns,
        latency_ns_p90: latency_ns,
        latency_ns_p95: latency_ns,
        latency_ns_p99: latency_ns,
        latency_ns_p999: latency_ns,
        latency_ns_max: latency_ns,
        ..LatencySummary::default()
    }
}
