//! The choice of the engine, and engines under pressure.

use rustix::io::Errno;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use wirebench_schema::load::EngineChoice;

use crate::{
    PATIENCE, counted, each_engine, flawless, load,
    server::{HELLO, Server, answer, answering, echo},
    try_load,
};

/// The number of `io_uring_setup`, the same on every architecture.
const IO_URING_SETUP: i64 = 425;

/// Forbids io_uring to the calling thread and those that it starts.
fn forbid_io_uring() {
    let forbidden = SeccompAction::Errno(Errno::PERM.raw_os_error().cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let rules = BTreeMap::from([(IO_URING_SETUP, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, forbidden, architecture).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

#[test]
fn without_a_wish_short_echoes_go_through_io_uring_and_long_ones_through_epoll() {
    let server = Server::start(|_, stream, _| echo(stream));
    for (payload_bytes, engine) in [(64, EngineChoice::IoUring), (100_000, EngineChoice::Epoll)] {
        let mut config = counted(&server.tcp(), EngineChoice::Auto, 10);
        config.payload_bytes = payload_bytes;
        let report = load(&config);
        assert_eq!((report.engine, report.engine_fallback), (engine, None));
    }
}

#[test]
fn where_io_uring_is_forbidden_epoll_takes_its_place_and_the_report_says_why() {
    let server = answering(HELLO);
    let forbidden = thread::spawn(move || {
        forbid_io_uring();
        let report = load(&counted(&server.http(), EngineChoice::Auto, 10));
        assert_eq!((report.engine, report.requests), (EngineChoice::Epoll, 10));
        let error = try_load(&counted(&server.http(), EngineChoice::IoUring, 10)).unwrap_err();
        (report.engine_fallback.unwrap(), error.to_string())
    });
    let (fallback, error) = forbidden.join().unwrap();
    assert!(fallback.contains("seccomp filter") && fallback.contains("unconfined"), "{fallback}");
    assert_eq!(error, format!("{fallback}, or give --engine epoll"));
}

#[test]
fn more_connections_than_buffers_lose_nothing_of_their_large_replies() {
    const BODY_BYTES: usize = 200_000;
    let server = Server::start(|_, stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
        answer(stream, &[head.as_bytes(), &[b'x'; BODY_BYTES]].concat());
    });
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 300);
        (config.threads, config.connections) = (1, 60);
        let report = flawless(&config);
        assert_eq!(report.connections_made, 60);
        assert!(report.bytes_received > 300 * BODY_BYTES as u64);
    });
}

#[test]
fn every_connection_that_the_client_closes_ends_for_the_server() {
    each_engine(|engine| {
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begins, ends) = (Arc::clone(&begun), Arc::clone(&ended));
        let server = Server::start(move |_, stream, _| {
            begins.fetch_add(1, Ordering::SeqCst);
            answer(stream, HELLO);
            ends.fetch_add(1, Ordering::SeqCst);
        });
        let mut config = counted(&server.http(), engine, 200);
        (config.connections, config.requests_per_connection) = (8, Some(2));
        let report = flawless(&config);
        assert!(report.client_closes >= 92, "{}", report.client_closes);
        let began = Instant::now();
        while ended.load(Ordering::SeqCst) < begun.load(Ordering::SeqCst) {
            assert!(began.elapsed() < PATIENCE, "a connection stays open");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(begun.load(Ordering::SeqCst) >= 100);
    });
}
