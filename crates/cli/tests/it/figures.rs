//! The examples of `docs/figures.md` with a real result.

use crate::world::{World, repository};
use serde_json::Value;
use std::{fs, process::Command};

/// The script of the manual.
fn script() -> &'static str {
    let manual = include_str!("../../../../docs/figures.md");
    let (_, script) = manual.split_once("```python\n").unwrap();
    script.split_once("```").unwrap().0
}

#[test]
#[ignore = "needs pandas for Debian's Python"]
fn the_script_of_the_manual_prints_the_figures_of_a_result_with_pandas() {
    let result =
        repository().join("results/2026-11-26-amd-epyc-2-cpus/quick").display().to_string();
    let world = World::new();
    let file = |name: &str, text: &str| {
        let path = world.path(name);
        fs::write(&path, text).unwrap();
        path
    };
    let csv = file("figures.csv", &world.stdout(&["report", &result, "--format=csv"]));
    let mut python = Command::new("/usr/bin/python3");
    let output = python.arg(file("servers.py", script())).arg(csv).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["load", "server", "us", "ratio", "claim"]);
    let report = world.stdout(&["report", &result, "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut expected = 0;
    let cells = report["cells"].as_array().unwrap().iter();
    for cell in cells.filter(|it| it["valid"] == true && it["role"] != "second-of-baseline") {
        let mut figures = cell["figures"].as_array().unwrap().iter();
        let figure = figures.find(|it| it["metric"] == "server_cpu_ns_per_request").unwrap();
        let us = format!("{:.2}", figure["value"].as_f64().unwrap() / 1000.0);
        let claim = figure["ratios"][0]["claim"].as_str().unwrap_or("baseline");
        let names = ["load", "server"].map(|it| cell[it].as_str().unwrap());
        let is_it = |line: &&Vec<&str>| line[..3] == [names[0], names[1], &us];
        let line = lines.iter().find(is_it).unwrap_or_else(|| panic!("{names:?} {us}: {text}"));
        assert_eq!(line.last(), Some(&claim), "{text}");
        expected += 1;
    }
    assert!(expected > 10 && lines.len() == expected + 1, "{text}");
}
