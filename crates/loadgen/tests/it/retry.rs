//! Requests that are repeated because the server closed their connection, and those that are not.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use wirebench_schema::load::{
    ClosedPolicy, EngineChoice, ErrorKind, LoadConfig, LoadModel, RateCurve, Stop,
};

use crate::{
    counted, each_engine, failing, flawless, load,
    server::{
        HELLO, Server, after_preflight, answer, answer_some, answer_with, read_request, reset,
    },
    timed,
    windows::{connect, window},
};

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

/// Treats the preflight well, answers one request of every other connection, and then ends it in
/// this way when it has read the second.
fn ending(end: impl Fn(&TcpStream) + Send + Sync + 'static) -> Server {
    after_preflight(move |stream| {
        answer_some(stream, 1);
        if read_request(stream) {
            end(stream);
        }
    })
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
fn nothing_is_repeated_unless_it_is_asked_for() {
    each_engine(|engine| {
        let (server, _) = closing_after(1);
        let report = load(&counted(&server.http(), engine, 100));
        let errors = report.errors;
        assert_eq!(report.retried_requests, None);
        assert!(errors.closed_early + errors.reset >= 40, "{errors:?}");
        assert_eq!(report.requests + errors.total(), 100);
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

#[test]
fn a_reset_before_the_reply_is_repeated_too() {
    each_engine(|engine| {
        let server = ending(reset);
        let report = flawless(&retrying(counted(&server.http(), engine, 40)));
        assert_eq!(report.retried_requests, Some(36));
    });
}

#[test]
fn a_connection_closed_within_a_reply_is_an_error() {
    each_engine(|engine| {
        for bytes in [1, HELLO.len() - 1] {
            let server = ending(move |mut stream| stream.write_all(&HELLO[..bytes]).unwrap());
            let report = load(&retrying(counted(&server.http(), engine, 40)));
            let closed = report.errors.closed_early;
            // The second request of every connection.
            assert!((16..=20).contains(&closed), "{report:?}");
            assert_eq!((report.requests, report.errors.total()), (40 - closed, closed));
            assert_eq!(report.retried_requests, Some(0));
        }
    });
}

#[test]
fn a_connection_closed_at_its_first_request_is_an_error() {
    each_engine(|engine| {
        let server = after_preflight(|stream| _ = read_request(stream));
        let config = retrying(counted(&server.http(), engine, 10));
        let sentence = "the server closed while a reply was due";
        let report = failing(&config, ErrorKind::ClosedEarly, sentence);
        assert_eq!(report.retried_requests, Some(0));
    });
}

#[test]
fn a_request_is_repeated_once_and_then_fails_with_its_new_connection() {
    each_engine(|engine| {
        // The first connections after the preflight carry one reply each, the others none.
        let server = Server::start(|number, stream, _| match number {
            0 => answer(stream, HELLO),
            1..=4 => answer_some(stream, 1),
            _ => _ = read_request(stream),
        });
        let report = load(&retrying(counted(&server.http(), engine, 20)));
        assert_eq!((report.requests, report.errors.total()), (4, 16), "{report:?}");
        // A close that is seen before the next request is sent leaves nothing to repeat.
        let retried = report.retried_requests.unwrap();
        assert!(report.errors.closed_early == 16 && retried <= 4, "{report:?}");
    });
}

#[test]
fn a_server_that_is_gone_fails_what_was_to_be_repeated() {
    each_engine(|engine| {
        let served = AtomicUsize::new(0);
        let server = Server::start(move |_, stream, server| {
            answer_with(stream, || {
                if served.fetch_add(1, Ordering::SeqCst) == 100 {
                    server.die();
                }
                HELLO
            });
        });
        let mut config = retrying(counted(&server.http(), engine, 1000));
        config.timeout = Duration::from_millis(200);
        let report = load(&config);
        let failed = report.errors.total() + report.gave_up_requests.unwrap_or(0);
        assert!(report.retried_requests.unwrap() >= 1, "{report:?}");
        assert_eq!(report.requests + failed, 1000, "{report:?}");
    });
}

#[test]
fn the_latency_of_a_repeated_request_begins_with_its_first_sending() {
    const PAUSE: Duration = Duration::from_millis(30);
    each_engine(|engine| {
        let server = ending(|_| std::thread::sleep(PAUSE));
        let mut config = retrying(counted(&server.http(), engine, 2));
        (config.threads, config.connections) = (1, 1);
        let report = load(&config);
        assert_eq!((report.requests, report.retried_requests), (2, Some(1)), "{report:?}");
        let longest_ns = u128::from(report.latency.unwrap().latency_ns_max);
        assert!(longest_ns >= PAUSE.as_nanos(), "{longest_ns}");
    });
}

#[test]
fn windows_over_connections_that_are_closed_all_the_time_begin_with_all_of_them() {
    let check = |engine: EngineChoice| {
        let (server, _) = closing_after(1);
        let config = retrying(timed(&server.http(), engine, 50));
        let mut load = connect(&config);
        for _ in 0..4 {
            let report = window(&mut load, &config).report;
            assert_eq!((report.errors.total(), report.connections_made), (0, 4), "{report:?}");
            assert!(report.retried_requests.unwrap() > 0, "{report:?}");
        }
    };
    each_engine(check);
}
