//! Runs at a rate, made up: which of them keep their objectives, and who is to blame for the
//! others.

use super::*;
use crate::fixtures::{at_rate, summary};
use wirebench_schema::{
    journal::{Bound, Cost},
    load::{ErrorCounts, LatencySummary, LoadReport},
};

/// 64 connections at 40 000 requests/s, all answered after `latency_ns`, of which the generator
/// made `lag_ns`.
fn run(latency_ns: u64, lag_ns: u64) -> Measurement {
    let mut load = LoadReport {
        connections_made: 64,
        ready_share: 0.02,
        thread_cpu_ns: vec![990_000_000],
        latency: Some(summary(40_000, latency_ns)),
        lag: Some(summary(40_000, lag_ns)),
        ..at_rate(40_000, 40_000, latency_ns - lag_ns)
    };
    load.config.connections = 64;
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

/// Such a run with a change.
fn with(latency_ns: u64, lag_ns: u64, change: impl FnOnce(&mut Measurement)) -> Measurement {
    let mut run = run(latency_ns, lag_ns);
    change(&mut run);
    run
}

fn latency(run: &mut Measurement) -> &mut LatencySummary {
    run.load.latency.as_mut().unwrap()
}

/// A short run with this many requests on their way at its end, which are younger than the slowest reply.
fn waiting(owed_at_end: u64) -> Measurement {
    with(900_000, 1000, |run| {
        run.cost.cpu_share = 0.99;
        let offered = run.load.offered.as_mut().unwrap();
        (offered.due, offered.owed_at_end) = (200, owed_at_end);
        let latency = latency(run);
        (latency.count, latency.censored, latency.lower_bounds) = (200, owed_at_end, Some(0));
    })
}

/// A backlog that grows to this many requests.
fn growing(waiting: u64) -> Measurement {
    with(900_000, 1000, |run| {
        run.load.requests -= waiting;
        run.load.offered.as_mut().unwrap().waiting = [0, waiting / 2, waiting];
    })
}

/// A tail for which others had the CPUs for this share of the time.
fn held_up(weight: Weight, share: f64) -> Measurement {
    with(1_500_000, 1000, |run| {
        latency(run).latency_ns_p99 = 3_000_000;
        latency(run).latency_ns_mean = 500_000.0;
        let reason =
            ReasonKind::Neighbour.reason(weight, Some(share), "the server waited for CPUs");
        run.reasons = vec![reason];
    })
}

/// A thread of the generator that did not run for 30 ms, while the server answered fast.
fn stalled(window_ns: u64) -> Measurement {
    with(5_000_000, 1000, |run| {
        run.load.service = Some(summary(40_000, 100_000));
        (run.load.stall_ns_max, run.load.window_ns) = (30_000_000, window_ns);
    })
}

const BOTH: &str = "p99 is not below 2 ms; mean is not below 1 ms";

/// The side that is to blame and the reasons; nothing of a run that holds.
type Blamed<'a> = Option<(Side, &'a str)>;

fn assert_each(rows: &[(&str, Measurement, Blamed<'_>)]) {
    let objectives = ["p99 < 2ms", "mean < 1ms"].map(|text| text.parse().unwrap());
    for (name, run, expected) in rows {
        let found = match keeps(run, &objectives) {
            ObjectiveResult::Holds => None,
            ObjectiveResult::Misses { by, reasons } => Some((by, reasons.join("; "))),
        };
        assert_eq!(found, expected.map(|(by, text)| (by, text.to_owned())), "{name}");
    }
}

#[test]
fn a_run_holds_or_the_server_misses_an_objective() {
    use Side::Server;
    let always_slow = with(5_000_000, 1000, |run| {
        let mut histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        histogram.record_n(5_000_000, 40_000).unwrap();
        run.load.latency = Some(LatencySummary::of(&histogram));
        run.load.stall_ns_max = 30_000_000;
        run.reasons = vec![ReasonKind::Neighbour.reason(Weight::Tail, Some(0.1), "")];
    });
    let failing = with(900_000, 1000, |run| {
        run.load.errors = ErrorCounts { reset: 1, ..ErrorCounts::default() };
        run.load.ready_share = 0.9;
    });
    assert_each(&[
        ("the generator is busy with waiting", run(900_000, 1000), None),
        ("one objective is missed", run(1_500_000, 1000), Some((Server, "mean is not below 1 ms"))),
        (
            "fast answers to some of the requests",
            with(900_000, 1000, |run| {
                latency(run).count = 39_000;
                run.cost.cpu_share = 0.99;
            }),
            Some((Server, "97.5 % of the requests were answered")),
        ),
        ("as many wait as there are connections", waiting(64), None),
        ("more wait", waiting(67), Some((Server, "98.5 % of the requests were answered"))),
        ("a negligible backlog", growing(80), None),
        ("a backlog", growing(90), Some((Server, "the server falls behind by 90 requests/s"))),
        (
            "a percentile that no reply reached",
            with(900_000, 1000, |run| latency(run).lower_bounds = Some(401)),
            Some((Server, "p99 is not known to be below 2 ms; mean is not known to be below 1 ms")),
        ),
        ("always too slow, with others and stalls", always_slow, Some((Server, BOTH))),
        (
            "one request on its way is ready whenever anything is",
            with(5_000_000, 1000, |run| {
                (run.load.requests_per_second, run.load.ready_share) = (100.0, 1.0);
            }),
            Some((Server, BOTH)),
        ),
        ("an error", failing, Some((Server, "1 of 40001 requests failed"))),
    ]);
}

#[test]
fn what_the_generator_or_others_held_up_is_not_the_servers_unless_it_had_no_time_to_spare() {
    use Side::{Generator, Others, Server};
    // Requests that were due in the pause were sent late, because all connections were waiting.
    let paused = with(5_000_000, 4_900_000, |run| {
        run.load.service = Some(LatencySummary {
            latency_ns_mean: 200_000.0,
            latency_ns_max: 50_000_000,
            ..summary(40_000, 100_000)
        });
    });
    let mut busy = held_up(Weight::Tail, 0.006);
    busy.cost.cpu_share = 0.97;
    assert_each(&[
        ("a pause of the server makes the schedule lag", paused, Some((Server, BOTH))),
        (
            "sent late by the generator itself",
            run(5_000_000, 4_900_000),
            Some((
                Generator,
                "p99 is not below 2 ms; mean is not below 1 ms; the load generator sent one request in a \
                 hundred 4.90 ms or more after it was due",
            )),
        ),
        (
            "sent late to a busy server",
            with(5_000_000, 4_900_000, |run| run.cost.cpu_share = 0.99),
            Some((Server, BOTH)),
        ),
        (
            "the generator lost its CPU",
            stalled(1_000_000_000),
            Some((
                Generator,
                "p99 is not below 2 ms; mean is not below 1 ms; a thread of the load generator did not run \
                 for 30.00 ms when it should have",
            )),
        ),
        // One request in a hundred cannot be slow because of a hundredth of a second in one of ten.
        ("the same in a long window", stalled(10_000_000_000), Some((Server, BOTH))),
        (
            "replies wait for the generator",
            with(5_000_000, 1000, |run| run.load.ready_share = 0.8),
            Some((
                Generator,
                "p99 is not below 2 ms; mean is not below 1 ms; the replies waited for the load generator",
            )),
        ),
        (
            "others had the CPUs for longer than the tail",
            held_up(Weight::Tail, 0.006),
            Some((
                Others,
                "p99 is not below 2 ms; other work took 0.6 % of the CPU time of server or generator (the \
                 server waited for CPUs); measure for longer, or on another machine",
            )),
        ),
        ("the same while the server was busy", busy, Some((Server, "p99 is not below 2 ms"))),
        ("not so long", held_up(Weight::Note, 0.004), Some((Server, "p99 is not below 2 ms"))),
    ]);
    let mut median = held_up(Weight::Tail, 0.006);
    latency(&mut median).latency_ns_p50 = 3_000_000;
    assert_eq!(
        keeps(&median, &["p50 < 2ms".parse().unwrap()]),
        ObjectiveResult::Misses { by: Server, reasons: vec!["p50 is not below 2 ms".into()] },
        "half of the requests did not wait for them"
    );
}
