//! The whole text of loads of every kind.

use super::*;
use crate::{
    distribution::tests::summary_of,
    fixtures::{assert_golden_cases, assert_golden_differences, difference, two_hosts},
};
use std::time::Duration;
use wirebench_schema::load::{
    Arrivals, ClosedPolicy, EngineChoice, ErrorCounts, Fairness, IdleCounts, LatencyOrigin,
    LatencySummary, LoadModel, NamedRequests, Offered, RateCurve, RateStep, ReplyChecks,
    RequestFile, RequestOrder, RequestSet, Stalls, Stop, ThreadRate, TlsSummary,
};

fn latency() -> LatencySummary {
    LatencySummary {
        count: 1_124_000,
        latency_ns_mean: 635_910.0,
        latency_ns_stdev: 890_000.0,
        within_stdev: 0.9369,
        latency_ns_min: 40_000,
        latency_ns_p50: 250_000,
        latency_ns_p75: 491_000,
        latency_ns_p90: 700_000,
        latency_ns_p95: 700_000,
        latency_ns_p99: 5_800_000,
        latency_ns_p999: 9_000_000,
        latency_ns_max: 12_920_000,
        ..LatencySummary::default()
    }
}

fn report() -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:8080/".parse().unwrap());
    LoadReport {
        window_ns: 10_000_000_000,
        requests: 1_124_000,
        requests_per_second: 112_400.0,
        bytes_received: 86_548_000,
        bytes_sent: 46_084_000,
        latency: Some(latency()),
        thread_rate: ThreadRate {
            mean: 56_200.0,
            stdev: 8_070.0,
            max: 62_000.0,
            within_stdev: 0.8654,
        },
        checks: ReplyChecks { fast: 1_123_990, slow: 10 },
        status_classes: [0, 1_124_000, 0, 0, 0],
        connections_made: 10,
        fairness: Fairness {
            replies_least: 112_000,
            replies_median: 112_400,
            replies_most: 113_000,
            jain_index: 0.999_94,
        },
        in_flight_at_end: 10,
        ready_share: 0.12,
        thread_cpu_ns: vec![3_100_000_000, 4_100_000_000],
        stall_ns_max: 1_200_000,
        ..LoadReport::new("0.1.0".to_owned(), config, EngineChoice::Epoll)
    }
}

/// The same at a rate that was not kept.
fn at_rate() -> LoadReport {
    let mut report = report();
    report.config.model = LoadModel::Rate {
        curve: RateCurve::per_second(150_000),
        arrivals: Arrivals::Poisson,
        latency_from: LatencyOrigin::Due,
    };
    report.offered = Some(Offered {
        due: 1_500_000,
        owed_at_end: 375_990,
        waiting: [0; 3],
        requests_per_second: 150_000.0,
    });
    let mut owed = latency();
    (owed.count, owed.censored) = (1_499_990, 375_990);
    report.latency = Some(owed);
    report.service = Some(LatencySummary { latency_ns_mean: 88_000.0, ..latency() });
    report.lag = Some(LatencySummary { count: 1000, latency_ns_p99: 20_000_000, ..latency() });
    report
}

fn needed(report: &LoadReport) -> String {
    load_text(report, &Wanted::default())
}

/// A load that differs from the first one by some fields.
type Case = (&'static str, fn(&mut LoadReport));

/// Loads at a rate that was not kept.
const AT_RATE: [Case; 4] = [
    ("a rate", |_| ()),
    ("stalls of the machine", |it| {
        let latency = LatencySummary { latency_ns_p99: 166_000, ..latency() };
        let (apart_share, latency) = (Some(0.0081), Some(latency));
        let reason = None;
        it.stalls =
            Some(Stalls { per_second: 5.12, longest_ns: 1_240_000, apart_share, latency, reason });
    }),
    ("a rate that lets the schedule slip", |it| {
        it.config.model = LoadModel::slipping(RateCurve::per_second(150_000));
        it.offered = Some(Offered {
            due: 1_124_000,
            owed_at_end: 0,
            waiting: [0; 3],
            requests_per_second: 112_400.0,
        });
    }),
    ("steps of a rate", |it| {
        let curve = RateCurve::steps([100_000, 200_000]);
        it.config.model = LoadModel::rate(curve);
        it.steps = RateStep::of(&it.config);
        (it.steps[0].latency, it.steps[0].requests_per_second) = (it.service.clone(), 100_000.0);
        (it.steps[1].latency, it.steps[1].errors) = (it.latency.clone(), 7);
    }),
];

/// Closed loops.
const CLOSED: [Case; 12] = [
    ("as wrk prints it", |_| ()),
    ("connections that were made again", |it| {
        it.config.requests_per_connection = Some(100);
        (it.client_closes, it.server_closes, it.reconnects) = (11_240, 3, 2);
        it.connect = Some(latency());
    }),
    ("no request was repeated", |it| it.config.on_closed = ClosedPolicy::Retry),
    ("repeated requests", |it| {
        it.config.on_closed = ClosedPolicy::Retry;
        (it.retried_requests, it.server_closes) = (Some(1_123_990), 1_123_990);
        it.connect = Some(latency());
    }),
    ("what calls for a line of its own", |it| {
        it.engine_fallback = Some("io_uring is not permitted here".to_owned());
        it.config.idle_connections = 1000;
        it.idle = IdleCounts { made: 999, lost: 7 };
        it.checks = ReplyChecks { fast: 100, slow: 1_123_900 };
        it.status_classes = [0, 1_123_990, 4, 6, 0];
        it.fairness.jain_index = 0.85;
        it.thread_cpu_ns = vec![9_700_000_000; 20];
        it.config.connections = 40;
        it.connections_made = 40;
        it.config.pipeline = 16;
        it.ready_share = 0.9;
        it.stall_ns_max = 15_000_000;
        let reason = Some("the load makes them".to_owned());
        it.stalls = Some(Stalls { per_second: 90.0, reason, ..Stalls::default() });
        it.ceiling_requests_per_second = Some(250_000.0);
    }),
    ("errors by kind, and statuses", |it| {
        it.errors =
            ErrorCounts { timeout: 3, reset: 1, lost: 2, status: 7, ..ErrorCounts::default() };
        it.error_examples = vec!["no reply within 2 s".to_owned().into()];
    }),
    ("a load that gave up has a caution and no example", |it| it.gave_up_requests = Some(7)),
    ("failed connections are no failed requests", |it| {
        it.errors = ErrorCounts { refused: 5, reset: 1, ..ErrorCounts::default() };
    }),
    ("requests of a set by name", |it| {
        it.config.requests = Some(requests());
        let named = |name: &str, latency| NamedRequests {
            name: name.to_owned(),
            requests: 1_000,
            requests_per_second: 100.0,
            errors: 2,
            latency,
        };
        it.by_name = vec![named("GET /", Some(latency())), named("GET /users/{seq}", None)];
    }),
    ("the load of two hosts", |it| it.generators = two_hosts().to_vec()),
    ("interrupted", |it| (it.interrupted, it.window_ns) = (true, 3_200_000_000)),
    ("no correct reply", |it| {
        it.latency = Some(LatencySummary { count: 4, censored: 4, ..latency() });
        it.latency_by_status = [("5xx".to_owned(), latency())].into();
        (it.requests, it.requests_per_second, it.statuses_invalid) = (0, 0.0, 3);
    }),
];

/// The text of each load, and that of the first one with everything.
fn texts(made: fn() -> LoadReport, cases: &[Case]) -> Vec<(&'static str, String)> {
    let text = |(name, change): &Case| {
        let mut report = made();
        change(&mut report);
        (*name, needed(&report))
    };
    cases.iter().map(text).chain([("everything", everything(&made(), Vec::new()))]).collect()
}

fn everything(report: &LoadReport, percentiles: Vec<f64>) -> String {
    let detail = Detail::Everything;
    load_text(report, &Wanted { detail, percentiles, ..Wanted::default() })
}

#[test]
fn loads_of_every_kind() {
    assert_golden_differences("load/closed.txt", texts(report, &CLOSED));
    assert_golden_differences("load/at-rate.txt", texts(at_rate, &AT_RATE));
}

#[test]
fn everything_has_what_is_known_of_the_load_and_the_percentiles_of_ones_own() {
    let mut with_tls = report();
    with_tls.tls = Some(TlsSummary {
        version: "TLS 1.3".to_owned(),
        cipher_suite: "TLS_AES_256_GCM_SHA384".to_owned(),
        handshakes: 12,
        resumed: 2,
    });
    let mut of_samples = report();
    of_samples.latency =
        Some(summary_of(&(1..=1000).map(|ms| ms * 1_000_000).collect::<Vec<_>>(), 20));
    let mut without_reply = report();
    without_reply.latency = None;
    without_reply.thread_rate = ThreadRate::default();
    (without_reply.requests, without_reply.requests_per_second) = (0, 0.0);
    (without_reply.bytes_received, without_reply.window_ns) = (0, 0);
    let percents = vec![12.5, 50.0, 99.0, 99.5, 100.0];
    let cases = [
        ("TLS", everything(&with_tls, Vec::new())),
        // A value stands for its bucket, of three digits.
        ("percentiles of one's own", everything(&of_samples, percents)),
        ("no reply", everything(&without_reply, Vec::new())),
    ];
    let plain = everything(&report(), Vec::new());
    let cases = cases.map(|(name, text)| (name, difference(&plain, &text)));
    assert_golden_cases("load/everything.txt", cases);
}

#[test]
fn colours_change_no_text() {
    let mut report = report();
    report.errors = ErrorCounts { timeout: 3, status: 7, ..ErrorCounts::default() };
    let painted = load_text(&report, &Wanted { look: Look::Colours, ..Wanted::default() });
    let plain = ["\u{1b}[31m", "\u{1b}[1m", "\u{1b}[0m"]
        .iter()
        .fold(painted.clone(), |text, code| text.replace(code, ""));
    assert_eq!(plain, needed(&report));
    for line in
        ["\u{1b}[31m  Errors: timeout 3", "\u{1b}[31m  Caution: ", "\u{1b}[1mRequests/sec: "]
    {
        assert!(painted.contains(line), "{painted:?}");
    }
}

fn requests() -> RequestSet {
    let file = RequestFile::parse("/\n/users/{seq}", RequestOrder::Weighted).unwrap();
    RequestSet { file: Some("api.jsonl".to_owned()), ..file.set }
}

#[test]
fn a_heading_says_what_was_asked_for() {
    let rate = LoadModel::rate;
    let closed = || LoadModel::Closed;
    let think = LoadModel::Think { delay: Duration::from_millis(5) };
    let cases = [
        (Stop::Requests(5000), closed()),
        (Stop::RequestsPerConnection(50), think),
        (Stop::After(Duration::from_millis(1500)), rate(RateCurve::ramp(10, 20))),
        (Stop::After(Duration::from_secs(60)), rate(RateCurve::steps([10, 20]))),
    ];
    let cases = cases.map(|(stop, model)| {
        let mut config = report().config;
        config.heavy = Some("8:/100".parse().unwrap());
        if stop == Stop::Requests(5000) {
            config.requests = Some(requests());
        }
        (config.stop, config.model) = (stop, model);
        (format!("{stop:?}"), heading(&config, &["a".to_owned(), "b".to_owned()]))
    });
    assert_golden_cases("load/headings.txt", cases);
}
