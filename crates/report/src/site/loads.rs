//! The loads of a site: what is kept of each, and their list by target.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wirebench_judge::load::verdict;
use wirebench_schema::{
    environment::Environment,
    labels::Labels,
    load::{LatencyFigure, LoadConfig, LoadResult},
};

use super::{
    Machine,
    summary::{FORMAT, digest, machine, version},
};
use crate::{
    chart::{Axis, Chart, ChartKind, Line, Point},
    html::{Cells, link, safe, table, text},
    load::doubts,
    load_words,
    table_units::{count, latency, thousands},
};

/// A load in a few figures.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct LoadSummary {
    /// [`FORMAT`].
    pub format: u32,
    /// The digest of its file, which is the name of its folder.
    pub id: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    #[serde(default)]
    pub labels: Labels,
    pub target: String,
    /// What was asked for, in words.
    pub load: String,
    /// A digest of the requests, with their headers: only loads with the same ones are joined.
    pub requests: String,
    pub machine: Machine,
    pub requests_per_second: f64,
    pub latency_ns_p50: Option<f64>,
    pub latency_ns_p99: Option<f64>,
    pub errors: u64,
    /// What set the rate.
    pub limit: String,
    /// Why it is not valid; empty if it is.
    pub doubts: Vec<String>,
}

/// The summary of a load of which `id` is the digest.
#[must_use]
pub fn load_summary(
    id: &str,
    result: &LoadResult,
    environment: Option<&Environment>,
) -> LoadSummary {
    let report = &result.report;
    let figure = |figure: LatencyFigure| report.latency.as_ref().map(|it| figure.of(it));
    LoadSummary {
        format: FORMAT,
        id: id.to_owned(),
        started: result.started.clone(),
        labels: result.labels.clone(),
        target: report.config.target.to_string(),
        load: describe(&report.config),
        requests: requests(&report.config),
        machine: machine(environment),
        requests_per_second: report.requests_per_second,
        latency_ns_p50: figure(LatencyFigure::P50),
        latency_ns_p99: figure(LatencyFigure::P99),
        errors: report.errors.total(),
        limit: load_words::limit(verdict(report).limit).to_owned(),
        doubts: doubts(report),
    }
}

/// `20000 requests/s, 64 connections, 10s test`
fn describe(config: &LoadConfig) -> String {
    let connections = count(config.connections, "connection");
    let test = load_words::test(config.stop);
    let mut text = format!("{}, {connections}, {test}", load_words::describe_model(&config.model));
    if config.method != "GET" {
        text += &format!(", {}", config.method);
    }
    let set = config.requests.as_ref();
    text.extend(set.map(|set| format!(", requests: {}", load_words::requests(set))));
    text
}

fn requests(config: &LoadConfig) -> String {
    let set = config.requests.as_ref().map(|set| (set.order, &set.requests));
    digest((&config.method, &config.headers, &config.body, set))
}

/// The path of the page of a load.
fn path(id: &str) -> String {
    format!("loads/{id}/index.html")
}

/// All loads, which are in the order of their start, by target; nothing without one.
pub(super) fn section(loads: &[LoadSummary]) -> Markup {
    let mut targets: BTreeMap<&str, Vec<&LoadSummary>> = BTreeMap::new();
    for load in loads {
        targets.entry(&load.target).or_default().push(load);
    }
    html! {
        @if !loads.is_empty() {
            section {
                h2 { "Loads" }
                p.legend { "Each is one load, so a difference between two of them has no interval: it may be noise." }
                @for (target, loads) in &targets {
                    h3 { bdi { (safe(target)) } }
                    @if let Some(picture) = picture(target, loads) { (picture) }
                    (list(target, loads))
                }
            }
        }
    }
}

/// The rates of loads that were asked for alike, over their place among all loads of the target; none
/// without two of them.
fn picture(target: &str, loads: &[&LoadSummary]) -> Option<Markup> {
    let mut kinds: BTreeMap<(&str, &str, &Machine), Vec<Point>> = BTreeMap::new();
    for (number, load) in (1_u32..).zip(loads) {
        let at = (f64::from(number), load.requests_per_second);
        let point = Point { is_hollow: !load.doubts.is_empty(), ..Point::new(at) };
        kinds.entry((&load.load, &load.requests, &load.machine)).or_default().push(point);
    }
    kinds.retain(|_, points| points.len() > 1);
    let most = loads.iter().map(|it| it.requests_per_second).fold(0.0, f64::max);
    let lines: Vec<Line> = (0..)
        .zip(kinds)
        .map(|(place, ((load, ..), points))| Line { name: load.to_owned(), place, points })
        .collect();
    let x = Axis::numbered("load", loads.len() as f64);
    let y = Axis::linear("requests/s", most, thousands);
    let is_drawn = !lines.is_empty();
    let chart =
        Chart::new(format!("{target}: requests/s of each load"), ChartKind::Lines { x, y, lines });
    is_drawn.then(|| chart.html())
}

/// The newest first.
fn list(target: &str, loads: &[&LoadSummary]) -> Markup {
    let figures = Cells::Figures.of(["load", "started", "requests/s", "p50", "p99", "errors"]);
    let words = Cells::Words.of(["version", "limit", "asked for", "machine"]);
    let heads = [figures, words].concat();
    let time = |ns: Option<f64>| ns.map_or("-".to_owned(), latency);
    let row = |(place, load): (usize, &&LoadSummary)| {
        let doubts = match load.doubts.is_empty() {
            true => String::new(),
            false => format!("; not valid: {}", load.doubts.join("; ")),
        };
        let started = if load.started.is_empty() { "unknown" } else { &load.started };
        vec![
            text((place + 1).to_string()),
            link(&path(&load.id), started),
            text(thousands(load.requests_per_second)),
            text(time(load.latency_ns_p50)),
            text(time(load.latency_ns_p99)),
            text(thousands(load.errors as f64)),
            text(version(&load.labels)),
            text(format!("{}{doubts}", load.limit)),
            text(&load.load),
            text(&load.machine.name),
        ]
    };
    let rows: Vec<Vec<Markup>> = loads.iter().enumerate().rev().map(row).collect();
    table(&format!("loads on {target}"), &heads, &rows)
}
