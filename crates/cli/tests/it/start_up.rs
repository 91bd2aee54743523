//! Start-up times of real servers, one of which waits before it listens.

use crate::{
    ab::{SHORT, assert_fine},
    world::{World, program},
};
use serde_json::Value;
use std::fs;

/// How long the second server waits.
const WAIT_NS: f64 = 0.4e9;

#[test]
fn a_server_that_waits_before_it_listens_takes_at_least_as_long_in_every_cohort() {
    let server =
        format!("{} null-server epoll hello {{host}} {{port}} {{workers}}", program().display());
    let slow = "#!/bin/sh\nsleep 0.4\nexec \"$@\"\n";
    let world = World::new();
    let script = world.folder.path().join("slow.sh");
    fs::write(&script, slow).unwrap();
    let slow = format!("sh {} {server}", script.display());
    let wanted = ["--a", &server, "--b", &slow, "--metric=ready", "--cohorts=3", "--json"];
    let outcome = world.wirebench(&[&SHORT[..], &wanted].concat());
    assert_fine(&outcome);
    let ab: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(ab["metric"], "ready_ns", "{ab:#}");
    let sentence = ab["sentence"].as_str().unwrap();
    let is_known =
        ["time to start", "not ", "inconclusive: "].iter().any(|it| sentence.contains(it));
    assert!(is_known, "{sentence}");
    let rows = ab["report"]["workloads"][0]["rows"].as_array().unwrap();
    let times = |name: &str| -> Vec<f64> {
        let of_side = rows.iter().filter(|row| row["variant"] == name);
        let blocks = of_side.filter_map(|row| row["figures"]["ready_ns"]["by_block"].as_object());
        blocks.flat_map(|blocks| blocks.values().filter_map(Value::as_f64)).collect()
    };
    let [a, b] = ["ab/A", "ab/B"].map(times);
    assert!(!a.is_empty() && a.iter().all(|ns| *ns > 0.0), "{ab:#}");
    assert!(!b.is_empty() && b.iter().all(|ns| *ns >= WAIT_NS), "{ab:#}");
}
