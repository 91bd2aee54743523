//! Processes that are stopped (SIGSTOP) in mid load: the server's silence and the generator's own
//! must both be seen in the report.

use crate::world::{Running, World};
use rustix::process::Signal;
use std::{thread, time::Duration};
use wirebench_schema::load::{LoadEvent, LoadReport};

/// A built-in server that is a process of its own, and its URL.
fn server(world: &World) -> (Running, String) {
    let mut server = world.start(&["null-server", "epoll", "hello", "127.0.0.1", "0", "1"]);
    let url = format!("http://{}/", server.address());
    (server, url)
}

/// The report of a load to which this is done once its connections stand.
fn report_of(world: &World, arguments: &[&str], meanwhile: impl Fn(&Running)) -> LoadReport {
    let mut load = world.start(&[&["load", "--events"], arguments].concat());
    assert!(load.first_line().contains("connected"));
    meanwhile(&load);
    let outcome = load.end();
    let last = outcome.stdout.lines().last().unwrap_or_default();
    match serde_json::from_str(last) {
        Ok(LoadEvent::Report(report)) => *report,
        other => panic!("{other:?} in {outcome:#?}"),
    }
}

#[test]
fn a_server_that_is_stopped_in_mid_load_shows_as_timeouts() {
    let world = World::that_sends();
    for engine in ["epoll", "auto"] {
        let (server, url) = server(&world);
        let arguments = ["--engine", engine, "-c4", "-d", "1500ms", "--timeout", "200ms", &url];
        let report = report_of(&world, &arguments, |_| {
            thread::sleep(Duration::from_millis(300));
            server.signal(Signal::STOP);
        });
        // The kernel still takes connections for it, so each of the four times out again and again.
        assert!(report.errors.timeout >= 8, "{:?}", report.errors);
        let latency = report.latency.unwrap();
        assert!(latency.censored >= 8 && latency.latency_ns_max >= 199_000_000, "{latency:?}");
        server.signal(Signal::CONT);
    }
}

#[test]
fn a_generator_that_is_stopped_says_for_how_long() {
    let world = World::that_sends();
    let (_server, url) = server(&world);
    let arguments = ["-t1", "-c2", "-d", "1500ms", "--warmup", "100ms", "--timeout", "5s", &url];
    let report = report_of(&world, &arguments, |load| {
        thread::sleep(Duration::from_millis(500));
        load.signal(Signal::STOP);
        thread::sleep(Duration::from_millis(400));
        load.signal(Signal::CONT);
    });
    assert!(report.stall_ns_max >= 250_000_000, "{}", report.stall_ns_max);
    assert_eq!(report.errors.total(), 0, "{:?}", report.error_examples);
}
