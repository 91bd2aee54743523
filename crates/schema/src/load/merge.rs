//! Merges the reports of several windows of the same load.

use std::time::Duration;

use super::{Fairness, IdleCounts, LatencySummary, LoadReport, Offered, ReplyChecks, Stop};

impl LoadReport {
    /// The combined report of `parts`, as if their windows were one; none without parts. Counts are
    /// added, distributions contain all samples. Fairness and idle connections are those of the
    /// least even part.
    #[must_use]
    pub fn merge(parts: &[Self]) -> Option<Self> {
        let (first, rest) = parts.split_first()?;
        let mut whole = first.clone();
        for part in rest {
            whole.add(part);
        }
        let seconds = whole.window_ns as f64 / 1e9;
        whole.requests_per_second = rate(whole.requests, seconds);
        let all = |of: fn(&Self) -> &Option<LatencySummary>| {
            LatencySummary::merge(parts.iter().filter_map(|part| of(part).as_ref()))
        };
        whole.latency = all(|part| &part.latency);
        whole.service = all(|part| &part.service);
        whole.lag = all(|part| &part.lag);
        whole.connect = all(|part| &part.connect);
        whole.offered = whole
            .offered
            .map(|offered| Offered { requests_per_second: rate(offered.due, seconds), ..offered });
        whole.config.stop = Stop::After(Duration::from_nanos(whole.window_ns));
        Some(whole)
    }

    /// Adds the counts.
    fn add(&mut self, part: &Self) {
        self.interrupted |= part.interrupted;
        let windows = (self.window_ns as f64, part.window_ns as f64);
        let ready = self.ready_share * windows.0 + part.ready_share * windows.1;
        self.ready_share = ready / (windows.0 + windows.1).max(1.0);
        self.window_ns += part.window_ns;
        self.requests += part.requests;
        self.bytes_received += part.bytes_received;
        self.bytes_sent += part.bytes_sent;
        self.errors.add(&part.errors);
        for example in &part.error_examples {
            if !self.error_examples.contains(example) {
                self.error_examples.push(example.clone());
            }
        }
        if let Some(requests) = part.gave_up_requests {
            *self.gave_up_requests.get_or_insert(0) += requests;
        }
        self.checks = ReplyChecks {
            fast: self.checks.fast + part.checks.fast,
            slow: self.checks.slow + part.checks.slow,
        };
        for (sum, part) in self.status_classes.iter_mut().zip(part.status_classes) {
            *sum += part;
        }
        self.offered = self.offered.zip(part.offered).map(|(sum, part)| Offered {
            due: sum.due + part.due,
            owed_at_end: sum.owed_at_end + part.owed_at_end,
            ..sum
        });
        self.connections_made = self.connections_made.min(part.connections_made);
        self.reconnects += part.reconnects;
        self.client_closes += part.client_closes;
        self.server_closes += part.server_closes;
        self.idle = IdleCounts {
            made: self.idle.made.min(part.idle.made),
            lost: self.idle.lost.max(part.idle.lost),
        };
        self.fairness = less_even(self.fairness, part.fairness);
        self.in_flight_at_end = self.in_flight_at_end.max(part.in_flight_at_end);
        for (sum, part) in self.thread_cpu_ns.iter_mut().zip(&part.thread_cpu_ns) {
            *sum += part;
        }
        self.stall_ns_max = self.stall_ns_max.max(part.stall_ns_max);
        self.stall_ns_total += part.stall_ns_total;
    }
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

fn less_even(one: Fairness, other: Fairness) -> Fairness {
    if other.jain_index < one.jain_index { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{EngineChoice, LoadConfig};

    fn part(requests: u64, window_ms: u64, jain_index: f64) -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let mut part = LoadReport::new("0".into(), config, EngineChoice::Epoll);
        part.requests = requests;
        part.window_ns = window_ms * 1_000_000;
        part.fairness.jain_index = jain_index;
        part.thread_cpu_ns = vec![window_ms, 1];
        part.connections_made = usize::try_from(requests).unwrap();
        part.error_examples = vec!["closed".to_owned().into()];
        part.errors.reset = 2;
        part
    }

    #[test]
    fn counts_are_added_up_and_rates_are_those_of_the_whole_time() {
        let merged = LoadReport::merge(&[part(10, 100, 1.0), part(50, 200, 0.5)]).unwrap();
        assert_eq!((merged.requests, merged.window_ns), (60, 300_000_000));
        assert!((merged.requests_per_second - 200.0).abs() < 1e-9);
        assert_eq!((merged.thread_cpu_ns, merged.connections_made), (vec![300, 2], 10));
        assert_eq!((merged.error_examples.len(), merged.errors.reset), (1, 4));
        assert!((merged.fairness.jain_index - 0.5).abs() < 1e-12);
        assert_eq!(merged.config.stop, Stop::After(Duration::from_millis(300)));
        assert_eq!(LoadReport::merge(&[]), None);
    }

    #[test]
    fn requests_that_were_given_up_are_added_up_and_older_reports_have_none() {
        let gave_up = LoadReport { gave_up_requests: Some(7), ..part(10, 100, 1.0) };
        let merged = LoadReport::merge(&[part(10, 100, 1.0), gave_up.clone(), gave_up.clone()]);
        assert_eq!(merged.unwrap().gave_up_requests, Some(14));
        let mut older = serde_json::to_value(&gave_up).unwrap();
        older.as_object_mut().unwrap().remove("gave_up_requests").unwrap();
        let older: LoadReport = serde_json::from_value(older).unwrap();
        assert_eq!(older, part(10, 100, 1.0));
    }
}
