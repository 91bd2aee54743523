//! Tests of the echo, by example and by property.

use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

/// One block for all cases of a property; it takes long to make.
static BLOCK: LazyLock<Echo> = LazyLock::new(|| Echo::new(1, 3));

fn message(echo: &Echo, connection: &EchoConnection, number: u64) -> Vec<u8> {
    let length = echo.request_bytes();
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < length {
        let done = bytes.len() as u64;
        let piece = echo.outgoing(connection, number * length + done, length - done).to_vec();
        bytes.extend(piece);
    }
    bytes
}

#[test]
fn two_connections_send_different_bytes_and_two_messages_differ() {
    let echo = Echo::new(64, 7);
    let (a, b) = (echo.connection(0), echo.connection(1));
    assert_ne!(message(&echo, &a, 0), message(&echo, &b, 0));
    assert_ne!(message(&echo, &a, 0), message(&echo, &a, 1));
}

#[test]
fn the_echo_of_an_earlier_message_does_not_pass() {
    let mut echo = Echo::new(16, 7);
    let mut connection = echo.connection(0);
    let first = message(&echo, &connection, 0);
    let fed = echo.feed(&mut connection, &first).unwrap();
    assert_eq!(fed, FeedResult { consumed: 16, reply: Some(ECHOED) });
    let error = echo.feed(&mut connection, &first).unwrap_err();
    assert!(matches!(error, ReplyError::EchoDiffers { .. }), "{error}");
}

#[test]
fn a_message_that_was_cut_off_is_not_due_after_a_restart() {
    let mut echo = Echo::new(16, 7);
    let mut connection = echo.connection(0);
    let half = message(&echo, &connection, 0)[..8].to_vec();
    assert!(echo.feed(&mut connection, &half).unwrap().reply.is_none());
    echo.restart(&mut connection);
    let whole = message(&echo, &connection, 0);
    let fed = echo.feed(&mut connection, &whole).unwrap();
    assert_eq!(fed, FeedResult { consumed: 16, reply: Some(ECHOED) });
}

#[test]
fn bytes_behind_the_echo_are_left_to_the_caller() {
    let mut echo = Echo::new(3, 7);
    let mut connection = echo.connection(0);
    let two = [message(&echo, &connection, 0), message(&echo, &connection, 1)].concat();
    assert_eq!(echo.feed(&mut connection, &two).unwrap().consumed, 3);
    assert_eq!(echo.feed(&mut connection, &two[3..]).unwrap().reply, Some(ECHOED));
}

#[test]
fn a_message_of_a_gibibyte_is_sent_and_compared_in_pieces() {
    let mut echo = Echo::new(1 << 30, 7);
    let mut connection = echo.connection(0);
    let mut position = 0;
    let reply = loop {
        let piece = echo.outgoing(&connection, position, (1 << 30) - position).to_vec();
        assert!(piece.len() <= PIECE_BYTES);
        let fed = echo.feed(&mut connection, &piece).unwrap();
        assert_eq!(fed.consumed, piece.len());
        position += piece.len() as u64;
        if fed.reply.is_some() {
            break fed.reply;
        }
    };
    assert_eq!((position, reply), (1 << 30, Some(ECHOED)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_split_of_an_echo_gives_the_same_verdict(
        size in 1usize..200, cut in 0usize..200, spoiled in proptest::option::of(0usize..200)
    ) {
        let echo = BLOCK.with_length(size);
        let mut bytes = message(&echo, &echo.connection(3), 0);
        if let Some(at) = spoiled {
            bytes[at % size] ^= 0x40;
        }
        let verdict = |pieces: &[&[u8]]| {
            let (mut echo, mut connection) = (echo.clone(), echo.connection(3));
            let mut reply = None;
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                reply = echo.feed(&mut connection, piece)?.reply;
            }
            Ok::<_, ReplyError>(reply)
        };
        let (a, b) = bytes.split_at(cut % size);
        prop_assert_eq!(verdict(&[&bytes]), verdict(&[a, b]));
    }

    #[test]
    fn a_piece_that_is_missing_doubled_or_exchanged_is_found_behind_it(
        size in 8usize..300, number in 0usize..5000, change in change(),
        at in any::<usize>(), length in any::<usize>(), cuts in 1usize..700
    ) {
        const MESSAGES: usize = 8;
        let echo = BLOCK.with_length(size);
        let connection = echo.connection(number);
        let sent: Vec<u8> =
            (0..MESSAGES as u64).flat_map(|number| message(&echo, &connection, number)).collect();
        // Three messages follow the place of the change, so that there is something to find it by.
        let end = size * (MESSAGES - 3);
        let start = at % end;
        let length = 1 + length % (end - start).min(size * 2);
        let mut received = sent;
        match change {
            Change::Flip => received[start] ^= 1 << (length % 8),
            Change::Drop => drop(received.drain(start..start + length)),
            Change::Double => {
                let piece = received[start..start + length].to_vec();
                received.splice(start..start, piece);
            }
            Change::Exchange => {
                let length = length.max(8).min((received.len() - start) / 2);
                received[start..start + 2 * length].rotate_left(length);
            }
        }
        let (mut echo, mut connection) = (echo, connection);
        let mut refused = |piece: &[u8]| {
            let mut rest = piece;
            while let Ok(fed) = echo.feed(&mut connection, rest) {
                rest = &rest[fed.consumed..];
                if rest.is_empty() {
                    return false;
                }
            }
            true
        };
        prop_assert!(received.chunks(cuts).any(&mut refused));
    }
}

/// A fault in a part of an echo.
#[derive(Clone, Copy, Debug)]
enum Change {
    Flip,
    Drop,
    Double,
    Exchange,
}

fn change() -> impl Strategy<Value = Change> {
    let changes: &[Change] = &[Change::Flip, Change::Drop, Change::Double, Change::Exchange];
    proptest::sample::select(changes)
}
