//! `wirebench load` against real servers.

use crate::world::{Running, World};
use wirebench_schema::load::LoadReport;

/// A built-in server behind `wirebench serve`, and its address.
fn serve(world: &World, scenario: &str) -> (Running, String) {
    let mut server = world.start(&["serve", "builtin/epoll", "--scenario", scenario]);
    let line = server.first_line();
    let address = line.strip_prefix("listening ").expect("a ready line").to_owned();
    (server, address)
}

fn report(world: &World, arguments: &[&str]) -> LoadReport {
    let outcome = world.wirebench(&[&["load", "--json"], arguments].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn text_has_the_layout_that_scripts_read() {
    let world = World::new();
    let (_server, address) = serve(&world, "hello");
    let url = format!("http://{address}/");
    let outcome = world.wirebench(&["load", "-t1", "-c4", "-d100ms", "-L", &url]);
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    let running = format!("Running 100ms test @ {url}");
    let parts = [
        &running,
        "1 threads and 4 connections",
        "Thread Stats",
        "50%",
        "Requests/sec:",
        "Transfer/sec:",
    ];
    for part in parts {
        assert!(outcome.stdout.contains(part), "{part:?} is missing in {outcome:#?}");
    }
}

#[test]
fn a_count_is_kept_to_the_request() {
    let world = World::new();
    let (_server, address) = serve(&world, "hello");
    let report = report(&world, &["-t2", "-c8", "-n", "10k", &format!("http://{address}/")]);
    assert_eq!((report.requests, report.errors.total()), (10_000, 0));
    assert_eq!(report.latency.unwrap().count, 10_000);
}

#[test]
fn echoes_of_any_size_are_checked() {
    let world = World::new();
    let (_server, address) = serve(&world, "echo");
    for size in ["1", "64", "256KiB"] {
        let url = format!("tcp://{address}");
        let report = report(&world, &["-c4", "-n", "200", "--payload", size, &url]);
        assert_eq!((report.requests, report.errors.total()), (200, 0), "{size}");
    }
}

#[test]
fn a_reply_that_is_not_the_expected_one_is_an_error() {
    let world = World::new();
    let (_server, address) = serve(&world, "hello");
    let url = format!("http://{address}/");
    let arguments = ["load", "-d", "10s", "--expect-body", "Hello moon!!", &url];
    let outcome = world.wirebench(&arguments);
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    assert!(outcome.stderr.contains("differs from the expected one at byte 6"), "{outcome:#?}");
}

#[test]
fn events_are_json_lines_with_the_report_last() {
    let world = World::new();
    let (_server, address) = serve(&world, "hello");
    let url = format!("http://{address}/");
    let outcome =
        world.wirebench(&["load", "--events", "-c2", "-d250ms", "--interval", "100ms", &url]);
    let events: Vec<serde_json::Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let others: Vec<&str> = names.iter().copied().filter(|name| *name != "interval").collect();
    assert_eq!(others, ["connected", "window-start", "window-end", "report"]);
    assert!(names.len() > others.len() && names.ends_with(&["report"]), "{names:?}");
}
