//! Each verdict and each caution, provoked.

use super::*;
use crate::fixtures::{at_rate, good, summary};
use expect_test::expect_file;
use std::time::Duration;
use wirebench_schema::{
    journal::ReasonKind,
    load::{
        EngineChoice, ErrorCounts, Fairness, LatencySummary, LoadConfig, LoadModel, Offered,
        RateCurve, ReplySeries, Waiting,
    },
};

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
    // One connection per thread, with up to 16 requests in flight.
    let pipelined = |mut report: LoadReport| {
        (report.connections_made, report.config.pipeline) = (2, 16);
        report
    };
    let mut thinking = good();
    thinking.config.model = LoadModel::Think { delay: Duration::from_micros(95) };
    let mut slow = good();
    slow.config.model = LoadModel::Think { delay: Duration::from_micros(5) };
    let mut slipping = at_rate(20_000, 10_000, 990_000);
    slipping.offered =
        Some(Offered { due: 10_000, owed_at_end: 0, waiting: [0; 3], requests_per_second: 1e4 });
    slipping.config.model = LoadModel::slipping(RateCurve::per_second(20_000));
    let unanswered = LoadReport { requests: 0, requests_per_second: 0.0, ..good() };
    let rows = [
        (good(), Bound::Server),
        (busy(good(), 0.8), Bound::Generator),
        (busy(good(), 0.2), Bound::Server),
        (few(0.6), Bound::Server),
        (few(0.8), Bound::Generator),
        (single, Bound::Generator),
        (turns, Bound::Unknown),
        (pipelined(good()), Bound::Server),
        (pipelined(busy(good(), 0.2)), Bound::Server),
        (pipelined(busy(good(), 0.8)), Bound::Generator),
        (spinning(0.1), Bound::Server),
        (spinning(0.9), Bound::Generator),
        (thinking, Bound::Schedule),
        (slow, Bound::Server),
        (at_rate(20_000, 20_000, 100_000), Bound::Schedule),
        (at_rate(20_000, 19_990, 100_000), Bound::Schedule),
        (at_rate(20_000, 10_000, 990_000), Bound::Server),
        (slipping, Bound::Server),
        (busy(at_rate(20_000, 10_000, 50_000), 0.2), Bound::Generator),
        (busy(at_rate(20_000, 10_000, 990_000), 0.8), Bound::Generator),
        (at_rate(20_000, 10_000, 50_000), Bound::Unknown),
        (kept_slowly(), Bound::Schedule),
        (ceiling(good(), 105_000.0), Bound::Unknown),
        (ceiling(good(), 200_000.0), Bound::Server),
        (ceiling(good(), 50_000.0), Bound::Server),
        (unanswered, Bound::Unknown),
    ];
    let mut text = String::new();
    for (report, limit) in rows {
        let verdict = verdict(&report);
        assert_eq!(verdict.limit, limit, "{verdict:?}");
        text += &format!("{limit:?}\n  {}\n", verdict.reasons.join("\n  "));
    }
    expect_file!["golden/limits.txt"].assert_eq(&text);
}

#[test]
fn a_generator_that_its_cpu_limit_paused_is_the_limit_and_nothing_that_follows_is_named() {
    let mut late = at_rate(20_000, 10_000, 50_000);
    late.lag = Some(summary(10_000, 200_000_000));
    let before = verdict(&late).cautions;
    assert!(before.iter().any(|it| it.contains("late")), "{before:?}");
    late.throttled_ns = Some(900_000_000);
    let verdict = verdict(&late);
    assert_eq!(verdict.limit, Bound::Generator);
    assert!(verdict.reasons[0].contains("paused server or generator for 900.0 ms"), "{verdict:?}");
    assert!(verdict.cautions[0].contains("Raise the CPU limit"), "{verdict:?}");
    let follows = |it: &String| it.contains("late") || it.contains("without a reply");
    assert!(!verdict.cautions.iter().any(follows), "{verdict:?}");
    let short = LoadReport { throttled_ns: Some(1_000_000), ..good() };
    assert_eq!(super::verdict(&short).limit, Bound::Server);
}

#[test]
fn a_server_that_says_nothing_more_before_the_end_makes_a_load_invalid() {
    let silent = |pieces: usize| {
        let replies = (0..100).map(|at| if at + pieces < 100 { 1000 } else { 0 });
        let reply_series = ReplySeries::of_pieces(&replies.collect::<Vec<u64>>());
        LoadReport { reply_series, window_ns: 10_000_000_000, ..good() }
    };
    assert_eq!(not_valid(&silent(9)), [""; 0]);
    let reason = "no reply in the last 1.0 s of the window: the server crashed or hangs";
    assert_eq!(not_valid(&silent(10)), [reason]);
    let errors = ErrorCounts { wrong_reply: 900, timeout: 10, ..ErrorCounts::default() };
    let reason = "no correct reply in the last 1.0 s of the window: the server answers wrongly";
    assert_eq!(not_valid(&LoadReport { errors, ..silent(10) }), [reason]);
    let errors = ErrorCounts { surplus: good().requests, ..ErrorCounts::default() };
    let twice = not_valid(&LoadReport { errors, ..good() });
    assert!(twice[0].contains("so replies may be those of earlier requests"), "{twice:?}");
    let often = |surplus| ErrorCounts { surplus, ..ErrorCounts::default() };
    let some = |share| LoadReport { errors: often(good().requests / share), ..good() };
    assert_eq!([50, 200].map(|share| not_valid(&some(share)).len()), [1, 0]);
    // A generator that did not look, and one that was stopped.
    let blind = LoadReport { stall_ns_max: 600_000_000, ..silent(10) };
    assert_eq!(not_valid(&blind), [""; 0]);
    assert_eq!(not_valid(&LoadReport { interrupted: true, ..silent(10) }), [""; 0]);
}

/// At a rate that is kept, though each reply takes half of the window.
fn kept_slowly() -> LoadReport {
    let mut report = at_rate(20_000, 20_000, 500_000_000);
    report.connections_made = 20_000;
    (report.requests, report.requests_per_second) = (10_000, 10_000.0);
    LoadReport { in_flight_at_end: 10_000, ..report }
}

/// At a rate of which half was answered; the rest failed so.
fn failing(errors: ErrorCounts, owed_at_end: u64) -> LoadReport {
    let mut report = LoadReport { errors, ..at_rate(20_000, 10_000, 50_000) };
    report.latency.as_mut().unwrap().count = 10_000 + owed_at_end;
    report.latency.as_mut().unwrap().censored = owed_at_end;
    report.offered.as_mut().unwrap().owed_at_end = owed_at_end;
    report
}

#[test]
fn a_server_that_dies_or_fails_at_a_rate_is_the_limit() {
    let refused = ErrorCounts { reset: 10, refused: 500_000, ..ErrorCounts::default() };
    let wrong = ErrorCounts { wrong_reply: 10_000, ..ErrorCounts::default() };
    let silent = LoadReport { in_flight_at_end: 10, ..at_rate(20_000, 10_000, 50_000) };
    for report in [failing(refused, 9_990), failing(wrong, 0), silent.clone()] {
        let verdict = verdict(&report);
        assert_eq!(verdict.limit, Bound::Server, "{verdict:?}");
        assert!(verdict.reasons[0].ends_with("answered correctly (50 %)"), "{verdict:?}");
    }
    // A generator without a CPU is not the server's fault.
    assert_eq!(verdict(&busy(failing(refused, 9_990), 0.2)).limit, Bound::Generator);
    let mut sent = silent;
    sent.config.model = LoadModel::slipping(RateCurve::per_second(20_000));
    assert_eq!(verdict(&sent).limit, Bound::Server);
}

/// One request in twenty at 20 000/s failed so, on a thread that spins between two requests.
fn spinning_through(errors: ErrorCounts, owed_at_end: u64) -> LoadReport {
    let mut report = busy(at_rate(20_000, 19_000, 50_000), 0.2);
    report.errors = errors;
    report.latency = Some(LatencySummary { censored: owed_at_end, ..summary(19_000, 100_000) });
    report.offered.as_mut().unwrap().owed_at_end = owed_at_end;
    report
}

#[test]
fn a_generator_that_sent_all_requests_in_time_is_not_the_limit() {
    let refused = ErrorCounts { status: 1_000, ..ErrorCounts::default() };
    let failing = spinning_through(refused, 0);
    assert_eq!(verdict(&failing).limit, Bound::Server, "{:?}", verdict(&failing));
    // Most connections are ready, because each of few has its reply when the thread looks.
    let ready = LoadReport { ready_share: 0.9, ..failing.clone() };
    assert_eq!(verdict(&ready).limit, Bound::Server, "{:?}", verdict(&ready));
    // Without failures nothing is known of the server either.
    let none = spinning_through(ErrorCounts::default(), 0);
    assert_eq!(verdict(&none).limit, Bound::Unknown, "{:?}", verdict(&none));
    let late = LoadReport { lag: Some(summary(19_000, 2_000_000)), ..failing.clone() };
    let owing = spinning_through(refused, 1_000);
    let mut slipping = failing;
    slipping.config.model = LoadModel::slipping(RateCurve::per_second(20_000));
    slipping.offered.as_mut().unwrap().requests_per_second = 19_000.0;
    for behind in [late, owing, slipping] {
        assert_eq!(verdict(&behind).limit, Bound::Generator, "{:?}", verdict(&behind));
    }
}

#[test]
fn pauses_are_at_most_all_of_the_time_and_no_excuse_for_failures() {
    let mut report = good();
    report.config.model = LoadModel::Think { delay: Duration::from_micros(200) };
    assert_eq!(verdict(&report).reasons, ["pauses took 100 % of each connection's time"]);
    report.errors.wrong_reply = 5_000;
    assert_eq!(verdict(&report).limit, Bound::Server);
}

#[test]
fn a_load_that_gave_up_never_got_what_was_asked_for() {
    let gave_up = "gave up: no reply came for three timeouts, so 7 requests were not sent";
    let mut report = at_rate(20_000, 20_000, 100_000);
    report.gave_up_requests = Some(7);
    let verdict = verdict(&report);
    assert_ne!(verdict.limit, Bound::Schedule);
    assert_eq!(verdict.cautions, [gave_up]);
}

#[test]
fn no_more_requests_are_on_their_way_than_the_connections_can_have() {
    // Replies that came long after the window: 416 by the rate and the mean.
    let mut report = at_rate(20_000, 10_000, 41_600_000);
    report.config.pipeline = 16;
    let reasons = verdict(&report).reasons;
    let part = "160.0 of at most 160 requests were in flight on average";
    assert!(reasons.iter().any(|reason| reason == part), "{reasons:?}");
}

#[test]
fn a_few_requests_or_latencies_give_no_reason() {
    let few = LoadReport { requests: 99, ..good() };
    let short = LoadReport { latency: Some(summary(100_000, 51_000_000)), ..good() };
    let rows = [few, short, at_rate(99, 99, 100_000), at_rate(20_000, 100, 51_000_000)];
    let mut text = String::new();
    for report in rows {
        let verdict = verdict(&report);
        assert_eq!(verdict.limit, Bound::Unknown, "{verdict:?}");
        text += &format!("{}\n", verdict.reasons.join("\n"));
    }
    expect_file!["golden/few.txt"].assert_eq(&text);
    let mut uneven = LoadReport { requests: 99, ..good() };
    uneven.fairness.jain_index = 0.5;
    let is_uneven = |load: &LoadReport| faults(load).iter().any(|it| it.kind == ReasonKind::Unfair);
    assert!(!is_uneven(&uneven));
    uneven.requests = 100;
    assert!(is_uneven(&uneven));
}

#[test]
fn failed_requests_failed_connections_and_surplus_are_distinguished() {
    let errors = ErrorCounts {
        timeout: 2,
        status: 1,
        tls: 4,
        refused: 5,
        surplus: 6,
        ..ErrorCounts::default()
    };
    let told = failures(&LoadReport { errors, requests: 1000, ..good() }).unwrap();
    let expected = "3 of 1003 requests failed; 9 connections failed; unrequested bytes arrived 6 \
                    times";
    assert_eq!(told, expected);
    assert_eq!(failures(&good()), None);
}

#[test]
fn a_good_load_has_no_caution() {
    assert!(verdict(&good()).cautions.is_empty(), "{:?}", verdict(&good()));
    let kept = verdict(&at_rate(20_000, 20_000, 100_000));
    assert!(kept.cautions.is_empty(), "{kept:?}");
}

#[test]
fn a_load_that_was_stopped_before_its_window_has_no_other_caution() {
    let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
    let nothing = LoadReport::new("0".into(), config, EngineChoice::Epoll);
    let cautions = verdict(&LoadReport { interrupted: true, ..nothing }).cautions;
    assert_eq!(cautions, ["interrupted: the window was 0.00 s long"]);
}

#[test]
fn each_weakness_has_its_caution() {
    type Spoil = fn(&mut LoadReport);
    let rows: [Spoil; 9] = [
        |report| report.errors = ErrorCounts { reset: 3, ..report.errors },
        |report| report.interrupted = true,
        |report| report.config.connections = 11,
        |report| report.unanswered_connections = 4,
        |report| report.latency.as_mut().unwrap().count = 999,
        |report| report.fairness.jain_index = 0.5,
        |report| report.lag = Some(summary(1, 2_500_000)),
        |report| report.stall_ns_max = 15_000_000,
        |report| report.reply_series = ReplySeries::of_pieces(&[100, 0, 0, 100, 100]),
    ];
    let cautions = rows.map(|spoil| {
        let mut report = good();
        spoil(&mut report);
        let cautions = verdict(&report).cautions;
        assert_eq!(cautions.len(), 1, "{cautions:?}");
        cautions.concat() + "\n"
    });
    expect_file!["golden/cautions.txt"].assert_eq(&cautions.concat());
}

#[test]
fn connections_that_one_visit_served_unevenly_are_a_reason_of_the_whole() {
    let part = |jain_index| LoadReport {
        requests: 40,
        connections_made: 4,
        fairness: Fairness { jain_index, ..Fairness::default() },
        ..good()
    };
    let unfair = |jain_index| {
        let merged = LoadReport::merge(&[part(1.0), part(jain_index)]).unwrap();
        faults(&merged).iter().any(|fault| fault.kind == ReasonKind::Unfair)
    };
    assert!(unfair(0.7));
    assert!(!unfair(0.9));
}
