//! Correct replies of every form count, others do not.

use std::{io::Write, time::Duration};

use crate::{
    counted, each_engine, flawless, load,
    server::{HELLO, LAST, Server, answer, answering, echo, read_request, slow},
};

#[test]
fn correct_replies_of_every_form_count() {
    let byte_by_byte = Server::start(|number, mut stream, _| {
        let pieces = if number == 0 { HELLO.len() } else { 1 };
        while read_request(stream) {
            if HELLO.chunks(pieces).any(|piece| stream.write_all(piece).is_err()) {
                return;
            }
        }
    });
    // A connection that the server closes as announced is made again without an error.
    let closing = |reply: &'static [u8]| {
        Server::start(move |_, mut stream, _| {
            read_request(stream);
            let _ = stream.write_all(reply);
        })
    };
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n7\r\n world!\r\n0\r\n\r\n";
    let servers = [
        answering(HELLO),
        answering(chunked),
        byte_by_byte,
        closing(LAST),
        closing(b"HTTP/1.1 200 OK\r\n\r\nHello world!"),
    ];
    each_engine(|engine| {
        for server in &servers {
            let report = flawless(&counted(&server.http(), engine, 30));
            assert_eq!(report.latency.unwrap().count, 30);
            assert_eq!(report.status_classes, [0, 30, 0, 0, 0]);
            assert_eq!((report.reconnects, report.connections_made), (0, 4));
        }
    });
}

#[test]
fn a_head_request_is_answered_without_a_body() {
    let server = Server::start(|_, stream, _| {
        answer(stream, b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
    });
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 10);
        config.method = "HEAD".to_owned();
        flawless(&config);
    });
}

#[test]
fn echoes_of_every_size_count_also_when_they_do_not_fit_into_the_sockets() {
    let server = Server::start(|_, stream, _| echo(stream));
    each_engine(|engine| {
        for payload_bytes in [1, 7, 64, 100_000, 8 * 1024 * 1024] {
            let mut config = counted(&server.tcp(), engine, 6);
            config.payload_bytes = payload_bytes;
            let report = flawless(&config);
            assert_eq!(report.bytes_sent, 6 * payload_bytes as u64);
            assert_eq!(report.bytes_received, 6 * payload_bytes as u64);
        }
    });
}

#[test]
#[ignore = "needs IPv6"]
fn an_address_works_like_an_ipv4_address_with_ipv6() {
    let server = Server::listen("[::1]:0", |_, stream, _| answer(stream, HELLO)).unwrap();
    each_engine(|engine| {
        flawless(&counted(&server.http(), engine, 10));
    });
    let server = answering(HELLO);
    each_engine(|engine| {
        let target = server.http().replace("127.0.0.1", "localhost");
        flawless(&counted(&target, engine, 10));
    });
}

#[test]
fn the_delay_of_a_server_is_in_the_latency() {
    let server = slow(Duration::from_millis(20));
    each_engine(|engine| {
        let latency = load(&counted(&server.http(), engine, 12)).latency.unwrap();
        // Three digits: the least value may be rounded down by a thousandth.
        assert!(latency.latency_ns_min >= 19_980_000, "{}", latency.latency_ns_min);
        assert!(latency.latency_ns_p50 <= latency.latency_ns_p99);
    });
}

#[test]
fn more_connections_than_a_backlog_takes_are_all_made() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 600);
        config.connections = 300;
        assert_eq!(flawless(&config).connections_made, 300);
    });
}

#[test]
fn the_longest_times_that_can_be_written_do_not_overflow() {
    let server = answering(HELLO);
    each_engine(|engine| {
        let mut config = counted(&server.http(), engine, 10);
        config.timeout = Duration::MAX;
        flawless(&config);
    });
}
