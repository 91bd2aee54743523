//! Endpoints and source addresses: Unix sockets, IPv6, chosen addresses, full backlogs.

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{IpAddr, ToSocketAddrs},
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};
use tempfile::TempDir;
use wirebench_schema::load::{LoadConfig, SourceRange};

use crate::{
    counted, each_engine, flawless, load_and_count,
    server::{HELLO, Server, answer, echo},
    timed,
};

/// A Unix socket with this backlog that takes one connection after each pause, and serves each on a thread of its own.
/// The folder holds it.
fn listen_unix(backlog: i32, serve: fn(UnixStream), pause: Duration) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b.socket");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, backlog).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
            thread::sleep(pause);
        }
    });
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

/// Answers with the first line and the host of the request.
fn mirror_unix(mut stream: UnixStream) {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read(&mut buffer) {
                Ok(bytes) if bytes > 0 => request.extend_from_slice(&buffer[..bytes]),
                _ => return,
            }
        }
        let head = String::from_utf8(std::mem::take(&mut request)).unwrap();
        let body: Vec<_> = head.lines().take(2).collect();
        let body = body.join("; ");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}

fn sources(config: &mut LoadConfig, first: &str, last: &str) {
    let (first, last) = (first.parse().unwrap(), last.parse().unwrap());
    config.sources.push(SourceRange { first, last });
}

#[test]
fn an_echo_over_a_unix_socket_is_a_load_like_any_other() {
    each_engine(|engine| {
        let (_folder, path) = listen_unix(128, echo, Duration::ZERO);
        flawless(&counted(&format!("unix:{path}"), engine, 100));
        // A path may be relative to the current folder.
        let depth = std::env::current_dir().unwrap().components().count() - 1;
        let up = vec![".."; depth].join("/");
        flawless(&counted(&format!("unix:{up}{path}"), engine, 10));
    });
}

#[test]
fn http_over_a_unix_socket_still_names_the_host_and_the_path() {
    each_engine(|engine| {
        let (_folder, path) = listen_unix(128, mirror_unix, Duration::ZERO);
        let mut config = counted("http://no-such-host.invalid/a?b", engine, 20);
        config.unix_socket = Some(path);
        config.expect_body = Some("GET /a?b HTTP/1.1; Host: no-such-host.invalid".to_owned());
        flawless(&config);
    });
}

#[test]
fn a_unix_socket_whose_backlog_is_full_is_waited_for() {
    each_engine(|engine| {
        let (_folder, path) = listen_unix(1, echo, Duration::from_millis(2));
        let mut config = timed(&format!("unix:{path}"), engine, 200);
        config.connections = 100;
        let (report, connected) = load_and_count(&config);
        assert_eq!(report.errors.total(), 0, "{:?}", report.error_examples);
        assert_eq!((connected, report.reconnects), (100, 0));
        // Each connection waited until those before it were accepted.
        let connect = report.connect.unwrap();
        assert!(connect.latency_ns_max > 2_000_000, "{}", connect.latency_ns_max);
    });
}

#[test]
fn a_server_on_ipv6_is_loaded_by_its_address() {
    each_engine(|engine| {
        for speak in [Server::http, Server::tcp] {
            let server = Server::listen("[::1]:0", move |_, stream, server| {
                if speak(server).starts_with("http") {
                    answer(stream, HELLO);
                } else {
                    echo(stream);
                }
            });
            let target = speak(&server.unwrap());
            assert!(target.contains("://[::1]:"), "{target}");
            let mut config = counted(&target, engine, 50);
            sources(&mut config, "::1", "::1");
            flawless(&config);
        }
    });
}

#[test]
fn of_the_addresses_of_a_name_the_one_that_answers_is_loaded() {
    each_engine(|engine| {
        for found in ("localhost", 0).to_socket_addrs().unwrap() {
            let server = Server::listen(&found.to_string(), |_, stream, _| answer(stream, HELLO));
            let url = server.unwrap().http();
            let port = url.rsplit(':').next().unwrap();
            flawless(&counted(&format!("http://localhost:{port}"), engine, 20));
        }
    });
}

#[test]
fn connections_come_from_the_sources_in_turn_also_when_they_are_made_again() {
    each_engine(|engine| {
        let peers = Arc::new(Mutex::new(BTreeMap::<IpAddr, usize>::new()));
        let seen = Arc::clone(&peers);
        let server = Server::start(move |number, stream, _| {
            if number > 0 {
                let peer = stream.peer_addr().unwrap().ip();
                *seen.lock().unwrap().entry(peer).or_default() += 1;
            }
            answer(stream, HELLO);
        });
        let mut config = counted(&server.http(), engine, 40);
        sources(&mut config, "127.0.0.2", "127.0.0.3");
        sources(&mut config, "127.0.0.9", "127.0.0.9");
        (config.connections, config.requests_per_connection) = (6, Some(2));
        flawless(&config);
        let peers = peers.lock().unwrap();
        let addresses: Vec<_> = peers.keys().map(ToString::to_string).collect();
        assert_eq!(addresses, ["127.0.0.2", "127.0.0.3", "127.0.0.9"]);
        // Two of six connections each at the start; whose requests come next is up to the scheduler.
        assert!(peers.values().all(|count| *count >= 2), "{peers:?}");
        assert!(peers.values().sum::<usize>() >= 20, "{peers:?}");
    });
}
