//! Servers that end connections with and without an announcement, and those that serve one at a time.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::load::{ClosedPolicy, LoadConfig, LoadModel, RateCurve, Stop};

use crate::{
    PATIENCE, counted, each_engine, flawless, load,
    server::{HELLO, LAST, Server, answer, answer_some, one_at_a_time, read_request, stall},
    timed,
    windows::{connect, window},
};

#[test]
fn a_thread_without_requests_left_holds_no_connection_that_the_server_waits_for() {
    each_engine(|engine| {
        // As gunicorn's default worker and others do, it waits for the client to close first.
        let (server, _) = one_at_a_time(|_, mut stream| {
            if read_request(stream) && stream.write_all(LAST).is_ok() {
                stall(stream);
            }
        });
        flawless(&counted(&server.http(), engine, 100));
        // An idle one neither: one request for each of two threads, which have two connections each.
        let (server, _) = one_at_a_time(|_, stream| answer(stream, HELLO));
        flawless(&counted(&server.http(), engine, 2));
    });
}

#[test]
fn a_connection_closed_in_a_window_ends_for_the_server_before_the_next_window() {
    each_engine(|engine| {
        let (answered, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (answers, ends) = (Arc::clone(&answered), Arc::clone(&ended));
        let server = Server::start(move |_, mut stream, _| {
            if read_request(stream) {
                answers.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(LAST);
                stall(stream);
                ends.fetch_add(1, Ordering::SeqCst);
            }
        });
        let config = timed(&server.http(), engine, 50);
        let mut load = connect(&config);
        window(&mut load, &config);
        let began = Instant::now();
        while ended.load(Ordering::SeqCst) < answered.load(Ordering::SeqCst) {
            assert!(began.elapsed() < PATIENCE, "a connection stays open");
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Answers requests with these replies in turn, whatever is pipelined behind them.
fn reply_in_turn(mut stream: &TcpStream, replies: &[&[u8]]) {
    let (mut pending, mut buffer) = (Vec::new(), [0; 4096]);
    for reply in replies {
        let end = loop {
            if let Some(at) = pending.windows(4).position(|end| end == b"\r\n\r\n") {
                break at + 4;
            }
            match stream.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(bytes) => pending.extend_from_slice(&buffer[..bytes]),
            }
        };
        pending.drain(..end);
        if stream.write_all(reply).is_err() {
            return;
        }
    }
}

#[test]
fn requests_pipelined_behind_an_announced_close_are_sent_again_and_are_no_failures() {
    const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nHello world!";
    for last in [LAST, UNTIL_CLOSE] {
        each_engine(|engine| {
            let server = Server::start(move |_, stream, _| {
                reply_in_turn(stream, &[HELLO, HELLO, HELLO, last]);
                let _ = stream.shutdown(Shutdown::Write);
                stall(stream);
            });
            let mut config = counted(&server.http(), engine, 200);
            (config.pipeline, config.method) = (16, "POST".to_owned());
            let report = flawless(&config);
            // Each connection carries four of them.
            assert!(report.server_closes >= 200 / 4 - 4, "{report:?}");
            let retried = report.retried_requests.unwrap();
            assert!((1..=15 * report.server_closes).contains(&retried), "{report:?}");
            assert_eq!(report.latency.unwrap().count, 200);
        });
    }
}

#[test]
fn a_server_that_serves_one_at_a_time_gets_no_connection_without_a_request() {
    let think = LoadModel::Think { delay: Duration::from_millis(1) };
    let curve = RateCurve::per_second(1000);
    let rates = [LoadModel::rate(curve.clone()), LoadModel::slipping(curve)];
    for model in [LoadModel::Closed, think].into_iter().chain(rates) {
        each_engine(|engine| {
            let (server, accepted) = one_at_a_time(|_, mut stream| {
                if read_request(stream) {
                    let _ = stream.write_all(LAST);
                }
            });
            let config = counted(&server.http(), engine, 60);
            let report = flawless(&LoadConfig { model: model.clone(), ..config.clone() });
            assert_eq!(report.connections_made, 4);
            // The preflight is one more.
            assert_eq!(accepted.load(Ordering::SeqCst), 61, "{model:?}");
            if matches!(model, LoadModel::Rate { .. }) {
                return;
            }
            let each = Stop::RequestsPerConnection(5);
            flawless(&LoadConfig { model: model.clone(), stop: each, ..config });
            assert_eq!(accepted.load(Ordering::SeqCst), 61 + 21, "{model:?}");
        });
    }
}

fn retrying(config: LoadConfig) -> LoadConfig {
    LoadConfig { on_closed: ClosedPolicy::Retry, ..config }
}

/// Closes each connection after this many complete replies. Counts its connections.
fn closing_after(requests: usize) -> (Server, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::start(move |_, stream, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        answer_some(stream, requests);
    });
    (server, connections)
}

#[test]
fn requests_on_connections_closed_after_a_reply_are_repeated_and_are_no_errors() {
    each_engine(|engine| {
        let (server, connections) = closing_after(1);
        let report = flawless(&retrying(counted(&server.http(), engine, 101)));
        // All but the first of each of four connections.
        assert_eq!((report.retried_requests, report.reconnects), (Some(97), 0));
        assert_eq!(report.latency.unwrap().count, 101);
        // The preflight is one more.
        assert_eq!(connections.load(Ordering::SeqCst), 102);
    });
}

#[test]
fn every_load_model_repeats_and_loses_nothing() {
    each_engine(|engine| {
        let (server, _) = closing_after(3);
        let think = LoadModel::Think { delay: Duration::from_millis(1) };
        let curve = RateCurve::per_second(2000);
        for model in [think, LoadModel::rate(curve.clone()), LoadModel::slipping(curve)] {
            let load_of = |stop| {
                let config = retrying(counted(&server.http(), engine, 1));
                load(&LoadConfig { model: model.clone(), stop, ..config })
            };
            let report = load_of(Stop::Requests(120));
            assert_eq!((report.requests, report.errors.total()), (120, 0), "{report:?}");
            // A connection on which nothing is in flight is closed and made again without a retry.
            let retried = report.retried_requests.unwrap();
            assert!(retried + report.server_closes >= 30, "{report:?}");
            let report = load_of(Stop::After(Duration::from_millis(100)));
            assert_eq!(report.errors.total(), 0, "{report:?}");
        }
        let each = Stop::RequestsPerConnection(10);
        let report =
            flawless(&LoadConfig { stop: each, ..retrying(counted(&server.http(), engine, 1)) });
        assert_eq!((report.fairness.replies_least, report.fairness.replies_most), (10, 10));
    });
}
