//! A load with what its report does not know: what `wirebench load --json` prints, and result folders keep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Interval, LOAD_FORMAT, LoadReport};
use crate::labels::Labels;

/// The most intervals that are kept of a load.
const MOST_INTERVALS: usize = 1200;

/// The result of `wirebench load`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LoadResult {
    /// When it began, as RFC 3339 in UTC; absent in files of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub started: String,
    /// The command; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The measured version.
    #[serde(flatten)]
    pub labels: Labels,
    /// What was measured.
    #[serde(flatten)]
    pub report: LoadReport,
    /// The load over time. Of a long one, neighbouring intervals are joined: requests are added up, and each latency
    /// is the larger one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
}

impl LoadResult {
    /// Reads the JSON of a load; none if the text is something else. An error says why it cannot be used.
    pub fn parse(text: &str) -> Option<Result<Self, String>> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
        let mut value = values.next()?.ok()?;
        // Older versions wrote the record by itself.
        if value.get("verb").is_some_and(|verb| verb == "load") {
            value = value.pointer_mut("/results/0/load")?.take();
        }
        let format = value.get("format")?.as_u64()?;
        if value.get("config").is_none() || value.get("requests_per_second").is_none() {
            return None;
        }
        if format > u64::from(LOAD_FORMAT) {
            return Some(Err(format!(
                "the load has format {format}, and this version reads up to {LOAD_FORMAT}: use the wirebench that \
                 wrote it, or a newer one"
            )));
        }
        Some(serde_json::from_value(value).map_err(|error| format!("the load is damaged: {error}")))
    }
}

/// The intervals of a load as they end, in bounded memory.
#[derive(Debug, Default)]
pub struct Timeline {
    /// Each with the number of those that it is the sum of.
    intervals: Vec<(Interval, u32)>,
    /// How often neighbours were joined.
    joined: u32,
}

impl Timeline {
    /// Adds the next interval.
    pub fn push(&mut self, interval: &Interval) {
        self.put(Interval { latency: None, latency_counts: Vec::new(), ..interval.clone() }, 1);
        if self.intervals.len() >= MOST_INTERVALS {
            self.joined += 1;
            for (sum, parts) in std::mem::take(&mut self.intervals) {
                self.put(sum, parts);
            }
        }
    }

    fn put(&mut self, next: Interval, parts: u32) {
        match self.intervals.last_mut() {
            Some((sum, of)) if sum.phase == next.phase && *of + parts <= 1 << self.joined => {
                (*sum, *of) = (sum.joined(&next), *of + parts);
            }
            _ => self.intervals.push((next, parts)),
        }
    }

    /// All of them.
    #[must_use]
    pub fn finish(self) -> Vec<Interval> {
        self.intervals.into_iter().map(|(sum, _)| sum).collect()
    }
}

/// The sum of counts by class of status; none where both have none.
#[must_use]
pub fn add_classes(one: &[u64], other: &[u64]) -> Vec<u64> {
    let of = |counts: &[u64], class: usize| counts.get(class).copied().unwrap_or(0);
    (0..one.len().max(other.len())).map(|class| of(one, class) + of(other, class)).collect()
}

impl Interval {
    /// This one and the next as one.
    fn joined(&self, next: &Self) -> Self {
        let length_ns = self.length_ns + next.length_ns;
        let requests = self.requests + next.requests;
        let mut lower_bounds = self.lower_bounds.clone();
        let further = next.lower_bounds.iter().filter(|it| !self.lower_bounds.contains(it));
        lower_bounds.extend(further);
        let mut errors_by_kind = self.errors_by_kind.clone();
        errors_by_kind.add(&next.errors_by_kind);
        Self {
            length_ns,
            requests,
            requests_per_second: requests as f64 * 1e9 / length_ns.max(1) as f64,
            errors: self.errors + next.errors,
            bytes_received: self.bytes_received + next.bytes_received,
            latency_ns_p50: self.latency_ns_p50.max(next.latency_ns_p50),
            latency_ns_p99: self.latency_ns_p99.max(next.latency_ns_p99),
            latency_ns_max: self.latency_ns_max.max(next.latency_ns_max),
            lower_bounds,
            errors_by_kind,
            status_classes: add_classes(&self.status_classes, &next.status_classes),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{EngineChoice, LoadConfig, Phase};

    fn interval(phase: Phase, start: u64) -> Interval {
        Interval {
            phase,
            start_ns: start * 1_000_000_000,
            length_ns: 1_000_000_000,
            requests: 10,
            errors: 1,
            latency_ns_p99: Some(start),
            ..Interval::default()
        }
    }

    #[test]
    fn a_long_load_keeps_all_requests_in_fewer_intervals_of_one_phase_each() {
        for length in [1, 1199, 1200, 5001] {
            let mut timeline = Timeline::default();
            (0..3).for_each(|start| timeline.push(&interval(Phase::Warmup, start)));
            (3..length + 3).for_each(|start| timeline.push(&interval(Phase::Window, start)));
            let intervals = timeline.finish();
            assert!(intervals.len() <= MOST_INTERVALS, "{}", intervals.len());
            let sum = |of: fn(&Interval) -> u64| intervals.iter().map(of).sum::<u64>();
            assert_eq!(sum(|it| it.requests), (length + 3) * 10);
            let warmup = intervals.iter().filter(|it| it.phase == Phase::Warmup);
            assert_eq!(warmup.map(|it| it.requests).sum::<u64>(), 30);
            let ends = intervals.windows(2).map(|it| it[0].start_ns + it[0].length_ns);
            assert!(ends.eq(intervals.iter().skip(1).map(|it| it.start_ns)));
            let last = intervals.last().unwrap();
            assert_eq!(last.latency_ns_p99, Some(length + 2));
        }
    }

    #[test]
    fn a_result_reads_back_and_other_files_are_none() {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let result = LoadResult {
            started: "2026-01-02T03:04:05Z".to_owned(),
            command: vec!["wirebench".to_owned(), "load".to_owned()],
            labels: Labels { label: Some("v1.2".to_owned()), revision: None },
            report: LoadReport::new("0".into(), config, EngineChoice::Epoll),
            intervals: vec![interval(Phase::Window, 1)],
        };
        let text = serde_json::to_string_pretty(&result).unwrap();
        assert_eq!(LoadResult::parse(&text).unwrap().unwrap(), result);
        // Before there was more than the report.
        let older = serde_json::to_string(&result.report).unwrap();
        assert_eq!(LoadResult::parse(&older).unwrap().unwrap().report, result.report);
        let others = ["", "{}\n{}", "{\"record\":\"start\",\"format\":9}", "[1]", "no JSON"];
        assert!(others.iter().all(|text| LoadResult::parse(text).is_none()));
        let newer = text.replacen("\"format\": 4", "\"format\": 5", 1);
        let reason = LoadResult::parse(&newer).unwrap().unwrap_err();
        assert!(
            reason.starts_with("the load has format 5, and this version reads up to 4"),
            "{reason}"
        );
        let damaged = text.replacen("\"requests\": 0", "\"requests\": \"x\"", 1);
        let reason = LoadResult::parse(&damaged).unwrap().unwrap_err();
        assert!(reason.starts_with("the load is damaged: invalid type"), "{reason}");
    }
}
