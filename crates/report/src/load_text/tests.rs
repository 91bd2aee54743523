//! The whole text of loads of every kind.

use super::*;
use crate::distribution::tests::summary_of;
use std::time::Duration;
use wirebench_schema::load::{
    Arrivals, EngineChoice, ErrorCounts, Fairness, IdleCounts, LatencyOrigin, LatencySummary,
    LoadModel, Offered, RateCurve, ReplyChecks, Stop, ThreadRate, TlsSummary,
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

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}

#[test]
fn a_load_without_errors_looks_as_wrk_prints_it_but_for_the_limit() {
    let expected = "\
Running 10s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  1124000 requests in 10.00s, 82.54MB read
  Limit: the server; the generator's busiest thread ran for 41 % of the window, and 12 % of its \
connections were ready when it looked
Requests/sec: 112400.00
Transfer/sec:      8.25MB
";
    assert_eq!(needed(&report()), expected);
}

#[test]
fn everything_adds_the_distribution_and_what_is_known_of_the_load() {
    let expected = "\
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  1124000 requests in 10.00s, 82.54MB read
  Engine: epoll
  In flight at the end: 10
  Checks: 1123990 replies compared with one read before, 10 read in full
  Replies a connection: least 112000, median 112400, most 113000, Jain's index 1.000
  Generator: 31 %, 41 % of a CPU in each thread, at most 1.20ms late
  Limit: the server;";
    assert_contains(&load_text(&report(), &everything()), &[expected]);
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
    let expected = "  TLS: TLS 1.3, TLS_AES_256_GCM_SHA384, 12 handshakes, 2 of them resumed\n";
    assert_contains(&load_text(&report, &everything()), &[expected]);
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
    let expected = "\
  Latency Distribution
   12.5%  125.04ms
     50%  500.17ms
     99% >990.38ms
   99.5%[>995.10ms]
    100%   >1.00s
    [ ] fewer than 10 samples lie beyond it
    >   at least this: it lies among requests without an answer
";
    assert_contains(&load_text(&report, &wanted), &[expected]);
}

#[test]
fn a_rate_is_told_with_what_it_offered_and_where_the_time_went() {
    let expected = "\
  150000 requests/s at random (Poisson), latency from when each was due
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Offered 150000.00 requests/s, achieved 112400.00 (74.93 %), 375990 owed at the end
                              50%         90%         99%       99.9%         Max
    Latency from due     250.00us   >700.00us     >5.80ms     >9.00ms    >12.92ms
    Service from sent    250.00us    700.00us      5.80ms      9.00ms     12.92ms
    Lag of sending       250.00us    700.00us     20.00ms    [9.00ms]     12.92ms
    [ ] fewer than 10 samples lie beyond it
    >   at least this: it lies among requests without an answer
  1124000 requests in 10.00s, 82.54MB read
  Limit: the server; 112400 of 150000 requests/s that were due were answered correctly (75 %); \
9.9 requests were on their way on average, and the connections can have 10; ";
    let text = needed(&at_rate());
    assert_contains(&text, &[expected, "  Caution: one request in a hundred was sent 20.00 ms or"]);
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
    let parts = [
        "  150000 requests/s at equal distances, latency from when each was sent (coordinated",
        "  Offered 150000.00 requests/s, achieved 112400.00 (74.93 %), 0 owed at the end",
        "    Latency from sent ",
    ];
    assert_contains(&needed(&report), &parts);
}

#[test]
fn connections_that_are_made_anew_are_told_with_the_time_that_it_takes() {
    let mut report = report();
    report.config.requests_per_connection = Some(100);
    (report.client_closes, report.server_closes, report.reconnects) = (11_240, 3, 2);
    report.connect = Some(latency());
    let parts = [
        "  a new connection after 100 requests\n",
        "  Connections: 11240 closed by the client, 3 by the server, 2 made again after failures\n",
        "    Connecting           250.00us    700.00us      5.80ms      9.00ms     12.92ms\n",
    ];
    assert_contains(&needed(&report), &parts);
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
    let parts = [
        "  up to 16 requests in flight on a connection\n  1000 idle connections beside them\n",
        "  Engine: epoll, because io_uring is not permitted here\n",
        "  Checks: 100 replies compared with one read before, 1123900 read in full\n",
        "  Statuses: 2xx 1123990, 3xx 4, 4xx 6\n",
        "  Idle: 999 of 1000 made, 7 lost\n",
        "  Replies a connection: least 112000, median 112400, most 113000, Jain's index 0.850\n",
        "  Generator: 97 % to 97 % of a CPU in each thread, at most 15.00ms late\n",
        "  At 45 % of the generator's ceiling of 250.00k requests/s\n",
        "  Limit: the generator; the generator's busiest thread ran for 97 % of the window",
        "  Caution: a thread of the generator came 15.00 ms too late at the most",
    ];
    assert_contains(&needed(&report), &parts);
}

#[test]
fn errors_are_told_by_kind_and_statuses_on_their_own_line() {
    let mut report = report();
    report.errors =
        ErrorCounts { timeout: 3, reset: 1, lost: 2, status: 7, ..ErrorCounts::default() };
    report.error_examples = vec!["no reply within 2 s".to_owned().into()];
    let expected = "\
  1124000 requests in 10.00s, 82.54MB read
  Errors: timeout 3, reset 1, lost 2
    for example: no reply within 2 s
  Non-2xx or 3xx responses: 7
  Limit:";
    let text = needed(&report);
    assert_contains(&text, &[expected, "  Caution: 13 of 1124013 requests failed\nRequests/sec:"]);
}

#[test]
fn a_load_that_gave_up_says_so_as_a_caution_and_not_as_an_example() {
    let mut report = report();
    let gave_up = "gave up: no reply came for three timeouts, so 7 requests were not sent";
    report.gave_up_requests = Some(7);
    let text = needed(&report);
    assert_contains(&text, &[&format!("  Caution: {gave_up}\n")]);
    assert!(!text.contains("for example"), "{text}");
}

#[test]
fn failed_connections_are_no_failed_requests() {
    let mut report = report();
    report.errors = ErrorCounts { refused: 5, reset: 1, ..ErrorCounts::default() };
    let expected =
        "  Caution: 1 of 1124001 requests failed; 5 connections could not be made or kept\n";
    assert_contains(&needed(&report), &["  Errors: refused 5, reset 1\n", expected]);
}

#[test]
fn a_load_that_was_stopped_says_so() {
    let mut report = report();
    report.interrupted = true;
    report.window_ns = 3_200_000_000;
    let expected = "\
  1124000 requests in 3.20s, 82.54MB read
  Interrupted: the 10s test was stopped early
";
    assert_contains(&needed(&report), &[expected]);
}

#[test]
fn a_load_of_a_count_names_the_count() {
    let mut report = report();
    report.config.stop = Stop::Requests(5000);
    let text = needed(&report);
    assert!(text.starts_with("Running test of 5000 requests @ http://127.0.0.1:8080/\n"));
    report.config.stop = Stop::RequestsPerConnection(50);
    assert!(needed(&report).starts_with("Running test of 50 requests a connection @ "));
    report.config.stop = Stop::After(Duration::from_millis(1500));
    assert!(needed(&report).starts_with("Running 1500ms test @ "));
}

#[test]
fn a_load_without_any_reply_has_no_latency_and_a_rate_of_zero() {
    let mut report = report();
    report.latency = None;
    report.thread_rate = ThreadRate::default();
    (report.requests, report.requests_per_second) = (0, 0.0);
    (report.bytes_received, report.window_ns) = (0, 0);
    let expected = "\
    Latency        -         -        -          -
    Req/Sec     0.00      0.00     0.00      0.00%
  0 requests in 0.00us, 0.00B read
";
    let text = load_text(&report, &everything());
    let end = "Requests/sec:      0.00\nTransfer/sec:       0.00B\n";
    assert_contains(&text, &[expected, "  Limit: not known; no request was answered correctly\n"]);
    assert!(text.ends_with(end) && !text.contains("NaN"), "{text}");
}
