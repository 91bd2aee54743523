//! Figures as the cells and sentences of the first screen show them: short, and with no more digits
//! than they deserve.

use super::model::{Column, Outcome, Value};
use crate::{
    analysis::{Metric, MetricFacts},
    interval,
    table_units::scaled,
};

/// The sign of a figure that is a lower bound; that of an upper one is `<=`.
pub(super) const BOUND: &str = ">=";
/// What the signs of bounds mean.
pub(super) const BOUND_MEANING: &str =
    "lower bound (<= of a latency: upper bound): the load generator was saturated";
/// Meaning of the column of waking.
pub(super) const WAKING_MEANING: &str = "waking: CPU us that a request adds where idle CPUs sleep; all other figures \
                                         are of CPUs kept awake";
/// What is in the place of a figure that is hidden.
pub(super) const HIDDEN: &str = "!";

pub(super) fn cell(column: Column, value: Value) -> String {
    match (column, value) {
        (_, Value::Hidden) => HIDDEN.to_owned(),
        (_, Value::Compared(outcome)) => self::outcome(outcome),
        (Column::Figure(metric), Value::Exact(figure)) => self::figure(metric, figure),
        (Column::Figure(metric), Value::Bound(figure)) => {
            let is_lower = metric.more_is_better();
            let sign = if is_lower { BOUND } else { "<=" };
            format!("{sign}{}", self::figure(metric, figure))
        }
        // Zero has one sign, also where a little less is rounded.
        (Column::Waking, Value::Exact(ns) | Value::Bound(ns)) => {
            format!("{:+.1}", (ns / 100.0).round() / 10.0 + 0.0)
        }
        // A comparison has an outcome and no figure.
        (_, Value::Empty) | (Column::Outcome, Value::Exact(_) | Value::Bound(_)) => "-".to_owned(),
    }
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Reference => "reference".to_owned(),
        Outcome::Same => "same".to_owned(),
        Outcome::Different { ratio, interval } => interval::change(ratio, Some(interval)),
        Outcome::Inconclusive => "inconclusive".to_owned(),
        Outcome::Withheld => HIDDEN.to_owned(),
    }
}

fn figure(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => rate(value),
        Metric::Cpu => {
            let microseconds = value / 1000.0;
            let digits = usize::from(microseconds < 99.95);
            format!("{microseconds:.digits$}")
        }
        Metric::P50 | Metric::P99 => short(value, [" ns", " us", " ms", " s"]),
        other => other.show(value),
    }
}

/// Requests per second: `212k`, `9.8k`, `640`.
pub(super) fn rate(value: f64) -> String {
    short(value, ["", "k", "M", "G"])
}

/// In the unit that leaves at most three digits; one decimal below ten.
fn short(value: f64, units: [&str; 4]) -> String {
    let (value, unit) = scaled(value, 1000.0, 0.9995, &units);
    let digits = usize::from(unit != units[0] && value < 9.95);
    let text = format!("{value:.digits$}");
    format!("{}{}", text.strip_suffix(".0").unwrap_or(&text), unit)
}

pub(super) fn head(column: Column, baseline: Option<&str>, most: usize) -> String {
    match column {
        Column::Outcome => {
            let named = baseline.map(|name| format!("vs {name}"));
            named.filter(|head| head.chars().count() <= most).unwrap_or("vs baseline".to_owned())
        }
        Column::Waking => "waking".to_owned(),
        Column::Figure(Metric::Throughput) => "req/s".to_owned(),
        Column::Figure(Metric::Cpu) => "us".to_owned(),
        Column::Figure(Metric::MemoryPerConnection) => "memory".to_owned(),
        Column::Figure(Metric::MemoryAtRest) => "at rest".to_owned(),
        Column::Figure(metric) => metric.title().to_owned(),
    }
}

/// What a group compares, in words.
pub(super) fn subject(metric: Metric) -> &'static str {
    match metric {
        Metric::Cpu => "CPU per request",
        Metric::MemoryPerConnection => "memory per connection",
        other => other.title(),
    }
}

/// A ratio in a sentence: `2.3x`.
pub(super) fn factor(ratio: f64) -> String {
    let digits = match ratio {
        ratio if ratio < 1.095 => 2,
        ratio if ratio < 9.95 => 1,
        _ => 0,
    };
    format!("{ratio:.digits$}x")
}

/// A time in a sentence: `2 min 50 s`.
pub(super) fn elapsed(time: std::time::Duration) -> String {
    match time.as_secs_f64().round() as u64 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// A small number as a word, as sentences have it.
pub(super) fn word(number: usize) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.get(number).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn rates_and_costs_are_short() {
        let rates = [640.0, 999.4, 1000.0, 9_870.0, 84_560.0, 212_345.0, 1_240_000.0, 25e6];
        let shown = rates.map(rate);
        assert_eq!(shown, ["640", "999", "1k", "9.9k", "85k", "212k", "1.2M", "25M"]);
        let costs = [4_712.0, 10_880.0, 108_400.0].map(|cost| figure(Metric::Cpu, cost));
        assert_eq!(costs, ["4.7", "10.9", "108"]);
    }

    #[test]
    fn waking_has_a_sign() {
        let shown = [3_560.0, -212.0, -30.0].map(|ns| cell(Column::Waking, Value::Exact(ns)));
        assert_eq!(shown, ["+3.6", "-0.2", "+0.0"]);
    }

    #[test]
    fn sentences_have_factors_shares_times_and_words() {
        assert_eq!([1.04, 1.2, 2.34, 14.2].map(factor), ["1.04x", "1.2x", "2.3x", "14x"]);
        assert_eq!([0.03, 0.015].map(crate::table_units::percent), ["3 %", "1.5 %"]);
        let times = [59.4, 170.0, 7260.0].map(|it| elapsed(Duration::from_secs_f64(it)));
        assert_eq!(times, ["59 s", "2 min 50 s", "2 h 1 min"]);
        assert_eq!([3, 13].map(word), ["three", "13"]);
    }

    #[test]
    fn a_baseline_with_a_long_name_is_not_in_the_head() {
        let head = |name| head(Column::Outcome, Some(name), 12);
        assert_eq!([head("c/epoll"), head("python/asyncio")], ["vs c/epoll", "vs baseline"]);
    }
}
