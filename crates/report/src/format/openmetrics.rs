//! A result as OpenMetrics text: a family for each metric and for its ratio to the reference, in base units.

use std::fmt::{Display, Write as _};
use wirebench_stats::Interval;

use crate::{
    analysis::Metric,
    flat::{Flat, FlatFigure, FlatRow},
    json::SECOND_OF_BASELINE,
};

/// The name of a family without its unit, its unit, and the factor from the unit of the metric's field.
const fn family(metric: Metric) -> (&'static str, &'static str, f64) {
    const SECONDS: f64 = 1e-9;
    match metric {
        Metric::Throughput => ("throughput", "requests_per_second", 1.0),
        Metric::Cpu => ("server_cpu_per_request", "seconds", SECONDS),
        Metric::LatencyP50 => ("latency_p50", "seconds", SECONDS),
        Metric::LatencyP99 => ("latency_p99", "seconds", SECONDS),
        Metric::LatencyP999 => ("latency_p999", "seconds", SECONDS),
        Metric::Switches => ("context_switches_per_request", "switches", 1.0),
        Metric::Memory => ("memory_peak", "bytes", 1.0),
        Metric::MemoryAtRest => ("memory_at_rest", "bytes", 1.0),
        Metric::MemoryIdle => ("memory_idle", "bytes", 1.0),
        Metric::MemoryPerConnection => ("memory_per_connection", "bytes", 1.0),
        Metric::IdleCpu => ("idle_cpu", "ratio", 1.0),
    }
}

/// One sample: the row, the value, its interval and the factor of all three.
type Point<'a> = (&'a FlatRow, f64, Option<Interval>, f64);

pub(super) fn text(flat: &Flat) -> String {
    let mut text = String::new();
    for metric in Metric::ALL {
        let (name, unit, factor) = family(metric);
        let own = |(row, it): (_, &FlatFigure)| (row, it.value, it.interval, factor);
        let found = || flat.tracked().filter(|(_, figure)| figure.metric == metric);
        let help = format!("The metric {metric}, the median over cohorts with its interval");
        gauge(&mut text, (name, unit, &help), &found().map(own).collect::<Vec<_>>());
        let ratio = |(row, it): (_, &FlatFigure)| {
            let ratio = it.ratio.filter(|it| it.valid)?.estimate;
            Some((row, ratio.value, ratio.interval, 1.0))
        };
        let ratios: Vec<Point<'_>> = found().filter_map(ratio).collect();
        let help = format!("The metric {metric} over that of the reference");
        gauge(&mut text, (&format!("{name}_over_reference"), "ratio", &help), &ratios);
    }
    // Not every kind of result counts errors, so that none is no figure.
    let is_counted = |row: &&FlatRow| row.role != SECOND_OF_BASELINE && row.errors > 0;
    let rows = || flat.rows.iter().filter(is_counted);
    if rows().next().is_some() {
        text += "# TYPE wirebench_errors counter\n";
        text += "# HELP wirebench_errors Requests and connections that failed.\n";
    }
    for row in rows() {
        sample(&mut text, "wirebench_errors_total", &labels(row), row.errors);
    }
    text + "# EOF\n"
}

fn gauge(text: &mut String, (name, unit, help): (&str, &str, &str), points: &[Point<'_>]) {
    if points.is_empty() {
        return;
    }
    let name = format!("wirebench_{name}_{unit}");
    // A string takes all that is written to it.
    let _ = write!(
        text,
        "# TYPE {name} gauge\n# UNIT {name} {unit}\n# HELP {name} {}.\n",
        escaped(help)
    );
    for (row, value, interval, factor) in points {
        let ends = interval.map(|it| [("low", it.low), ("high", it.high)]);
        for (estimate, value) in [("value", *value)].into_iter().chain(ends.into_iter().flatten()) {
            let labels = format!("{},estimate=\"{estimate}\"", labels(row));
            sample(text, &name, &labels, value * factor);
        }
    }
}

fn sample(text: &mut String, name: &str, labels: &str, value: impl Display) {
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}

fn labels(row: &FlatRow) -> String {
    let FlatRow { entry, copy, workload, phase, .. } = row;
    let (server, workload) = (escaped(entry), escaped(workload));
    format!("server=\"{server}\",copy=\"{copy}\",workload=\"{workload}\",phase=\"{phase}\"")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
