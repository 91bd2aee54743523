//! Figures as the cells and sentences of the first screen show them: short, and with no more digits
//! than they deserve.

use crate::{
    analysis::{Metric, MetricFacts},
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
/// The sign of a tail without a verdict, and its meaning.
pub(super) const VAGUE: &str = "~";
pub(super) const VAGUE_MEANING: &str =
    "a tail with one digit, because its comparison is inconclusive";
/// What is in the place of a figure that is hidden.
pub(super) const HIDDEN: &str = "!";

pub(super) fn figure(metric: Metric, value: f64) -> String {
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

/// The value with the digit that matters most.
pub(super) fn one_digit(value: f64) -> f64 {
    let unit = 10_f64.powf(value.max(1.0).log10().floor());
    (value / unit).round() * unit
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
    fn sentences_have_factors_shares_times_and_words() {
        assert_eq!([1.04, 1.2, 2.34, 14.2].map(factor), ["1.04x", "1.2x", "2.3x", "14x"]);
        assert_eq!([0.03, 0.015].map(crate::table_units::percent), ["3 %", "1.5 %"]);
        let times = [59.4, 170.0, 7260.0].map(|it| elapsed(Duration::from_secs_f64(it)));
        assert_eq!(times, ["59 s", "2 min 50 s", "2 h 1 min"]);
        assert_eq!([3, 13].map(word), ["three", "13"]);
    }
}
