//! The load models over real sockets: what is sent, on how many connections, and how it is counted.
//! The timing is tested with virtual time, next to the session.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};
use wirebench_schema::load::{Body, LoadConfig, LoadModel, RateCurve, Stop, Waiting};

use crate::{
    counted, each_engine, flawless,
    server::{HELLO, Server, answering, echo},
    timed,
};

/// Answers every request head, however many come in one piece. Says how many there were.
fn answer_each(mut stream: &TcpStream, mut before: impl FnMut()) -> usize {
    let (mut heads, mut matched) = (0, 0);
    let mut buffer = [0; 16 * 1024];
    while let Ok(bytes) = stream.read(&mut buffer)
        && bytes > 0
    {
        let mut replies = Vec::new();
        for byte in &buffer[..bytes] {
            let end = b"\r\n\r\n";
            matched = if *byte == end[matched] { matched + 1 } else { usize::from(*byte == b'\r') };
            if matched == end.len() {
                (heads, matched) = (heads + 1, 0);
                before();
                replies.extend_from_slice(HELLO);
            }
        }
        if stream.write_all(&replies).is_err() {
            break;
        }
    }
    heads
}

/// A server that notes how many requests each connection carried, when it is over.
fn noting() -> (Server, Arc<Mutex<Vec<usize>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&notes);
    let server = Server::start(move |_, stream, _| {
        let heads = answer_each(stream, || ());
        shared.lock().unwrap().push(heads);
    });
    (server, notes)
}

/// The notes, once there are `count` of them.
fn notes_of(notes: &Mutex<Vec<usize>>, count: usize) -> Vec<usize> {
    let began = std::time::Instant::now();
    while notes.lock().unwrap().len() < count {
        assert!(began.elapsed() < Duration::from_secs(60), "a connection has not ended");
        thread::sleep(Duration::from_millis(1));
    }
    let mut taken = std::mem::take(&mut *notes.lock().unwrap());
    taken.sort_unstable();
    taken
}

#[test]
fn pipelined_requests_are_all_answered_and_counted() {
    each_engine(|engine| {
        for depth in [2, 16, 300] {
            let (server, notes) = noting();
            let mut config = counted(&server.http(), engine, 5000);
            config.pipeline = depth;
            let report = flawless(&config);
            assert_eq!(report.in_flight_at_end, 0);
            let carried: usize = notes_of(&notes, 5).iter().sum();
            assert!((5001..=5002).contains(&carried), "{carried}");
        }
    });
}

#[test]
fn pipelined_echoes_come_back_in_order() {
    let server = Server::start(|_, stream, _| echo(stream));
    each_engine(|engine| {
        for payload_bytes in [1, 33, 40_000] {
            let mut config = counted(&server.tcp(), engine, 500);
            (config.pipeline, config.payload_bytes) = (8, payload_bytes);
            flawless(&config);
        }
    });
}

#[test]
fn a_rate_offers_exactly_the_due_requests_and_reports_their_lag() {
    let (server, _) = noting();
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
fn with_think_time_each_connection_pauses_between_its_requests() {
    let (server, notes) = noting();
    each_engine(|engine| {
        let mut config = timed(&server.http(), engine, 300);
        config.model = LoadModel::Think { delay: Duration::from_millis(50) };
        let report = flawless(&config);
        // Six cycles of at least 50 ms fit into the window, and a seventh may have begun before.
        assert!(report.fairness.replies_most <= 7, "{:?}", report.fairness);
        assert!(report.requests > 0);
        notes_of(&notes, 5);
    });
}

#[test]
fn the_client_closes_a_connection_after_its_requests() {
    each_engine(|engine| {
        let (server, notes) = noting();
        let mut config = counted(&server.http(), engine, 100);
        config.requests_per_connection = Some(10);
        let report = flawless(&config);
        assert_eq!(report.server_closes, 0);
        assert_eq!(report.connect.map(|connect| connect.count >= 10), Some(true));
        assert!(report.client_closes >= 6, "{}", report.client_closes);
        // The preflight carries a request or two of its own.
        let carried = notes_of(&notes, 11);
        assert!(carried.iter().all(|heads| *heads <= 10), "{carried:?}");
    });
}

#[test]
fn a_count_per_connection_is_kept_on_each() {
    each_engine(|engine| {
        let (server, _) = noting();
        let mut config = counted(&server.http(), engine, 1);
        config.stop = Stop::RequestsPerConnection(25);
        let fairness = flawless(&config).fairness;
        assert_eq!((fairness.replies_least, fairness.replies_most), (25, 25));
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

#[test]
fn requests_of_heavy_connections_are_answered_at_a_rate() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = timed(&format!("{}000", server.http()), engine, 300);
        config.heavy = Some("2:/100".parse().unwrap());
        config.model = LoadModel::rate(RateCurve::per_second(1000));
        let report = flawless(&config);
        // On a busy machine some are still owed when the time is over.
        let offered = report.offered.unwrap();
        assert_eq!(report.answered(), offered.due - offered.owed_at_end);
        assert!(report.heavy_replies.unwrap() > 0 && report.heavy_replies.unwrap() < 300);
    });
}

#[test]
fn idle_connections_stay_connected_and_silent_during_the_load() {
    each_engine(|engine| {
        let (server, notes) = noting();
        let mut config = counted(&server.http(), engine, 200);
        config.idle_connections = 30;
        let report = flawless(&config);
        assert_eq!((report.idle.made, report.idle.lost), (30, 0));
        let carried = notes_of(&notes, 35);
        assert_eq!(carried.iter().filter(|heads| **heads == 0).count(), 30);
    });
}

#[test]
fn idle_connections_that_the_server_closes_are_lost_and_not_made_again() {
    each_engine(|engine| {
        let server = Server::start(|number, stream, _| {
            // The first connections are the preflight and those of the load.
            if number <= 4 {
                answer_each(stream, || thread::sleep(Duration::from_millis(2)));
            }
        });
        let mut config = LoadConfig { threads: 1, ..timed(&server.http(), engine, 300) };
        config.idle_connections = 5;
        let report = flawless(&config);
        assert_eq!((report.idle.made, report.idle.lost), (5, 5));
    });
}

#[test]
fn a_request_carries_its_body() {
    let bodies = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&bodies);
    let server = Server::start(move |_, mut stream, _| {
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while let Ok(bytes) = stream.read(&mut buffer)
            && bytes > 0
        {
            request.extend_from_slice(&buffer[..bytes]);
            if request.ends_with(b"0123456789") {
                shared
                    .lock()
                    .unwrap()
                    .push(String::from_utf8(std::mem::take(&mut request)).unwrap());
                stream.write_all(HELLO).unwrap();
            }
        }
    });
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 10);
        config.method = "POST".to_owned();
        config.body = Some(Body::Text("0123456789".to_owned()));
        flawless(&config);
        let requests = std::mem::take(&mut *bodies.lock().unwrap());
        // No check before the load has posted anything.
        assert_eq!(requests.len(), 10);
        assert!(requests.iter().all(|request| request.starts_with("POST / HTTP/1.1\r\n")));
        assert!(requests.iter().all(|request| request.contains("\r\nContent-Length: 10\r\n")));
    });
}

#[test]
fn intervals_cover_the_window_and_add_up_to_its_requests() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = timed(&server.http(), engine, 450);
        config.interval = Duration::from_millis(100);
        config.warmup = Duration::from_millis(100);
        let mut intervals = Vec::new();
        let never = std::sync::atomic::AtomicBool::new(false);
        let report = wirebench_loadgen::run(&config, &never, &mut |event| {
            if let wirebench_schema::load::LoadEvent::Interval(interval) = event {
                intervals.push(interval);
            }
        })
        .unwrap();
        let window: Vec<_> = intervals
            .iter()
            .filter(|interval| interval.phase == wirebench_schema::load::Phase::Window)
            .collect();
        assert_eq!(window.iter().map(|interval| interval.requests).sum::<u64>(), report.requests);
        let length_ns: u64 = window.iter().map(|interval| interval.length_ns).sum();
        assert_eq!(length_ns, report.window_ns);
        assert!(window.is_sorted_by_key(|interval| interval.start_ns));
        assert_eq!(report.reply_series.replies.len(), 4);
    });
}
