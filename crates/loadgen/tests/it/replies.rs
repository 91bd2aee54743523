//! Correct replies of every form count, others do not.

use std::{io::Write, time::Duration};

use crate::{
    counted, each_engine, flawless,
    server::{HELLO, LAST, Server, answer, answering, echo, read_request},
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
        for (payload_bytes, pipeline) in
            [(1, 1), (7, 1), (64, 1), (100_000, 1), (8 << 20, 1), (1, 8), (33, 8), (40_000, 8)]
        {
            let mut config = counted(&server.tcp(), engine, 6);
            (config.payload_bytes, config.pipeline) = (payload_bytes, pipeline);
            let report = flawless(&config);
            assert_eq!(report.bytes_sent, 6 * payload_bytes as u64);
            assert_eq!(report.bytes_received, 6 * payload_bytes as u64);
        }
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
