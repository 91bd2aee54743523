//! The scenario `hello` with bodies of other lengths than the contract's.

use crate::ENGINES;
use crate::client::REQUEST;
use crate::server::Server;

fn reply_with_body_of(body_bytes: usize) -> Vec<u8> {
    let mut reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {body_bytes}\r\n\r\n"
    )
    .into_bytes();
    reply.extend(b"Hello world!".iter().cycle().take(body_bytes));
    reply
}

/// A server of `hello` with a body of this length.
fn start(engine: &str, body_bytes: usize) -> Server {
    Server::start(&format!("{engine} hello 127.0.0.1 0 1 5000 {body_bytes}"))
}

fn for_each_body(check: impl Fn(&Server, &[u8])) {
    for engine in ENGINES {
        for body_bytes in [0, 1, 13, 4 * 1024, 64 * 1024, 3 * 1024 * 1024] {
            eprintln!("{engine} with bodies of {body_bytes} bytes");
            check(&start(engine, body_bytes), &reply_with_body_of(body_bytes));
        }
    }
}

#[test]
fn a_body_of_any_length_arrives_whole_alone_and_in_a_pipeline_of_sixteen() {
    for_each_body(|server, reply| {
        let mut client = server.connect();
        for count in [[1; 20].as_slice(), &[16; 5]].concat() {
            client.send(&REQUEST.repeat(count));
            client.expect(&reply.repeat(count));
        }
        client.expect_silence();
    });
}

#[test]
fn large_replies_wait_for_a_client_that_reads_late_and_delay_no_other_client() {
    for_each_body(|server, reply| {
        let mut late = server.connect();
        late.fix_receive_buffer();
        late.send(&REQUEST.repeat(64));
        let mut prompt = server.connect();
        prompt.send(REQUEST);
        prompt.expect(reply);
        late.expect(&reply.repeat(64));
        late.finish();
        late.expect_end();
    });
}

#[test]
fn many_connections_get_large_replies_at_the_same_time() {
    for engine in ENGINES {
        let server = start(engine, 64 * 1024);
        let reply = reply_with_body_of(64 * 1024);
        let mut clients: Vec<_> = (0..64).map(|_| server.connect()).collect();
        for _ in 0..3 {
            for client in &mut clients {
                client.send(REQUEST);
            }
            for client in &mut clients {
                client.expect(&reply);
            }
        }
    }
}
