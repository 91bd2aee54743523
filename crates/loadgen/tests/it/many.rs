//! Thousands of connections, as many as the open files of this process allow for both ends.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{io, net::SocketAddr, num::NonZeroU32, sync::mpsc, thread};
use wirebench_nullserver::{Engine, Options, Scenario, serve_announcing};
use wirebench_schema::load::SourceRange;

use crate::{each_engine, load_and_count, timed};

/// Connections at most; each takes two files here.
const MANY: u64 = 3000;

/// Files for everything else, also of tests that run at the same time.
const OTHERS: u64 = 500;

/// As many connections as both ends have files for.
fn many() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current < maximum || maximum.is_none() {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    }
    let files = maximum.unwrap_or(u64::MAX);
    // Two loads with both their ends may run at the same time.
    usize::try_from((files.saturating_sub(OTHERS) / 4).min(MANY)).unwrap().max(20)
}

/// The built-in server, on threads of this process.
fn echo_server() -> SocketAddr {
    let (announced, address) = mpsc::channel();
    let options = Options {
        engine: Engine::Epoll,
        scenario: Scenario::Echo,
        host: [127, 0, 0, 1].into(),
        port: 0,
        workers: NonZeroU32::MIN,
        timeout_ms: None,
        body_bytes: 0,
        extra_work: 0,
    };
    thread::spawn(move || {
        let announce = |address| announced.send(address).map_err(io::Error::other);
        serve_announcing(&options, announce)
    });
    address.recv().unwrap()
}

#[test]
fn thousands_of_connections_from_several_addresses_all_stand_and_all_carry_requests() {
    let many = many();
    let address = echo_server();
    each_engine(|engine| {
        let mut config = timed(&format!("tcp://{address}"), engine, 500);
        config.connections = many;
        let (first, last) = ([127, 0, 0, 2].into(), [127, 0, 0, 4].into());
        config.sources = vec![SourceRange { first, last }];
        let (report, connected) = load_and_count(&config);
        assert_eq!((connected, report.errors.total()), (many, 0), "{:?}", report.error_examples);
        assert_eq!(report.reconnects, 0);
        assert!(report.requests > 0);
    });
}

#[test]
fn idle_connections_stay_open_until_the_load_ends() {
    let many = many();
    let address = echo_server();
    each_engine(|engine| {
        let mut config = timed(&format!("tcp://{address}"), engine, 500);
        (config.connections, config.idle_connections) = (16, many - 16);
        let (report, connected) = load_and_count(&config);
        assert_eq!((connected, report.errors.total()), (16, 0), "{:?}", report.error_examples);
        assert!(report.requests > 0);
        assert_eq!((report.idle.made, report.idle.lost), (many as u64 - 16, 0));
    });
}

#[test]
fn many_connections_that_are_closed_and_made_again_all_the_time_are_a_load_without_errors() {
    let many = many() / 10;
    let address = echo_server();
    each_engine(|engine| {
        let mut config = timed(&format!("tcp://{address}"), engine, 300);
        (config.connections, config.requests_per_connection) = (many, Some(3));
        let (first, last) = ([127, 0, 0, 5].into(), [127, 0, 0, 9].into());
        config.sources = vec![SourceRange { first, last }];
        let (report, connected) = load_and_count(&config);
        assert_eq!((connected, report.errors.total()), (many, 0), "{:?}", report.error_examples);
        assert!(report.requests > 0);
    });
}
