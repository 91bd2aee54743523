//! Runs at a rate, made up: which of them keep their objectives, and who is to blame for the
//! others.

use super::*;
use crate::fixtures::summary;
use expect_test::expect;
use wirebench_schema::{
    journal::{Bound, Cost},
    load::{
        EngineChoice, ErrorCounts, LatencySummary, LoadConfig, LoadModel, LoadReport, Offered,
        RateCurve,
    },
};

/// 64 connections at 40 000 requests/s, all answered after `latency_ns`, of which the generator
/// made `lag_ns`.
fn run(latency_ns: u64, lag_ns: u64) -> Measurement {
    let mut config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    config.model = LoadModel::rate(RateCurve::per_second(40_000));
    config.connections = 64;
    let load = LoadReport {
        requests: 40_000,
        requests_per_second: 40_000.0,
        window_ns: 1_000_000_000,
        connections_made: 64,
        ready_share: 0.02,
        thread_cpu_ns: vec![990_000_000],
        latency: Some(summary(40_000, latency_ns)),
        service: Some(summary(40_000, latency_ns - lag_ns)),
        lag: Some(summary(40_000, lag_ns)),
        offered: Some(Offered {
            due: 40_000,
            owed_at_end: 0,
            waiting: [0; 3],
            requests_per_second: 40_000.0,
        }),
        ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
    };
    let cost = Cost {
        cpu_ns: 500_000_000,
        sampled_ns: 1_000_000_000,
        cpu_ns_per_request: Some(12_500.0),
        cpu_share: 0.5,
        busiest_thread_share: 0.5,
        generator_cpu_share: 0.99,
        ..Cost::default()
    };
    Measurement { load, cost, bound: Bound::Generator, ..Measurement::default() }
}

fn objectives() -> [Objective; 2] {
    ["p99 < 2ms", "mean < 1ms"].map(|text| text.parse().unwrap())
}

fn blamed(run: &Measurement) -> (Side, String) {
    match keeps(run, &objectives()) {
        ObjectiveResult::Holds => panic!("it holds"),
        ObjectiveResult::Misses { by, reasons } => (by, reasons.join("; ")),
    }
}

#[test]
fn a_run_holds_when_all_objectives_do_although_the_generator_is_busy_with_waiting() {
    assert_eq!(keeps(&run(900_000, 1000), &objectives()), ObjectiveResult::Holds);
}

#[test]
fn one_missed_objective_is_enough_and_is_named() {
    let (by, reasons) = blamed(&run(1_500_000, 1000));
    assert_eq!((by, reasons.as_str()), (Side::Server, "mean is not below 1 ms"));
}

#[test]
fn fast_answers_to_some_of_the_requests_do_not_hold() {
    let mut slow = run(900_000, 1000);
    slow.load.latency.as_mut().unwrap().count = 39_000;
    slow.cost.cpu_share = 0.99;
    let (by, reasons) = blamed(&slow);
    assert_eq!(by, Side::Server);
    expect!["97.5 % of the requests were answered"].assert_eq(&reasons);
}

#[test]
fn as_many_requests_as_there_are_connections_may_wait_when_the_window_ends() {
    let waiting = |owed: u64| {
        let mut run = run(900_000, 1000);
        run.cost.cpu_share = 0.99;
        run.load.offered = Some(Offered {
            due: 200,
            owed_at_end: owed,
            waiting: [0; 3],
            requests_per_second: 40_000.0,
        });
        let latency = run.load.latency.as_mut().unwrap();
        (latency.count, latency.censored) = (200, owed);
        // They are younger than the slowest reply.
        latency.lower_bounds = Some(0);
        keeps(&run, &objectives())
    };
    assert_eq!(waiting(64), ObjectiveResult::Holds);
    assert!(matches!(waiting(67), ObjectiveResult::Misses { by: Side::Server, .. }));
}

#[test]
fn a_backlog_that_grows_by_more_than_a_negligible_share_is_a_miss() {
    let growing = |waiting| {
        let mut run = run(900_000, 1000);
        run.load.requests = 40_000 - waiting;
        run.load.offered.as_mut().unwrap().waiting = [0, waiting / 2, waiting];
        keeps(&run, &objectives())
    };
    assert_eq!(growing(80), ObjectiveResult::Holds);
    let reasons = vec!["the server falls behind by 90 requests/s".to_owned()];
    assert_eq!(growing(90), ObjectiveResult::Misses { by: Side::Server, reasons });
}

#[test]
fn a_percentile_that_no_reply_reached_keeps_no_limit() {
    let mut silent = run(900_000, 1000);
    silent.load.latency.as_mut().unwrap().lower_bounds = Some(401);
    let (_, reasons) = blamed(&silent);
    expect!["p99 is not known to be below 2 ms; mean is not known to be below 1 ms"]
        .assert_eq(&reasons);
}

#[test]
fn a_server_that_always_takes_too_long_is_to_blame_although_others_were_there_or_the_generator_stalled()
 {
    let mut histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
    histogram.record_n(5_000_000, 40_000).unwrap();
    let mut sleeping = run(5_000_000, 1000);
    sleeping.load.latency = Some(LatencySummary::of(&histogram));
    sleeping.load.stall_ns_max = 30_000_000;
    sleeping.reasons = vec![ReasonKind::Neighbour.reason(Weight::Tail, Some(0.1), "")];
    let reasons = "p99 is not below 2 ms; mean is not below 1 ms".to_owned();
    assert_eq!(blamed(&sleeping), (Side::Server, reasons));
    // One request on its way is ready whenever anything is.
    let mut rare = run(5_000_000, 1000);
    (rare.load.requests_per_second, rare.load.ready_share) = (100.0, 1.0);
    assert_eq!(blamed(&rare).0, Side::Server);
}

#[test]
fn an_error_is_a_miss_and_the_servers() {
    let mut failing = run(900_000, 1000);
    failing.load.errors = ErrorCounts { reset: 1, ..ErrorCounts::default() };
    failing.load.ready_share = 0.9;
    let (by, reasons) = blamed(&failing);
    assert_eq!(by, Side::Server);
    expect!["1 of 40001 requests failed"].assert_eq(&reasons);
}

#[test]
fn a_pause_of_the_server_is_not_the_generators_although_its_schedule_lags() {
    // Requests that were due in the pause were sent late, because all connections were waiting.
    let mut paused = run(5_000_000, 4_900_000);
    paused.load.service = Some(LatencySummary {
        latency_ns_mean: 200_000.0,
        latency_ns_max: 50_000_000,
        ..summary(40_000, 100_000)
    });
    assert_eq!(blamed(&paused).0, Side::Server);
}

#[test]
fn what_the_generator_sent_late_by_itself_is_not_the_servers() {
    let late = "p99 is not below 2 ms; mean is not below 1 ms; the load generator sent one request in a \
                hundred 4.90 ms or more after it was due";
    assert_eq!(blamed(&run(5_000_000, 4_900_000)), (Side::Generator, late.to_owned()));
    let mut busy_server = run(5_000_000, 4_900_000);
    busy_server.cost.cpu_share = 0.99;
    assert_eq!(blamed(&busy_server).0, Side::Server);
}

#[test]
fn a_generator_that_lost_its_cpu_or_lets_replies_wait_is_to_blame() {
    let mut stalled = run(5_000_000, 1000);
    stalled.load.service = Some(summary(40_000, 100_000));
    stalled.load.stall_ns_max = 30_000_000;
    let stall = "p99 is not below 2 ms; mean is not below 1 ms; a thread of the load generator did not \
                 run for 30.00 ms when it should have";
    assert_eq!(blamed(&stalled), (Side::Generator, stall.to_owned()));
    // One request in a hundred cannot be slow because of a hundredth of a second in one of ten.
    stalled.load.window_ns = 10_000_000_000;
    assert_eq!(blamed(&stalled).0, Side::Server);
    let mut ready = run(5_000_000, 1000);
    ready.load.ready_share = 0.8;
    let waited =
        "p99 is not below 2 ms; mean is not below 1 ms; the replies waited for the load generator";
    assert_eq!(blamed(&ready), (Side::Generator, waited.to_owned()));
}

#[test]
fn who_had_the_cpus_for_longer_than_the_tail_is_to_blame_unless_the_server_had_no_time_to_spare() {
    let mut waited = run(1_500_000, 1000);
    waited.load.latency.as_mut().unwrap().latency_ns_p99 = 3_000_000;
    waited.load.latency.as_mut().unwrap().latency_ns_mean = 500_000.0;
    let reason = |weight, share| {
        vec![ReasonKind::Neighbour.reason(weight, Some(share), "the server waited for CPUs")]
    };
    waited.reasons = reason(Weight::Tail, 0.006);
    let (by, reasons) = blamed(&waited);
    assert_eq!(by, Side::Others);
    expect![[r#"
        p99 is not below 2 ms
        other work took 0.6 % of the CPU time of server or generator (the server waited for CPUs)
        measure for longer, or on another machine"#]]
    .assert_eq(&reasons.replace("; ", "\n"));
    let mut median = waited.clone();
    median.load.latency.as_mut().unwrap().latency_ns_p50 = 3_000_000;
    assert_eq!(
        keeps(&median, &["p50 < 2ms".parse().unwrap()]),
        ObjectiveResult::Misses { by: Side::Server, reasons: vec!["p50 is not below 2 ms".into()] },
        "half of the requests did not wait for them"
    );
    let mut busy = waited.clone();
    busy.cost.cpu_share = 0.97;
    assert_eq!(blamed(&busy).0, Side::Server);
    waited.reasons = reason(Weight::Note, 0.004);
    assert_eq!(blamed(&waited).0, Side::Server);
}
