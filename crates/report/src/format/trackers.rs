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

/// A figure or a ratio.
struct Value {
    /// The metric's field, with `_ratio` after it if it is one.
    measure: String,
    unit: &'static str,
    value: f64,
    interval: Option<Interval>,
}

/// Bencher Metric Format: an object of benchmarks, each an object of measures.
pub(super) fn bencher(view: &ResultView<'_>) -> String {
    let mut benchmarks: BTreeMap<String, BTreeMap<String, Measure>> = BTreeMap::new();
    for (row, figure) in view.tracked() {
        for it in values(figure) {
            let measure = Measure {
                value: it.value,
                lower_value: it.interval.map(|it| it.low),
                upper_value: it.interval.map(|it| it.high),
            };
            benchmarks.entry(row.id.benchmark()).or_default().insert(it.measure, measure);
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
        values(figure).into_iter().map(move |it| Point {
            name: format!("{} {}", row.id.benchmark(), it.measure),
            unit: it.unit,
            value: it.value,
            range: it.interval.map(|it| format!("{}..{}", it.low, it.high)),
            extra: extra(view, row, figure),
        })
    });
    pretty(&points.collect::<Vec<_>>())
}

fn values(figure: &Figure) -> Vec<Value> {
    let field = figure.metric.field();
    let of = |measure, unit, value, interval| Value { measure, unit, value, interval };
    let own = of(field.to_owned(), figure.metric.unit(), figure.value, figure.interval);
    let ratio = figure.ratio().filter(|it| it.valid).map(|it| it.judged.estimate);
    let ratio = ratio.map(|it| of(format!("{field}_ratio"), "ratio", it.value, it.interval));
    std::iter::once(own).chain(ratio).collect()
}

/// What a reader of a point should know of it.
fn extra(view: &ResultView<'_>, row: &Cell, figure: &Figure) -> String {
    let (runs, (suite, started)) = (count(row.runs.measured, "run"), view.origin());
    let mut text = format!("suite {suite}, {started}, {runs}");
    if row.is_bound(figure) {
        text += &format!("\n{BOUND}");
    }
    if let Some(ratio) = figure.ratio().map(|it| &it.judged) {
        let claim = ratio.claim.map_or_else(String::new, |it| format!(", {}", it.name()));
        let (value, reads) = (ratio.estimate.value, ratio.reads.name());
        text += &format!("\nratio {value:.3} ({reads}){claim}");
    }
    text
}
