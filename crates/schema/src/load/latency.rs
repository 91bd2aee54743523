//! A distribution of times: its summary and its histogram.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compress, Compression, FlushCompress, Status};
use hdrhistogram::{
    Histogram,
    serialization::{Deserializer, Serializer, V2Serializer},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

use super::{Estimate, LatencyFigure, Samples, samples::rank};

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
/// A request that failed or timed out, that was in flight when its reply was waited for no longer, or
/// that could not be sent before the window ended has an age instead of a latency. The histogram is the
/// product-limit estimate (Kaplan, Meier 1958) from replies and ages, in counts of requests: an age never
/// lowers a percentile. Replies and ages are kept, because estimates cannot be added up.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LatencySummary {
    /// Number of samples.
    pub count: u64,
    /// Number of them that represent requests without a correct reply.
    pub censored: u64,
    /// Number of the largest samples that are lower bounds, because no reply took as long. In reports of
    /// earlier versions it equals `censored`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lower_bounds: Option<u64>,
    /// Arithmetic mean.
    pub latency_ns_mean: f64,
    /// Arithmetic mean of the replies alone, as Little's law needs it. Reports of earlier versions do not
    /// say; there it is `latency_ns_mean`.
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
    /// The histogram of the replies alone; absent where every request had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<String>,
    /// The histogram of the ages of requests without a reply, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ages: Option<String>,
}

impl LatencySummary {
    /// The mean of the samples that belong to a rate of replies.
    #[must_use]
    pub fn mean_answered_ns(&self) -> f64 {
        self.latency_ns_mean_answered.unwrap_or(self.latency_ns_mean)
    }

    /// Which sample, counted from the smallest, is this percentile.
    #[must_use]
    pub fn rank(&self, percent: f64) -> u64 {
        rank(self.count, percent)
    }

    /// Whether this percentile is only known to be at least its value: no reply took as long.
    #[must_use]
    pub fn is_lower_bound(&self, percent: f64) -> bool {
        let lower_bounds = self.lower_bounds.unwrap_or(self.censored);
        self.rank(percent) > self.count.saturating_sub(lower_bounds)
    }

    /// The share of the samples above this many nanoseconds, 0 to 1; none where the histogram cannot be read.
    #[must_use]
    // A share needs no more than 53 bits.
    pub fn share_above(&self, limit_ns: u64) -> Option<f64> {
        let histogram = self.decoded().filter(|it| !it.is_empty())?;
        let below = histogram.count_between(0, limit_ns);
        Some(1.0 - below as f64 / histogram.len() as f64)
    }

    /// This figure, unless it is only a lower bound.
    #[must_use]
    pub fn known(&self, figure: LatencyFigure) -> Option<f64> {
        (!figure.is_lower_bound(self)).then(|| figure.of(self))
    }

    /// The summary of a distribution without lower bounds.
    #[must_use]
    pub fn of(latency: &Histogram<u64>) -> Self {
        let (mean, stdev) = (latency.mean(), latency.stdev());
        let spread = latency.iter_recorded().map(|step| {
            let value = latency.median_equivalent(step.value_iterated_to());
            (value, step.count_since_last_iteration())
        });
        Self {
            count: latency.len(),
            latency_ns_mean: mean,
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
            histogram: encode(latency),
            ..Self::default()
        }
    }

    /// The summary of all requests; none without any.
    #[must_use]
    pub fn of_samples(samples: &Samples) -> Option<Self> {
        let (replies, ages) = (&samples.replies, samples.ages());
        let Estimate { histogram, lower_bounds } = samples.estimate();
        (!histogram.is_empty()).then(|| Self {
            censored: ages.map_or(0, Histogram::len),
            lower_bounds: Some(lower_bounds),
            latency_ns_mean_answered: (!replies.is_empty()).then(|| replies.mean()),
            replies: ages.map(|_| encode(replies)),
            ages: ages.map(encode),
            ..Self::of(&histogram)
        })
    }

    /// The histogram; none where it is not one.
    #[must_use]
    pub fn decoded(&self) -> Option<Histogram<u64>> {
        decode(&self.histogram)
    }

    /// Replies and ages. Reports of earlier versions have only the estimate, which stands for replies.
    #[must_use]
    pub fn samples(&self) -> Option<Samples> {
        let replies = self.replies.as_ref().unwrap_or(&self.histogram);
        let mut samples = Samples::new(decode(replies)?);
        if let Some(ages) = &self.ages {
            samples.add_ages(&decode(ages)?);
        }
        Some(samples)
    }

    /// The distribution of all samples of several; none of none. It is estimated from the samples of all.
    #[must_use]
    pub fn merge<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut samples = parts.next()?.samples()?;
        for part in parts {
            samples.add(&part.samples()?);
        }
        Self::of_samples(&samples)
    }
}

/// The compressed form of HdrHistogram: its cookie, the length of what follows, and the plain form in zlib's format.
/// The library's own serializer makes a compressor each time, which takes longer than the gap between two visits.
fn encode(histogram: &Histogram<u64>) -> String {
    const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
    thread_local! {
        static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), true));
    }
    let mut plain = Vec::new();
    // Writing into memory does not fail, and the counts are far from the format's limits.
    let written = V2Serializer::new().serialize(histogram, &mut plain);
    debug_assert!(written.is_ok(), "a histogram is always written");
    let mut compressed = Vec::with_capacity(plain.len() * 9 / 8 + 64);
    COMPRESSOR.with_borrow_mut(|compressor| {
        compressor.reset();
        let written = compressor.compress_vec(&plain, &mut compressed, FlushCompress::Finish);
        debug_assert!(matches!(written, Ok(Status::StreamEnd)), "a compressor needs no more space");
    });
    let length = u32::try_from(compressed.len()).unwrap_or(u32::MAX).to_be_bytes();
    BASE64_STANDARD.encode([&COOKIE[..], &length, &compressed].concat())
}

fn decode(text: &str) -> Option<Histogram<u64>> {
    let bytes = BASE64_STANDARD.decode(text).ok()?;
    Deserializer::new().deserialize(&mut &bytes[..]).ok()
}

/// The share of the values that lie within one standard deviation of the mean.
// A share needs no more than 53 bits.
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

    /// The samples of a host whose replies take 20 ms, and of one whose requests fail after this time.
    fn of_hosts(age_ns: u64) -> [Samples; 2] {
        let none = || Samples::new(Histogram::new_with_bounds(1, 1 << 31, 3).unwrap());
        let (mut answers, mut fails) = (none(), none());
        (0..200).for_each(|_| answers.reply(20_000_000));
        fails.unanswered(age_ns, 1000);
        [answers, fails]
    }

    #[test]
    fn hosts_of_which_one_has_no_reply_make_one_distribution_of_known_values() {
        let parts = of_hosts(100_000).map(|it| LatencySummary::of_samples(&it).unwrap());
        let merged = LatencySummary::merge(&parts).unwrap();
        let near = |found: u64, expected: u64| found.abs_diff(expected) < expected / 500;
        assert!(near(merged.latency_ns_min, 20_000_000) && near(merged.latency_ns_p50, 20_000_000));
        assert_eq!((merged.count, merged.censored, merged.lower_bounds), (1200, 1000, Some(0)));
        assert!((merged.mean_answered_ns() / 20e6 - 1.0).abs() < 1e-3);
        // What was merged can be merged again, as with visits of several hosts.
        assert_eq!(LatencySummary::merge([&merged]), Some(merged));
    }

    #[test]
    fn percentiles_that_no_reply_reached_are_lower_bounds() {
        let mut sum = of_hosts(500_000_000);
        let late = sum[1].clone();
        sum[0].add(&late);
        let merged = LatencySummary::of_samples(&sum[0]).unwrap();
        assert!(LatencyFigure::ALL.iter().all(|it| it.is_lower_bound(&merged)));
        assert_eq!(merged.known(LatencyFigure::P50), None);
        assert!(!merged.is_lower_bound(16.6) && merged.is_lower_bound(16.7));
    }

    #[test]
    fn an_invalid_histogram_merges_to_nothing() {
        let broken = LatencySummary { histogram: "?".to_owned(), ..summary(&[1], 100) };
        assert_eq!(LatencySummary::merge([&broken]), None);
    }
}
