//! The fields of `wirebench load --json` that the benchmarks need. Other fields are ignored; a
//! missing one is an error.

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;
use serde::Deserialize;
use std::{collections::BTreeMap, time::Duration};
use wirebench_schema::load::LatencySummary;

/// The percentiles that are shown, in percent.
pub(crate) const LATENCY_PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];

#[derive(Debug, Deserialize)]
pub(crate) struct LoadResult {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    errors: BTreeMap<String, u64>,
    /// From the moment at which a request was due, or began in a closed loop.
    pub(crate) latency: Option<LatencySummary>,
    /// From the moment at which it was sent.
    pub(crate) service: Option<LatencySummary>,
    /// From due to sent.
    pub(crate) lag: Option<LatencySummary>,
}

/// Parses the whole output, or returns an error that shows it.
pub(crate) fn parse_load(output: &str) -> anyhow::Result<LoadResult> {
    serde_json::from_str(output)
        .with_context(|| format!("`wirebench load --json` was not understood:\n{output}"))
}

impl LoadResult {
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

/// How many samples are certainly below this. The histogram keeps three digits, so one counts when
/// all of its bucket is.
pub(crate) fn below(latency: &LatencySummary, bound: Duration) -> anyhow::Result<u64> {
    let histogram = histogram(latency)?;
    ensure!(histogram.len() == latency.count, "the histogram does not hold as many as it says");
    let is_below = |value| u128::from(histogram.highest_equivalent(value)) < bound.as_nanos();
    let recorded = histogram.iter_recorded();
    let below = recorded.filter(|bucket| is_below(bucket.value_iterated_to()));
    Ok(below.map(|bucket| bucket.count_at_value()).sum())
}

/// The whole distribution, in nanoseconds.
pub(crate) fn histogram(latency: &LatencySummary) -> anyhow::Result<Histogram<u64>> {
    latency.decoded().context("the histogram is not understood")
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn a_result_is_read_with_its_distributions() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=1000).for_each(|millisecond| histogram.record(millisecond * 1_000_000).unwrap());
        let json = serde_json::json!({
            "requests": 1000, "requests_per_second": 500.0, "engine": "epoll",
            "errors": { "timeout": 2, "reset": 1 }, "service": null,
            "latency": LatencySummary::of(&histogram),
        });
        let result = parse_load(&json.to_string()).unwrap();
        assert_eq!((result.requests, result.error_count()), (1000, 3));
        assert!(result.service.is_none() && result.lag.is_none());
        let latency = result.latency.unwrap();
        let p90 = super::histogram(&latency).unwrap().value_at_percentile(90.0);
        assert!(p90.abs_diff(900_000_000) < 1_000_000, "{p90}");
        assert_eq!(below(&latency, Duration::from_micros(10_500)).unwrap(), 10);
        assert_eq!(below(&latency, Duration::from_millis(1)).unwrap(), 0);
    }

    #[test]
    fn an_output_that_is_not_understood_is_shown() {
        let outputs = ["", "Running 1s test", r#"{"requests": 1, "errors": {}}"#];
        let messages = outputs.map(|output| format!("{:#}\n", parse_load(output).unwrap_err()));
        expect_file!["golden/not-understood.txt"].assert_eq(&messages.concat());
    }
}
