//! Synthetic loads for the tests of this crate.

use wirebench_schema::load::{
    EngineChoice, Fairness, LatencySummary, LoadConfig, LoadModel, LoadReport, Offered, RateCurve,
};

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

/// Ten connections, busy all the time, on two threads that wait for the server.
pub(crate) fn good() -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    LoadReport {
        requests: 100_000,
        requests_per_second: 100_000.0,
        window_ns: 1_000_000_000,
        connections_made: 10,
        ready_share: 0.12,
        thread_cpu_ns: vec![300_000_000, 410_000_000],
        fairness: Fairness { jain_index: 1.0, ..Fairness::default() },
        latency: Some(summary(100_000, 100_000)),
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }
}

/// The same at a rate: `due` requests a second, of which `answered` were.
pub(crate) fn at_rate(due: u64, answered: u64, service_ns: u64) -> LoadReport {
    let mut report = good();
    report.config.model = LoadModel::rate(RateCurve::per_second(due));
    (report.requests, report.requests_per_second) = (answered, answered as f64);
    report.offered = Some(Offered {
        due,
        owed_at_end: due.saturating_sub(answered),
        waiting: [0; 3],
        requests_per_second: due as f64,
    });
    // None of the others waited for longer than the slowest reply.
    let (censored, lower_bounds) = (due - answered, Some(0));
    report.latency = Some(LatencySummary { censored, lower_bounds, ..summary(due, 100_000) });
    report.service = Some(summary(answered, service_ns));
    report.lag = Some(summary(answered, 1000));
    report
}
