//! A result for programs that follow benchmarks over time: a value with its interval for each figure,
//! and another one for its ratio to the reference, which depends less on the machine.

use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_stats::Interval;

use crate::{
    analysis::{Metric, MetricFacts},
    table_units::count,
    view::{BOUND, Cell, Figure, ResultView, pretty},
};

/// A measure in Bencher Metric Format.
#[derive(Debug, Serialize)]
struct Measure {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Point {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// Bencher Metric Format: an object of benchmarks, each an object of measures.
pub(super) fn bencher(view: &ResultView<'_>) -> String {
    let mut benchmarks: BTreeMap<String, BTreeMap<String, Measure>> = BTreeMap::new();
    for (row, figure) in view.tracked() {
        for (name, _, value, interval) in values(figure) {
            let (lower_value, upper_value) = interval.map(|it| (it.low, it.high)).unzip();
            let measure = Measure { value, lower_value, upper_value };
            benchmarks.entry(row.id.benchmark()).or_default().insert(name, measure);
        }
    }
    pretty(&benchmarks)
}

/// What github-action-benchmark reads: an array of points.
///
/// All points of its file have one direction. Figures of which less is better are taken, and others
/// only where there are no such figures.
pub(super) fn github_action_benchmark(view: &ResultView<'_>) -> String {
    let is_less = |metric: Metric| !metric.more_is_better();
    let less = view.cells.iter().flat_map(|row| &row.figures).any(|it| is_less(it.metric));
    let tracked = view.tracked().filter(|(_, figure)| is_less(figure.metric) == less);
    let points = tracked.flat_map(|(row, figure)| {
        values(figure).map(move |(name, unit, value, interval)| Point {
            name: format!("{} {name}", row.id.benchmark()),
            unit,
            value,
            range: interval.map(|it| format!("{}..{}", it.low, it.high)),
            extra: extra(view, row, figure),
        })
    });
    pretty(&points.collect::<Vec<_>>())
}

/// The field, unit, value and interval of a figure, and of its ratio.
fn values(figure: &Figure) -> impl Iterator<Item = (String, &'static str, f64, Option<Interval>)> {
    let field = figure.metric.field();
    let own = (field.to_owned(), figure.metric.unit(), figure.value, figure.interval);
    let ratio = figure.ratio().filter(|it| it.valid).map(|it| it.judged.estimate);
    let ratio = ratio.map(|it| (format!("{field}_ratio"), "ratio", it.value, it.interval));
    std::iter::once(own).chain(ratio)
}

/// What a reader of a point should know of it.
fn extra(view: &ResultView<'_>, row: &Cell, figure: &Figure) -> String {
    let (runs, (suite, started, _)) = (count(row.runs.measured, "run"), view.origin());
    let mut text = format!("suite {suite}, {started}, {runs}");
    if row.is_bound(figure) {
        text += &format!("\n{BOUND}");
    }
    if let Some(ratio) = figure.ratio().filter(|it| it.judged.estimate.value.is_finite()) {
        let ratio = &ratio.judged;
        let claim = ratio.claim.map_or_else(String::new, |it| format!(", {}", it.name()));
        let (value, reads) = (ratio.estimate.value, ratio.reads.name());
        text += &format!("\nratio {value:.3} ({reads}){claim}");
    }
    text
}
