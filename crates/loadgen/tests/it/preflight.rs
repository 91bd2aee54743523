//! Each mistake gets one message with the next step, before any load.

use std::{io::Write, net::TcpListener, time::Duration};
use wirebench_schema::load::{EngineChoice, LoadConfig};

use crate::{
    assert_golden, counted,
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
    assert_golden("nothing-listens", &sentence(&format!("http://{address}/")));
}

#[test]
fn a_server_of_another_protocol() {
    let server = Server::start(|_, mut stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n");
        stall(stream);
    });
    assert_golden("ssh-for-http", &sentence(&server.http()));
    assert_golden("ssh-for-echo", &sentence(&server.tcp()));
}

#[test]
fn a_server_that_closes_without_a_reply() {
    let server = Server::start(|_, stream, _| {
        read_request(stream);
    });
    assert_golden("closes", &sentence(&server.http()));
}

#[test]
fn a_server_that_closes_within_the_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
    });
    assert_golden("closes-in-reply", &sentence(&server.http()));
}

#[test]
fn a_server_that_does_not_reply() {
    let server = Server::start(|_, stream, _| stall(stream));
    assert_golden("no-reply-http", &late_sentence(&server.http()));
    assert_golden("no-reply-echo", &late_sentence(&server.tcp()));
}

#[test]
fn a_server_that_does_not_finish_its_reply() {
    let server = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
        stall(stream);
    });
    assert_golden("unfinished-reply", &late_sentence(&server.http()));
}

#[test]
fn a_reply_with_a_head_above_the_limit() {
    let server = Server::start(|_, stream, _| {
        answer(stream, HELLO);
    });
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.head_limit_bytes = 20;
    assert_golden("long-head", &refused(&config));
}

#[test]
fn another_body_than_expected() {
    let server = answering(HELLO);
    let mut config = counted(&server.http(), EngineChoice::Auto, 1);
    config.expect_body = Some("Hello World!".to_owned());
    assert_golden("other-body", &refused(&config));
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
    assert_golden("too-few-connections", &refused(&config));
}
