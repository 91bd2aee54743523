//! Servers with wrong or awkward replies: each fault is counted under its own kind only, and none
//! blocks the load.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use wirebench_schema::load::{EngineChoice, ErrorKind};

use crate::{
    counted, each_engine, failing, load,
    server::{HELLO, Server, after_preflight, answer_with, answering, read_request, reset, stall},
    try_load,
};

/// Two for each connection: after three timeouts without any reply the load would give up.
const REQUESTS: u64 = 8;

#[test]
fn each_fault_is_of_its_kind() {
    const EARLY: &str = "the server closed while a reply was due";
    const RESET: &str = "the server reset the connection";
    let faults: [(fn(&TcpStream), _, _); 4] = [
        (|_| (), ErrorKind::ClosedEarly, EARLY),
        (
            |mut stream| drop(stream.write_all(&HELLO[..HELLO.len() - 1])),
            ErrorKind::ClosedEarly,
            EARLY,
        ),
        (reset, ErrorKind::Reset, RESET),
        (
            |mut stream| {
                let _ = stream.write_all(&HELLO[..HELLO.len() - 4]);
                reset(stream);
            },
            ErrorKind::Reset,
            RESET,
        ),
    ];
    each_engine(|engine| {
        for (fault, kind, example) in faults {
            let server = after_preflight(move |stream| {
                if read_request(stream) {
                    fault(stream);
                }
            });
            failing(&counted(&server.http(), engine, REQUESTS), kind, example);
        }
    });
}

/// Each is found as soon as it has come, although the connection stays open.
#[test]
fn a_wrong_reply_is_one_and_so_is_a_status_of_an_error() {
    let replies: [(&'static [u8], _, _); 3] = [
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!",
            ErrorKind::WrongReply,
            "the body differs from the expected one at byte 6; if bodies may differ, give \
             --any-body to check the framing alone",
        ),
        (
            b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
            ErrorKind::Status,
            "a reply had status 500",
        ),
        (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 88\r\n\r\n<html>\r\n<title>400 The plain \
              HTTP request was sent to HTTPS port</title>\x1b[2J\r\n</html>\r\n ",
            ErrorKind::Status,
            "a reply had status 400: \"400 The plain HTTP request was sent to HTTPS port \
             \\u{1b}[2J\"; write https://",
        ),
    ];
    each_engine(|engine| {
        for (reply, kind, example) in replies {
            let report =
                failing(&counted(&answering(reply).http(), engine, REQUESTS), kind, example);
            if kind == ErrorKind::Status {
                assert_eq!((report.status_classes.iter().sum(), report.reconnects), (REQUESTS, 0));
            }
        }
    });
}

#[test]
fn impossible_numbers_are_refused_before_anything_is_allocated() {
    for (threads, connections, option) in
        [(usize::MAX, usize::MAX, "give -t at most"), (1, usize::MAX, "give -c at most")]
    {
        // Nothing listens there, and no connection is tried.
        let mut config = counted("tcp://127.0.0.1:1", EngineChoice::Auto, 1);
        (config.threads, config.connections) = (threads, connections);
        let message = try_load(&config).unwrap_err().to_string();
        assert!(message.contains(option), "{message}");
    }
}

#[test]
fn a_server_that_stalls_times_out_wherever_it_does_and_its_requests_are_censored_samples() {
    each_engine(|engine| {
        for length in [0, 1, 20, HELLO.len() - 12, HELLO.len() - 1] {
            let server = after_preflight(move |mut stream| {
                if read_request(stream) {
                    let _ = stream.write_all(&HELLO[..length]);
                    stall(stream);
                }
            });
            let mut config = counted(&server.http(), engine, REQUESTS);
            config.timeout = Duration::from_millis(500);
            let report = failing(&config, ErrorKind::Timeout, "no reply in time");
            let latency = report.latency.unwrap();
            assert_eq!((latency.count, latency.censored), (REQUESTS, REQUESTS));
            assert!(latency.latency_ns_min >= 499_000_000, "{}", latency.latency_ns_min);
            assert!(report.reconnects >= 4, "{}", report.reconnects);
        }
    });
}

#[test]
fn a_server_that_dies_while_a_count_is_due_ends_the_load() {
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
        let mut config = counted(&server.http(), engine, 1_000_000);
        config.timeout = Duration::from_millis(300);
        let report = load(&config);
        assert!((1..1_000_000).contains(&report.requests), "{}", report.requests);
        assert!(report.errors.refused > 0, "{:?}", report.errors);
        assert!(!report.interrupted);
        assert!(report.gave_up_requests.is_some(), "{:?}", report.error_examples);
    });
}

#[test]
fn a_server_that_refuses_after_the_preflight_gets_a_sentence() {
    each_engine(|engine| {
        let server = Server::start(|_, mut stream, server| {
            read_request(stream);
            server.stop_listening();
            let _ = stream.write_all(HELLO);
        });
        let error = try_load(&counted(&server.http(), engine, 10)).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("none of 4 connections could be made (refused"), "{message}");
    });
}

#[test]
fn the_body_of_an_unsafe_method_is_learned_from_the_first_reply_of_the_load() {
    each_engine(|engine| {
        let count = AtomicUsize::new(0);
        let server = Server::start(move |_, stream, _| {
            answer_with(stream, || {
                let body = if count.fetch_add(1, Ordering::SeqCst) < 9 { "same" } else { "else" };
                format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{body}")
            });
        });
        let mut config = counted(&server.http(), engine, 10);
        (config.method, config.threads, config.connections) = ("POST".to_owned(), 1, 1);
        let report = load(&config);
        assert_eq!((report.requests, report.errors.wrong_reply), (9, 1), "{engine:?}");
        let expected = "wrong reply: the body differs from the expected one at byte 0; if bodies may \
                        differ, give --any-body to check the framing alone";
        assert_eq!(report.error_examples, [expected.to_owned().into()]);
    });
}

#[test]
fn an_endless_reply_is_wrong_and_is_not_read_on() {
    /// Room for what lies in the buffers of both sockets.
    const LIMIT_BYTES: usize = 32 * 1024 * 1024;
    const EXAMPLE: &str = "the head is longer than 1048576 bytes: give a larger --head-limit";
    each_engine(|engine| {
        let most = Arc::new(AtomicUsize::new(0));
        let sent = Arc::clone(&most);
        let server = after_preflight(move |mut stream| {
            if !read_request(stream) || stream.write_all(b"HTTP/1.1 200 OK\r\n").is_err() {
                return;
            }
            let piece = b"X: abcdefgh\r\n".repeat(1000);
            let mut bytes = 0;
            while bytes < LIMIT_BYTES && stream.write_all(&piece).is_ok() {
                bytes += piece.len();
            }
            sent.fetch_max(bytes, Ordering::SeqCst);
        });
        failing(&counted(&server.http(), engine, REQUESTS), ErrorKind::WrongReply, EXAMPLE);
        assert!(most.load(Ordering::SeqCst) < LIMIT_BYTES);
    });
}
