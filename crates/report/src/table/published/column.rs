//! The columns of a document's tables: their heads in its words, its numbers as it prints them, and
//! the same figure of a run that was made here.

use wirebench_schema::{journal::Measurement, load::LatencyFigure, suite::Column};
use wirebench_stats::median;

use crate::{
    analysis::{Metric, Row},
    distribution::{Bound, Distribution},
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
        (found.bound == Bound::Measured).then_some(found.nanoseconds as f64)
    };
    let known = |figure| latency?.known(figure);
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
        Column::LatencyNsMean => known(LatencyFigure::Mean),
        Column::LatencyNsP50 => known(LatencyFigure::P50),
        Column::LatencyNsP90 => known(LatencyFigure::P90),
        Column::LatencyNsP99 => known(LatencyFigure::P99),
        Column::LatencyNsP999 => known(LatencyFigure::P999),
        Column::LatencyNsP9999 => percentile(99.99),
        Column::LatencyMsMin => ms(latency.map(|it| it.latency_ns_min as f64)),
        Column::LatencyMsMax => ms(known(LatencyFigure::Max)),
        Column::LatencyMsP25 => ms(percentile(25.0)),
        Column::LatencyMsP50 => ms(known(LatencyFigure::P50)),
        Column::LatencyMsP75 => ms(known(LatencyFigure::P75)),
        Column::LatencyMsP99 => ms(known(LatencyFigure::P99)),
    }
}
