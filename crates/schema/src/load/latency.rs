//! A distribution of times: its summary and its histogram.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2DeflateSerializer},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One distribution of times.
///
/// A latency goes up to the arrival of the last byte of the reply. The clock is read once for each
/// arrival. In a closed loop that is the end of one latency and the beginning of the
/// next: a request begins when the previous reply on its connection has arrived, so that what the
/// generator does until the request is handed to the kernel is in its latency. The first request on
/// a connection begins at the moment before it is sent. At a rate a latency begins when the request
/// was due, and every request that was due in the window is a sample: what is in flight at its end is
/// waited for, up to the timeout.
///
/// All times are nanoseconds out of one high dynamic range histogram with three significant digits.
/// A request that timed out is in it with the timeout as its latency: a lower bound. A request that
/// failed, that was in flight when its reply was waited for no longer, or that could not be sent
/// before the window ended has an age instead of a latency. The histogram is the product-limit
/// estimate (Kaplan, Meier 1958) from replies, timeouts and ages, in counts of requests: an age never
/// lowers a percentile.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Number of samples.
    pub count: u64,
    /// Number of them that represent requests without a correct reply.
    pub censored: u64,
    /// Number of the largest samples that are lower bounds: timeouts, and samples above the largest
    /// reply. In reports of earlier versions it equals `censored`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_bounds: Option<u64>,
    /// Arithmetic mean.
    pub latency_ns_mean: f64,
    /// Arithmetic mean of replies and timeouts alone, as Little's law needs it. Reports of earlier
    /// versions do not say; there it is `latency_ns_mean`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean_answered: Option<f64>,
    /// Standard deviation.
    pub latency_ns_stdev: f64,
    /// Share of the samples within one standard deviation of the mean, 0 to 1.
    pub within_stdev: f64,
    /// Smallest sample.
    pub latency_ns_min: u64,
    /// Median.
    pub latency_ns_p50: u64,
    /// 75th percentile.
    pub latency_ns_p75: u64,
    /// 90th percentile.
    pub latency_ns_p90: u64,
    /// 95th percentile.
    pub latency_ns_p95: u64,
    /// 99th percentile.
    pub latency_ns_p99: u64,
    /// 99.9th percentile.
    pub latency_ns_p999: u64,
    /// Largest sample.
    pub latency_ns_max: u64,
    /// The whole histogram: `HdrHistogram` V2 with deflate, base64.
    pub histogram: String,
}

impl LatencySummary {
    /// The mean of the samples that belong to a rate of replies.
    #[must_use]
    pub fn mean_answered_ns(&self) -> f64 {
        self.latency_ns_mean_answered.unwrap_or(self.latency_ns_mean)
    }

    /// The summary of a distribution without lower bounds.
    #[must_use]
    pub fn of(latency: &Histogram<u64>) -> Self {
        let (mean, stdev) = (latency.mean(), latency.stdev());
        let mut serialized = Vec::new();
        // Writing into memory does not fail, and the counts are far from the format's limits.
        let written = V2DeflateSerializer::new().serialize(latency, &mut serialized);
        debug_assert!(written.is_ok(), "a histogram is always written");
        let spread = latency.iter_recorded().map(|step| {
            let value = latency.median_equivalent(step.value_iterated_to());
            (value, step.count_since_last_iteration())
        });
        Self {
            count: latency.len(),
            censored: 0,
            lower_bounds: None,
            latency_ns_mean: mean,
            latency_ns_mean_answered: None,
            latency_ns_stdev: stdev,
            within_stdev: within(spread, mean, stdev),
            latency_ns_min: latency.min(),
            latency_ns_p50: latency.value_at_quantile(0.5),
            latency_ns_p75: latency.value_at_quantile(0.75),
            latency_ns_p90: latency.value_at_quantile(0.9),
            latency_ns_p95: latency.value_at_quantile(0.95),
            latency_ns_p99: latency.value_at_quantile(0.99),
            latency_ns_p999: latency.value_at_quantile(0.999),
            latency_ns_max: latency.max(),
            histogram: BASE64_STANDARD.encode(serialized),
        }
    }

    /// The histogram; none where it is not one.
    #[must_use]
    pub fn decoded(&self) -> Option<Histogram<u64>> {
        let bytes = BASE64_STANDARD.decode(&self.histogram).ok()?;
        Deserializer::new().deserialize(&mut &bytes[..]).ok()
    }

    /// The distribution of all samples of several; none of none. Counts are added up, nothing is
    /// averaged but the means.
    #[must_use]
    pub fn merge<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let mut histogram = first.decoded()?;
        histogram.auto(true);
        let mut whole = first.clone();
        let mut answered = first.answered_sum_ns();
        for part in parts {
            // One that grows takes any value.
            histogram.add(part.decoded()?).ok()?;
            whole.censored += part.censored;
            whole.lower_bounds = whole.lower_bounds.zip(part.lower_bounds).map(|(a, b)| a + b);
            let (sum, count) = part.answered_sum_ns();
            answered = (answered.0 + sum, answered.1 + count);
        }
        let mean_ns = (answered.1 > 0.0).then(|| answered.0 / answered.1);
        Some(Self {
            censored: whole.censored,
            lower_bounds: whole.lower_bounds,
            latency_ns_mean_answered: mean_ns,
            ..Self::of(&histogram)
        })
    }

    /// The sum of the answered samples, and how many there are.
    #[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
    fn answered_sum_ns(&self) -> (f64, f64) {
        let count = self.count.saturating_sub(self.censored) as f64;
        (self.mean_answered_ns() * count, count)
    }
}

/// The share of the values that lie within one standard deviation of the mean.
#[allow(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
fn within(values: impl Iterator<Item = (u64, u64)>, mean: f64, stdev: f64) -> f64 {
    let (mut inside, mut all) = (0, 0);
    for (value, count) in values {
        all += count;
        if (value as f64 - mean).abs() <= stdev {
            inside += count;
        }
    }
    if all == 0 { 0.0 } else { inside as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(values: &[u64], highest: u64) -> LatencySummary {
        let mut histogram = Histogram::new_with_bounds(1, highest, 3).unwrap();
        values.iter().for_each(|value| histogram.saturating_record(*value));
        LatencySummary::of(&histogram)
    }

    #[test]
    fn merged_distributions_are_that_of_all_samples() {
        let (low, high) = (summary(&[100; 90], 1 << 20), summary(&[50_000_000; 10], 1 << 30));
        let merged = LatencySummary::merge([&low, &high]).unwrap();
        assert_eq!((merged.count, merged.latency_ns_p50), (100, 100));
        assert!(merged.latency_ns_p95.abs_diff(50_000_000) < 50_000);
        assert!((merged.latency_ns_mean - 5_000_090.0).abs() < 5_000.0);
        assert!((merged.mean_answered_ns() - 5_000_090.0).abs() < 5_000.0);
        assert_eq!(LatencySummary::merge([]), None);
    }

    #[test]
    fn an_invalid_histogram_merges_to_nothing() {
        let broken = LatencySummary { histogram: "?".to_owned(), ..summary(&[1], 100) };
        assert_eq!(LatencySummary::merge([&broken]), None);
    }
}
