//! The columns of a document's tables: their heads in its words, its numbers as it prints them, and
//! the same figure of a run that was made here.

use wirebench_schema::{journal::Measurement, suite::Column};
use wirebench_stats::median;

use crate::{
    analysis::{Metric, Row},
    distribution::Distribution,
    table_units::thousands,
};

/// The head of a column; `reference` is the row that percentages refer to.
pub(super) fn head(column: Column, reference: &str) -> String {
    let name = match column {
        Column::RequestsPerSecond => "requests/s",
        Column::RequestsPerSecondRatio => "ratio",
        Column::RequestsPerSecondPercent => return format!("% of {reference}"),
        Column::ResponseBytes => "Res[B]",
        Column::Requests => "Req",
        Column::Errors => "Err",
        Column::BytesPerSecond => "BPS",
        Column::MegabytesPerSecond => "MB/s",
        Column::LatencyNsMean => "mean",
        Column::LatencyNsP50 => "median",
        Column::LatencyNsP90 => "0.9",
        Column::LatencyNsP99 => "0.99",
        Column::LatencyNsP999 => "0.999",
        Column::LatencyNsP9999 => "0.9999",
        Column::LatencyMsMin => "min",
        Column::LatencyMsMax => "max",
        Column::LatencyMsP25 => "25%",
        Column::LatencyMsP50 => "med",
        Column::LatencyMsP75 => "75%",
        Column::LatencyMsP99 => "99%",
    };
    name.to_owned()
}

/// The unit of a latency.
pub(super) const fn latency_unit(column: Column) -> Option<&'static str> {
    match column {
        Column::LatencyNsMean
        | Column::LatencyNsP50
        | Column::LatencyNsP90
        | Column::LatencyNsP99
        | Column::LatencyNsP999
        | Column::LatencyNsP9999 => Some("ns"),
        Column::LatencyMsMin
        | Column::LatencyMsMax
        | Column::LatencyMsP25
        | Column::LatencyMsP50
        | Column::LatencyMsP75
        | Column::LatencyMsP99 => Some("ms"),
        _ => None,
    }
}

/// The metric whose ratio to the reference is compared with the document's.
pub(super) const fn metric(column: Column) -> Option<Metric> {
    match column {
        Column::RequestsPerSecond
        | Column::MegabytesPerSecond
        | Column::RequestsPerSecondRatio
        | Column::RequestsPerSecondPercent => Some(Metric::Throughput),
        Column::LatencyNsP50 => Some(Metric::LatencyP50),
        _ => None,
    }
}

/// A number as documents print it.
pub(super) fn show(column: Column, value: f64) -> String {
    match column {
        Column::RequestsPerSecondRatio | Column::RequestsPerSecondPercent => format!("{value:.2}"),
        _ if latency_unit(column) == Some("ms") => format!("{value:.1}"),
        _ => thousands(value),
    }
}

/// Whether a latency of any run of the row is only a lower bound, and so the median over the runs.
pub(super) fn is_lower_bound(column: Column, row: &Row<'_>) -> bool {
    let Some(percent) = percent(column) else { return false };
    let latencies = row.measurements().filter_map(|it| it.load.latency.as_ref());
    latencies.into_iter().any(|it| it.is_lower_bound(percent))
}

/// The percentile that a column shows; a mean contains every sample, like the largest.
const fn percent(column: Column) -> Option<f64> {
    match column {
        Column::LatencyMsP25 => Some(25.0),
        Column::LatencyNsP50 | Column::LatencyMsP50 => Some(50.0),
        Column::LatencyMsP75 => Some(75.0),
        Column::LatencyNsP90 => Some(90.0),
        Column::LatencyNsP99 | Column::LatencyMsP99 => Some(99.0),
        Column::LatencyNsP999 => Some(99.9),
        Column::LatencyNsP9999 => Some(99.99),
        Column::LatencyNsMean | Column::LatencyMsMax => Some(100.0),
        _ => None,
    }
}

/// The median of a column over the runs of a row; none of ratios, which come from the analysis.
pub(super) fn measured(column: Column, row: &Row<'_>) -> Option<f64> {
    if column == Column::RequestsPerSecond {
        return row.median(Metric::Throughput);
    }
    median(&row.measurements().filter_map(|it| of(column, it)).collect::<Vec<_>>())
}

fn of(column: Column, measurement: &Measurement) -> Option<f64> {
    let load = &measurement.load;
    let latency = load.latency.as_ref();
    let seconds = load.window_ns as f64 / 1e9;
    let percentile = |percent: f64| {
        let found = Distribution::new(latency?).at(percent)?;
        Some(found.nanoseconds as f64)
    };
    let ms = |nanoseconds: Option<f64>| nanoseconds.map(|it| it / 1e6);
    match column {
        Column::RequestsPerSecond
        | Column::RequestsPerSecondRatio
        | Column::RequestsPerSecondPercent => None,
        Column::ResponseBytes => {
            (load.requests > 0).then(|| load.bytes_received as f64 / load.requests as f64)
        }
        Column::Requests => Some(load.requests as f64),
        Column::Errors => Some(load.errors.total() as f64),
        Column::BytesPerSecond => (seconds > 0.0).then(|| load.bytes_received as f64 / seconds),
        Column::MegabytesPerSecond => {
            let bytes = (load.bytes_received + load.bytes_sent) as f64;
            (seconds > 0.0).then(|| bytes / 1e6 / seconds)
        }
        Column::LatencyNsMean => latency.map(|it| it.latency_ns_mean),
        Column::LatencyNsP50 => latency.map(|it| it.latency_ns_p50 as f64),
        Column::LatencyNsP90 => latency.map(|it| it.latency_ns_p90 as f64),
        Column::LatencyNsP99 => latency.map(|it| it.latency_ns_p99 as f64),
        Column::LatencyNsP999 => latency.map(|it| it.latency_ns_p999 as f64),
        Column::LatencyNsP9999 => percentile(99.99),
        Column::LatencyMsMin => ms(latency.map(|it| it.latency_ns_min as f64)),
        Column::LatencyMsMax => ms(latency.map(|it| it.latency_ns_max as f64)),
        Column::LatencyMsP25 => ms(percentile(25.0)),
        Column::LatencyMsP50 => ms(latency.map(|it| it.latency_ns_p50 as f64)),
        Column::LatencyMsP75 => ms(latency.map(|it| it.latency_ns_p75 as f64)),
        Column::LatencyMsP99 => ms(latency.map(|it| it.latency_ns_p99 as f64)),
    }
}
