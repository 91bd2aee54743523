//! Each verdict and each caution, provoked.

use super::*;
use crate::load::{
    Arrivals, EngineChoice, ErrorCounts, Fairness, LatencySummary, LoadConfig, Offered,
};
use std::time::Duration;

fn summary(count: u64, latency_ns: u64) -> LatencySummary {
    LatencySummary {
        count,
        censored: 0,
        latency_ns_mean: latency_ns as f64,
        latency_ns_stdev: 0.0,
        within_stdev: 1.0,
        latency_ns_min: latency_ns,
        latency_ns_p50: latency_ns,
        latency_ns_p75: latency_ns,
        latency_ns_p90: latency_ns,
        latency_ns_p95: latency_ns,
        latency_ns_p99: latency_ns,
        latency_ns_p999: latency_ns,
        latency_ns_max: latency_ns,
        histogram: String::new(),
    }
}

/// Ten connections, busy all the time, on two threads that wait for the server.
fn good() -> LoadReport {
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
fn at_rate(due: u64, answered: u64, service_ns: u64) -> LoadReport {
    let mut report = good();
    report.config.model = LoadModel::Rate {
        curve: RateCurve::Constant(due),
        arrivals: Arrivals::Even,
        latency_from: LatencyOrigin::Due,
    };
    (report.requests, report.requests_per_second) = (answered, answered as f64);
    report.offered = Some(Offered {
        due,
        owed_at_end: due.saturating_sub(answered),
        requests_per_second: due as f64,
    });
    report.service = Some(summary(answered, service_ns));
    report.lag = Some(summary(answered, 1000));
    report
}

fn busy(mut report: LoadReport, ready_share: f64) -> LoadReport {
    report.thread_cpu_ns = vec![300_000_000, 950_000_000];
    report.ready_share = ready_share;
    report
}

fn ceiling(mut report: LoadReport, requests_per_second: f64) -> LoadReport {
    report.ceiling_requests_per_second = Some(requests_per_second);
    report
}

#[test]
fn the_limit_follows_the_figures_and_the_reasons_name_them() {
    let spinning = |ready_share| {
        let mut report = busy(good(), ready_share);
        report.config.waiting = Waiting::Spin;
        report
    };
    let single = LoadReport { connections_made: 2, ..busy(good(), 1.0) };
    // Of two connections one is ready whenever a thread finds anything at all.
    let few = |ready_share| LoadReport { connections_made: 4, ..busy(good(), ready_share) };
    let turns = LoadReport { ready_share: 0.9, ..good() };
    let mut thinking = good();
    thinking.config.model = LoadModel::Think { delay: Duration::from_micros(95) };
    let mut slow = good();
    slow.config.model = LoadModel::Think { delay: Duration::from_micros(5) };
    let mut slipping = at_rate(20_000, 10_000, 990_000);
    slipping.offered = Some(Offered { due: 10_000, owed_at_end: 0, requests_per_second: 1e4 });
    slipping.config.model = LoadModel::Rate {
        curve: RateCurve::Constant(20_000),
        arrivals: Arrivals::Even,
        latency_from: LatencyOrigin::Sent,
    };
    let unanswered = LoadReport { requests: 0, requests_per_second: 0.0, ..good() };
    let rows = [
        (good(), Limit::Server, "ran for 41 % of the window, and 12 % of its connections"),
        (busy(good(), 0.8), Limit::Generator, "ran for 95 % of the window, and 80 %"),
        (busy(good(), 0.2), Limit::Server, "ran for 95 % of the window, and 20 %"),
        (few(0.6), Limit::Server, "and 60 % of its connections"),
        (few(0.8), Limit::Generator, "and 80 % of its connections"),
        (single, Limit::Generator, "ran for 95 % of the window"),
        (turns, Limit::Unknown, "ran for 41 % of the window, and 90 %"),
        (spinning(0.1), Limit::Server, "never slept, as asked, and 10 %"),
        (spinning(0.9), Limit::Generator, "never slept, as asked, and 90 %"),
        (thinking, Limit::Schedule, "pauses took 95 % of each connection's time"),
        (slow, Limit::Server, "ran for 41 %"),
        (at_rate(20_000, 20_000, 100_000), Limit::Schedule, "20000 of 20000 requests/s"),
        (at_rate(20_000, 19_990, 100_000), Limit::Schedule, "were answered correctly (99.95 %)"),
        (at_rate(20_000, 10_000, 990_000), Limit::Server, "9.9 requests were on their way"),
        (slipping, Limit::Server, "10000 of 20000 requests/s that were due"),
        (busy(at_rate(20_000, 10_000, 50_000), 0.2), Limit::Generator, "0.5 requests were on"),
        (busy(at_rate(20_000, 10_000, 990_000), 0.8), Limit::Generator, "95 % of the window"),
        (at_rate(20_000, 10_000, 50_000), Limit::Unknown, "(50 %)"),
        (ceiling(good(), 105_000.0), Limit::Unknown, "the rate is 95 % of what the generator"),
        (ceiling(good(), 200_000.0), Limit::Server, "ran for 41 %"),
        (ceiling(good(), 50_000.0), Limit::Server, "below the rate, which is 200 % of it"),
        (unanswered, Limit::Unknown, "no request was answered correctly"),
    ];
    for (report, limit, part) in rows {
        let verdict = report.verdict();
        assert_eq!(verdict.limit, limit, "{part}: {verdict:?}");
        assert!(verdict.reasons.iter().any(|reason| reason.contains(part)), "{part}: {verdict:?}");
    }
}

#[test]
fn a_good_load_has_no_caution() {
    assert!(good().verdict().cautions.is_empty(), "{:?}", good().verdict());
    let kept = at_rate(20_000, 20_000, 100_000).verdict();
    assert!(kept.cautions.is_empty(), "{kept:?}");
}

#[test]
fn a_load_that_was_stopped_before_its_window_has_no_other_caution() {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    let nothing = LoadReport::new("0".into(), config, EngineChoice::Epoll);
    let cautions = LoadReport { interrupted: true, ..nothing }.verdict().cautions;
    assert_eq!(cautions, ["interrupted: the window was 0.00 s long"]);
}

#[test]
fn each_weakness_has_its_caution() {
    type Spoil = fn(&mut LoadReport);
    let rows: [(Spoil, &str); 8] = [
        (
            |report| report.errors = ErrorCounts { reset: 3, ..report.errors },
            "3 of 100003 requests",
        ),
        (|report| report.interrupted = true, "the window was 1.00 s long"),
        (|report| report.config.connections = 11, "10 of 11 connections could be made"),
        (|report| report.requests_per_second = 60_000.0, "only 6.0 of 10 connections"),
        (|report| report.latency.as_mut().unwrap().count = 999, "999 samples are too few"),
        (|report| report.fairness.jain_index = 0.5, "Jain's index 0.50"),
        (|report| report.lag = Some(summary(1, 2_500_000)), "sent 2.50 ms or more after"),
        (|report| report.stall_ns_max = 15_000_000, "did not run for 15.00 ms"),
    ];
    for (spoil, part) in rows {
        let mut report = good();
        spoil(&mut report);
        let cautions = report.verdict().cautions;
        assert_eq!(cautions.len(), 1, "{cautions:?}");
        assert!(cautions[0].contains(part), "{part}: {cautions:?}");
    }
}
