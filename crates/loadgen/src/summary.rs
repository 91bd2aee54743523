//! From the outcomes of all threads to the report. Histograms are merged, never averaged.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2DeflateSerializer},
};
use wirebench_schema::load::{Fairness, LatencySummary, LoadConfig, LoadReport, ThreadRate};

use crate::{
    coordinator::Course,
    failure::Failure,
    outcome::Outcome,
    plan::Plan,
    recorder::{INTERVAL_NS, latency_histogram},
};

/// Makes the report of a load.
#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
pub(crate) fn summarize(
    config: &LoadConfig,
    plan: &Plan,
    course: Course,
    outcomes: &[Outcome],
) -> LoadReport {
    let window_start_ns = course.window_start_ns.unwrap_or(u64::MAX);
    let last_end_ns = outcomes.iter().filter_map(|outcome| outcome.window_end_ns).max();
    let window_ns = last_end_ns.map_or(0, |end_ns| end_ns.saturating_sub(window_start_ns));
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    let mut report = LoadReport {
        interrupted: course.interrupted,
        window_ns,
        thread_rate: thread_rate(outcomes, window_ns),
        error_examples: examples(outcomes),
        connections_made: course.connections_made,
        fairness: fairness(outcomes),
        thread_cpu_ns: outcomes.iter().map(|outcome| outcome.cpu_ns).collect(),
        ..LoadReport::new(wirebench, config.clone(), plan.engine)
    };
    let mut latency = latency_histogram(plan.timing.timeout_ns);
    let mut censored = 0;
    let (mut ready_found, mut ready_possible) = (0, 0);
    for Outcome { record, in_flight, .. } in outcomes {
        // All histograms have the same bounds, so none of them is too wide for the sum.
        let _ = latency.add(&record.latency);
        censored += record.censored;
        report.requests += record.requests;
        report.bytes_received += record.bytes_received;
        report.bytes_sent += record.bytes_sent;
        report.errors.add(&record.errors);
        report.reconnects += record.reconnects;
        report.in_flight_at_end += in_flight;
        ready_found += record.ready_found;
        ready_possible += record.ready_possible;
        for (sum, count) in report.status_classes.iter_mut().zip(record.status_classes) {
            *sum += count;
        }
    }
    if window_ns > 0 {
        report.requests_per_second = report.requests as f64 * 1e9 / window_ns as f64;
    }
    if ready_possible > 0 {
        report.ready_share = ready_found as f64 / ready_possible as f64;
    }
    report.latency = (!latency.is_empty()).then(|| latency_summary(&latency, censored));
    report
}

/// One sentence for each kind of failure that happened.
fn examples(outcomes: &[Outcome]) -> Vec<String> {
    let kinds = 0..crate::failure::KINDS;
    let first = |kind: usize| outcomes.iter().find_map(|o| o.record.examples[kind].as_ref());
    let mut sentences: Vec<String> =
        kinds.filter_map(first).map(|failure: &Failure| failure.to_string()).collect();
    let gave_up_requests: u64 = outcomes.iter().map(|outcome| outcome.gave_up_requests).sum();
    if gave_up_requests > 0 {
        sentences.push(format!(
            "gave up: no reply came for three timeouts, so {gave_up_requests} requests were not sent"
        ));
    }
    sentences
}

fn latency_summary(latency: &Histogram<u64>, censored: u64) -> LatencySummary {
    let (mean, stdev) = (latency.mean(), latency.stdev());
    let mut serialized = Vec::new();
    // Writing into memory does not fail, and the counts are far from the format's limits.
    let written = V2DeflateSerializer::new().serialize(latency, &mut serialized);
    debug_assert!(written.is_ok(), "a histogram is always written");
    let spread = latency.iter_recorded().map(|step| {
        let value = latency.median_equivalent(step.value_iterated_to());
        (value, step.count_since_last_iteration())
    });
    LatencySummary {
        count: latency.len(),
        censored,
        latency_ns_mean: mean,
        latency_ns_stdev: stdev,
        within_stdev: within(spread, mean, stdev),
        latency_ns_min: latency.min(),
        latency_ns_p50: latency.value_at_quantile(0.5),
        latency_ns_p75: latency.value_at_quantile(0.75),
        latency_ns_p90: latency.value_at_quantile(0.9),
        latency_ns_p99: latency.value_at_quantile(0.99),
        latency_ns_p999: latency.value_at_quantile(0.999),
        latency_ns_max: latency.max(),
        histogram: BASE64_STANDARD.encode(serialized),
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

/// Rates over the intervals of all threads; over the whole window where it is shorter than one
/// interval.
#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn thread_rate(outcomes: &[Outcome], window_ns: u64) -> ThreadRate {
    let mut counts: Vec<u64> = Vec::new();
    let mut length_ns = INTERVAL_NS;
    for outcome in outcomes {
        counts.extend(&outcome.record.requests_per_interval);
    }
    if counts.is_empty() {
        counts.extend(outcomes.iter().map(|outcome| outcome.record.requests));
        length_ns = window_ns;
    }
    if counts.is_empty() || length_ns == 0 {
        return ThreadRate::default();
    }
    let per_second = 1e9 / length_ns as f64;
    let number = counts.len() as f64;
    let mean = counts.iter().sum::<u64>() as f64 / number;
    let squares: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum();
    // One interval has no spread; n - 1 is for those that have.
    let stdev = if counts.len() > 1 { (squares / (number - 1.0)).sqrt() } else { 0.0 };
    ThreadRate {
        mean: mean * per_second,
        stdev: stdev * per_second,
        max: counts.iter().max().map_or(0.0, |max| *max as f64 * per_second),
        within_stdev: within(counts.iter().map(|count| (*count, 1)), mean, stdev),
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn fairness(outcomes: &[Outcome]) -> Fairness {
    let mut replies: Vec<u64> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.record.replies_per_connection)
        .copied()
        .collect();
    replies.sort_unstable();
    let (Some(least), Some(most)) = (replies.first(), replies.last()) else {
        return Fairness::default();
    };
    let sum: f64 = replies.iter().map(|count| *count as f64).sum();
    let squares: f64 = replies.iter().map(|count| (*count as f64).powi(2)).sum();
    let middle = replies.len() / 2;
    let median = match replies.len() % 2 {
        0 => u64::midpoint(replies[middle - 1], replies[middle]),
        _ => replies[middle],
    };
    Fairness {
        replies_least: *least,
        replies_median: median,
        replies_most: *most,
        jain_index: if squares > 0.0 { sum * sum / (replies.len() as f64 * squares) } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Recorder;
    use hdrhistogram::serialization::Deserializer;

    const TIMEOUT_NS: u64 = 2_000_000_000;

    /// An outcome of a window of 0.4 s from 1 s on, with these replies per connection, one after
    /// the other.
    fn outcome(replies: &[u64], latency_ns: u64) -> Outcome {
        let mut recorder = Recorder::new(replies.len(), TIMEOUT_NS);
        recorder.open_window(1_000_000_000);
        for (connection, count) in replies.iter().enumerate() {
            for _ in 0..*count {
                recorder.reply(connection, 1_000_000_001, latency_ns);
            }
        }
        recorder.close_window(1_400_000_000);
        Outcome {
            record: recorder.into_record(),
            window_end_ns: Some(1_400_000_000),
            in_flight: 1,
            cpu_ns: 7,
            gave_up_requests: 0,
        }
    }

    fn report(outcomes: &[Outcome]) -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let plan = Plan::new(&config).unwrap();
        let window_start_ns = Some(1_000_000_000);
        let course = Course { connections_made: 4, window_start_ns, interrupted: false };
        summarize(&config, &plan, course, outcomes)
    }

    #[test]
    fn threads_are_added_up_and_their_histograms_merged() {
        let report = report(&[outcome(&[10, 10], 1_000), outcome(&[20, 0], 3_000)]);
        assert_eq!((report.requests, report.window_ns), (40, 400_000_000));
        assert!((report.requests_per_second - 100.0).abs() < 1e-9);
        assert_eq!((report.in_flight_at_end, report.thread_cpu_ns), (2, vec![7, 7]));
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.latency_ns_min / 100), (40, 10));
        assert!((latency.latency_ns_mean - 2_000.0).abs() < 10.0);
        let bytes = BASE64_STANDARD.decode(latency.histogram).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert_eq!(read.len(), 40);
    }

    #[test]
    fn fairness_is_one_for_equal_shares_and_one_over_n_for_a_single_winner() {
        let equal = fairness(&[outcome(&[5, 5], 1), outcome(&[5, 5], 1)]);
        assert!((equal.jain_index - 1.0).abs() < 1e-12);
        let single = fairness(&[outcome(&[8, 0], 1), outcome(&[0, 0], 1)]);
        assert!((single.jain_index - 0.25).abs() < 1e-12);
        assert_eq!((single.replies_least, single.replies_median, single.replies_most), (0, 0, 8));
    }

    #[test]
    fn rates_are_those_of_single_threads_per_second() {
        let rate = thread_rate(&[outcome(&[10], 1)], 400_000_000);
        assert!((rate.max - 100.0).abs() < 1e-9);
        assert!((rate.mean - 25.0).abs() < 1e-9);
        assert!((rate.within_stdev - 0.75).abs() < 1e-12);
    }

    #[test]
    fn without_an_answer_there_is_no_latency_and_no_division_by_zero() {
        let report = report(&[]);
        assert_eq!((report.latency, report.window_ns), (None, 0));
        assert!(report.requests_per_second.abs() < f64::EPSILON);
    }
}
