//! The report of a load as one row of a table in CSV, for spreadsheets and data frames.
//!
//! `docs/load.md` describes the columns. New ones are added at the end.

use wirebench_judge::load::verdict;
use wirebench_schema::load::{LatencyFigure, LatencySummary, LoadReport, RateCurve};

use crate::load_words;

/// What a row is made of.
struct Subject<'a> {
    report: &'a LoadReport,
    started: &'a str,
}

type Cell = fn(&Subject<'_>) -> String;

/// Name and content of each column.
const COLUMNS: &[(&str, Cell)] = &[
    ("started", |it| it.started.to_owned()),
    ("wirebench", |it| it.report.wirebench.clone()),
    ("target", |it| it.report.config.target.to_string()),
    ("engine", |it| it.report.engine.name().to_owned()),
    ("model", |it| load_words::model(&it.report.config.model).to_owned()),
    ("arrivals", |it| load_words::arrivals(&it.report.config.model).to_owned()),
    ("rates", |it| rates(it.report)),
    ("threads", |it| it.report.config.threads.to_string()),
    ("connections", |it| it.report.config.connections.to_string()),
    ("idle_connections", |it| it.report.config.idle_connections.to_string()),
    ("pipeline", |it| it.report.config.pipeline.to_string()),
    ("requests_per_connection", |it| optional(it.report.config.requests_per_connection)),
    ("payload_bytes", |it| payload(it.report)),
    ("window_ns", |it| it.report.window_ns.to_string()),
    ("interrupted", |it| it.report.interrupted.to_string()),
    ("requests", |it| it.report.requests.to_string()),
    ("requests_per_second", |it| number(it.report.requests_per_second)),
    ("bytes_received", |it| it.report.bytes_received.to_string()),
    ("bytes_sent", |it| it.report.bytes_sent.to_string()),
    ("errors", |it| it.report.errors.total().to_string()),
    ("timeouts", |it| it.report.errors.timeout.to_string()),
    ("due", |it| optional(it.report.offered.map(|offered| offered.due))),
    ("owed_at_end", |it| optional(it.report.offered.map(|offered| offered.owed_at_end))),
    ("latency_samples", |it| latency(it, |latency| latency.count)),
    ("latency_censored", |it| latency(it, |latency| latency.censored)),
    ("latency_ns_mean", |it| of(it.report.latency.as_ref(), |l| number(l.latency_ns_mean))),
    ("latency_ns_stdev", |it| of(it.report.latency.as_ref(), |l| number(l.latency_ns_stdev))),
    ("latency_ns_min", |it| latency(it, |latency| latency.latency_ns_min)),
    ("latency_ns_p50", |it| latency(it, |latency| latency.latency_ns_p50)),
    ("latency_ns_p75", |it| latency(it, |latency| latency.latency_ns_p75)),
    ("latency_ns_p90", |it| latency(it, |latency| latency.latency_ns_p90)),
    ("latency_ns_p95", |it| latency(it, |latency| latency.latency_ns_p95)),
    ("latency_ns_p99", |it| latency(it, |latency| latency.latency_ns_p99)),
    ("latency_ns_p999", |it| latency(it, |latency| latency.latency_ns_p999)),
    ("latency_ns_max", |it| latency(it, |latency| latency.latency_ns_max)),
    ("service_ns_p50", |it| of(it.report.service.as_ref(), |s| s.latency_ns_p50.to_string())),
    ("service_ns_p99", |it| of(it.report.service.as_ref(), |s| s.latency_ns_p99.to_string())),
    ("lag_ns_p99", |it| of(it.report.lag.as_ref(), |lag| lag.latency_ns_p99.to_string())),
    ("connect_ns_p50", |it| of(it.report.connect.as_ref(), |c| c.latency_ns_p50.to_string())),
    ("connect_ns_p99", |it| of(it.report.connect.as_ref(), |c| c.latency_ns_p99.to_string())),
    ("connections_made", |it| it.report.connections_made.to_string()),
    ("reconnects", |it| it.report.reconnects.to_string()),
    ("in_flight_at_end", |it| it.report.in_flight_at_end.to_string()),
    ("jain_index", |it| number(it.report.fairness.jain_index)),
    ("ready_share", |it| number(it.report.ready_share)),
    ("busiest_thread_share", |it| number(it.report.busiest_thread_share())),
    ("stall_ns_max", |it| it.report.stall_ns_max.to_string()),
    ("stall_ns_total", |it| it.report.stall_ns_total.to_string()),
    ("throttled_ns", |it| it.report.throttled_ns.unwrap_or(0).to_string()),
    ("ceiling_requests_per_second", |it| {
        of(it.report.ceiling_requests_per_second.as_ref(), |ceiling| number(*ceiling))
    }),
    ("limit", |it| verdict(it.report).limit.name().to_owned()),
    ("latency_lower_bounds", |it| of(it.report.latency.as_ref(), lower_bounds)),
    ("service_lower_bounds", |it| of(it.report.service.as_ref(), lower_bounds)),
];

#[must_use]
pub fn header() -> String {
    record(COLUMNS.iter().map(|(name, _)| (*name).to_owned()))
}

/// The line of one load, which began then.
#[must_use]
pub fn row(report: &LoadReport, started: &str) -> String {
    let subject = Subject { report, started };
    record(COLUMNS.iter().map(|(_, cell)| cell(&subject)))
}

pub(crate) fn record(cells: impl Iterator<Item = String>) -> String {
    // A spreadsheet takes what begins like this for a formula.
    let is_formula =
        |it: &str| it.starts_with(['=', '+', '-', '@', '\t', '\r']) && it.parse::<f64>().is_err();
    let cells = cells.map(|it| if is_formula(&it) { format!("'{it}") } else { it });
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing into memory does not fail, and there is nothing but UTF-8.
    let _ = writer.write_record(cells.map(String::into_bytes));
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

fn latency(it: &Subject<'_>, field: impl Fn(&LatencySummary) -> u64) -> String {
    of(it.report.latency.as_ref(), |latency| field(latency).to_string())
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
    use wirebench_schema::load::{Arrivals, EngineChoice, LatencyOrigin, LoadConfig, LoadModel};

    /// The row by the names of its columns, as a reader of CSV sees it.
    fn read(report: &LoadReport) -> BTreeMap<String, String> {
        let text = header() + &row(report, "2026-01-02T03:04:05Z");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<BTreeMap<String, String>> = {
            let names = reader.headers().unwrap().clone();
            let pair = |row: csv::StringRecord| {
                assert_eq!(row.len(), names.len());
                names.iter().zip(row.iter()).map(|(a, b)| (a.to_owned(), b.to_owned())).collect()
            };
            reader.records().map(|row| pair(row.unwrap())).collect()
        };
        assert_eq!(rows.len(), 1);
        rows.into_iter().next().unwrap()
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
        let row = read(&report);
        let cells = [
            ("started", "2026-01-02T03:04:05Z"),
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
        ];
        for (name, value) in cells {
            assert_eq!(row[name], value, "{name}");
        }
    }

    #[test]
    fn what_was_not_measured_is_empty() {
        let row = read(&report("tcp://127.0.0.1:80"));
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
