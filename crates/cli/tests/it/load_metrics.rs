//! `load --metrics` and `load --openmetrics`: what Prometheus scrapes while a load runs and finds after it.

use crate::{
    load::served,
    world::{Outcome, Running, World, assert_has, entries, program},
};
use rustix::process::Signal;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
};

const METRICS: [&str; 6] = ["load", "-c2", "--interval", "100ms", "--metrics", "localhost:0"];

/// Starts a load that serves its metrics, and gives their address.
fn started(world: &World, arguments: &[&str]) -> (Running, String) {
    let load = world.start(&[&METRICS, arguments].concat());
    with_address(load)
}

/// A load that serves its metrics, and their address.
fn with_address(mut load: Running) -> (Running, String) {
    let mut line = String::new();
    // A byte at a time, so that what follows is left for the outcome.
    let mut stderr = BufReader::with_capacity(1, load.child.stderr.as_mut().unwrap());
    stderr.read_line(&mut line).unwrap();
    let address =
        line.strip_prefix("metrics: http://").and_then(|it| it.strip_suffix("/metrics\n"));
    (load, address.expect(&line).to_owned())
}

/// The head and the body of the answer to a scrape.
fn scrape(address: &str) -> (String, String) {
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut reply = String::new();
    client.read_to_string(&mut reply).unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

/// The sum of the samples of a metric.
fn sum(text: &str, metric: &str) -> f64 {
    let samples = text.lines().filter(|line| line.starts_with(&format!("{metric}{{")));
    samples.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
}

/// Scrapes until the load has answered more requests than `before`.
fn scraped_after(world: &World, address: &str, before: f64) -> (String, f64) {
    world.wait(|| {
        let (head, body) = scrape(address);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        let media_type = "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert!(head.lines().any(|line| line == media_type), "{head}");
        assert!(body.ends_with("# EOF\n"), "{body}");
        let requests = sum(&body, "wirebench_load_requests_total");
        (requests > before).then_some((body, requests))
    })
}

#[test]
fn metrics_rise_while_a_load_runs_and_end_with_it() {
    let (world, _server, url) = served("hello");
    let (load, address) = started(&world, &["-d120s", "--warmup", "200ms", &url]);
    let (first, requests) = scraped_after(&world, &address, 0.0);
    let (second, _) = scraped_after(&world, &address, requests);
    for metric in ["wirebench_load_received_bytes_total", "wirebench_load_latency_seconds_bucket"] {
        assert!(sum(&second, metric) > sum(&first, metric), "{metric}: {first} {second}");
    }
    assert_eq!(sum(&second, "wirebench_load_connections").to_string(), "2");
    let server = format!("server=\"{url}\"");
    assert_has(&second, &[&server, "part=\"warmup\"", "wirebench_throughput_requests_per_second{"]);
    load.signal(Signal::INT);
    load.end().assert_prints(130, &["  Interrupted: ", "Requests/sec:"]);
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn a_load_ends_as_without_metrics_while_a_client_is_silent() {
    let (world, _server, url) = served("hello");
    let (load, address) = started(&world, &["-d300ms", &url]);
    let _silent = TcpStream::connect(&address).unwrap();
    load.end().assert_prints(0, &["Requests/sec:"]);
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
#[ignore = "needs two CPUs"]
fn clients_are_answered_on_cpus_that_the_load_may_not_use_with_two_cpus() {
    let (world, _server, url) = served("hello");
    let cpu = wirebench_sys::affinity::current().unwrap()[0].to_string();
    let mut command = std::process::Command::new("taskset");
    command.args(["-c", &cpu]).arg(program()).args(METRICS).args(["-d120s", &url]);
    let (load, address) = with_address(Running::of(command));
    scraped_after(&world, &address, 0.0);
    // taskset has become the load.
    let tasks = entries(Path::new(&format!("/proc/{}/task", load.child.id())));
    let cpus_of = |task: &PathBuf| {
        let read = |name: &str| fs::read_to_string(task.join(name)).unwrap();
        let status = read("status");
        let line = status.lines().find_map(|it| it.strip_prefix("Cpus_allowed_list:"));
        (read("comm").trim() == "metrics", line.unwrap().trim().to_owned())
    };
    let (own, others): (Vec<_>, Vec<_>) =
        tasks.iter().map(cpus_of).partition(|(is_metrics, _)| *is_metrics);
    assert!(own.len() == 1 && own[0].1 != cpu, "{own:?}");
    assert!(others.len() > 1 && others.iter().all(|(_, cpus)| *cpus == cpu), "{others:?}");
}

#[test]
fn metrics_are_served_to_this_host_only_and_at_a_free_port() {
    let world = World::new();
    let refused = |address: &str| -> Outcome {
        world.wirebench(&["load", "--metrics", address, "tcp://127.0.0.1:1"])
    };
    let parts = ["`0.0.0.0:9100` is not a loopback address", "use 127.0.0.1:9100"];
    refused("0.0.0.0:9100").assert_refused(2, &parts);
    refused("9100").assert_refused(2, &["write it like 127.0.0.1:9100"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let expected = format!(
        "--metrics {address}: choose another port, or 0 for a free one: Address already in use (os error 98)"
    );
    refused(&address).assert_error(1, &expected);
}

#[test]
fn the_openmetrics_of_a_load_are_those_of_its_result() {
    let (world, _server, url) = served("hello");
    let [requests, metrics, results] =
        ["api.jsonl", "load.om", "results"].map(|name| world.folder.path().join(name));
    fs::write(&requests, "{\"path\": \"/\", \"name\": \"a \\\"b\\\"\"}\n{\"path\": \"/\"}\n")
        .unwrap();
    let [requests_given, metrics_given, results_given] =
        [&requests, &metrics, &results].map(|path| path.display().to_string());
    let words = ["load", "-c2", "-d300ms", "--requests", &requests_given];
    let outputs = ["--openmetrics", &metrics_given, "-o", &results_given, &url];
    world.wirebench(&[&words[..], &outputs].concat()).ended(0);
    let written = fs::read_to_string(metrics).unwrap();
    let named = ",phase=\"saturate\",request=\"a \\\"b\\\"\",estimate=\"value\"} ";
    assert_has(&written, &[named]);
    let folder = crate::world::result_in(&results).display().to_string();
    assert_eq!(world.stdout(&["report", &folder, "--openmetrics", "--no-redact"]), written);
    let outcome = world.wirebench(&["load", "--openmetrics", "-", &url]);
    outcome
        .assert_refused(2, &["--openmetrics `-` is no file, and standard output has the result"]);
}
