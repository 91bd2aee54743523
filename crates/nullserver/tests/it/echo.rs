//! The scenario `echo`: every byte back, in order, with bounded memory.

use crate::for_each_server;

fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut bytes = vec![0; length];
    random.fill(&mut bytes);
    bytes
}

#[test]
fn bytes_of_any_length_come_back() {
    for_each_server("echo", |server| {
        let mut client = server.connect();
        client.expect_silence();
        for length in [1, 2, 77, 4096, 16_383, 16_448, 16_449, 65_536, 65_537, 1 << 20, 8 << 20] {
            let bytes = random_bytes(length as u64, length);
            client.send_while(&bytes, |client| client.expect(&bytes));
        }
        client.expect_silence();
    });
}

#[test]
fn what_is_left_at_the_end_of_the_input_is_echoed_before_the_end() {
    for_each_server("echo", |server| {
        for length in [0, 1, 20_000, 300_000] {
            let bytes = random_bytes(2, length);
            let mut client = server.connect();
            client.send_while(&bytes, |_| {});
            client.finish();
            client.expect(&bytes);
            client.expect_end();
        }
    });
}

#[test]
fn a_client_that_does_not_read_is_not_read_from_and_loses_nothing() {
    for_each_server("echo", |server| {
        let mut client = server.connect();
        client.fix_receive_buffer();
        // Of a length that is prime, so that pieces out of place do not look right by chance.
        let pattern = random_bytes(3, 1_000_003);
        let limit = 64 << 20;
        let sent = client.send_until_stuck(&pattern, limit);
        assert!(sent < limit, "the server went on reading");
        server.assert_serves();
        let mut expected = pattern.repeat(sent / pattern.len() + 1);
        expected.truncate(sent);
        client.expect(&expected);
        client.expect_silence();
        client.finish();
        client.expect_end();
    });
}

#[test]
fn clients_that_do_not_read_keep_nothing_from_the_others() {
    for_each_server("echo", |server| {
        // More of them than the server has buffers.
        let pattern = random_bytes(4, 3 << 20);
        let mut stuck: Vec<_> = (0..300)
            .map(|_| {
                let mut client = server.connect();
                client.fix_receive_buffer();
                client
            })
            .collect();
        let piece = &pattern[..256 * 1024];
        for client in &mut stuck {
            client.send_while(piece, |_| {});
        }
        server.assert_serves();
        let mut client = server.connect();
        client.send_while(&pattern, |client| client.expect(&pattern));
        for client in &mut stuck {
            client.expect(piece);
        }
    });
}

#[test]
fn a_slow_reader_gets_every_byte_while_others_come_and_go() {
    for_each_server("echo", |server| {
        let bytes = random_bytes(5, 4 << 20);
        let mut slow = server.connect();
        slow.fix_receive_buffer();
        slow.send_while(&bytes, |slow| {
            for piece in bytes.chunks(128 * 1024) {
                slow.expect(piece);
                server.assert_serves();
            }
        });
        slow.expect_silence();
    });
}

#[test]
fn an_answer_for_which_there_is_no_room_any_more_is_finished_later() {
    for_each_server("echo", |server| {
        let mut client = server.connect();
        client.fix_receive_buffer();
        let bytes = random_bytes(6, 5 << 20);
        client.send_separately(bytes.chunks(8 * 1024));
        client.expect(&bytes);
        client.expect_silence();
    });
}
