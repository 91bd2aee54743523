//! Each reason that a load gives, provoked, with its weight and figure.

use super::*;
use crate::fixtures::{at_rate, good, summary};
use std::time::Duration;
use wirebench_schema::load::{
    ClosedPolicy, ErrorCounts, Fairness, IdleCounts, LatencySummary, LoadConfig, ReplySeries, Stop,
};

/// The one reason of a load that is spoiled in one way.
fn only(load: &LoadReport, phase: Phase) -> (ReasonKind, Weight, f64) {
    let reasons = reasons(load, phase, 1);
    assert_eq!(reasons.len(), 1, "{reasons:#?}");
    (reasons[0].kind, reasons[0].weight, reasons[0].figure.unwrap_or(-1.0))
}

/// Asserts kind, weight and figure of the one reason of a load.
#[track_caller]
fn assert_only(load: &LoadReport, phase: Phase, kind: ReasonKind, weight: Weight, figure: f64) {
    let (found, weighs, told) = only(load, phase);
    assert_eq!((found, weighs), (kind, weight));
    assert!((told - figure).abs() < 1e-6, "{kind}: {told} instead of {figure}");
}

#[test]
fn a_good_load_has_nothing_to_be_said_of_it_in_any_phase() {
    for phase in [Phase::Saturate, Phase::Cost] {
        assert_eq!(reasons(&good(), phase, 1), []);
        assert_eq!(reasons(&at_rate(20_000, 20_000, 100_000), phase, 1), []);
    }
}

#[test]
fn each_kind_of_failure_is_a_reason_of_its_own() {
    use ReasonKind::{
        ClosedEarly, ConnectionErrors, Errors, LostReplies, PortsExhausted, SurplusReplies,
        Timeouts, WrongReplies,
    };
    let none = ErrorCounts::default();
    let rows = [
        (ErrorCounts { refused: 1, connect: 2, tls: 3, ..none }, ConnectionErrors, 6.0),
        (ErrorCounts { no_port: 7, ..none }, PortsExhausted, 7.0),
        (ErrorCounts { timeout: 4, ..none }, Timeouts, 4.0),
        (ErrorCounts { reset: 1, closed_early: 4, ..none }, ClosedEarly, 5.0),
        (ErrorCounts { wrong_reply: 2, status: 1, ..none }, WrongReplies, 3.0),
        (ErrorCounts { surplus: 9, ..none }, SurplusReplies, 9.0),
        (ErrorCounts { lost: 8, ..none }, LostReplies, 8.0),
        (ErrorCounts { socket: 1, ..none }, Errors, 1.0),
    ];
    let mut all = none;
    for (errors, kind, count) in rows {
        all.add(&errors);
        let load = LoadReport { errors, ..good() };
        assert_only(&load, Phase::Saturate, kind, Weight::Invalid, count);
    }
    let load = LoadReport { errors: all, ..good() };
    let kinds: Vec<_> = reasons(&load, Phase::Saturate, 1).iter().map(|it| it.kind).collect();
    assert_eq!(kinds, rows.map(|(_, kind, _)| kind));
}

#[test]
fn a_failure_names_an_example_of_its_own_kind() {
    let errors = ErrorCounts { status: 1, timeout: 2, ..ErrorCounts::default() };
    let examples = ["timeout: no reply in time", "status: a reply had status 503"];
    let error_examples = examples.map(|text| text.to_owned().into()).to_vec();
    let reasons = reasons(&LoadReport { errors, error_examples, ..good() }, Phase::Saturate, 1);
    let details: Vec<_> = reasons.iter().filter_map(|it| it.detail.as_deref()).collect();
    let timeout = "of 100003 requests; timeout: no reply in time";
    assert_eq!(details, [timeout, "of 100003 requests; status: a reply had status 503"]);
}

#[test]
fn a_rate_that_is_not_kept_is_invalid_from_a_hundredth_on() {
    assert_eq!(reasons(&at_rate(20_000, 19_900, 100_000), Phase::Cost, 1), []);
    let below = at_rate(20_000, 19_000, 100_000);
    assert_only(&below, Phase::Saturate, ReasonKind::BelowRate, Weight::Invalid, 0.95);
    let detail = reasons(&below, Phase::Cost, 1)[0].detail.clone();
    assert_eq!(detail.unwrap(), "19000 of 20000 requests/s");
}

#[test]
fn replies_to_a_backlog_that_come_after_the_window_keep_no_rate() {
    let mut behind = at_rate(4800, 4800, 100_000);
    behind.requests = 4000;
    behind.offered.as_mut().unwrap().waiting = [80, 480, 880];
    let reason = &reasons(&behind, Phase::Cost, 1)[0];
    assert_eq!((reason.kind, reason.figure), (ReasonKind::BelowRate, Some(4000.0 / 4800.0)));
    let detail = "4000 of 4800 requests/s; the server falls behind by 800 requests/s";
    assert_eq!(reason.detail.as_deref(), Some(detail));
}

#[test]
fn a_percentile_that_no_reply_reached_is_said_to_be_a_lower_bound() {
    let unserved = |lower_bounds| {
        let mut load = at_rate(20_000, 20_000, 100_000);
        load.latency.as_mut().unwrap().lower_bounds = Some(lower_bounds);
        load
    };
    assert_eq!(reasons(&unserved(20), Phase::Cost, 1), []);
    let weights = [(21, Weight::Note), (201, Weight::Tail), (10_001, Weight::Invalid)];
    for (lower_bounds, weight) in weights {
        let figure = lower_bounds as f64;
        assert_only(&unserved(lower_bounds), Phase::Cost, ReasonKind::LowerBound, weight, figure);
    }
    let detail = reasons(&unserved(201), Phase::Cost, 1)[0].detail.clone();
    assert_eq!(detail.unwrap(), "of 20000: p99 is one");
}

#[test]
fn lag_that_the_generator_made_is_in_the_tail_and_frequent_lag_makes_bursts_that_cost_less() {
    let late = |p50_ns, p95_ns, p99_ns| {
        let lag = LatencySummary {
            latency_ns_p50: p50_ns,
            latency_ns_p95: p95_ns,
            latency_ns_p99: p99_ns,
            ..summary(1, 0)
        };
        LoadReport { lag: Some(lag), ..at_rate(20_000, 20_000, 100_000) }
    };
    let (kind, busy) = (ReasonKind::ScheduleLag, ReasonKind::ConnectionsBusy);
    // A server that pauses keeps all connections waiting, and its latencies contain that.
    let rare = late(1000, 900_000, 1_100_000);
    assert_only(&rare, Phase::Cost, busy, Weight::Note, 1_100_000.0);
    // Two threads that were kept from 0.6 % of the window.
    let stall_ns_total = rare.window_ns * 12 / 1000;
    let own = LoadReport { stall_ns_total, stall_ns_max: 1_500_000, ..rare };
    assert_only(&own, Phase::Cost, kind, Weight::Tail, 1_100_000.0);
    let frequent = late(1000, 1_050_000, 1_100_000);
    assert_only(&frequent, Phase::Cost, busy, Weight::Invalid, 1_050_000.0);
    // What a server can do at most is no matter of even arrivals.
    assert_only(&frequent, Phase::Saturate, busy, Weight::Note, 1_100_000.0);
    assert_only(&late(11_000, 11_000, 20_000), Phase::Cost, kind, Weight::Note, 11_000.0);
    assert_eq!(reasons(&late(9_000, 9_000, 900_000), Phase::Cost, 1), []);
}

/// 2000 requests/s for 10 s on one thread, with lag at the 50th, 90th, 95th and 99th percentile and
/// on average.
fn lagging(percentiles_ns: [u64; 4], mean_ns: f64) -> LoadReport {
    let [latency_ns_p50, latency_ns_p90, latency_ns_p95, latency_ns_p99] = percentiles_ns;
    let lag = LatencySummary {
        latency_ns_mean: mean_ns,
        latency_ns_p50,
        latency_ns_p75: latency_ns_p50,
        latency_ns_p90,
        latency_ns_p95,
        latency_ns_p99,
        ..summary(20_000, 200_000_000)
    };
    LoadReport {
        window_ns: 10_000_000_000,
        thread_cpu_ns: vec![1_000_000_000],
        lag: Some(lag),
        ..at_rate(2_000, 2_000, 100_000)
    }
}

#[test]
fn lag_is_ascribed_to_the_side_that_explains_most_of_it() {
    let why = |report: LoadReport, stall_ns_total, stall_ns_max| {
        let report = LoadReport { stall_ns_total, stall_ns_max, ..report };
        let reason = schedule_lag(&report).unwrap();
        let own = reason.kind == ReasonKind::ScheduleLag;
        assert_eq!(own, reason.weight == Weight::Tail, "{reason:?}");
        (reason.text(), own)
    };
    // A server that pauses for 200 ms in each second, with 16 and with 144 connections.
    let pausing = [
        lagging([20_000, 92_000_000, 137_000_000, 182_000_000], 18_000_000.0),
        lagging([20_000, 18_000_000, 73_000_000, 118_000_000], 7_500_000.0),
        // The same once in the window.
        lagging([20_000, 30_000, 40_000, 88_000_000], 1_800_000.0),
    ];
    for report in pausing {
        // Late for 0.51 % and for 6 % of the window, in stalls of up to 8 ms.
        for stall_ns_total in [51_000_000, 600_000_000] {
            let (text, own) = why(report.clone(), stall_ns_total, 8_000_000);
            assert!(!own, "{text}");
        }
        // A thread that has hardly half of a CPU falls behind whatever the server does.
        let (text, own) = why(report, 4_500_000_000, 4_000_000);
        assert!(own, "{text}");
    }
    // Stalls of 8 ms and nothing else: 40 us of lag on average, and the usual 20 us.
    let stalling = lagging([20_000, 30_000, 40_000, 6_000_000], 60_000.0);
    let (text, own) = why(stalling.clone(), 100_000_000, 8_000_000);
    assert!(own, "{text}");
    // So rare that they are not the 99th percentile.
    let (text, own) = why(stalling, 40_000_000, 8_000_000);
    assert!(!own, "{text}");
}

#[test]
fn more_requests_than_connections_can_have_are_impossible_unless_they_began_before_the_window() {
    let wrong = LoadReport { requests_per_second: 120_000.0, ..good() };
    assert_only(&wrong, Phase::Saturate, ReasonKind::LittlesLaw, Weight::Invalid, 12.0);
    let mut overhanging = wrong;
    overhanging.latency.as_mut().unwrap().latency_ns_max = 200_000_000;
    assert_eq!(reasons(&overhanging, Phase::Saturate, 1), []);
    // In short windows more of a latency may lie before its own.
    overhanging.latency.as_mut().unwrap().latency_ns_max = 20_000_000;
    assert!(!reasons(&overhanging, Phase::Saturate, 1).is_empty());
    assert_eq!(reasons(&overhanging, Phase::Saturate, 10), []);
}

#[test]
fn a_backlog_from_before_the_window_is_no_broken_law() {
    // 2923 replies in 200 ms, of which 1540 are of requests that were due in it: those alone are
    // samples, and took 6.7 ms each.
    let of_window = |count| {
        let load = LoadReport { window_ns: 200_000_000, ..at_rate(21_000, 14_615, 0) };
        let service = LatencySummary {
            count,
            latency_ns_mean: 6_700_000.0,
            latency_ns_max: 36_700_000,
            ..summary(count, 0)
        };
        LoadReport {
            service: Some(service),
            config: LoadConfig { connections: 64, ..load.config.clone() },
            ..load
        }
    };
    let accuses = |load: &LoadReport| {
        let reasons = reasons(load, Phase::Cost, 1);
        reasons.iter().any(|reason| reason.kind == ReasonKind::LittlesLaw)
    };
    assert!(!accuses(&of_window(1540)));
    assert!(accuses(&of_window(2923)));
}

#[test]
fn a_few_starved_connections_are_found_although_the_index_is_high() {
    let fairness = |replies_least, jain_index| Fairness {
        replies_least,
        replies_median: 10_000,
        replies_most: 12_000,
        jain_index,
    };
    let load = |least, jain| LoadReport { fairness: fairness(least, jain), ..good() };
    let kind = ReasonKind::Unfair;
    assert_only(&load(999, 0.94), Phase::Saturate, kind, Weight::Invalid, 0.94);
    assert_only(&load(2000, 0.7), Phase::Saturate, kind, Weight::Note, 0.7);
    assert_eq!(reasons(&load(1000, 0.94), Phase::Saturate, 1), []);
}

#[test]
fn closed_connections_weigh_by_how_often_they_were() {
    let load = |server_closes| LoadReport { server_closes, ..good() };
    let kind = ReasonKind::ServerCloses;
    assert_only(&load(1000), Phase::Saturate, kind, Weight::Note, 1000.0);
    assert_only(&load(1001), Phase::Saturate, kind, Weight::Invalid, 1001.0);
    // With each reply it is the server's way to answer, and its cost is in the figure.
    let each = ReasonKind::ClosesAfterReply;
    assert_only(&load(89_000), Phase::Saturate, kind, Weight::Invalid, 89_000.0);
    assert_only(&load(90_000), Phase::Saturate, each, Weight::Note, 90_000.0);
    let mut repeated = LoadReport { retried_requests: Some(50_000), ..load(50_001) };
    repeated.config.on_closed = ClosedPolicy::Retry;
    assert_only(&repeated, Phase::Saturate, kind, Weight::Note, 50_001.0);
}

#[test]
fn idle_connections_that_are_missing_or_lost_are_reported() {
    let mut load = LoadReport { idle: IdleCounts { made: 90, lost: 0 }, ..good() };
    load.config.idle_connections = 100;
    let missing = ReasonKind::ConnectionsMissing;
    assert_only(&load, Phase::Saturate, missing, Weight::Invalid, 90.0);
    load.idle = IdleCounts { made: 100, lost: 3 };
    assert_only(&load, Phase::Saturate, ReasonKind::ServerCloses, Weight::Invalid, 3.0);
}

#[test]
fn a_time_without_replies_is_a_stall_of_the_server_unless_the_generator_slept() {
    let pieces =
        |pieces: &[u64]| LoadReport { reply_series: ReplySeries::of_pieces(pieces), ..good() };
    let kind = ReasonKind::ServerStall;
    let stalled = pieces(&[100, 0, 0, 0, 0, 100, 0, 100]);
    assert_only(&stalled, Phase::Saturate, kind, Weight::Note, 4e8);
    // A generator that slept for as long has not looked.
    let asleep = LoadReport { stall_ns_max: 390_000_000, ..stalled.clone() };
    assert_eq!(only(&asleep, Phase::Saturate).0, ReasonKind::GeneratorStall);
    let mut pausing = stalled;
    pausing.config.model = LoadModel::Think { delay: Duration::from_millis(300) };
    assert_eq!(reasons(&pausing, Phase::Saturate, 1), []);
    // Of replies that are rare, a hundred milliseconds may have none by chance.
    assert_eq!(reasons(&pieces(&[5, 0, 3, 0, 6]), Phase::Saturate, 1), []);
    assert_eq!(reasons(&pieces(&[]), Phase::Saturate, 1), []);
    // In a load of a day the steps are longer than the stall.
    let mut day = vec![100; 864_000];
    day[500_003..500_007].fill(0);
    assert_only(&pieces(&day), Phase::Saturate, kind, Weight::Note, 4e8);
}

#[test]
fn one_reply_that_was_held_up_is_a_stall_too_but_one_that_never_came_is_not() {
    let mut load = good();
    load.latency.as_mut().unwrap().latency_ns_max = 260_000_000;
    assert_only(&load, Phase::Saturate, ReasonKind::ServerStall, Weight::Note, 2.6e8);
    load.errors.timeout = 1;
    assert_eq!(only(&load, Phase::Saturate).0, ReasonKind::Timeouts);
    load.errors.timeout = 0;
    load.latency.as_mut().unwrap().latency_ns_p50 = 3_000_000;
    assert_eq!(reasons(&load, Phase::Saturate, 1), []);
}

#[test]
fn stalls_of_the_generator_weigh_by_their_share_of_the_window() {
    let load = |stall_ns_max, stall_ns_total| LoadReport {
        stall_ns_max,
        stall_ns_total,
        window_ns: 1_000_000_000,
        config: LoadConfig { stop: Stop::Requests(1), ..good().config },
        ..good()
    };
    let kind = ReasonKind::GeneratorStall;
    let saturate = Phase::Saturate;
    // Of two threads a hundredth of the window is 20 ms.
    assert_only(&load(15_000_000, 15_000_000), saturate, kind, Weight::Note, 15e6);
    assert_only(&load(15_000_000, 25_000_000), saturate, kind, Weight::Tail, 15e6);
    assert_only(&load(3_000_000, 25_000_000), saturate, kind, Weight::Tail, 3e6);
    assert_only(&load(15_000_000, 110_000_000), saturate, kind, Weight::Invalid, 15e6);
    assert_eq!(reasons(&load(10_000_000, 19_000_000), saturate, 1), []);
}

#[test]
fn percentiles_need_ten_samples_beyond_them_and_only_those_that_are_shown() {
    let load = |count| LoadReport { latency: Some(summary(count, 100_000)), ..good() };
    let kind = ReasonKind::FewSamples;
    for phase in [Phase::Saturate, Phase::Cost] {
        assert_only(&load(999), phase, kind, Weight::Note, 999.0);
    }
    assert_only(&load(9_999), Phase::Cost, kind, Weight::Note, 9999.0);
    assert_eq!(reasons(&load(9_999), Phase::Saturate, 1), []);
}

#[test]
fn a_load_that_gave_up_says_so() {
    let load = LoadReport { gave_up_requests: Some(7), ..good() };
    assert_eq!(only(&load, Phase::Saturate).0, ReasonKind::GaveUp);
}
