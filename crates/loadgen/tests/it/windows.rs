//! Several windows over the same connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use wirebench_loadgen::{Load, LoadError, Measured};
use wirebench_schema::{
    agent::Windows,
    load::{EngineChoice, LoadConfig, LoadEvent, LoadModel, LoadReport, Rate, RateCurve, Stop},
};

use crate::{
    each_engine,
    server::{HELLO, Server, answer, answer_with, stall},
    timed,
};

static NEVER: AtomicBool = AtomicBool::new(false);

pub(crate) fn connect(config: &LoadConfig) -> Load {
    Load::open(config, Windows::Many, &NEVER, &mut |_| {}).unwrap()
}

pub(crate) fn window(load: &mut Load, config: &LoadConfig) -> Measured {
    load.part(config, &NEVER).unwrap()
}

/// A server that counts its connections and answers each request.
fn counting() -> (Server, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::start(move |_, stream, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        answer(stream, HELLO);
    });
    (server, connections)
}

fn at_rate(config: &LoadConfig, requests_per_second: u64) -> LoadConfig {
    let model = LoadModel::rate(RateCurve::per_second(requests_per_second));
    LoadConfig { model, ..config.clone() }
}

#[test]
fn windows_of_different_loads_use_the_same_connections() {
    each_engine(|engine| {
        let (server, connections) = counting();
        let config = timed(&server.http(), engine, 60);
        let mut load = connect(&config);
        assert_eq!(load.connections(), 4);
        let mut last_start_ns = None;
        for turn in 0..6 {
            let is_closed = turn % 2 == 0;
            let config = if is_closed { config.clone() } else { at_rate(&config, 1000) };
            let Measured { report, start_ns, .. } = window(&mut load, &config);
            assert!(start_ns > last_start_ns, "{start_ns:?} after {last_start_ns:?}");
            last_start_ns = start_ns;
            assert_eq!((report.errors.total(), report.reconnects), (0, 0), "{report:?}");
            assert_eq!((report.connections_made, report.in_flight_at_end), (4, 0));
            // All that were begun count; on a busy machine some cannot be begun.
            let (due, owed) = report.offered.map_or((0, 0), |it| (it.due, it.owed_at_end));
            let asked = report.requests + owed;
            assert_eq!(report.latency.as_ref().map(|latency| latency.count), Some(asked));
            match is_closed {
                true => assert!(report.offered.is_none() && report.window_ns >= 60_000_000),
                false => assert_eq!((due, asked, report.window_ns), (60, 60, 60_000_000)),
            }
        }
        // The preflight is the fifth.
        assert_eq!(connections.load(Ordering::SeqCst), 5);
    });
}

#[test]
fn a_reply_that_is_due_at_the_end_of_a_window_is_no_surplus_in_the_next() {
    each_engine(|engine| {
        let server = Server::start(|_, stream, _| {
            answer_with(stream, || {
                thread::sleep(Duration::from_millis(15));
                HELLO
            });
        });
        let config = timed(&server.http(), engine, 50);
        let mut load = connect(&config);
        for _ in 0..4 {
            let report = window(&mut load, &config).report;
            assert_eq!((report.errors.total(), report.reconnects), (0, 0), "{report:?}");
            assert_eq!(report.in_flight_at_end, 0);
            // Four connections that wait for 15 ms each, and on a busy machine longer; edges cut nothing off.
            let rate = report.requests_per_second;
            assert!((4..=16).contains(&report.requests) && rate < 4.0 / 0.015, "{rate}");
        }
    });
}

#[test]
fn a_connection_that_the_server_closes_between_windows_is_made_again_and_not_counted() {
    each_engine(|engine| {
        let server = Server::start(|_, stream, _| {
            stream.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
            answer(stream, HELLO);
        });
        let config = timed(&server.http(), engine, 50);
        let mut load = connect(&config);
        for _ in 0..3 {
            let report = window(&mut load, &config).report;
            assert_eq!((report.errors.total(), report.server_closes), (0, 0), "{report:?}");
            assert_eq!(report.connections_made, 4);
            thread::sleep(Duration::from_millis(400));
        }
    });
}

#[test]
fn a_request_without_a_reply_ends_with_its_connection_and_the_next_window_is_whole() {
    each_engine(|engine| {
        // The first four after the preflight fall silent.
        let server = Server::start(|number, stream, _| match number {
            1..=4 => stall(stream),
            _ => answer(stream, HELLO),
        });
        let mut config = timed(&server.http(), engine, 50);
        config.timeout = Duration::from_millis(200);
        let mut load = connect(&config);
        let silent = window(&mut load, &config).report;
        assert_eq!((silent.requests, silent.errors.timeout, silent.errors.total()), (0, 4, 4));
        let whole = window(&mut load, &config).report;
        assert_eq!((whole.connections_made, whole.errors.total()), (4, 0), "{whole:?}");
        assert!(whole.requests > 0);
    });
}

#[test]
fn a_server_that_is_gone_is_reported_within_the_timeout() {
    each_engine(|engine| {
        let (server, _) = counting();
        let mut config = timed(&server.http(), engine, 50);
        config.timeout = Duration::from_millis(300);
        let mut load = connect(&config);
        window(&mut load, &config);
        server.die();
        let report = window(&mut load, &config).report;
        assert_eq!((report.connections_made, report.requests), (0, 0));
        assert!(report.errors.refused > 0, "{:?}", report.errors);
    });
}

#[test]
fn a_window_ends_when_it_is_stopped_and_a_wrong_one_is_refused() {
    let (server, _) = counting();
    let config = timed(&server.http(), EngineChoice::Auto, 50);
    let mut load = connect(&config);
    let endless = LoadConfig { stop: Stop::After(Duration::from_secs(3000)), ..config.clone() };
    let measured = load.part(&endless, &AtomicBool::new(true)).unwrap();
    assert!(measured.report.interrupted);
    let wrong = LoadConfig { stop: Stop::After(Duration::ZERO), ..config.clone() };
    let refused = load.part(&wrong, &NEVER);
    assert!(matches!(refused, Err(LoadError::Configuration(_))), "{refused:?}");
    assert!(window(&mut load, &config).report.requests > 0);
}

/// A whole load of this model after a part of a closed loop, and its edges and intervals.
fn whole(engine: EngineChoice, model: LoadModel, stop: Stop) -> (Measured, Vec<LoadEvent>) {
    let (server, _) = counting();
    let config = timed(&server.http(), engine, 40);
    let config = LoadConfig { interval: Duration::from_millis(100), ..config };
    let mut load = connect(&config);
    let first = window(&mut load, &config).report;
    assert!(first.requests > 0 && first.sample_replies.is_empty() && first.steps.is_empty());
    let config = LoadConfig { model, stop, ..config };
    let mut events = Vec::new();
    let measured = load.whole(&config, &NEVER, &mut |event| events.push(event)).unwrap();
    assert!(!measured.report.sample_replies.is_empty());
    (measured, events)
}

#[test]
fn a_whole_load_reports_its_edges_and_intervals_and_may_change_its_rate() {
    each_engine(|engine| {
        let rates = RateCurve::Steps([500_u64, 1000].map(Rate::from).to_vec());
        let stop = Stop::After(Duration::from_millis(400));
        let (measured, events) = whole(engine, LoadModel::rate(rates), stop);
        let is_edge = |event: &&LoadEvent| !matches!(event, LoadEvent::Interval(_));
        let edges: Vec<_> = events.iter().filter(is_edge).collect();
        assert_eq!(edges, [&LoadEvent::WindowStart, &LoadEvent::WindowEnd]);
        let intervals = events.iter().filter_map(|event| match event {
            LoadEvent::Interval(interval) => Some(interval.requests),
            _ => None,
        });
        let intervals: Vec<u64> = intervals.collect();
        let report = measured.report;
        assert!(intervals.len() >= 4, "{intervals:?}");
        // On a busy machine the last reply comes after the window, which is in no interval.
        let in_time: u64 = intervals.iter().sum();
        assert!((280..=report.requests).contains(&in_time), "{in_time}, {}", report.requests);
        assert_eq!((report.offered.unwrap().due, report.window_ns), (300, 400_000_000));
        let of_steps: Vec<u64> = report.steps.iter().map(|step| step.requests).collect();
        assert_eq!((of_steps.len(), of_steps.iter().sum::<u64>()), (2, report.requests));
    });
}

#[test]
fn a_whole_load_ends_with_its_count() {
    each_engine(|engine| {
        for (stop, count) in [(Stop::Requests(101), 101), (Stop::RequestsPerConnection(30), 120)] {
            let (measured, events) = whole(engine, LoadModel::Closed, stop);
            assert_eq!((measured.report.requests, measured.report.errors.total()), (count, 0));
            assert!(events.contains(&LoadEvent::WindowEnd), "{events:?}");
        }
    });
}

#[test]
fn the_rate_of_connections_that_are_made_again_has_the_time_for_that() {
    each_engine(|engine| {
        let (server, _) = counting();
        let mut config = timed(&server.http(), engine, 100);
        config.requests_per_connection = Some(2);
        let mut load = connect(&config);
        let LoadReport { requests, requests_per_second, window_ns, client_closes, .. } =
            window(&mut load, &config).report;
        assert!(client_closes > 0 && requests > 0);
        let mean = requests as f64 * 1e9 / window_ns as f64;
        assert!((requests_per_second / mean - 1.0).abs() < 1e-9, "{requests_per_second}, {mean}");
    });
}
