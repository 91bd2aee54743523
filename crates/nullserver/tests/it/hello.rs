//! The scenario `hello`: one reply for each head, in whatever pieces it arrives.

use crate::client::{REPLY, REQUEST};
use crate::for_each_server;

/// A head of exactly this length.
fn head_of(length: usize) -> Vec<u8> {
    let mut head = b"GET / HTTP/1.1\r\nX-Filler: ".to_vec();
    head.resize(length - 4, b'x');
    head.extend_from_slice(b"\r\n\r\n");
    head
}

#[test]
fn thousands_of_pipelined_requests_are_answered_although_the_client_reads_late() {
    for_each_server("hello", |server| {
        let mut client = server.connect();
        client.fix_receive_buffer();
        // The shortest possible heads, so that the replies are twenty times as long as the
        // requests.
        client.send(&b"\r\n\r\n".repeat(50_000));
        std::thread::sleep(std::time::Duration::from_millis(200));
        server.assert_serves();
        client.expect(&REPLY.repeat(50_000));
        client.expect_silence();
        client.send(REQUEST);
        client.expect(REPLY);
    });
}

#[test]
fn a_client_that_never_reads_is_no_longer_read_from_and_loses_nothing() {
    for_each_server("hello", |server| {
        let mut client = server.connect();
        client.fix_receive_buffer();
        let limit = 64 << 20;
        let sent = client.send_until_stuck(REQUEST, limit);
        assert!(sent < limit, "the server went on reading");
        server.assert_serves();
        let rest = &REQUEST[sent % REQUEST.len()..];
        let replies = REPLY.repeat(sent.div_ceil(REQUEST.len()));
        let rest = if rest.len() == REQUEST.len() { &[] } else { rest };
        client.send_while(rest, |client| client.expect(&replies));
        client.expect_silence();
    });
}

#[test]
fn long_heads_are_answered_like_short_ones() {
    for_each_server("hello", |server| {
        let mut client = server.connect();
        for length in [4096, 8192, 10 * 1024, 100 * 1024] {
            let head = head_of(length);
            client.send(&head);
            client.expect(REPLY);
            client.send_while(&head.repeat(3), |client| client.expect(&REPLY.repeat(3)));
        }
        client.expect_silence();
    });
}

#[test]
fn heads_may_be_split_anywhere() {
    for_each_server("hello", |server| {
        let mut random = fastrand::Rng::with_seed(1);
        let mut client = server.connect();
        for _ in 0..50 {
            let heads = random.usize(1..5);
            let bytes = REQUEST.repeat(heads);
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(random.usize(1..=rest.len()));
                client.send(piece);
                rest = after;
                if random.bool() {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
            }
            client.expect(&REPLY.repeat(heads));
        }
        for cut in 1..REQUEST.len() {
            client.send(&REQUEST[..cut]);
            std::thread::sleep(std::time::Duration::from_millis(1));
            client.send(&REQUEST[cut..]);
            client.expect(REPLY);
        }
        client.expect_silence();
    });
}

#[test]
fn a_client_that_finishes_sending_still_gets_its_replies_and_then_the_end() {
    for_each_server("hello", |server| {
        for requests in [0, 1, 16, 20_000] {
            let mut client = server.connect();
            client.send_while(&REQUEST.repeat(requests), |_| {});
            client.finish();
            client.expect(&REPLY.repeat(requests));
            client.expect_end();
        }
    });
}

#[test]
fn half_a_head_before_the_end_gets_no_reply() {
    for_each_server("hello", |server| {
        let mut client = server.connect();
        client.send(REQUEST);
        client.send(&REQUEST[..REQUEST.len() - 1]);
        client.finish();
        client.expect(REPLY);
        client.expect_end();
    });
}

#[test]
fn replies_for_which_there_is_no_room_any_more_are_finished_later() {
    for_each_server("hello", |server| {
        let mut client = server.connect();
        client.fix_receive_buffer();
        // Few enough to be answered with one send each, many enough to fill whatever buffers there
        // are.
        let piece = b"\r\n\r\n".repeat(250);
        client.send_separately(std::iter::repeat_n(piece.as_slice(), 600));
        client.expect(&REPLY.repeat(250 * 600));
        client.expect_silence();
    });
}
