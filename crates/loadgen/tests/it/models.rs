//! The load models over real sockets: what is sent, on how many connections, and how it is counted.
//! The models themselves are tested with virtual time, next to the session.

use std::{
    io::{Read, Write},
    sync::{Arc, Mutex},
};
use wirebench_schema::load::{LoadModel, RateCurve, Stop, Waiting};

use crate::{
    counted, each_engine, flawless,
    server::{HELLO, Server, answering},
    timed,
};

#[test]
fn a_rate_offers_exactly_the_due_requests_and_reports_their_lag() {
    let server = answering(HELLO);
    each_engine(|engine| {
        for waiting in [Waiting::Sleep, Waiting::Spin] {
            let mut config = timed(&server.http(), engine, 500);
            config.model = LoadModel::rate(RateCurve::per_second(1000));
            (config.threads, config.waiting) = (1, waiting);
            let report = flawless(&config);
            let offered = report.offered.unwrap();
            assert_eq!(offered.due, 500);
            // What could not be sent is a sample too, and what is in flight is waited for.
            let latency = report.latency.unwrap();
            assert_eq!(latency.count, 500);
            let (service, lag) = (report.service.unwrap(), report.lag.unwrap());
            let sent = offered.due - offered.owed_at_end;
            assert_eq!((service.count, lag.count), (sent, sent));
            assert!(service.latency_ns_p50 <= latency.latency_ns_max);
        }
    });
}

#[test]
fn heavy_connections_request_another_path_and_are_in_no_latency() {
    each_engine(|engine| {
        let paths = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&paths);
        let server = Server::start(move |_, mut stream, _| {
            let mut request = [0; 512];
            while let Ok(bytes) = stream.read(&mut request)
                && bytes > 0
            {
                shared.lock().unwrap().push(String::from_utf8_lossy(&request[4..8]).into_owned());
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
        });
        let mut config = counted(&format!("{}000", server.http()), engine, 1);
        config.heavy = Some("4:/100".parse().unwrap());
        config.stop = Stop::RequestsPerConnection(25);
        let report = flawless(&config);
        let samples = report.latency.map(|it| it.count);
        assert_eq!((samples, report.heavy_replies), (Some(75), Some(25)));
        let paths = paths.lock().unwrap();
        let count = |path: &str| paths.iter().filter(|it| *it == path).count();
        // The preflight is not heavy, and carries a request or two.
        assert_eq!((count("/100"), paths.len() - count("/000")), (25, 25));
    });
}
