//! The whole text of loads of every kind.

use super::*;
use crate::{distribution::tests::summary_of, fixtures::assert_golden};
use std::time::Duration;
use wirebench_schema::load::{
    Arrivals, ClosedPolicy, EngineChoice, ErrorCounts, Fairness, IdleCounts, LatencyOrigin,
    LatencySummary, LoadModel, Offered, RateCurve, ReplyChecks, Stop, ThreadRate, TlsSummary,
};

fn latency() -> LatencySummary {
    LatencySummary {
        count: 1_124_000,
        censored: 0,
        lower_bounds: None,
        latency_ns_mean_answered: None,
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
        histogram: String::new(),
        replies: None,
        ages: None,
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
        curve: RateCurve::Constant(150_000),
        arrivals: Arrivals::Poisson,
        latency_from: LatencyOrigin::Due,
    };
    report.offered =
        Some(Offered { due: 1_500_000, owed_at_end: 375_990, requests_per_second: 150_000.0 });
    let mut owed = latency();
    (owed.count, owed.censored) = (1_499_990, 375_990);
    report.latency = Some(owed);
    report.service = Some(LatencySummary { latency_ns_mean: 88_000.0, ..latency() });
    report.lag = Some(LatencySummary { count: 1000, latency_ns_p99: 20_000_000, ..latency() });
    report
}

fn everything() -> Wanted {
    Wanted { detail: Detail::Everything, percentiles: Vec::new() }
}

fn needed(report: &LoadReport) -> String {
    load_text(report, &Wanted::default())
}

#[test]
fn a_load_without_errors_looks_as_wrk_prints_it_but_for_the_limit() {
    assert_golden("load/plain.txt", &needed(&report()));
}

#[test]
fn everything_adds_the_distribution_and_what_is_known_of_the_load() {
    assert_golden("load/everything.txt", &load_text(&report(), &everything()));
}

#[test]
fn what_tls_agreed_upon_is_part_of_everything() {
    let mut report = report();
    report.tls = Some(TlsSummary {
        version: "TLS 1.3".to_owned(),
        cipher_suite: "TLS_AES_256_GCM_SHA384".to_owned(),
        handshakes: 12,
        resumed: 2,
    });
    assert_golden("load/tls.txt", &load_text(&report, &everything()));
    assert!(!needed(&report).contains("TLS"));
}

#[test]
fn percentiles_of_ones_own_are_read_from_the_histogram_and_marked() {
    let mut report = report();
    let samples: Vec<u64> = (1..=1000).map(|ms| ms * 1_000_000).collect();
    report.latency = Some(summary_of(&samples, 20));
    let percentiles = vec![12.5, 50.0, 99.0, 99.5, 100.0];
    let wanted = Wanted { detail: Detail::Everything, percentiles };
    // A value stands for its bucket, of three digits.
    assert_golden("load/percentiles.txt", &load_text(&report, &wanted));
}

#[test]
fn a_rate_is_reported_with_its_offered_load_and_where_the_time_went() {
    let text = needed(&at_rate());
    assert_golden("load/rate.txt", &text);
}

#[test]
fn a_rate_that_lets_the_schedule_slip_says_from_when_latency_counts() {
    let mut report = at_rate();
    report.config.model = LoadModel::Rate {
        curve: RateCurve::Constant(150_000),
        arrivals: Arrivals::Even,
        latency_from: LatencyOrigin::Sent,
    };
    report.offered =
        Some(Offered { due: 1_124_000, owed_at_end: 0, requests_per_second: 112_400.0 });
    assert_golden("load/rate-closed.txt", &needed(&report));
}

#[test]
fn reconnects_are_reported_with_the_time_they_take() {
    let mut report = report();
    report.config.requests_per_connection = Some(100);
    (report.client_closes, report.server_closes, report.reconnects) = (11_240, 3, 2);
    report.connect = Some(latency());
    assert_golden("load/reconnects.txt", &needed(&report));
}

#[test]
fn requests_that_were_repeated_are_reported_and_are_no_errors() {
    let mut report = report();
    report.config.on_closed = ClosedPolicy::Retry;
    assert!(!needed(&report).contains("Retried"));
    (report.retried_requests, report.server_closes) = (Some(1_123_990), 1_123_990);
    report.connect = Some(latency());
    assert_golden("load/retried.txt", &needed(&report));
}

#[test]
fn what_a_load_calls_for_gets_a_line_of_its_own() {
    let mut report = report();
    report.engine_fallback = Some("io_uring is not permitted here".to_owned());
    report.config.idle_connections = 1000;
    report.idle = IdleCounts { made: 999, lost: 7 };
    report.checks = ReplyChecks { fast: 100, slow: 1_123_900 };
    report.status_classes = [0, 1_123_990, 4, 6, 0];
    report.fairness.jain_index = 0.85;
    report.thread_cpu_ns = vec![9_700_000_000; 20];
    report.config.connections = 40;
    report.connections_made = 40;
    report.config.pipeline = 16;
    report.ready_share = 0.9;
    report.stall_ns_max = 15_000_000;
    report.ceiling_requests_per_second = Some(250_000.0);
    assert_golden("load/particulars.txt", &needed(&report));
}

#[test]
fn errors_are_reported_by_kind_and_statuses_on_their_own_line() {
    let mut report = report();
    report.errors =
        ErrorCounts { timeout: 3, reset: 1, lost: 2, status: 7, ..ErrorCounts::default() };
    report.error_examples = vec!["no reply within 2 s".to_owned().into()];
    let text = needed(&report);
    assert_golden("load/errors.txt", &text);
}

#[test]
fn a_load_that_gave_up_says_so_as_a_caution_and_not_as_an_example() {
    let mut report = report();
    report.gave_up_requests = Some(7);
    let text = needed(&report);
    assert_golden("load/gave-up.txt", &text);
    assert!(!text.contains("for example"), "{text}");
}

#[test]
fn failed_connections_are_no_failed_requests() {
    let mut report = report();
    report.errors = ErrorCounts { refused: 5, reset: 1, ..ErrorCounts::default() };
    assert_golden("load/failed-connections.txt", &needed(&report));
}

#[test]
fn a_load_that_was_stopped_says_so() {
    let mut report = report();
    report.interrupted = true;
    report.window_ns = 3_200_000_000;
    assert_golden("load/interrupted.txt", &needed(&report));
}

#[test]
fn a_load_of_a_count_names_the_count() {
    let mut report = report();
    report.config.stop = Stop::Requests(5000);
    let text = needed(&report);
    assert!(text.starts_with("Running test of 5000 requests @ http://127.0.0.1:8080/\n"));
    report.config.stop = Stop::RequestsPerConnection(50);
    assert!(needed(&report).starts_with("Running test of 50 requests per connection @ "));
    report.config.stop = Stop::After(Duration::from_millis(1500));
    assert!(needed(&report).starts_with("Running 1500ms test @ "));
}

#[test]
fn without_a_correct_reply_the_line_of_latency_has_no_figures_and_each_class_of_status_its_own() {
    let mut report = report();
    report.latency = Some(LatencySummary { count: 4, censored: 4, ..latency() });
    report.latency_by_status = [("5xx".to_owned(), latency())].into();
    (report.requests, report.requests_per_second) = (0, 0.0);
    let text = needed(&report);
    assert!(text.contains("\n    Latency        -         -        -          -\n"), "{text}");
    let class =
        "\n    Latency of 5xx       250.00us    700.00us      5.80ms      9.00ms     12.92ms\n";
    assert!(text.contains(class), "{text}");
    report.statuses_invalid = 3;
    assert!(needed(&report).contains("  Statuses: 2xx 1124000, invalid 3\n"));
}

#[test]
fn a_load_without_any_reply_has_no_latency_and_a_rate_of_zero() {
    let mut report = report();
    report.latency = None;
    report.thread_rate = ThreadRate::default();
    (report.requests, report.requests_per_second) = (0, 0.0);
    (report.bytes_received, report.window_ns) = (0, 0);
    let text = load_text(&report, &everything());
    assert_golden("load/no-reply.txt", &text);
    assert!(!text.contains("NaN"), "{text}");
}
