//! The report of a load as a row of a table in CSV, for spreadsheets and data frames, with a row for each
//! name of its requests.
//!
//! `docs/load.md` describes the columns. New ones are added at the end.

use wirebench_judge::load::verdict;
use wirebench_schema::{
    labels::Labels,
    load::{LatencyFigure, LatencySummary, LoadReport, LoadResult, RateCurve},
};

use self::Cell::{Each, Whole};
use crate::{
    by_name::{RequestFigures, requests},
    escape, load_words,
};

/// What a row is about: a whole load, or its requests of one name.
struct Subject<'a> {
    report: &'a LoadReport,
    started: &'a str,
    labels: &'a Labels,
    of: RequestFigures<'a>,
}

/// The content of a cell.
enum Cell {
    /// Of a whole load, and of the requests of one name.
    Each(fn(&Subject<'_>) -> String),
    /// Of a whole load alone.
    Whole(fn(&Subject<'_>) -> String),
}

/// Name and content of each column.
const COLUMNS: &[(&str, Cell)] = &[
    ("started", Each(|it| it.started.to_owned())),
    ("wirebench", Each(|it| it.report.wirebench.clone())),
    ("target", Each(|it| it.report.config.target.to_string())),
    ("engine", Each(|it| it.report.engine.name().to_owned())),
    ("model", Each(|it| load_words::model(&it.report.config.model).to_owned())),
    ("arrivals", Each(|it| load_words::arrivals(&it.report.config.model).to_owned())),
    ("rates", Each(|it| rates(it.report))),
    ("threads", Each(|it| it.report.config.threads.to_string())),
    ("connections", Each(|it| it.report.config.connections.to_string())),
    ("idle_connections", Each(|it| it.report.config.idle_connections.to_string())),
    ("pipeline", Each(|it| it.report.config.pipeline.to_string())),
    ("requests_per_connection", Each(|it| optional(it.report.config.requests_per_connection))),
    ("payload_bytes", Each(|it| payload(it.report))),
    ("window_ns", Each(|it| it.report.window_ns.to_string())),
    ("interrupted", Each(|it| it.report.interrupted.to_string())),
    ("requests", Each(|it| it.of.requests.to_string())),
    ("requests_per_second", Each(|it| number(it.of.requests_per_second))),
    ("bytes_received", Whole(|it| it.report.bytes_received.to_string())),
    ("bytes_sent", Whole(|it| it.report.bytes_sent.to_string())),
    ("errors", Each(|it| it.of.errors.to_string())),
    ("timeouts", Whole(|it| it.report.errors.timeout.to_string())),
    ("due", Whole(|it| optional(it.report.offered.map(|offered| offered.due)))),
    ("owed_at_end", Whole(|it| optional(it.report.offered.map(|offered| offered.owed_at_end)))),
    ("latency_samples", Each(|it| latency(it.of.latency, |latency| latency.count))),
    ("latency_censored", Each(|it| latency(it.of.latency, |latency| latency.censored))),
    ("latency_ns_mean", Each(|it| of(it.of.latency, |l| number(l.latency_ns_mean)))),
    ("latency_ns_stdev", Each(|it| of(it.of.latency, |l| number(l.latency_ns_stdev)))),
    ("latency_ns_min", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_min))),
    ("latency_ns_p50", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p50))),
    ("latency_ns_p75", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p75))),
    ("latency_ns_p90", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p90))),
    ("latency_ns_p95", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p95))),
    ("latency_ns_p99", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p99))),
    ("latency_ns_p999", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_p999))),
    ("latency_ns_max", Each(|it| latency(it.of.latency, |latency| latency.latency_ns_max))),
    ("service_ns_p50", Whole(|it| latency(it.report.service.as_ref(), |it| it.latency_ns_p50))),
    ("service_ns_p99", Whole(|it| latency(it.report.service.as_ref(), |it| it.latency_ns_p99))),
    ("lag_ns_p99", Whole(|it| latency(it.report.lag.as_ref(), |it| it.latency_ns_p99))),
    ("connect_ns_p50", Whole(|it| latency(it.report.connect.as_ref(), |it| it.latency_ns_p50))),
    ("connect_ns_p99", Whole(|it| latency(it.report.connect.as_ref(), |it| it.latency_ns_p99))),
    ("connections_made", Whole(|it| it.report.connections_made.to_string())),
    ("reconnects", Whole(|it| it.report.reconnects.to_string())),
    ("in_flight_at_end", Whole(|it| it.report.in_flight_at_end.to_string())),
    ("jain_index", Whole(|it| number(it.report.fairness.jain_index))),
    ("ready_share", Whole(|it| number(it.report.ready_share))),
    ("busiest_thread_share", Whole(|it| number(it.report.busiest_thread_share()))),
    ("stall_ns_max", Whole(|it| it.report.stall_ns_max.to_string())),
    ("stall_ns_total", Whole(|it| it.report.stall_ns_total.to_string())),
    ("throttled_ns", Whole(|it| it.report.throttled_ns.unwrap_or(0).to_string())),
    (
        "ceiling_requests_per_second",
        Whole(|it| of(it.report.ceiling_requests_per_second.as_ref(), |ceiling| number(*ceiling))),
    ),
    ("limit", Whole(|it| verdict(it.report).limit.name().to_owned())),
    ("latency_lower_bounds", Each(|it| of(it.of.latency, lower_bounds))),
    ("service_lower_bounds", Whole(|it| of(it.report.service.as_ref(), lower_bounds))),
    ("request", Each(|it| it.of.name.unwrap_or_default().to_owned())),
    ("label", Each(|it| it.labels.label.clone().unwrap_or_default())),
    ("revision", Each(|it| it.labels.revision.clone().unwrap_or_default())),
];

#[must_use]
pub fn header() -> String {
    record(COLUMNS.iter().map(|(name, _)| (*name).to_owned()))
}

/// The line of one load, and one for each name of its requests.
#[must_use]
pub fn rows(result: &LoadResult) -> String {
    let LoadResult { report, started, labels, .. } = result;
    requests(report).map(|of| row(&Subject { report, started, labels, of })).collect()
}

fn row(subject: &Subject<'_>) -> String {
    record(COLUMNS.iter().map(|(_, cell)| match cell {
        Each(cell) => cell(subject),
        Whole(cell) if subject.of.name.is_none() => cell(subject),
        Whole(_) => String::new(),
    }))
}

pub(crate) fn record(cells: impl Iterator<Item = String>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail, and there is nothing but UTF-8.
    let _ = writer.write_record(cells.map(|it| escape::csv(&it)));
    writer
        .into_inner()
        .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn of<T>(value: Option<&T>, write: impl Fn(&T) -> String) -> String {
    value.map_or_else(String::new, write)
}

fn optional(value: Option<u64>) -> String {
    of(value.as_ref(), u64::to_string)
}

fn latency(summary: Option<&LatencySummary>, field: impl Fn(&LatencySummary) -> u64) -> String {
    of(summary, |latency| field(latency).to_string())
}

fn lower_bounds(latency: &LatencySummary) -> String {
    LatencyFigure::lower_bounds(latency).map(LatencyFigure::name).collect::<Vec<_>>().join("/")
}

fn number(value: f64) -> String {
    format!("{value:.3}")
}

fn rates(report: &LoadReport) -> String {
    use wirebench_schema::load::LoadModel;
    let LoadModel::Rate { curve, .. } = &report.config.model else { return String::new() };
    let between = if matches!(curve, RateCurve::Ramp(..)) { ":" } else { "," };
    curve.rates().iter().map(f64::to_string).collect::<Vec<_>>().join(between)
}

fn payload(report: &LoadReport) -> String {
    let has_payload = report.config.target.protocol().traits().has_payload;
    if has_payload { report.config.payload_bytes.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::tests::summary_of;
    use std::collections::BTreeMap;
    use wirebench_schema::load::{
        Arrivals, EngineChoice, LatencyOrigin, LoadConfig, LoadModel, NamedRequests,
    };

    /// The rows by the names of their columns, as a reader of CSV sees them.
    fn read(report: &LoadReport) -> Vec<BTreeMap<String, String>> {
        let text = header()
            + &rows(&LoadResult {
                started: "2026-01-02T03:04:05Z".to_owned(),
                labels: Labels { label: Some("v1.2".to_owned()), revision: None },
                report: report.clone(),
                ..LoadResult::default()
            });
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let names = reader.headers().unwrap().clone();
        let pair = |row: csv::StringRecord| {
            assert_eq!(row.len(), names.len());
            names.iter().zip(row.iter()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
        };
        reader.records().map(|row| pair(row.unwrap())).collect()
    }

    fn report(target: &str) -> LoadReport {
        let config = LoadConfig::new(target.parse().unwrap());
        LoadReport::new("0.1.0".into(), config, EngineChoice::Epoll)
    }

    #[test]
    fn a_row_has_what_was_asked_and_what_was_measured() {
        let mut report = report("http://127.0.0.1:80/a,b");
        report.config.model = LoadModel::Rate {
            curve: RateCurve::Steps(vec![10, 20]),
            arrivals: Arrivals::Poisson,
            latency_from: LatencyOrigin::Due,
        };
        (report.requests, report.requests_per_second) = (150, 14.999_96);
        report.latency = Some(summary_of(&(1..=1000).collect::<Vec<_>>(), 7));
        let rows = read(&report);
        let [row] = &rows[..] else { panic!("{rows:?}") };
        let cells = [
            ("started", "2026-01-02T03:04:05Z"),
            ("label", "v1.2"),
            ("revision", ""),
            ("target", "http://127.0.0.1:80/a,b"),
            ("model", "steps"),
            ("arrivals", "poisson"),
            ("rates", "10,20"),
            ("requests", "150"),
            ("requests_per_second", "15.000"),
            ("latency_ns_p99", "990"),
            ("latency_censored", "7"),
            ("latency_lower_bounds", "p999/max/mean"),
            ("service_lower_bounds", ""),
            ("payload_bytes", ""),
            ("ceiling_requests_per_second", ""),
            ("request", ""),
        ];
        for (name, value) in cells {
            assert_eq!(row[name], value, "{name}");
        }
    }

    #[test]
    fn each_name_has_a_row_with_its_own_figures_and_those_of_the_load_are_empty() {
        let mut report = report("http://127.0.0.1:80/");
        (report.requests, report.connections_made) = (30, 4);
        let latency = Some(summary_of(&(1..=10).collect::<Vec<_>>(), 0));
        let named = |name: &str, requests| NamedRequests {
            name: name.to_owned(),
            requests,
            errors: 3,
            latency: latency.clone(),
            ..NamedRequests::default()
        };
        report.by_name = vec![named("GET /", 10), named("=1+1", 20)];
        let rows = read(&report);
        let cells = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
        assert_eq!(cells("request"), ["", "GET /", "'=1+1"]);
        assert_eq!(cells("target"), ["http://127.0.0.1:80/"; 3]);
        assert_eq!(cells("requests"), ["30", "10", "20"]);
        assert_eq!(cells("errors"), ["0", "3", "3"]);
        assert_eq!(cells("latency_ns_max"), ["", "10", "10"]);
        assert_eq!(cells("connections_made"), ["4", "", ""]);
        assert_eq!(cells("limit"), ["unknown", "", ""]);
    }

    #[test]
    fn what_was_not_measured_is_empty() {
        let rows = read(&report("tcp://127.0.0.1:80"));
        let row = &rows[0];
        assert_eq!(row["payload_bytes"], "64");
        for name in ["latency_ns_p50", "service_ns_p99", "due", "rates", "connect_ns_p50"] {
            assert_eq!(row[name], "", "{name}");
        }
    }

    #[test]
    fn the_manual_describes_every_column() {
        let manual = include_str!("../../../docs/load.md");
        for (name, _) in COLUMNS {
            assert!(manual.contains(&format!("`{name}`")), "docs/load.md lacks the column {name}");
        }
    }
}
