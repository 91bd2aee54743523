//! A result as OpenMetrics text: a family for each metric and for its ratio to the reference, in base units.

use wirebench_stats::Interval;

use crate::{
    analysis::{Metric, MetricFacts},
    exposition::{Exposition, Kind},
    view::{Cell, CellId, Figure, ResultView},
};

/// The name of a family without its unit, its unit, and the factor from the unit of the metric's field.
fn family(metric: Metric) -> (String, &'static str, f64) {
    let (unit, factor) = match metric.unit() {
        "ns" | "ns/request" => ("seconds", 1e-9),
        "requests/s" => ("requests_per_second", 1.0),
        "switches/request" => ("switches", 1.0),
        "bytes" | "bytes/connection" => ("bytes", 1.0),
        _ => ("ratio", 1.0),
    };
    let name = match metric {
        Metric::Cpu => "server_cpu_per_request",
        Metric::Latency(figure) => {
            return (format!("latency_{figure}").replace('-', "_"), unit, factor);
        }
        Metric::Switches => "context_switches_per_request",
        Metric::Memory => "memory_peak",
        other => other.name(),
    };
    (name.replace('-', "_"), unit, factor)
}

/// One sample: the row, the value, its interval and the factor of all three.
type Point<'a> = (&'a Cell, f64, Option<Interval>, f64);

pub(super) fn text(view: &ResultView<'_>) -> String {
    let mut exposition = Exposition::new();
    add(&mut exposition, view);
    exposition.end()
}

/// Adds the families of a result.
pub(crate) fn add(exposition: &mut Exposition, view: &ResultView<'_>) {
    for metric in Metric::ALL {
        let (name, unit, factor) = family(metric);
        let own = |(row, it): (_, &Figure)| (row, it.value, it.interval, factor);
        let found = || view.tracked().filter(|(_, figure)| figure.metric == metric);
        let help =
            format!("The metric {metric}, with its interval where it is the median of cohorts");
        gauge(exposition, (&name, unit, &help), &found().map(own).collect::<Vec<_>>());
        let ratio = |(row, it): (_, &Figure)| {
            let ratio = it.ratio().filter(|it| it.valid)?.judged.estimate;
            Some((row, ratio.value, ratio.interval, 1.0))
        };
        let ratios: Vec<Point<'_>> = found().filter_map(ratio).collect();
        let help = format!("The metric {metric} over that of the reference");
        gauge(exposition, (&format!("{name}_over_reference"), "ratio", &help), &ratios);
    }
    // Not every kind of result counts errors, so that none is no figure.
    let rows = || view.tracked_cells().filter(|row| row.errors > 0);
    if rows().next().is_some() {
        let help = "Requests and connections that failed";
        exposition.family(Kind::Counter, "wirebench_errors", "", help);
    }
    for row in rows() {
        exposition.sample(&labels(row), row.errors);
    }
}

fn gauge(
    exposition: &mut Exposition,
    (name, unit, help): (&str, &'static str, &str),
    points: &[Point<'_>],
) {
    if points.is_empty() {
        return;
    }
    exposition.family(Kind::Gauge, &format!("wirebench_{name}_{unit}"), unit, help);
    for (row, value, interval, factor) in points {
        let ends = interval.map(|it| [("low", it.low), ("high", it.high)]);
        for (estimate, value) in [("value", *value)].into_iter().chain(ends.into_iter().flatten()) {
            let estimate = [("estimate", estimate.to_owned())];
            exposition.sample(&[labels(row), estimate.to_vec()].concat(), value * factor);
        }
    }
}

/// What names a row. Rows of named requests have one label more than the row of all of them.
fn labels(row: &Cell) -> Vec<(&'static str, String)> {
    let CellId { server, copy, load, request, phase } = &row.id;
    let request = request.iter().map(|name| ("request", name.clone()));
    let whole = [
        ("server", server.clone()),
        ("copy", copy.to_string()),
        ("workload", load.clone()),
        ("phase", phase.to_string()),
    ];
    whole.into_iter().chain(request).collect()
}
