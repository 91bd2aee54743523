//! `load --openmetrics`: what Prometheus finds while a load runs and after it.

use crate::{load::served, world::assert_has};
use rustix::process::Signal;
use std::fs;

/// The sum of the samples of a metric.
fn sum(text: &str, metric: &str) -> f64 {
    let samples = text.lines().filter(|line| line.starts_with(&format!("{metric}{{")));
    samples.map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()).sum()
}

#[test]
fn metrics_rise_while_a_load_runs() {
    let (world, _server, url) = served("hello");
    let file = world.path("load.om");
    let given = file.display().to_string();
    let options = ["load", "-c2", "-d120s", "--warmup", "100ms", "--interval", "100ms"];
    let load = world.start(&[&options[..], &["--openmetrics", &given, &url]].concat());
    let after = |before: f64| {
        world.wait(|| {
            let text = fs::read_to_string(&file).unwrap_or_default();
            assert!(text.is_empty() || text.ends_with("# EOF\n"), "{text}");
            let requests = sum(&text, "wirebench_load_requests_total");
            (requests > before).then_some((text, requests))
        })
    };
    let (first, requests) = after(0.0);
    let (second, _) = after(requests);
    for metric in ["wirebench_load_received_bytes_total", "wirebench_load_latency_seconds_bucket"] {
        assert!(sum(&second, metric) > sum(&first, metric), "{metric}: {first} {second}");
    }
    assert_eq!(sum(&second, "wirebench_load_connections").to_string(), "2");
    let server = format!("server=\"{url}\"");
    assert_has(&second, &[&server, "part=\"warmup\"", "wirebench_throughput_requests_per_second{"]);
    load.signal(Signal::INT);
    load.end().assert_prints(130, &["  Interrupted: ", "Requests/sec:"]);
    assert!(!fs::read_to_string(&file).unwrap().contains("wirebench_load_requests_total"));
}

#[test]
fn the_openmetrics_of_a_load_are_those_of_its_result() {
    let (world, _server, url) = served("hello");
    world.write("api.jsonl", "{\"path\": \"/\", \"name\": \"a \\\"b\\\"\"}\n{\"path\": \"/\"}\n");
    let words = ["load", "-c2", "-d300ms", "--requests=api.jsonl"];
    let outputs = ["--openmetrics=load.om", "--output=results", &url];
    world.wirebench(&[&words[..], &outputs].concat()).ended(0);
    let written = world.read("load.om");
    let named = ",phase=\"saturate\",request=\"a \\\"b\\\"\",estimate=\"value\"} ";
    assert_has(&written, &[named]);
    let folder = crate::world::result_in(&world.path("results")).display().to_string();
    assert_eq!(world.stdout(&["report", &folder, "--format=openmetrics", "--no-redact"]), written);
    let outcome = world.wirebench(&["load", "--openmetrics", "-", &url]);
    outcome
        .assert_refused(2, &["--openmetrics `-` is no file, and standard output has the result"]);
}
