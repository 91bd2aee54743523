//! Each mistake gets one message with the next step, before any load.

use std::{io::Write, net::TcpListener, time::Duration};
use wirebench_schema::load::EngineChoice;

use crate::{
    counted,
    server::{HELLO, Server, answer, answering, read_request, stall},
    try_load,
};

fn sentence(target: &str) -> String {
    try_load(&counted(target, EngineChoice::Auto, 1)).unwrap_err().to_string()
}

/// The same where the sentence comes only after the timeout.
fn late_sentence(target: &str) -> String {
    let mut config = counted(target, EngineChoice::Auto, 1);
    config.timeout = Duration::from_millis(900);
    try_load(&config).unwrap_err().to_string()
}

#[track_caller]
fn assert_parts(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn a_port_on_which_nothing_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    assert_eq!(
        sentence(&format!("http://{address}/")),
        format!("nothing listens on {address}: start the server first, or check the port")
    );
}

#[test]
fn a_server_of_another_protocol() {
    let server = Server::start(|_, mut stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n");
        stall(stream);
    });
    let parts = [
        "answers, but not with HTTP/1.1",
        "starts with \"SSH-2.0-OpenSSH_9.2p1 Debian\"",
        "tcp://",
    ];
    assert_parts(&sentence(&server.http()), &parts);
    let parts = ["is not an echo server", "starts with \"SSH-2.0-", "http://"];
    assert_parts(&sentence(&server.tcp()), &parts);
}

#[test]
fn a_server_that_closes_without_a_reply() {
    let server = Server::start(|_, stream, _| {
        read_request(stream);
    });
    let parts = ["closes the connection without a reply", "HTTP/1.1"];
    assert_parts(&sentence(&server.http()), &parts);
}

#[test]
fn a_server_that_closes_within_the_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
    });
    assert_parts(&sentence(&server.http()), &["in the middle of its reply", "HTTP/1.1 200 OK"]);
}

#[test]
fn a_server_that_does_not_reply() {
    let server = Server::start(|_, stream, _| stall(stream));
    assert_parts(&late_sentence(&server.http()), &["does not reply within 900ms", "--timeout"]);
    assert_parts(&late_sentence(&server.tcp()), &["does not reply within 900ms", "echo"]);
}

#[test]
fn a_server_that_does_not_finish_its_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
        stall(stream);
    });
    assert_parts(&late_sentence(&server.http()), &["does not finish its reply within 900ms"]);
}

#[test]
fn a_reply_that_is_not_strict_http() {
    let server = Server::start(|_, stream, _| {
        answer(stream, b"HTTP/1.1 200 OK\nContent-Length: 0\n\n");
    });
    assert_parts(&sentence(&server.http()), &["wrong reply", "a bare LF", "repair the server"]);
}

#[test]
fn another_body_than_expected() {
    let server = answering(HELLO);
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.expect_body = Some("Hello World!".to_owned());
    let message = try_load(&config).unwrap_err().to_string();
    assert_parts(&message, &["does not reply as expected", "at byte 6", "check the path"]);
}

#[test]
fn a_name_that_leads_nowhere() {
    assert_parts(
        &sentence("http://no-such-host.invalid:80/"),
        &["has no address", "check the name"],
    );
}

#[test]
fn more_connections_than_file_descriptors() {
    let server = answering(HELLO);
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.connections = usize::MAX / 2;
    let message = try_load(&config).unwrap_err().to_string();
    assert_parts(&message, &["file descriptors", "give -c at most"]);
}

#[test]
fn a_contradiction_in_the_configuration() {
    let mut config = counted("http://127.0.0.1:9/", EngineChoice::Auto, 1);
    config.threads = 5;
    assert_parts(&try_load(&config).unwrap_err().to_string(), &["-c at least as many as -t"]);
}
