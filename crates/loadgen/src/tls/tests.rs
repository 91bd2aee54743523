//! Tests against a server in memory, with virtual time: no clock, no socket, every nanosecond given.

mod pair;

use rcgen::{CertificateParams, DnType, KeyPair};
use rustix::io::Errno;
use rustls::Error;
use std::io::Read;
use wirebench_schema::load::{ErrorCounts, Trust};

use self::pair::{EDGES, World};
use super::*;
use crate::{
    codec::http1::Http1,
    director::{Action, Command, Director},
    session::tests::{HELLO, MS, REQUEST, TIMEOUT_NS, commands},
    worker::SessionOwner,
};

#[test]
fn a_connection_is_established_for_the_session_when_the_handshake_is_over() {
    let world = World::open();
    let mut pair = world.begin();
    assert_eq!(pair.send(), Action::Wait);
    assert!(!pair.director.session().is_settled());
    assert_eq!(pair.receive(7 * MS), Action::Wait);
    assert!(pair.director.session().is_settled());
    assert_eq!(pair.director.session().made(), 1);
    let outcome = pair.director.take_outcome();
    let connect = &outcome.rest[0].connect;
    assert_eq!((connect.len(), connect.max() / MS), (1, 7));
    let summary = world.connector.summary().unwrap();
    assert_eq!((summary.version.as_str(), summary.handshakes, summary.resumed), ("TLS 1.3", 1, 0));
}

#[test]
fn requests_and_replies_come_through_however_they_are_split() {
    let world = World::new(Trust::Anybody, |config| config.pipeline = 3);
    for piece_bytes in [1, 2, 5, 17, 100, usize::MAX] {
        let mut pair = world.begin();
        pair.piece_bytes = piece_bytes;
        pair.shake_hands(2 * MS);
        pair.director.session().start(EDGES);
        assert_eq!(commands(&mut pair.director, EDGES.start_ns), [Command::Send(0)]);
        assert_eq!(pair.send(), Action::Wait);
        for _ in 0..4 {
            assert_eq!(pair.heard(), REQUEST.repeat(3));
            pair.say(&HELLO[..10]);
            pair.receive(EDGES.start_ns + 1);
            pair.say(&HELLO[10..]);
            pair.say(&HELLO.repeat(2));
            assert_eq!(pair.receive(EDGES.start_ns + 2), Action::Wait);
        }
        let counts = pair.counts();
        assert_eq!((counts.requests, counts.errors.total()), (12, 0));
        assert_eq!(counts.bytes_received, 12 * HELLO.len() as u64);
        assert_eq!(counts.bytes_sent, 15 * REQUEST.len() as u64);
    }
}

#[test]
fn outgoing_bytes_stay_the_same_until_they_are_sent() {
    let world = World::new(Trust::Anybody, |config| config.pipeline = 2);
    let mut pair = world.begun();
    let outgoing = pair.director.outgoing(0).to_vec();
    let mut start = &outgoing[..3];
    pair.server.read_tls(&mut start).unwrap();
    assert_eq!(pair.director.sent(0, 3), Action::Send);
    pair.server.refresh_traffic_keys().unwrap();
    let mut update = Vec::new();
    pair.server.write_tls(&mut update).unwrap();
    pair.director.received(0, &update, EDGES.start_ns + 1);
    assert_eq!(pair.director.outgoing(0), &outgoing[3..]);
    assert_eq!(pair.send(), Action::Wait);
    assert_eq!(pair.heard(), REQUEST.repeat(2));
    pair.say(&HELLO.repeat(2));
    assert_eq!(pair.receive(EDGES.start_ns + 2), Action::Wait);
    assert_eq!(pair.heard(), REQUEST.repeat(2));
}

#[test]
fn a_request_may_be_sealed_while_a_message_of_many_records_has_half_arrived() {
    let mut world = World::open();
    let mut server = (*world.server).clone();
    server.max_fragment_size = Some(64);
    world.server = Arc::new(server);
    for half in [1, 40, 64, 65, 100, 130] {
        let mut pair = world.begin();
        assert_eq!(pair.send(), Action::Wait);
        assert_eq!(pair.receive(2 * MS), Action::Wait);
        let mut tickets = Vec::new();
        while pair.server.wants_write() {
            pair.server.write_tls(&mut tickets).unwrap();
        }
        assert!(tickets.len() > 3 * 64, "{}", tickets.len());
        assert_eq!(pair.director.received(0, &tickets[..half], 3 * MS), Action::Wait);
        pair.director.session().start(EDGES);
        assert_eq!(commands(&mut pair.director, EDGES.start_ns), [Command::Send(0)]);
        assert_eq!(pair.send(), Action::Wait);
        assert_eq!(pair.heard(), REQUEST);
        let now_ns = EDGES.start_ns + 1;
        assert_eq!(pair.director.received(0, &tickets[half..], now_ns), Action::Wait);
        pair.say(HELLO);
        assert_eq!(pair.receive(EDGES.start_ns + 2), Action::Wait);
        assert_eq!(pair.heard(), REQUEST);
        let counts = pair.counts();
        assert_eq!((counts.requests, counts.errors.total()), (1, 0));
    }
    // The tickets have arrived whole.
    assert_eq!(world.connector.summary().unwrap().resumed, 5);
}

#[test]
fn a_reply_before_the_last_byte_of_the_request_is_gone_is_wrong() {
    let world = World::open();
    let mut pair = world.begun();
    let bytes = pair.director.outgoing(0).len();
    assert_eq!(pair.director.sent(0, bytes - 1), Action::Send);
    pair.say(HELLO);
    let mut reply = Vec::new();
    pair.server.write_tls(&mut reply).unwrap();
    assert_eq!(pair.director.received(0, &reply, EDGES.start_ns + 1), Action::Close);
    assert_eq!(pair.errors().wrong_reply, 1);
}

#[test]
fn a_large_request_is_sealed_in_pieces() {
    const BODY_BYTES: usize = 1_000_000;
    let world = World::new(Trust::Anybody, |config| {
        config.body = Some(wirebench_schema::load::Body::Text("x".repeat(BODY_BYTES)));
    });
    let mut pair = world.begun();
    let mut heard = Vec::new();
    let mut action = Action::Send;
    while action == Action::Send {
        let outgoing = pair.director.outgoing(0);
        assert!((1..100_000).contains(&outgoing.len()), "{}", outgoing.len());
        let bytes = outgoing.len();
        let mut rest = outgoing;
        while !rest.is_empty() {
            pair.server.read_tls(&mut rest).unwrap();
            pair.server.process_new_packets().unwrap();
            let _ = pair.server.reader().read_to_end(&mut heard);
        }
        action = pair.director.sent(0, bytes);
    }
    assert_eq!(action, Action::Wait);
    assert!(heard.len() > BODY_BYTES && heard.ends_with(&[b'x'; BODY_BYTES]));
}

#[test]
fn an_end_that_the_server_announces_is_answered_and_a_new_connection_resumes_the_session() {
    let world = World::open();
    let mut pair = world.begun();
    pair.send();
    pair.say(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
    pair.server.send_close_notify();
    assert_eq!(pair.receive(EDGES.start_ns + 1), Action::Close);
    assert!(pair.server.process_new_packets().unwrap().peer_has_closed());
    let now_ns = EDGES.start_ns + 2;
    assert_eq!(commands(&mut pair.director, now_ns), [Command::Connect(0)]);
    pair.server = world.server();
    assert_eq!(pair.director.connected(0, now_ns), Action::Send);
    assert_eq!(pair.send(), Action::Wait);
    assert_eq!(pair.receive(now_ns), Action::Wait);
    assert_eq!(pair.heard(), REQUEST);
    let counts = pair.counts();
    assert_eq!((counts.server_closes, counts.errors.total()), (1, 0));
    let summary = world.connector.summary().unwrap();
    assert_eq!((summary.handshakes, summary.resumed), (2, 1));
}

#[test]
fn a_place_is_taken_until_the_farewell_has_gone_or_the_next_connection_is_overdue() {
    let world = World::open();
    for overdue in [false, true] {
        let mut pair = world.begun();
        pair.send();
        pair.server.send_close_notify();
        let mut end = Vec::new();
        pair.server.write_tls(&mut end).unwrap();
        let ended_ns = EDGES.start_ns + MS;
        assert_eq!(pair.director.received(0, &end, ended_ns), Action::Send);
        assert_eq!(pair.director.received(0, b"more", ended_ns), Action::Wait);
        assert_eq!(commands(&mut pair.director, ended_ns), []);
        if overdue {
            let late_ns = ended_ns + TIMEOUT_NS + 200 * MS;
            assert_eq!(commands(&mut pair.director, late_ns), [Command::Close(0)]);
            let wanted = commands(&mut pair.director, late_ns + 100 * MS);
            assert_eq!(wanted, [Command::Connect(0)]);
        } else {
            assert_eq!(pair.send(), Action::Close);
            assert_eq!(commands(&mut pair.director, ended_ns), [Command::Connect(0)]);
        }
        let errors = pair.errors();
        assert_eq!((errors.closed_early, errors.timeout), (1, u64::from(overdue)));
    }
}

#[test]
fn a_cut_is_a_failure_only_while_a_reply_is_due() {
    let world = World::open();
    let mut pair = world.begun();
    pair.send();
    pair.say(&HELLO[..HELLO.len() - 1]);
    assert_eq!(pair.receive(EDGES.start_ns + 1), Action::Wait);
    assert_eq!(pair.director.finished(0, EDGES.start_ns + 2), Action::Close);
    assert_eq!(pair.errors().closed_early, 1);

    let mut pair = world.begin();
    pair.shake_hands(2 * MS);
    assert_eq!(pair.director.finished(0, 3 * MS), Action::Close);
    assert_eq!(pair.errors(), ErrorCounts::default());
}

#[test]
fn a_handshake_that_does_not_end_is_a_connection_not_made_in_time() {
    let world = World::open();
    let mut pair = world.begin();
    assert_eq!(pair.send(), Action::Wait);
    assert_eq!(commands(&mut pair.director, TIMEOUT_NS - 1), []);
    assert_eq!(commands(&mut pair.director, TIMEOUT_NS + 200 * MS), [Command::Close(0)]);
    assert!(pair.director.session().is_settled());
    let counts = pair.counts();
    assert_eq!((counts.errors.timeout, counts.errors.total()), (1, 1));
    assert_eq!(world.connector.summary(), None);
}

#[test]
fn a_handshake_that_is_cut_reset_or_senseless_is_a_failure_of_tls_and_a_refusal_is_not() {
    let world = World::open();
    let cases: [fn(&mut TlsDirector<Http1>) -> Action; 3] = [
        |director| director.finished(0, 2 * MS),
        |director| director.failed(0, Errno::CONNRESET, 2 * MS),
        |director| {
            assert_eq!(director.received(0, b"HTTP/1.1 400 No\r\n\r\n", 2 * MS), Action::Send);
            director.sent(0, director.outgoing(0).len())
        },
    ];
    for case in cases {
        let mut pair = world.begin();
        pair.send();
        assert_eq!(case(&mut pair.director), Action::Close);
        let counts = pair.counts();
        assert_eq!((counts.errors.tls, counts.errors.total()), (1, 1));
    }
    let mut pair = world.begun();
    pair.send();
    assert_eq!(pair.director.received(0, HELLO, EDGES.start_ns + 1), Action::Close);
    assert_eq!(pair.errors().tls, 1);
    let mut director = world.director();
    assert_eq!(commands(&mut director, 0), [Command::Connect(0)]);
    assert_eq!(director.failed(0, Errno::CONNREFUSED, MS), Action::Close);
    let outcome = director.take_outcome();
    assert_eq!(outcome.rest[0].counts.errors.refused, 1);
}

#[test]
fn a_certificate_that_is_not_trusted_fails_with_its_reason_and_the_server_hears_of_it() {
    let other = World::open();
    let file = tempfile::NamedTempFile::new().unwrap();
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(vec!["h".to_owned()]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, "another authority");
    let pem = parameters.self_signed(&key).unwrap().pem();
    std::fs::write(file.path(), pem).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let world = World::new(Trust::File(path), |_| {});
    let mut pair = world.begin();
    pair.server = other.server();
    assert_eq!(pair.send(), Action::Wait);
    assert_eq!(pair.receive(2 * MS), Action::Close);
    let heard = pair.server.process_new_packets();
    assert!(matches!(heard, Err(Error::AlertReceived(_))), "{heard:?}");
    let counts = pair.counts();
    let sentence = counts.examples.iter().flatten().next().unwrap().0.to_string();
    assert_eq!((counts.errors.tls, counts.errors.total()), (1, 1));
    assert_eq!(sentence, "tls: invalid peer certificate: UnknownIssuer");
}
