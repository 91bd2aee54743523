//! Tests of the echo by example. Changed echoes are a target of the fuzzer.

use super::*;

fn message(echo: &Echo, connection: &EchoConnection, number: u64) -> Vec<u8> {
    let length = echo.payload_bytes;
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < length {
        let done = bytes.len() as u64;
        let piece = echo.stream(connection, number * length + done, length - done).to_vec();
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
    assert_eq!(fed, Fed { consumed: 16, event: Some(Event::Reply(ECHOED)) });
    let error = echo.feed(&mut connection, &first).unwrap_err();
    assert!(matches!(error, ReplyError::EchoDiffers { .. }), "{error}");
}

#[test]
fn a_message_that_was_cut_off_is_not_due_after_a_restart() {
    let mut echo = Echo::new(16, 7);
    let mut connection = echo.connection(0);
    let half = message(&echo, &connection, 0)[..8].to_vec();
    assert!(echo.feed(&mut connection, &half).unwrap().reply().is_none());
    echo.restart(&mut connection);
    let whole = message(&echo, &connection, 0);
    let fed = echo.feed(&mut connection, &whole).unwrap();
    assert_eq!(fed, Fed { consumed: 16, event: Some(Event::Reply(ECHOED)) });
}

#[test]
fn bytes_behind_the_echo_are_left_to_the_caller() {
    let mut echo = Echo::new(3, 7);
    let mut connection = echo.connection(0);
    let two = [message(&echo, &connection, 0), message(&echo, &connection, 1)].concat();
    assert_eq!(echo.feed(&mut connection, &two).unwrap().consumed, 3);
    assert_eq!(echo.feed(&mut connection, &two[3..]).unwrap().reply(), Some(ECHOED));
}

#[test]
fn a_message_of_a_gibibyte_is_sent_and_compared_in_pieces() {
    let mut echo = Echo::new(1 << 30, 7);
    let mut connection = echo.connection(0);
    let mut position = 0;
    let reply = loop {
        let piece = echo.stream(&connection, position, (1 << 30) - position).to_vec();
        assert!(piece.len() <= PIECE_BYTES);
        let fed = echo.feed(&mut connection, &piece).unwrap();
        assert_eq!(fed.consumed, piece.len());
        position += piece.len() as u64;
        if fed.reply().is_some() {
            break fed.reply();
        }
    };
    assert_eq!((position, reply), (1 << 30, Some(ECHOED)));
}
