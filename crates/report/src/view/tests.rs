//! The JSON of fixture journals, read as another program would read it.

use serde_json::{Value, json};
use std::collections::BTreeSet;

use crate::fixtures::{
    add_reason, alter, alter_last, assert_golden, failed, journal, pair, reason, run,
};
use crate::{
    Details, Report as _,
    analysis::{Analysis, Metric, MetricFacts},
    schemas::tests::valid,
    screen::Facts,
};
use wirebench_schema::journal::{Bound, Journal, ReasonKind, Run, Weight};

fn parsed(journal: &Journal) -> Value {
    let (analysis, facts) = (&Analysis::of(journal), Facts::default());
    valid("result", &Details { analysis, metric: None, facts }.json())
}

/// The cell of all requests of a server.
pub(crate) fn cell_of<'a>(result: &'a Value, server: &str, copy: u32) -> &'a Value {
    let cells = result["cells"].as_array().unwrap();
    let mine = |it: &&Value| it["server"] == server && it["copy"] == copy;
    cells.iter().find(mine).unwrap_or_else(|| panic!("no cell {server} in {result:#}"))
}

pub(crate) fn figure_of<'a>(cell: &'a Value, metric: &str) -> &'a Value {
    let figures = cell["figures"].as_array().unwrap();
    figures.iter().find(|it| it["metric"] == metric).unwrap_or_else(|| panic!("{metric}: {cell:#}"))
}

#[test]
fn every_ratio_is_there_by_block_with_what_follows_from_it() {
    let report = parsed(&pair(0.9));
    assert_eq!((&report["format"], &report["verb"]), (&json!(4), &json!("run")));
    let load = &report["loads"][0];
    assert_eq!(load["primary_metric"], "server_cpu_ns_per_request");
    assert_eq!(load["baseline_check"]["requests_per_second"]["state"], "passed");
    assert_eq!(report["cells"][0]["saturated"], true);
    let go = cell_of(&report, "go/net", 0);
    assert_eq!(figure_of(go, "latency_ns_p99")["ratios"][0]["margin"], 0.10);
    let figure = figure_of(go, "requests_per_second");
    let ratio = &figure["ratios"][0];
    assert_eq!((&ratio["claim"], &ratio["margin"]), (&json!("lower"), &json!(0.03)));
    assert_eq!((&ratio["to"], &ratio["valid"]), (&json!("baseline"), &json!(true)));
    assert_eq!(ratio["by_block"].as_object().unwrap().len(), 6);
    assert_eq!(figure["samples"].as_array().unwrap().len(), 6);
    assert_eq!(ratio["inconclusive"], Value::Null);
    let width =
        |name: &str| ratio[name]["high"].as_f64().unwrap() - ratio[name]["low"].as_f64().unwrap();
    assert!(width("plain_interval") < width("interval"));
    assert!(ratio["interval"]["low"].as_f64().unwrap() < ratio["value"].as_f64().unwrap());
    assert_eq!(figure["rank"], json!({"first": 2, "last": 2, "group": 2}));
    let cpu = figure_of(go, "server_cpu_ns_per_request");
    assert_eq!((&cpu["value"], &cpu["ratios"][0]["claim"]), (&json!(4250.0), &json!("same")));
    let second = cell_of(&report, "c/epoll", 1);
    assert_eq!(second["role"], "second-of-baseline");
    assert_eq!(figure_of(second, "requests_per_second")["ratios"][0]["claim"], Value::Null);
}

/// The names of all values, without numbers in lists and without the names of metrics.
fn names(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let is_metric = Metric::ALL.iter().any(|metric| metric.field() == name);
            let is_block = name.parse::<u32>().is_ok();
            let name = if is_metric { "METRIC" } else { name };
            let name = if is_block { "BLOCK" } else { name };
            names(value, &format!("{place}.{name}"), found);
        }),
        Value::Array(items) => items.iter().for_each(|it| names(it, &format!("{place}[]"), found)),
        _ => drop(found.insert(format!("{place}\n"))),
    }
}

#[test]
fn names_of_values_do_not_change() {
    let mut found = BTreeSet::new();
    names(&parsed(&pair(0.9)), "", &mut found);
    // The head of a journal has a schema of its own.
    found.retain(|name| !name.starts_with(".results[].start."));
    assert_golden("run/names.txt", &found.into_iter().collect::<String>());
}

#[test]
fn the_order_is_that_of_the_tables() {
    let mut journal = pair(1.0);
    alter(&mut journal, "go/net", |it| it.cost.cpu_ns_per_request = Some(3900.0));
    let report = parsed(&journal);
    let cells = report["cells"].as_array().unwrap();
    let names: Vec<_> = cells.iter().map(|it| (&it["server"], &it["copy"])).collect();
    let expected =
        [("go/net", 0), ("c/epoll", 0), ("c/epoll", 1)].map(|(n, c)| (json!(n), json!(c)));
    assert!(names.into_iter().eq(expected.iter().map(|(name, copy)| (name, copy))));
}

#[test]
fn what_is_not_valid_and_what_is_a_bound_is_said_of_the_row() {
    let mut journal = pair(0.9);
    for block in 0..6 {
        let is_meant = |run: &Run| run.variant.to_string() == "go/net" && run.block == block;
        let count = Some(f64::from(block + 1));
        let invalid = ReasonKind::Errors.reason(Weight::Invalid, count, "late");
        add_reason(&mut journal, is_meant, &invalid);
    }
    alter_last(&mut journal, |it| {
        it.bound = Bound::Generator;
        it.reasons.push(reason(Weight::Tail, "sent late"));
    });
    journal.runs.push(run(6, "go/net", failed("it ended")));
    let report = parsed(&journal);
    let row = cell_of(&report, "go/net", 0);
    assert_eq!((&row["valid"], &row["generator_limited"]), (&json!(false), &json!(false)));
    let runs = json!({"measured": 6, "failed": 1, "invalid": 6, "tail_invalid": 0});
    assert_eq!(row["runs"], runs);
    assert_eq!(row["bound_by"], json!(["server", "generator"]));
    let reason = &row["reasons"][0];
    assert_eq!((&reason["kind"], &reason["weight"]), (&json!("errors"), &json!("invalid")));
    let text = "1..6 requests failed (late); check the server's log";
    assert_eq!((&reason["times"], &reason["texts"][0]), (&json!(6), &json!(text)));
    assert!(row["notes"].as_array().unwrap().contains(&json!("! failed: it ended")), "{row:#}");
    assert_eq!(cell_of(&report, "c/epoll", 0)["valid"], true);
}

#[test]
fn a_journal_without_runs_is_a_report_without_rows() {
    let report = parsed(&journal());
    assert_eq!((&report["cells"], &report["results"][0]["ended"]), (&json!([]), &Value::Null));
}
