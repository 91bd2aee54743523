//! The summary of a load: it has one server, the target, and no interval.

use wirebench_judge::load::verdict;
use wirebench_schema::{
    environment::Environment,
    load::{LoadConfig, LoadResult},
};

use super::{
    LoadPoint, Summary,
    summary::{FORMAT, digest, machine},
};
use crate::{
    load::{doubts, sentence},
    load_words,
    screen::Point,
    table_units::count,
};

/// The summary of a load of which `id` is the digest.
#[must_use]
pub fn load_summary(id: &str, result: &LoadResult, environment: Option<&Environment>) -> Summary {
    let LoadResult { report, started, labels, .. } = result;
    let LoadConfig { target, method, headers, body, requests, .. } = &report.config;
    let doubts = doubts(report);
    let not_valid = if doubts.is_empty() { "" } else { "; not valid: " };
    let figure = sentence(report);
    let outcome =
        format!("{}{not_valid}{}", load_words::limit(verdict(report).limit), doubts.join("; "));
    let set = requests.as_ref().map(|set| (set.order, &set.requests));
    Summary {
        format: FORMAT,
        id: id.to_owned(),
        origin: id.to_owned(),
        started: started.clone(),
        labels: labels.clone(),
        suite: "load".to_owned(),
        requests: digest((method, headers, body, set)),
        sentence: format!("{target}: {figure}; limit: {outcome}"),
        machine: machine(environment),
        points: vec![Point {
            server: target.to_string(),
            load: describe(&report.config),
            figure,
            outcome,
            ..Point::default()
        }],
        load: Some(LoadPoint { requests_per_second: report.requests_per_second, doubts }),
        ..Summary::default()
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
