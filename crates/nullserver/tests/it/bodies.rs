//! The scenario `hello` with bodies of other lengths than the contract's.

use wirebench_nullserver::Engine;

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

fn for_each_body(check: impl Fn(&Server, &[u8])) {
    for engine in [Engine::Epoll, Engine::IoUring] {
        for body_bytes in [0, 1, 13, 4 * 1024, 64 * 1024, 3 * 1024 * 1024] {
            eprintln!("{engine} with bodies of {body_bytes} bytes");
            check(&Server::start_with_body_of(engine, body_bytes), &reply_with_body_of(body_bytes));
        }
    }
}

#[test]
fn a_body_of_any_length_arrives_whole() {
    for_each_body(|server, reply| {
        let mut client = server.connect();
        for _ in 0..20 {
            client.send(REQUEST);
            client.expect(reply);
        }
        client.expect_silence();
    });
}

#[test]
fn a_pipeline_of_sixteen_is_answered_whole_again_and_again() {
    for_each_body(|server, reply| {
        let mut client = server.connect();
        for _ in 0..5 {
            client.send(&REQUEST.repeat(16));
            client.expect(&reply.repeat(16));
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
    for engine in [Engine::Epoll, Engine::IoUring] {
        let server = Server::start_with_body_of(engine, 64 * 1024);
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
