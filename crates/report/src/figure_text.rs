//! Values, ratios and changes as the cells of tables and sentences of all verbs show them.

use wirebench_stats::Estimate;

use crate::{
    analysis::{JudgedRatio, Metric, MetricFacts},
    interval,
};

/// What is in the place of a figure that is unknown.
pub(crate) const ABSENT: &str = "-";

pub(crate) fn or_absent(text: Option<String>) -> String {
    text.unwrap_or_else(|| ABSENT.to_owned())
}

/// The name of a metric next to values that have a unit of their own.
pub(crate) fn title(metric: Metric) -> &'static str {
    match metric {
        Metric::Cpu => "CPU/request",
        other => other.title(),
    }
}

/// A value with its unit.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Cpu => format!("{} us", metric.show(value)),
        other => other.show(value),
    }
}

/// A change with its sign, such as `-5.0 % ±0.6`; none of a ratio to 0.
pub(crate) fn change(ratio: &JudgedRatio) -> String {
    let Estimate { value, interval, .. } = ratio.estimate;
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    format!("{}{}", ratio.reads.sign(), interval::change(value, interval))
}

/// A change in a sentence, such as `requests/s -5.0 % ±0.6`.
pub(crate) fn change_of(metric: Metric, ratio: &JudgedRatio) -> String {
    format!("{} {}", title(metric), change(ratio))
}

/// A ratio with its sign, and with its interval in round brackets or its range in square ones.
pub(crate) fn factor(ratio: &JudgedRatio) -> String {
    let (sign, value) = (ratio.reads.sign(), ratio.estimate.value);
    match (ratio.estimate.interval, ratio.range()) {
        (None, Some((least, most))) => format!("{sign}{value:.2} [{least:.2}..{most:.2}]"),
        (interval, _) => format!("{sign}{}", interval::factor(value, interval)),
    }
}
