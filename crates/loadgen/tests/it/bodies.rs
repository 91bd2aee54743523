//! Replies that differ from each other and are right, and bodies that are not alike.

use std::{io::Write, net::TcpStream, time::Duration};
use wirebench_schema::load::{BodyCheck, LoadConfig, LoadReport};

use crate::{
    counted, each_engine, flawless, load,
    server::{HELLO, Server, after_preflight, answer, answer_with, read_request, stall},
    try_load,
};

const REQUESTS: u64 = 8;

/// All replies are right, and all but the first one of each thread are found by comparison.
#[track_caller]
fn assert_fast(report: &LoadReport) {
    assert_eq!(report.checks.fast + report.checks.slow, report.requests);
    let threads = report.config.threads as u64;
    assert!(report.checks.slow <= threads, "{:?} of {threads} threads", report.checks);
}

/// Answers with replies that have these bodies in turn.
fn alternate(stream: &TcpStream, bodies: [&str; 2]) {
    let mut bodies = bodies.into_iter().cycle();
    answer_with(stream, || {
        let body = bodies.next().unwrap_or_default();
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    });
}

const EQUALLY_LONG: [&str; 2] = ["Hello world!", "Another one!"];

#[test]
fn two_different_bodies_are_reported_before_the_load() {
    let bodies = [(EQUALLY_LONG, "from byte 0 on"), (["one", "three"], "3 and 5 bytes")];
    each_engine(|engine| {
        for (bodies, difference) in bodies {
            let server = Server::start(move |_, stream, _| alternate(stream, bodies));
            let error = try_load(&counted(&server.http(), engine, REQUESTS)).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "two replies of {} to the same request have different bodies ({difference}): \
                     give --any-body to check the framing alone",
                    server.http()
                )
            );
        }
    });
}

#[test]
fn a_second_request_that_goes_wrong_before_the_load_is_left_to_the_load() {
    for stalls in [true, false] {
        each_engine(|engine| {
            let server = Server::start(move |number, mut stream, _| {
                if number > 0 {
                    return answer(stream, HELLO);
                }
                read_request(stream);
                let _ = stream.write_all(HELLO);
                if stalls {
                    stall(stream);
                }
            });
            let mut config = counted(&server.http(), engine, REQUESTS);
            config.timeout = Duration::from_secs(3);
            flawless(&config);
        });
    }
}

#[test]
fn bodies_of_equal_length_that_alternate_later_are_wrong_unless_any_will_do() {
    each_engine(|engine| {
        let server = after_preflight(|stream| alternate(stream, EQUALLY_LONG));
        let report = load(&counted(&server.http(), engine, 20));
        assert!(report.errors.wrong_reply >= 8, "{:?}", report.errors);
        assert_eq!(report.errors.wrong_reply, report.errors.total());
        assert_eq!(report.requests + report.errors.total(), 20);
        assert_eq!(
            report.error_examples[0].sentence,
            "the body differs from the expected one at byte 0; if bodies may differ, give \
             --any-body to check the framing alone"
        );

        let server = Server::start(|_, stream, _| alternate(stream, EQUALLY_LONG));
        assert_fast(&flawless(&LoadConfig {
            body_check: BodyCheck::Any,
            ..counted(&server.http(), engine, REQUESTS)
        }));
    });
}
