//! Stalls of the machine of a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::latency::LatencySummary;

/// How often CPUs stood still though a program was ready that runs before all others, and the latencies without that.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Stalls {
    /// Number per second, over all CPUs of the machine of the load generator.
    pub per_second: f64,
    /// The longest one.
    pub longest_ns: u64,
    /// The share of the requests whose life overlaps one; absent where they are not set apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_share: Option<f64>,
    /// The latencies of the others, which also stand for those; absent where they are not set apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencySummary>,
    /// Why they are not set apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Stalls {
    /// The stalls of several machines, or of several windows; none without any.
    #[must_use]
    pub fn merge<'a>(parts: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let parts: Vec<&Self> = parts.collect();
        let count = (!parts.is_empty()).then_some(parts.len() as f64)?;
        let reason = parts.iter().find_map(|it| it.reason.clone());
        let is_apart = reason.is_none();
        let apart: f64 = parts.iter().filter_map(|it| it.apart_share).sum();
        Some(Self {
            per_second: parts.iter().map(|it| it.per_second).sum::<f64>() / count,
            longest_ns: parts.iter().map(|it| it.longest_ns).max().unwrap_or(0),
            apart_share: is_apart.then_some(apart / count),
            latency: LatencySummary::merge(parts.iter().filter_map(|it| it.latency.as_ref()))
                .filter(|_| is_apart),
            reason,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_set_apart_where_they_are_on_all_machines() {
        let part = |longest_ns, reason: Option<&str>| Stalls {
            per_second: longest_ns as f64,
            longest_ns,
            apart_share: reason.is_none().then_some(0.5),
            latency: None,
            reason: reason.map(str::to_owned),
        };
        let merged = |parts: [Stalls; 2]| Stalls::merge(parts.iter()).unwrap();
        let both = merged([part(2, None), part(4, None)]);
        assert_eq!((both.per_second, both.longest_ns, both.apart_share), (3.0, 4, Some(0.5)));
        let one = merged([part(2, None), part(4, Some("no right"))]);
        assert_eq!((one.apart_share, one.reason.as_deref()), (None, Some("no right")));
        assert_eq!(Stalls::merge([].iter()), None);
    }
}
