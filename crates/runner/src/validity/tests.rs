//! Each verdict, provoked.

use super::*;
use wirebench_schema::load::{
    EngineChoice, ErrorCounts, Fairness, LatencySummary, LoadConfig, LoadReport, Stop,
};

fn cost(server: f64, generator: f64) -> Cost {
    Cost {
        cpu_ns: 0,
        sampled_ns: 1,
        cpu_ns_per_request: None,
        cpu_share: server,
        busiest_thread_share: server.min(0.5),
        generator_cpu_share: generator,
        memory_peak_bytes: 0,
        processes: 1,
        threads: 1,
        context_switches_voluntary: 0,
        context_switches_involuntary: 0,
    }
}

/// A load without anything to complain of: 10 connections, each busy all the time.
fn good_load() -> LoadReport {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    LoadReport {
        requests: 100_000,
        requests_per_second: 100_000.0,
        window_ns: 1_000_000_000,
        connections_made: 10,
        fairness: Fairness {
            replies_least: 10_000,
            replies_median: 10_000,
            replies_most: 10_000,
            jain_index: 1.0,
        },
        latency: Some(LatencySummary {
            count: 100_000,
            censored: 0,
            latency_ns_mean: 100_000.0,
            latency_ns_stdev: 0.0,
            within_stdev: 1.0,
            latency_ns_min: 100_000,
            latency_ns_p50: 100_000,
            latency_ns_p75: 100_000,
            latency_ns_p90: 100_000,
            latency_ns_p95: 100_000,
            latency_ns_p99: 100_000,
            latency_ns_p999: 100_000,
            latency_ns_max: 100_000,
            histogram: String::new(),
        }),
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    }
}

fn good_placement() -> Placement {
    Placement { server_cpus: vec![0], generator_cpus: vec![1], pinned: true, disjoint: true }
}

fn reasons_of(spoil: impl FnOnce(&mut LoadReport, &mut Placement, &mut Stopped)) -> Vec<Reason> {
    let (mut load, mut placement, mut stopped) =
        (good_load(), good_placement(), Stopped::default());
    spoil(&mut load, &mut placement, &mut stopped);
    [load_reasons(&load), side_reasons(&placement, &stopped)].concat()
}

#[test]
fn the_busy_side_bounds_the_run() {
    assert_eq!(bound(&cost(0.99, 0.6), 0.9), Bound::Server);
    assert_eq!(bound(&cost(0.6, 0.99), 0.1), Bound::Generator);
    assert_eq!(bound(&cost(0.5, 0.5), 0.5), Bound::Neither);
}

#[test]
fn of_two_busy_sides_the_one_at_which_requests_wait_bounds_the_run() {
    assert_eq!(bound(&cost(0.99, 0.99), 0.8), Bound::Generator);
    assert_eq!(bound(&cost(0.99, 0.99), 0.2), Bound::Server);
}

#[test]
fn a_good_run_has_no_reasons() {
    assert!(reasons_of(|_, _, _| {}).is_empty());
}

#[test]
fn a_thread_that_is_busy_all_the_time_is_a_limit_of_the_server() {
    let cost = Cost { busiest_thread_share: 0.99, ..cost(0.3, 0.6) };
    assert_eq!(bound(&cost, 0.5), Bound::Server);
}

#[test]
fn a_count_may_run_dry_without_a_flag() {
    let reasons = reasons_of(|load, _, _| {
        load.config.stop = Stop::Requests(1000);
        load.requests_per_second = 60_000.0;
    });
    assert!(reasons.is_empty(), "{reasons:?}");
}

#[test]
fn each_fault_of_a_run_has_its_flag() {
    type Spoil = fn(&mut LoadReport, &mut Placement, &mut Stopped);
    let rows: [(Spoil, &str); 10] = [
        (|load, _, _| load.errors = ErrorCounts { reset: 3, ..load.errors }, "3 errors"),
        (|load, _, _| load.connections_made = 9, "9 of 10 connections"),
        (|load, _, _| load.fairness.jain_index = 0.5, "unevenly served"),
        (|load, _, _| load.requests_per_second = 60_000.0, "only 6.0 of 10 connections"),
        (|load, _, _| load.latency.as_mut().unwrap().count = 999, "999 samples are too few"),
        (|_, placement, _| placement.pinned = false, "not pinned"),
        (|_, placement, _| placement.disjoint = false, "share a CPU"),
        (|_, _, stopped| stopped.forced = true, "ignored SIGTERM"),
        (
            |_, _, stopped| stopped.left_behind = vec!["7 (x)".into()],
            "left processes behind: 7 (x)",
        ),
        (|_, _, stopped| stopped.stderr_bytes = 1 << 20, "1048576 bytes to standard error"),
    ];
    for (spoil, part) in rows {
        let reasons = reasons_of(spoil);
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].text.contains(part), "{part}: {reasons:?}");
    }
}

#[test]
fn a_load_without_a_good_reply_says_what_was_bad() {
    let silent = good_load();
    assert_eq!(nothing_answered(&silent), "no request was answered correctly in the window");
    let errors = ErrorCounts { timeout: 2, socket: 1, ..ErrorCounts::default() };
    let counted = LoadReport { errors, ..good_load() };
    assert!(nothing_answered(&counted).ends_with("in the window: 2 timeout, 1 socket"));
    let shown = LoadReport { error_examples: vec!["404".into()], ..counted };
    assert!(nothing_answered(&shown).ends_with("in the window: 404"));
}
