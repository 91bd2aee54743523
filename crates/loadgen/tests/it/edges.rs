//! The window: where it begins and ends, and the events that report it.

use std::{
    io::Write,
    net::TcpListener,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_loadgen::run;
use wirebench_schema::load::{LoadConfig, LoadEvent, LoadReport};

use crate::{
    counted, each_engine,
    server::{HELLO, Server, answer, answering, read_request, stall},
    timed,
};

/// The report and the events, apart from the intervals, whose number depends on the time it took.
fn observed(config: &LoadConfig, stop_at: Option<&LoadEvent>) -> (LoadReport, Vec<LoadEvent>) {
    let stop = AtomicBool::new(false);
    let mut events = Vec::new();
    let report = run(config, &stop, &mut |event| {
        if Some(&event) == stop_at {
            stop.store(true, Ordering::Relaxed);
        }
        if !matches!(event, LoadEvent::Interval(_)) {
            events.push(event);
        }
    });
    (report.unwrap(), events)
}

const ALL: [LoadEvent; 3] =
    [LoadEvent::Connected { connections: 4 }, LoadEvent::WindowStart, LoadEvent::WindowEnd];

#[test]
fn a_window_of_a_time_is_exactly_as_long_as_asked_and_its_edges_are_reported() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = timed(&server.http(), engine, 250);
        config.warmup = Duration::from_millis(100);
        let (report, events) = observed(&config, None);
        assert_eq!(events, ALL);
        assert_eq!(report.window_ns, 250_000_000);
        assert!(!report.interrupted);
        assert_eq!(report.in_flight_at_end, 4);
        assert_eq!(report.thread_cpu_ns.len(), 2);
        assert!(report.thread_cpu_ns.iter().all(|cpu_ns| (1..1_000_000_000).contains(cpu_ns)));
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.censored), (report.requests + 4, 4));
    });
}

/// Without a warm-up the edges take both of a thread's spare slices at once; it must take them back
/// although it has none to hand over meanwhile.
#[test]
fn intervals_are_reported_while_the_window_lasts_also_without_a_warm_up() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = timed(&server.http(), engine, 1500);
        (config.threads, config.connections) = (8, 8);
        config.interval = Duration::from_millis(100);
        let mut events = Vec::new();
        let report = run(&config, &AtomicBool::new(false), &mut |event| events.push(event));
        let edge = events.iter().position(|event| *event == LoadEvent::WindowEnd).unwrap();
        let told = |events: &[LoadEvent]| -> Vec<u64> {
            let requests = events.iter().filter_map(|event| match event {
                LoadEvent::Interval(interval) => Some(interval.requests),
                _ => None,
            });
            requests.collect()
        };
        assert!(!told(&events[..edge]).is_empty(), "{events:?}");
        assert_eq!(told(&events).iter().sum::<u64>(), report.unwrap().requests);
    });
}

/// A server that takes a connection only now and then, with a backlog of one.
#[test]
fn connections_that_are_made_slowly_are_reported_meanwhile() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    rustix::net::listen(&listener, 1).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::sleep(Duration::from_millis(50));
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                let _ = std::io::copy(&mut stream.try_clone().unwrap(), &mut stream);
            });
        }
    });
    each_engine(|engine| {
        let mut config = timed(&format!("tcp://{address}"), engine, 50);
        (config.threads, config.connections, config.idle_connections) = (2, 10, 30);
        let (report, events) = observed(&config, None);
        assert_eq!((report.errors.total(), report.reconnects), (0, 0), "{report:?}");
        let connected =
            events.iter().position(|it| *it == LoadEvent::Connected { connections: 10 });
        let settled = events[..connected.unwrap()].iter().map(|event| match event {
            LoadEvent::Connecting { settled } => *settled,
            other => panic!("{other:?}"),
        });
        let settled: Vec<usize> = settled.collect();
        assert!(!settled.is_empty(), "{events:?}");
        assert!(settled.is_sorted_by(|one, next| one < next) && settled[0] > 0, "{settled:?}");
        assert!(settled.iter().all(|settled| *settled <= 40), "{settled:?}");
    });
}

#[test]
fn a_count_is_kept_exactly_with_and_without_a_warm_up() {
    let server = answering(HELLO);
    each_engine(|engine| {
        for (requests, warmup_milliseconds) in [(1, 0), (3, 0), (101, 0), (101, 50), (1, 50)] {
            let mut config = counted(&server.http(), engine, requests);
            config.warmup = Duration::from_millis(warmup_milliseconds);
            let (report, events) = observed(&config, None);
            assert_eq!(report.requests, requests);
            assert_eq!(events, ALL);
            assert!(report.window_ns > 0);
        }
    });
}

#[test]
fn a_load_that_is_stopped_reports_the_window_up_to_then_if_it_has_begun() {
    let hour = Duration::from_secs(3600);
    let (server, silent) = (answering(HELLO), Server::start(|_, stream, _| stall(stream)));
    each_engine(|engine| {
        let endless = timed(&server.http(), engine, 3_600_000);
        let (report, events) = observed(&endless, Some(&LoadEvent::WindowStart));
        assert!(report.interrupted && events == ALL, "{events:?}");
        assert!(report.window_ns > 0 && report.window_ns < 60_000_000_000);

        let in_warmup = LoadConfig { warmup: hour, ..timed(&server.http(), engine, 1000) };
        let (report, events) = observed(&in_warmup, Some(&ALL[0]));
        assert_eq!((report.interrupted, events.len(), report.latency), (true, 1, None));
        assert_eq!((report.window_ns, report.requests), (0, 0));

        let in_preflight = LoadConfig { timeout: hour, ..timed(&silent.http(), engine, 1000) };
        let report = run(&in_preflight, &AtomicBool::new(true), &mut |_| {}).unwrap();
        assert_eq!((report.interrupted, report.window_ns, report.connections_made), (true, 0, 0));
    });
}

#[test]
fn a_window_ends_although_a_reply_never_does() {
    each_engine(|engine| {
        let server = Server::start(|number, mut stream, _| {
            if number == 0 {
                // No body is expected of the others when the first reply is an error.
                return answer(stream, b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n");
            }
            read_request(stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\n");
            while stream.write_all(&[b'x'; 65536]).is_ok() {}
        });
        let (report, events) = observed(&timed(&server.http(), engine, 200), None);
        assert_eq!(events, ALL);
        assert_eq!((report.window_ns, report.requests), (200_000_000, 0));
        assert_eq!((report.in_flight_at_end, report.errors.total()), (4, 0));
    });
}
