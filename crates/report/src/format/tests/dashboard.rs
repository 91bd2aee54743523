//! The metrics that the dashboard for Grafana and the documents name are some that are printed.

use super::*;
use crate::load::{Load, LoadMetrics, tests::result};
use std::collections::BTreeSet;
use wirebench_schema::journal::Instance;

const DASHBOARD: &str = include_str!("../../../../../docs/figures/dashboard.json");
const LOAD: &str = include_str!("../../../../../docs/load.md");
const FORMATS: &str = include_str!("../../../../../docs/formats.md");

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let words = text.split(|it: char| !is_part(it));
    words.filter(|word| word.starts_with("wirebench_")).collect()
}

/// The names of the samples of a run, a load, and a running load.
fn printed() -> BTreeSet<String> {
    let mut journal = pair(0.9);
    alter(&mut journal, "go/net", |it| {
        it.load.errors.timeout = 1;
        it.instance = Some(Instance { ready_ns: 1, ..Instance::default() });
    });
    let result = result();
    let mut running = LoadMetrics::new(&result.report.config);
    result.intervals.iter().for_each(|interval| running.add(interval));
    let load = Load { result: &result, machine: None, gate: None };
    let of_load = Format::Openmetrics.write(&load, None).text;
    let texts = [written(&journal, Format::Openmetrics), of_load, running.text()];
    let samples = texts.iter().flat_map(|text| text.lines()).filter(|it| !it.starts_with('#'));
    samples.filter_map(|it| Some(it.split_once('{')?.0.to_owned())).collect()
}

#[test]
fn the_dashboard_and_the_documents_name_metrics_that_are_printed() {
    let printed = printed();
    for (text, fewest) in [(DASHBOARD, 8), (LOAD, 8), (FORMATS, 4)] {
        // Documents name the family of a histogram.
        let named: Vec<&str> = names(text).into_iter().collect();
        let is_printed =
            |it: &&&str| printed.contains(**it) || printed.contains(&format!("{it}_bucket"));
        let unknown: Vec<_> = named.iter().filter(|it| !is_printed(it)).collect();
        assert!(unknown.is_empty() && named.len() >= fewest, "{unknown:?} {named:?}");
    }
}

#[test]
fn the_dashboard_is_json_and_each_panel_has_a_query_and_a_place_of_its_own() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let places: BTreeSet<String> = panels.iter().map(|it| it["gridPos"].to_string()).collect();
    assert_eq!(places.len(), panels.len());
    for panel in panels.iter().filter(|it| it["type"] != "row") {
        assert!(panel["targets"][0]["expr"].is_string(), "{panel}");
    }
}
