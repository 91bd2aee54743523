//! Each kind of failure is counted under its own kind only.

use std::{
    io::{Read, Write},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use wirebench_schema::load::ErrorCounts;

use crate::{
    counted, each_engine, load,
    server::{HELLO, Server, answer, answering, echo, read_request, stall},
    try_load,
};

/// Loads ten requests, all of which fail, in this way and no other. Each engine gets a server of
/// its own, since the first connection to it is the preflight.
fn only(serve: impl Fn() -> Server, kind: fn(&mut ErrorCounts) -> &mut u64, example: &str) {
    each_engine(|engine| {
        let server = serve();
        let report = load(&counted(&server.http(), engine, 10));
        let mut errors = report.errors;
        let count = std::mem::take(kind(&mut errors));
        assert_eq!(errors, ErrorCounts::default(), "{:?}", report.error_examples);
        assert_eq!((count, report.requests), (10, 0), "{:?}", report.error_examples);
        assert_eq!(report.error_examples, [example.to_owned().into()]);
    });
}

#[test]
fn a_connection_that_is_closed_before_the_reply_is_closed_early() {
    let server = || {
        Server::start(|number, stream, _| {
            if number == 0 {
                return answer(stream, HELLO);
            }
            read_request(stream);
        })
    };
    only(
        server,
        |errors| &mut errors.closed_early,
        "closed early: the server closed while a reply was due",
    );
}

#[test]
fn a_connection_that_is_closed_within_the_reply_is_closed_early() {
    let server = || {
        Server::start(|number, mut stream, _| {
            if number == 0 {
                return answer(stream, HELLO);
            }
            read_request(stream);
            let _ = stream.write_all(&HELLO[..HELLO.len() - 1]);
        })
    };
    only(
        server,
        |errors| &mut errors.closed_early,
        "closed early: the server closed while a reply was due",
    );
}

#[test]
fn impossible_numbers_are_refused_before_anything_is_allocated() {
    each_engine(|engine| {
        for (threads, connections, option) in [
            (1_000_000_000, 1_000_000_000, "give -t at most"),
            (usize::MAX, usize::MAX, "give -t at most"),
            (1, 1_000_000_000, "give -c at most"),
            (1, usize::MAX, "give -c at most"),
        ] {
            // Nothing listens there, and no connection is tried.
            let mut config = counted("tcp://127.0.0.1:1", engine, 1);
            (config.threads, config.connections) = (threads, connections);
            let message = try_load(&config).unwrap_err().to_string();
            assert!(message.contains(option), "{message}");
        }
    });
}

#[test]
fn a_reset_is_a_reset() {
    let server = || {
        Server::start(|number, stream, _| {
            if number == 0 {
                return answer(stream, HELLO);
            }
            read_request(stream);
            // To close without lingering is to reset.
            rustix::net::sockopt::set_socket_linger(stream, Some(Duration::ZERO)).unwrap();
        })
    };
    only(server, |errors| &mut errors.reset, "reset: the server reset the connection");
}

#[test]
fn a_server_that_never_replies_times_out_and_its_requests_are_censored_samples() {
    let server = || {
        Server::start(|number, stream, _| {
            if number == 0 {
                return answer(stream, HELLO);
            }
            stall(stream);
        })
    };
    each_engine(|engine| {
        let server = server();
        let mut config = counted(&server.http(), engine, 8);
        config.timeout = Duration::from_millis(500);
        let report = load(&config);
        assert_eq!((report.errors.timeout, report.errors.total(), report.requests), (8, 8, 0));
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.censored), (8, 8));
        assert!(latency.latency_ns_min >= 499_000_000, "{}", latency.latency_ns_min);
        assert!(report.reconnects >= 4, "{}", report.reconnects);
    });
}

#[test]
fn bytes_behind_the_reply_are_surplus_and_the_reply_counts() {
    let server = || answering(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello world!and more");
    each_engine(|engine| {
        let server = server();
        let report = load(&counted(&server.http(), engine, 10));
        assert_eq!(report.requests, 10);
        assert_eq!(report.errors.surplus, report.errors.total());
        // The reply that completes a thread's share ends its load; bytes after it are not read.
        assert!(report.errors.surplus >= 8, "{:?}", report.errors);
    });
}

#[test]
fn a_body_of_another_length_is_a_wrong_reply() {
    let server = || answering(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello");
    only(
        server,
        |errors| &mut errors.wrong_reply,
        "wrong reply: the body has 5 bytes instead of 12; if bodies may differ, \
         give --any-body to check the framing alone",
    );
}

#[test]
fn a_body_of_other_bytes_is_a_wrong_reply() {
    let server = || answering(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!");
    only(
        server,
        |errors| &mut errors.wrong_reply,
        "wrong reply: the body differs from the expected one at byte 6; if bodies may differ, \
         give --any-body to check the framing alone",
    );
}

#[test]
fn a_body_other_than_the_given_one_is_reported_without_advice_to_ignore_it() {
    each_engine(|engine| {
        let server = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!");
        let mut config = counted(&server.http(), engine, 10);
        config.expect_body = Some("Hello world!".to_owned());
        let examples = load(&config).error_examples;
        let expected = "wrong reply: the body differs from the expected one at byte 6";
        assert_eq!(examples, [expected.to_owned().into()]);
    });
}

#[test]
fn line_feeds_alone_folded_lines_and_long_heads_are_no_failures() {
    let lines = "X: 0123456789\r\n".repeat(6000);
    let long = format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: 12\r\n\r\nHello world!");
    let folded = "HTTP/1.1 200 OK\nX: a\n b\nContent-Length: 12\n\nHello world!".to_owned();
    for reply in [long, folded] {
        each_engine(|engine| {
            let server = answering(reply.clone().leak().as_bytes());
            let report = load(&counted(&server.http(), engine, 20));
            assert_eq!(report.error_examples, [], "{engine:?}");
            assert_eq!((report.requests, report.errors.total()), (20, 0), "{engine:?}");
        });
    }
}

#[test]
fn an_expected_status_is_no_failure_and_every_other_one_is() {
    each_engine(|engine| {
        let server = answering(b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno");
        let mut config = counted(&server.http(), engine, 20);
        config.expect_status = vec![401, 404];
        let report = load(&config);
        assert_eq!((report.requests, report.errors.total()), (20, 0), "{engine:?}");
        config.expect_status = vec![200];
        let report = load(&config);
        assert_eq!((report.requests, report.errors.status), (0, 20), "{engine:?}");
    });
}

#[test]
fn a_status_of_an_error_is_counted_as_such_and_the_connection_goes_on() {
    let server = || answering(b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
    only(server, |errors| &mut errors.status, "status: a reply had status 500");
    let page = || {
        answering(
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 88\r\n\r\n<html>\r\n<title>400 The plain HTTP \
              request was sent to HTTPS port</title>\x1b[2J\r\n</html>\r\n ",
        )
    };
    only(
        page,
        |errors| &mut errors.status,
        "status: a reply had status 400: \"400 The plain HTTP request was sent to HTTPS port \
         \\u{1b}[2J\"; write https://",
    );
    each_engine(|engine| {
        let server = server();
        let report = load(&counted(&server.http(), engine, 20));
        assert_eq!((report.status_classes, report.reconnects), ([0, 0, 0, 0, 20], 0));
    });
}

#[test]
fn a_server_that_dies_while_a_count_is_due_ends_the_load() {
    each_engine(|engine| {
        let served = AtomicUsize::new(0);
        let server = Server::start(move |_, mut stream, server| {
            while read_request(stream) {
                if served.fetch_add(1, Ordering::SeqCst) == 100 {
                    return server.die();
                }
                if stream.write_all(HELLO).is_err() {
                    return;
                }
            }
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
fn an_echo_that_changes_a_byte_is_a_wrong_reply() {
    let server = || {
        Server::start(|number, mut stream, _| {
            if number == 0 {
                return echo(stream);
            }
            let mut message = [0; 64];
            while stream.read_exact(&mut message).is_ok() {
                message[63] ^= 1;
                let _ = stream.write_all(&message);
            }
        })
    };
    each_engine(|engine| {
        let server = server();
        let report = load(&counted(&server.tcp(), engine, 10));
        assert_eq!((report.errors.wrong_reply, report.errors.total()), (10, 10));
        let example = report.error_examples[0].to_string();
        assert!(example.contains("the echo differs at byte 63"), "{example}");
    });
}

#[test]
fn a_body_without_end_is_a_wrong_reply_and_does_not_hold_up_the_load() {
    let server = || {
        Server::start(|number, mut stream, _| {
            if number == 0 {
                return answer(stream, HELLO);
            }
            read_request(stream);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            while stream.write_all(&[b'x'; 65536]).is_ok() {}
        })
    };
    each_engine(|engine| {
        let server = server();
        let report = load(&counted(&server.http(), engine, 10));
        assert_eq!((report.errors.wrong_reply, report.errors.total()), (10, 10));
    });
}

#[test]
fn the_body_of_an_unsafe_method_is_learned_from_the_first_reply_of_the_load() {
    each_engine(|engine| {
        let count = AtomicUsize::new(0);
        let server = Server::start(move |_, mut stream, _| {
            while read_request(stream) {
                let body = if count.fetch_add(1, Ordering::SeqCst) < 9 { "same" } else { "else" };
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{body}");
                if stream.write_all(reply.as_bytes()).is_err() {
                    return;
                }
            }
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
