//! Servers that end connections with an announcement, and those that serve one at a time.

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
use wirebench_schema::load::{LoadConfig, LoadModel, RateCurve, Stop};

use crate::{
    PATIENCE, counted, each_engine, flawless, load,
    server::{HELLO, LAST, Server, answer, one_at_a_time, read_request, stall},
    timed,
    windows::{connect, window},
};

#[test]
fn a_thread_without_requests_left_holds_no_connection_that_the_server_waits_for() {
    // As gunicorn's default worker and others do, it waits for the client to close first.
    each_engine(|engine| {
        let (server, _) = one_at_a_time(|_, mut stream| {
            if read_request(stream) && stream.write_all(LAST).is_ok() {
                stall(stream);
            }
        });
        flawless(&counted(&server.http(), engine, 100));
    });
}

#[test]
fn a_thread_without_requests_left_holds_no_idle_connection_either() {
    each_engine(|engine| {
        let (server, _) = one_at_a_time(|_, stream| answer(stream, HELLO));
        // One request for each of two threads, which have two connections each.
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
fn a_close_without_an_announcement_still_loses_pipelined_requests() {
    each_engine(|engine| {
        let server = Server::start(|_, stream, _| {
            reply_in_turn(stream, &[HELLO; 4]);
            let _ = stream.shutdown(Shutdown::Write);
            stall(stream);
        });
        let mut config = counted(&server.http(), engine, 200);
        config.pipeline = 16;
        let report = load(&config);
        let errors = report.errors;
        assert!(errors.closed_early > 0 && errors.lost > 0, "{errors:?}");
        assert_eq!((report.requests + errors.requests(), report.retried_requests), (200, None));
    });
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

#[test]
fn connections_that_the_client_closes_behind_each_reply_are_made_for_a_request() {
    each_engine(|engine| {
        let (server, accepted) = one_at_a_time(|_, stream| answer(stream, HELLO));
        let config = LoadConfig {
            requests_per_connection: Some(1),
            model: LoadModel::rate(RateCurve::per_second(1000)),
            ..counted(&server.http(), engine, 60)
        };
        flawless(&config);
        assert_eq!(accepted.load(Ordering::SeqCst), 61);
    });
}
