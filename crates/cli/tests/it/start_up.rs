//! Start-up times of real servers, one of which waits before it listens.

use crate::{ab::SHORT, servers::null_server, world::World};
use serde_json::Value;
use std::fs;
use wirebench_schema::journal::EndReason;

/// How long the second server waits.
const WAIT_NS: f64 = 0.4e9;

/// A server, and the command of one that waits before it starts it.
fn servers(world: &World) -> [String; 2] {
    let server = null_server("epoll", "hello");
    let script = world.path("slow.sh");
    fs::write(&script, "#!/bin/sh\nsleep 0.4\nexec \"$@\"\n").unwrap();
    let slow = format!("sh {} {server}", script.display());
    [server, slow]
}

#[test]
fn a_server_that_waits_before_it_listens_takes_at_least_as_long_in_every_cohort() {
    let world = World::new();
    let [server, slow] = servers(&world);
    let wanted = ["--a", &server, "--b", &slow, "--metric=ready", "--cohorts=3", "--json"];
    let outcome = world.wirebench(&[&SHORT[..], &wanted].concat()).ended(0);
    let ab: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(ab["loads"][0]["primary_metric"], "ready_ns", "{ab:#}");
    let sentence = ab["sentence"].as_str().unwrap();
    let is_known =
        ["time to start", "not ", "inconclusive: "].iter().any(|it| sentence.contains(it));
    assert!(is_known, "{sentence}");
    let times = |side: usize| -> Vec<f64> {
        let figures = ab["cells"][side]["figures"].as_array().unwrap().iter();
        let figures = figures.filter(|it| it["metric"] == "ready_ns");
        let samples = figures.flat_map(|it| it["samples"].as_array().unwrap());
        samples.filter_map(|it| it["value"].as_f64()).collect()
    };
    let [a, b] = [0, 1].map(times);
    assert!(!a.is_empty() && a.iter().all(|ns| *ns > 0.0), "{ab:#}");
    assert!(!b.is_empty() && b.iter().all(|ns| *ns >= WAIT_NS), "{ab:#}");
}

#[test]
fn a_comparison_ends_when_its_answer_is_known_or_its_time_is_over() {
    let world = World::new();
    let [server, slow] = servers(&world);
    let wanted = ["--a", &server, "--b", &slow, "--metric=ready", "--budget=20s"];
    let outcome = world.wirebench(&[&SHORT[..], &wanted].concat());
    let journal = world.journal();
    let cohorts: Vec<u32> = journal.looks.iter().map(|look| look.cohorts).collect();
    assert_eq!(cohorts[0], 3);
    assert!(cohorts.is_sorted() && journal.looks.is_sorted_by_key(|look| look.share));
    let made = journal.runs.iter().map(|run| run.block + 1).max();
    assert_eq!(cohorts.last().copied(), made);
    let is_decided = journal.end.unwrap().reason == EndReason::Decided;
    let says_so = outcome.stdout.contains(&format!(", decided at look {})", cohorts.len()));
    assert_eq!(says_so, is_decided, "{outcome:#?}");
    assert!(is_decided || journal.looks.last().unwrap().share >= 1.0);
}
