//! The fields of `wirebench load --json` that the benchmarks need. Other fields are ignored; a
//! missing one is an error.

use anyhow::{Context, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{Histogram, serialization::Deserializer};
use serde::Deserialize;
use std::{collections::BTreeMap, io::Cursor, time::Duration};

/// The exit code with which it refuses an option.
pub(crate) const REFUSED: i32 = 2;

/// The percentiles that are shown, in percent.
pub(crate) const LATENCY_PERCENTILES: [f64; 3] = [50.0, 90.0, 99.0];

/// The result of one load.
#[derive(Debug, Deserialize)]
pub(crate) struct LoadResult {
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    errors: BTreeMap<String, u64>,
    /// From the moment at which a request was due, or began in a closed loop.
    pub(crate) latency: Option<Latency>,
    /// From the moment at which it was sent.
    pub(crate) service: Option<Latency>,
    /// From due to sent.
    pub(crate) lag: Option<Latency>,
}

/// One distribution.
#[derive(Debug, Deserialize)]
pub(crate) struct Latency {
    pub(crate) count: u64,
    /// Samples that are lower bounds: timeouts, and requests that were due and never sent.
    pub(crate) censored: u64,
    histogram: String,
}

/// Parses the whole output, or returns an error that shows it.
pub(crate) fn parse_load(output: &str) -> anyhow::Result<LoadResult> {
    serde_json::from_str(output)
        .with_context(|| format!("`wirebench load --json` was not understood:\n{output}"))
}

impl LoadResult {
    /// Failures of all kinds.
    pub(crate) fn error_count(&self) -> u64 {
        self.errors.values().sum()
    }
}

impl Latency {
    /// How many samples are certainly below this. The histogram keeps three digits, so one counts
    /// when all of its bucket is.
    pub(crate) fn below(&self, bound: Duration) -> anyhow::Result<u64> {
        let histogram = self.histogram()?;
        ensure!(histogram.len() == self.count, "the histogram does not hold as many as it says");
        let is_below = |value| u128::from(histogram.highest_equivalent(value)) < bound.as_nanos();
        let recorded = histogram.iter_recorded();
        let below = recorded.filter(|bucket| is_below(bucket.value_iterated_to()));
        Ok(below.map(|bucket| bucket.count_at_value()).sum())
    }

    /// The whole distribution, in nanoseconds.
    pub(crate) fn histogram(&self) -> anyhow::Result<Histogram<u64>> {
        let bytes = STANDARD.decode(&self.histogram).context("the histogram is no base64")?;
        Deserializer::new()
            .deserialize(&mut Cursor::new(bytes))
            .map_err(|error| anyhow::anyhow!("the histogram is not understood: {error:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};

    #[test]
    fn a_result_is_read_with_its_distributions() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=1000).for_each(|millisecond| histogram.record(millisecond * 1_000_000).unwrap());
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
        let json = serde_json::json!({
            "requests": 1000, "requests_per_second": 500.0, "engine": "epoll",
            "errors": { "timeout": 2, "reset": 1 }, "service": null,
            "latency": { "count": 1000, "censored": 0, "latency_ns_p50": 1, "histogram": STANDARD.encode(bytes) },
        });
        let result = parse_load(&json.to_string()).unwrap();
        assert_eq!((result.requests, result.error_count()), (1000, 3));
        assert!(result.service.is_none() && result.lag.is_none());
        let latency = result.latency.unwrap();
        let p90 = latency.histogram().unwrap().value_at_percentile(90.0);
        assert!(p90.abs_diff(900_000_000) < 1_000_000, "{p90}");
        assert_eq!(latency.below(Duration::from_micros(10_500)).unwrap(), 10);
        assert_eq!(latency.below(Duration::from_millis(1)).unwrap(), 0);
    }

    #[test]
    fn an_output_that_is_not_understood_is_shown() {
        let outputs = ["", "Running 1s test", r#"{"requests": 1, "errors": {}}"#];
        let messages = outputs.map(|output| format!("{:#}\n", parse_load(output).unwrap_err()));
        expect_file!["golden/not-understood.txt"].assert_eq(&messages.concat());
    }
}
