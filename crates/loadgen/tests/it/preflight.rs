//! Each mistake gets one message with the next step, before any load.

use std::{fmt::Write as _, io::Write, net::TcpListener, time::Duration};
use wirebench_schema::load::{EngineChoice, LoadConfig};

use crate::{
    assert_golden, counted, refusal,
    server::{HELLO, Server, answering, read_request, stall},
};

fn config(target: &str) -> LoadConfig {
    counted(target, EngineChoice::Auto, 1)
}

/// The sentence comes only after the timeout.
fn late(target: &str) -> LoadConfig {
    LoadConfig { timeout: Duration::from_millis(900), ..config(target) }
}

#[test]
fn each_mistake_gets_one_message() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let nothing = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let ssh = Server::start(|_, mut stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n");
        stall(stream);
    });
    let closes = Server::start(|_, stream, _| _ = read_request(stream));
    let closes_in_reply = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
    });
    let silent = Server::start(|_, stream, _| stall(stream));
    let unfinished = Server::start(|_, mut stream, _| {
        read_request(stream);
        let _ = stream.write_all(&HELLO[..20]);
        stall(stream);
    });
    let right = answering(HELLO).http();
    let other_body = Some("Hello World!".to_owned());
    let cases = [
        ("nothing listens", config(&nothing)),
        ("SSH for HTTP", config(&ssh.http())),
        ("SSH for an echo", config(&ssh.tcp())),
        ("a close without a reply", config(&closes.http())),
        ("a close within the reply", config(&closes_in_reply.http())),
        ("no reply of HTTP", late(&silent.http())),
        ("no echo", late(&silent.tcp())),
        ("an unfinished reply", late(&unfinished.http())),
        ("a head above the limit", LoadConfig { head_limit_bytes: 20, ..config(&right) }),
        ("another body", LoadConfig { expect_body: other_body, ..config(&right) }),
        ("a contradiction", LoadConfig { threads: 5, ..config(&right) }),
    ];
    let mut text = String::new();
    for (name, config) in cases {
        let _ = writeln!(text, "{name}: {}", refusal(&config));
    }
    assert_golden("preflight", &text);
}
