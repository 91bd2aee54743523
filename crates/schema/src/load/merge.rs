//! Merges reports: of several windows of the same load, and of several generators of one load.

use std::{collections::BTreeSet, time::Duration};

use super::{
    Fairness, GeneratorPart, IdleCounts, LatencySummary, LoadConfig, LoadReport, Offered, Stalls,
    Stop,
};

impl LoadReport {
    /// The combined report of `parts`, as if their windows were one; none without parts. Counts are
    /// added, distributions contain all samples. Fairness and idle connections are those of the
    /// least even part.
    #[must_use]
    pub fn merge(parts: &[Self]) -> Option<Self> {
        let (first, rest) = parts.split_first()?;
        // The steps are those of one window.
        let mut whole = Self { steps: Vec::new(), ..first.clone() };
        for part in rest {
            whole.add(part);
        }
        whole.requests_per_second = rate(whole.requests, parts.iter().map(Self::seconds).sum());
        whole.distributions(parts);
        whole.config.stop = Stop::After(Duration::from_nanos(whole.window_ns));
        Some(whole)
    }

    /// The report of the load `config`, of which several generators made `parts` at the same time; none
    /// without parts. Rates and counts are added, distributions contain all samples. Fairness is that of
    /// the generator with the least even connections.
    #[must_use]
    pub fn together(config: LoadConfig, parts: &[Self]) -> Option<Self> {
        let (first, rest) = parts.split_first()?;
        let mut whole = Self { config, ..first.clone() };
        for part in rest {
            whole.add_generator(part);
        }
        let count = parts.len() as f64;
        let mean = |of: fn(&Self) -> f64| parts.iter().map(of).sum::<f64>() / count;
        whole.ready_share = mean(|part| part.ready_share);
        // As if each generator had as many intervals of as many threads.
        let rate = mean(|part| part.thread_rate.mean);
        let square =
            |part: &Self| part.thread_rate.stdev.powi(2) + (part.thread_rate.mean - rate).powi(2);
        whole.thread_rate.stdev = (parts.iter().map(square).sum::<f64>() / count).sqrt();
        whole.thread_rate.mean = rate;
        whole.thread_rate.within_stdev = mean(|part| part.thread_rate.within_stdev);
        whole.distributions(parts);
        Some(whole)
    }

    /// The time in which its rate makes its requests: the length of its window, unless that ended with a last reply.
    fn seconds(&self) -> f64 {
        match self.requests_per_second > 0.0 {
            true => self.requests as f64 / self.requests_per_second,
            false => self.window_ns as f64 / 1e9,
        }
    }

    fn add_generator(&mut self, part: &Self) {
        self.add_counts(part, |one, other| one + other);
        self.window_ns = self.window_ns.max(part.window_ns);
        self.requests_per_second += part.requests_per_second;
        self.requests_before += part.requests_before;
        self.connections_made += part.connections_made;
        self.idle.made += part.idle.made;
        self.idle.lost += part.idle.lost;
        self.unanswered_connections += part.unanswered_connections;
        self.in_flight_at_end += part.in_flight_at_end;
        self.thread_cpu_ns.extend(&part.thread_cpu_ns);
        self.thread_rate.max = self.thread_rate.max.max(part.thread_rate.max);
        if self.engine_fallback.is_none() {
            self.engine_fallback.clone_from(&part.engine_fallback);
        }
        self.reply_series.add(&part.reply_series);
        self.steps.iter_mut().zip(&part.steps).for_each(|(sum, part)| sum.add(part));
    }

    fn distributions(&mut self, parts: &[Self]) {
        fn all<'a>(
            parts: &'a [LoadReport],
            of: impl Fn(&'a LoadReport) -> Option<&'a LatencySummary>,
        ) -> Option<LatencySummary> {
            LatencySummary::merge(parts.iter().filter_map(of))
        }
        self.latency = all(parts, |part| part.latency.as_ref());
        self.service = all(parts, |part| part.service.as_ref());
        self.lag = all(parts, |part| part.lag.as_ref());
        self.connect = all(parts, |part| part.connect.as_ref());
        self.stalls = Stalls::merge(parts.iter().filter_map(|part| part.stalls.as_ref()));
        let seconds = self.window_ns as f64 / 1e9;
        for (place, sum) in self.by_name.iter_mut().enumerate() {
            sum.latency = all(parts, |part| part.by_name.get(place)?.latency.as_ref());
            sum.requests_per_second = rate(sum.requests, seconds);
        }
        for (place, sum) in self.steps.iter_mut().enumerate() {
            sum.latency = all(parts, |part| part.steps.get(place)?.latency.as_ref());
        }
        self.bound_latency_by_owed();
        let classes = parts.iter().flat_map(|part| part.latency_by_status.keys());
        let of = |class: &String| {
            Some((class.clone(), all(parts, |part| part.latency_by_status.get(class))?))
        };
        self.latency_by_status =
            classes.collect::<BTreeSet<_>>().into_iter().filter_map(of).collect();
    }

    /// Owed requests were never sent. They would have waited longer than all that were due before, so the latencies
    /// that their ages gave them are lower bounds.
    pub fn bound_latency_by_owed(&mut self) {
        let Some(offered) = self.offered else { return };
        let last = self.steps.last_mut().and_then(|it| it.latency.as_mut());
        for latency in self.latency.iter_mut().chain(last) {
            latency.lower_bounds = latency.lower_bounds.map(|known| known.max(offered.owed_at_end));
        }
    }

    /// Adds a window of the same load.
    fn add(&mut self, part: &Self) {
        let windows = (self.window_ns as f64, part.window_ns as f64);
        let mean =
            |one, other| (one * windows.0 + other * windows.1) / (windows.0 + windows.1).max(1.0);
        self.add_counts(part, mean);
        self.ready_share = mean(self.ready_share, part.ready_share);
        self.window_ns += part.window_ns;
        self.connections_made = self.connections_made.min(part.connections_made);
        self.idle = IdleCounts {
            made: self.idle.made.min(part.idle.made),
            lost: self.idle.lost.max(part.idle.lost),
        };
        // A slow reply may leave a connection without one in a short window, but not in each.
        self.unanswered_connections = self.unanswered_connections.min(part.unanswered_connections);
        self.in_flight_at_end = self.in_flight_at_end.max(part.in_flight_at_end);
        for (sum, part) in self.thread_cpu_ns.iter_mut().zip(&part.thread_cpu_ns) {
            *sum += part;
        }
        for (sum, part) in self.generators.iter_mut().zip(&part.generators) {
            sum.add(part, mean);
        }
    }

    /// Adds what is added up in either case, and the rate of the schedule as given.
    fn add_counts(&mut self, part: &Self, rate: impl Fn(f64, f64) -> f64) {
        self.interrupted |= part.interrupted;
        self.requests += part.requests;
        self.bytes_received += part.bytes_received;
        self.bytes_sent += part.bytes_sent;
        self.errors.add(&part.errors);
        for example in &part.error_examples {
            if !self.error_examples.contains(example) {
                self.error_examples.push(example.clone());
            }
        }
        for (sum, count) in [
            (&mut self.heavy_replies, part.heavy_replies),
            (&mut self.gave_up_requests, part.gave_up_requests),
            (&mut self.retried_requests, part.retried_requests),
        ] {
            *sum = sum.map_or(count, |sum| Some(sum + count.unwrap_or(0)));
        }
        self.checks.fast += part.checks.fast;
        self.checks.slow += part.checks.slow;
        for (sum, part) in self.status_classes.iter_mut().zip(part.status_classes) {
            *sum += part;
        }
        self.statuses_invalid += part.statuses_invalid;
        for (sum, part) in self.by_name.iter_mut().zip(&part.by_name) {
            sum.requests += part.requests;
            sum.errors += part.errors;
        }
        self.offered = self.offered.zip(part.offered).map(|(sum, part)| Offered {
            due: sum.due + part.due,
            owed_at_end: sum.owed_at_end + part.owed_at_end,
            waiting: std::array::from_fn(|edge| sum.waiting[edge] + part.waiting[edge]),
            requests_per_second: rate(sum.requests_per_second, part.requests_per_second),
        });
        self.reconnects += part.reconnects;
        self.client_closes += part.client_closes;
        self.server_closes += part.server_closes;
        self.fairness = less_even(self.fairness, part.fairness);
        self.stall_ns_max = self.stall_ns_max.max(part.stall_ns_max);
        self.stall_ns_total += part.stall_ns_total;
    }
}

impl GeneratorPart {
    /// Adds what the same generator made in another window: means over both, and the worst of the rest.
    fn add(&mut self, part: &Self, mean: impl Fn(f64, f64) -> f64) {
        self.connections = self.connections.min(part.connections);
        self.requests_per_second = mean(self.requests_per_second, part.requests_per_second);
        self.cpus_used = mean(self.cpus_used, part.cpus_used);
        self.latency_ns_p99 = self.latency_ns_p99.max(part.latency_ns_p99);
        self.lag_ns_p99 = self.lag_ns_p99.max(part.lag_ns_p99);
        self.start_delay_ns = self.start_delay_ns.max(part.start_delay_ns);
        self.clock_error_ns = self.clock_error_ns.max(part.clock_error_ns);
    }
}

fn rate(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}

/// A window without a reply has no shares.
fn less_even(one: Fairness, other: Fairness) -> Fairness {
    let is_less = other.jain_index < one.jain_index && other.replies_most > 0;
    if is_less || one.replies_most == 0 { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{EngineChoice, LoadConfig, RateStep};

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
    fn generators_of_one_load_have_one_window_and_all_connections() {
        let parts = [part(10, 100, 1.0), part(50, 100, 0.5)].map(|mut part| {
            part.requests_per_second = part.requests as f64 / 0.1;
            part.thread_rate.mean = part.requests_per_second;
            part
        });
        let mut config = parts[0].config.clone();
        config.connections = 60;
        let whole = LoadReport::together(config.clone(), &parts).unwrap();
        assert_eq!(
            (whole.requests, whole.window_ns, whole.connections_made),
            (60, 100_000_000, 60)
        );
        assert!((whole.requests_per_second - 600.0).abs() < 1e-9);
        assert_eq!((whole.thread_cpu_ns, whole.config), (vec![100, 1, 100, 1], config.clone()));
        assert!((whole.thread_rate.mean - 300.0).abs() < 1e-9);
        assert!((whole.thread_rate.stdev - 200.0).abs() < 1e-9);
        assert_eq!((whole.error_examples.len(), whole.errors.reset), (1, 4));
        assert_eq!(LoadReport::together(config, &[]), None);
    }

    #[test]
    fn requests_that_were_never_sent_bound_the_latency_and_that_of_the_last_step() {
        let latency =
            || Some(LatencySummary { count: 10, lower_bounds: Some(1), ..Default::default() });
        let step = || RateStep { latency: latency(), ..RateStep::default() };
        let mut report =
            LoadReport { latency: latency(), steps: vec![step(), step()], ..part(9, 100, 1.0) };
        report.offered =
            Some(Offered { due: 10, owed_at_end: 6, waiting: [0; 3], requests_per_second: 100.0 });
        report.bound_latency_by_owed();
        let bounds = |it: &Option<LatencySummary>| it.as_ref().and_then(|it| it.lower_bounds);
        let of_steps: Vec<_> = report.steps.iter().map(|it| bounds(&it.latency)).collect();
        assert_eq!((bounds(&report.latency), of_steps), (Some(6), vec![Some(1), Some(6)]));
    }

    #[test]
    fn requests_that_were_given_up_are_added_up() {
        let gave_up = LoadReport { gave_up_requests: Some(7), ..part(10, 100, 1.0) };
        let merged = LoadReport::merge(&[part(10, 100, 1.0), gave_up.clone(), gave_up]);
        assert_eq!(merged.unwrap().gave_up_requests, Some(14));
    }
}
