//! Each mistake gets one message with the next step, before any load.

use std::{io::Write, net::TcpListener, time::Duration};
use wirebench_schema::load::{EngineChoice, LoadConfig};

use crate::{
    counted,
    server::{HELLO, Server, answer, answering, read_request, stall},
    try_load,
};

/// The message on this load, with `PORT` for the port of its target.
fn refused(config: &LoadConfig) -> String {
    let target = config.target.to_string();
    let port = target.rsplit(':').next().unwrap().trim_end_matches('/');
    try_load(config).unwrap_err().to_string().replace(&format!(":{port}"), ":PORT")
}

fn sentence(target: &str) -> String {
    refused(&counted(target, EngineChoice::Auto, 1))
}

/// The same where the sentence comes only after the timeout.
fn late_sentence(target: &str) -> String {
    let mut config = counted(target, EngineChoice::Auto, 1);
    config.timeout = Duration::from_millis(900);
    refused(&config)
}

#[test]
fn a_port_on_which_nothing_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(
        sentence(&format!("http://{address}/")),
        "nothing listens on 127.0.0.1:PORT: start the server first, or check the port"
    );
}

#[test]
fn a_server_of_another_protocol() {
    let server = Server::start(|_, mut stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n");
        stall(stream);
    });
    assert_eq!(
        sentence(&server.http()),
        "127.0.0.1:PORT answers, but not with HTTP/1.1: the reply starts with \
         \"SSH-2.0-OpenSSH_9.2p1 Debian\"; check the port, or write tcp://127.0.0.1:PORT if it is \
         an echo server"
    );
    assert_eq!(
        sentence(&server.tcp()),
        "127.0.0.1:PORT answers, but is not an echo server (the echo differs at byte 0: 0x6b was \
         sent, 0x53 came back): the reply starts with \"SSH-2.0-OpenSSH_9.2p1 Debian\\r\\n\"; \
         check the port, or write http://127.0.0.1:PORT/ for HTTP/1.1"
    );
}

#[test]
fn a_server_that_closes_without_a_reply() {
    let server = Server::start(|_, stream, _| {
        read_request(stream);
    });
    assert_eq!(
        sentence(&server.http()),
        "127.0.0.1:PORT closes the connection without a reply: check that it speaks HTTP/1.1"
    );
}

#[test]
fn a_server_that_closes_within_the_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
    });
    assert_eq!(
        sentence(&server.http()),
        "127.0.0.1:PORT closes the connection in the middle of its reply, which starts with \
         \"HTTP/1.1 200 OK\\r\\nCon\": check that the server works"
    );
}

#[test]
fn a_server_that_does_not_reply() {
    let server = Server::start(|_, stream, _| stall(stream));
    assert_eq!(
        late_sentence(&server.http()),
        "127.0.0.1:PORT accepts the connection but does not reply within 900ms: check that it \
         speaks HTTP/1.1, or give a longer --timeout"
    );
    assert_eq!(
        late_sentence(&server.tcp()),
        "127.0.0.1:PORT accepts the connection but does not reply within 900ms: check that it \
         speaks echo, or give a longer --timeout"
    );
}

#[test]
fn a_server_that_does_not_finish_its_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
        stall(stream);
    });
    assert_eq!(
        late_sentence(&server.http()),
        "127.0.0.1:PORT does not finish its reply within 900ms; it starts with \"HTTP/1.1 200 \
         OK\\r\\nCon\": check that it speaks HTTP/1.1, or give a longer --timeout"
    );
}

#[test]
fn a_reply_that_is_not_strict_http() {
    let server = Server::start(|_, stream, _| {
        answer(stream, b"HTTP/1.1 200 OK\nContent-Length: 0\n\n");
    });
    assert_eq!(
        sentence(&server.http()),
        "http://127.0.0.1:PORT/ gives a wrong reply: a line ends with a bare LF; repair the \
         server, it would not count"
    );
}

#[test]
fn another_body_than_expected() {
    let server = answering(HELLO);
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.expect_body = Some("Hello World!".to_owned());
    assert_eq!(
        refused(&config),
        "http://127.0.0.1:PORT/ does not reply as expected: the body differs from the expected \
         one at byte 6; check the path, or the body that is expected"
    );
}

#[test]
fn a_name_that_leads_nowhere() {
    let message = sentence("http://no-such-host.invalid:80/");
    assert!(message.contains("has no address") && message.contains("check the name"), "{message}");
}

#[test]
fn more_connections_than_file_descriptors() {
    let server = answering(HELLO);
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.connections = usize::MAX / 2;
    // The message has the limit of this machine.
    let message = refused(&config);
    let (need, remedy) = message.split_once(" and this process may have ").unwrap();
    assert!(need.ends_with(" file descriptors"), "{message}");
    assert!(remedy.contains(": give -c at most "), "{message}");
}

#[test]
fn a_contradiction_in_the_configuration() {
    let mut config = counted("http://127.0.0.1:9/", EngineChoice::Auto, 1);
    config.threads = 5;
    assert_eq!(
        refused(&config),
        "5 threads cannot share 4 connections: give -c at least as many as -t"
    );
}
