//! The columns of published tables: their usual heads, numbers as documents print them, and the same figure of a
//! run that was made here.

use wirebench_schema::{journal::Measurement, suite::Column};
use wirebench_stats::median;

use crate::{
    analysis::{Metric, Row},
    distribution::Distribution,
    table_units::thousands,
};

pub(super) struct Traits {
    /// The head of a column whose heading in the document is not known.
    pub(super) head: &'static str,
    /// The unit of a latency.
    pub(super) unit: Option<&'static str>,
    /// The percentile that it shows; a mean contains every sample, like the largest.
    percent: Option<f64>,
    /// The metric whose ratio is compared with the document's. Milliseconds are published with one digit, which is
    /// too coarse for a ratio.
    pub(super) metric: Option<Metric>,
}

pub(super) const fn traits(column: Column) -> Traits {
    const NS: Option<&str> = Some("ns");
    const MS: Option<&str> = Some("ms");
    let (head, unit, percent, metric) = match column {
        Column::RequestsPerSecond => ("requests/s", None, None, Some(Metric::Throughput)),
        Column::RequestsPerSecondRatio => ("ratio", None, None, Some(Metric::Throughput)),
        Column::RequestsPerSecondPercent => ("%", None, None, Some(Metric::Throughput)),
        Column::ResponseBytes => ("Res[B]", None, None, None),
        Column::Requests => ("Req", None, None, None),
        Column::Errors => ("Err", None, None, None),
        Column::BytesPerSecond => ("BPS", None, None, None),
        Column::MegabytesPerSecond => ("MB/s", None, None, Some(Metric::Throughput)),
        Column::LatencyNsMean => ("mean", NS, Some(100.0), None),
        Column::LatencyNsP50 => ("median", NS, Some(50.0), Some(Metric::P50)),
        Column::LatencyNsP90 => ("q0.9", NS, Some(90.0), None),
        Column::LatencyNsP99 => ("q0.99", NS, Some(99.0), Some(Metric::P99)),
        Column::LatencyNsP999 => ("q0.999", NS, Some(99.9), Some(Metric::P999)),
        Column::LatencyNsP9999 => ("q0.9999", NS, Some(99.99), None),
        Column::LatencyMsMin => ("min", MS, None, None),
        Column::LatencyMsMax => ("max", MS, Some(100.0), None),
        Column::LatencyMsP25 => ("25%", MS, Some(25.0), None),
        Column::LatencyMsP50 => ("med", MS, Some(50.0), None),
        Column::LatencyMsP75 => ("75%", MS, Some(75.0), None),
        Column::LatencyMsP99 => ("99%", MS, Some(99.0), None),
    };
    Traits { head, unit, percent, metric }
}

/// Whether the document itself gives the ratio to another row.
pub(crate) const fn is_relative(column: Column) -> bool {
    matches!(column, Column::RequestsPerSecondRatio | Column::RequestsPerSecondPercent)
}

/// Whether the figure is hidden with the tail of the latencies.
pub(super) const fn is_tail(column: Column) -> bool {
    use Column::{LatencyMsMax, LatencyMsP99, LatencyNsP99, LatencyNsP999, LatencyNsP9999};
    matches!(column, LatencyNsP99 | LatencyNsP999 | LatencyNsP9999 | LatencyMsP99 | LatencyMsMax)
}

/// A published number with the digits of the document.
pub(crate) fn published(column: Column, value: f64) -> String {
    if is_relative(column) {
        return measured(column, value);
    }
    // A number that was read from a file is written as it was there.
    match value.to_string().split_once('.') {
        Some((_, digits)) => format!("{}.{digits}", thousands(value.trunc())),
        None => thousands(value),
    }
}

/// A number that was measured, as documents print it; short times have one digit more.
pub(crate) fn measured(column: Column, value: f64) -> String {
    let is_milliseconds = traits(column).unit == Some("ms");
    match column {
        Column::RequestsPerSecondRatio => format!("{value:.2}"),
        Column::RequestsPerSecondPercent => format!("{value:.2}%"),
        _ if is_milliseconds && value < 0.995 => format!("{value:.2}"),
        _ if is_milliseconds => format!("{value:.1}"),
        _ => thousands(value),
    }
}

/// Whether a latency of any run of the row is only a lower bound, or the rate of any, and so the median over the runs.
pub(super) fn is_lower_bound(column: Column, row: &Row<'_>) -> bool {
    let Some(percent) = traits(column).percent else {
        return column == Column::RequestsPerSecond && row.is_limited();
    };
    let latencies = row.measurements().filter_map(|it| it.load.latency.as_ref());
    latencies.into_iter().any(|it| it.is_lower_bound(percent))
}

/// The median of a column over the runs of a row; none of ratios, which come from the analysis.
pub(super) fn median_of(column: Column, row: &Row<'_>) -> Option<f64> {
    if column == Column::RequestsPerSecond {
        return row.median(Metric::Throughput);
    }
    median(&row.measurements().filter_map(|it| of(column, it)).collect::<Vec<_>>())
}

fn of(column: Column, measurement: &Measurement) -> Option<f64> {
    let load = &measurement.load;
    let latency = load.latency.as_ref();
    let seconds = load.window_ns as f64 / 1e9;
    match column {
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
        Column::LatencyMsMin => latency.map(|it| it.latency_ns_min as f64 / 1e6),
        _ => {
            let Traits { unit, percent, .. } = traits(column);
            let found = Distribution::new(latency?).at(percent?)?.nanoseconds as f64;
            Some(if unit == Some("ms") { found / 1e6 } else { found })
        }
    }
}
