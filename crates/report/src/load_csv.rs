//! A load as lines of CSV, one for each figure and setting of its JSON, for spreadsheets and data frames.

use serde_json::Value;
use wirebench_schema::load::LoadResult;

use crate::{format::csv::record, load::judged};

const COLUMNS: [&str; 7] = ["started", "target", "label", "revision", "request", "figure", "value"];

/// A figure: the name of the requests if they have one, its place in the JSON, and its value.
type Line = (String, String, String);

#[must_use]
pub fn header() -> String {
    record(COLUMNS.into_iter().map(str::to_owned))
}

/// The lines of one load, and those of the requests of each name.
#[must_use]
pub fn rows(result: &LoadResult) -> String {
    let mut lines = Vec::new();
    // A load is plain data; it can always be written as JSON.
    add(&mut lines, "", "", &serde_json::to_value(judged(result)).unwrap_or_default());
    let label = result.labels.label.clone().unwrap_or_default();
    let revision = result.labels.revision.clone().unwrap_or_default();
    let target = result.report.config.target.to_string();
    let whole = [result.started.clone(), target, label, revision];
    let line =
        |(request, figure, value)| record(whole.iter().cloned().chain([request, figure, value]));
    lines.into_iter().map(line).collect()
}

/// Adds each value below `place`. Distributions, series and lists of sentences are in the JSON only.
fn add(lines: &mut Vec<Line>, request: &str, place: &str, value: &Value) {
    let below = |name: &str| match place {
        "" => name.to_owned(),
        place => format!("{place}.{name}"),
    };
    let text = match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| *name != "histogram");
            return fields.for_each(|(name, value)| add(lines, request, &below(name), value));
        }
        Value::Array(items) if place == "by_name" => {
            return items
                .iter()
                .for_each(|it| add(lines, it["name"].as_str().unwrap_or(""), "", it));
        }
        Value::Array(items)
            if place.starts_with("config.") || place.starts_with("lower_bounds.") =>
        {
            items.iter().filter_map(scalar).collect::<Vec<_>>().join("/")
        }
        other => scalar(other).unwrap_or_default(),
    };
    if !text.is_empty() {
        lines.push((request.to_owned(), place.to_owned(), text));
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::tests::summary_of;
    use std::collections::BTreeMap;
    use wirebench_schema::{
        labels::Labels,
        load::{EngineChoice, LoadConfig, LoadModel, LoadReport, NamedRequests, RateCurve},
    };

    /// The values by their requests and places, as a reader of CSV sees them.
    fn read(report: &LoadReport) -> BTreeMap<(String, String), String> {
        let result = LoadResult {
            started: "2026-01-02T03:04:05Z".to_owned(),
            labels: Labels { label: Some("v1.2".to_owned()), revision: None },
            report: report.clone(),
            ..LoadResult::default()
        };
        let text = header() + &rows(&result);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        assert_eq!(reader.headers().unwrap(), &COLUMNS[..]);
        let line = |row: csv::StringRecord| {
            assert_eq!((&row[0], &row[2], &row[3]), ("2026-01-02T03:04:05Z", "v1.2", ""));
            assert_eq!(row[1], report.config.target.to_string());
            ((row[4].to_owned(), row[5].to_owned()), row[6].to_owned())
        };
        reader.records().map(|row| line(row.unwrap())).collect()
    }

    fn report(target: &str) -> LoadReport {
        let config = LoadConfig::new(target.parse().unwrap());
        LoadReport::new("0.1.0".into(), config, EngineChoice::Epoll)
    }

    #[test]
    fn each_setting_and_each_figure_has_a_line() {
        let mut report = report("http://127.0.0.1:80/a,b");
        report.config.model = LoadModel::rate(RateCurve::steps([10, 20]));
        (report.requests, report.requests_per_second) = (150, 14.999_96);
        report.latency = Some(summary_of(&(1..=1000).collect::<Vec<_>>(), 7));
        let lines = read(&report);
        let value = |figure: &str| lines.get(&(String::new(), figure.to_owned()));
        for (figure, expected) in [
            ("config.model.rate.curve.steps", "10/20"),
            ("config.connections", "10"),
            ("engine", "epoll"),
            ("interrupted", "false"),
            ("requests", "150"),
            ("requests_per_second", "14.99996"),
            ("latency.latency_ns_p99", "990"),
            ("latency.censored", "7"),
            ("lower_bounds.latency", "p999/max/mean"),
            ("verdict.limit", "server"),
        ] {
            assert_eq!(value(figure).map(String::as_str), Some(expected), "{figure}: {lines:?}");
        }
        assert_eq!(["latency.histogram", "service", "offered"].map(value), [None; 3]);
    }

    #[test]
    fn the_requests_of_each_name_have_lines_of_their_own() {
        let mut report = report("http://127.0.0.1:80/");
        report.requests = 30;
        let latency = Some(summary_of(&(1..=10).collect::<Vec<_>>(), 0));
        let named = |name: &str, requests| NamedRequests {
            name: name.to_owned(),
            requests,
            latency: latency.clone(),
            ..NamedRequests::default()
        };
        report.by_name = vec![named("GET /", 10), named("=1+1", 20)];
        let lines = read(&report);
        let value =
            |(name, figure): (&str, &str)| lines[&(name.to_owned(), figure.to_owned())].clone();
        let cells = [("", "requests"), ("GET /", "requests"), ("'=1+1", "requests")].map(value);
        assert_eq!(cells, ["30", "10", "20"]);
        assert_eq!(value(("GET /", "latency.latency_ns_max")), "10");
    }
}
