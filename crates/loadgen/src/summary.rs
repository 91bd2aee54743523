//! Builds the report from the outcomes of all threads. Histograms are merged, never averaged.

use hdrhistogram::Histogram;
use std::collections::BTreeMap;
use wirebench_schema::load::{
    ClosedPolicy, ErrorExample, Fairness, IdleCounts, LatencyOrigin, LatencySummary, LoadConfig,
    LoadModel, LoadReport, NamedRequests, Offered, RateCurve, ReplyChecks, Samples, Stalls,
    ThreadRate,
};

use crate::{
    codec::RequestId,
    collector::ThreadSegment,
    coordinator::LoadOutcome,
    failure::Failure,
    outcome::Outcome,
    plan::{Plan, set},
    segment::{Counts, REFUSALS, Segment},
};

/// Mean latencies that a window must have for a connection without a reply to be a lost one.
const ENOUGH_LATENCIES: f64 = 20.0;

/// Makes the report of a load.
pub(crate) fn summarize(config: &LoadConfig, plan: &Plan, outcome: &LoadOutcome) -> LoadReport {
    let LoadOutcome { status, outcomes, collected, .. } = outcome;
    let window_start_ns = status.edges.map_or(u64::MAX, |edges| edges.window_start_ns);
    let last_end_ns = outcomes.iter().filter_map(|outcome| outcome.window_end_ns).max();
    let window_ns = last_end_ns.map_or(0, |end_ns| end_ns.saturating_sub(window_start_ns));
    let Segment { latency, slow, schedule, connect, counts, .. } = &collected.total;
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    let times = schedule.as_deref();
    let times_of =
        |histogram: &Histogram<u64>| LatencySummary::of_samples(&Samples::new(histogram.clone()));
    let mut report = LoadReport {
        interrupted: status.interrupted,
        requests_before: plan.requests_before,
        sample_replies: plan.sample_replies.clone(),
        files_digest: plan.files_digest.clone(),
        engine_fallback: plan.chosen.fallback.clone(),
        window_ns,
        requests: counts.requests,
        requests_per_second: whole_rate(config, outcomes, &collected.total)
            .unwrap_or_else(|| per_second(counts.requests, window_ns)),
        bytes_received: counts.bytes_received,
        bytes_sent: counts.bytes_sent,
        latency: LatencySummary::of_samples(latency),
        service: times.and_then(|times| LatencySummary::of_samples(&times.service)),
        lag: times.and_then(|times| times_of(&times.lag)),
        connect: times_of(connect),
        offered: offered(config, counts, window_ns, !status.interrupted),
        thread_rate: thread_rate(&collected.per_thread, outcomes, window_ns),
        errors: counts.errors,
        error_examples: error_examples(config, counts),
        gave_up_requests: gave_up_requests(outcomes),
        heavy_replies: config.heavy.as_ref().map(|_| counts.heavy_replies),
        checks: ReplyChecks {
            fast: counts.requests.saturating_sub(counts.checks_slow),
            slow: counts.checks_slow,
        },
        status_classes: counts.status_classes,
        statuses_invalid: counts.statuses_invalid,
        latency_by_status: latency_by_status(&collected.total),
        steps: collected.steps.iter().filter_map(|it| it.clone().until(window_ns)).collect(),
        by_name: by_name(config, &collected.total, window_ns),
        connections_made: status.connections_made,
        reconnects: counts.reconnects,
        client_closes: counts.client_closes,
        server_closes: counts.server_closes,
        retried_requests: (config.on_closed == ClosedPolicy::Retry || counts.retried > 0)
            .then_some(counts.retried),
        idle: IdleCounts {
            made: outcomes.iter().map(|outcome| outcome.idle_made).sum(),
            lost: outcomes.iter().map(|outcome| outcome.idle_lost).sum(),
        },
        fairness: fairness(outcomes),
        unanswered_connections: unanswered_connections(outcomes, window_ns, &latency.replies),
        in_flight_at_end: outcomes.iter().map(|outcome| outcome.in_flight).sum(),
        ready_share: ready_share(counts),
        thread_cpu_ns: outcomes.iter().map(|outcome| outcome.cpu_ns).collect(),
        stall_ns_max: counts.stall_ns_max,
        stall_ns_total: counts.stall_ns_total,
        stalls: outcome.stalls.as_ref().map(|seen| match seen {
            Ok(seen) => {
                let window = (window_start_ns, window_start_ns.saturating_add(window_ns));
                seen.report(&config.model, window, (latency, slow))
            }
            Err(reason) => Stalls { reason: Some(reason.clone()), ..Stalls::default() },
        }),
        reply_series: collected.reply_series.clone(),
        ..LoadReport::new(wirebench, config.clone(), plan.chosen.engine)
    };
    report.bound_latency_by_owed();
    report
}

#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn per_second(count: u64, window_ns: u64) -> f64 {
    if window_ns == 0 { 0.0 } else { count as f64 * 1e9 / window_ns as f64 }
}

/// Replies per second of a closed loop all of whose requests were answered. Each connection waits for a reply all the
/// time, so that its rate is that of its latencies, and edges shorten none of them; the first one may begin late.
#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn whole_rate(config: &LoadConfig, outcomes: &[Outcome], total: &Segment) -> Option<f64> {
    let Counts { requests, first_replies, first_latency_ns, errors, .. } = &total.counts;
    // No latency has the time in which a connection is made again.
    let Counts { reconnects, client_closes, server_closes, .. } = &total.counts;
    let stay_open = *reconnects + *client_closes + *server_closes == 0;
    // They are counted in parts that begin and end with nothing in flight.
    let is_whole = *first_replies > 0
        && stay_open
        && config.model == LoadModel::Closed
        && errors.total() == 0
        && outcomes.iter().all(|it| it.in_flight == 0)
        && total.latency.replies.len() == *requests;
    let further = requests.checked_sub(*first_replies).filter(|it| *it > 0 && is_whole)?;
    let all_ns = total.latency.replies.mean() * *requests as f64;
    let further_ns = all_ns - *first_latency_ns as f64;
    (further_ns > 0.0).then(|| *first_replies as f64 * further as f64 * 1e9 / further_ns)
}

/// One failure of each kind. Where there are several requests, it names the one that failed.
fn error_examples(config: &LoadConfig, counts: &Counts) -> Vec<ErrorExample> {
    let requests = config.requests.as_ref().map_or(&[][..], |set| &set.requests);
    let name = |id: &RequestId| requests.get(id.0 as usize).map(|it| &it.name);
    let example = |(failure, request): &(Failure, Option<RequestId>)| {
        let mut example = failure.example();
        let name = request.as_ref().and_then(name).filter(|_| requests.len() > 1);
        if let Some(name) = name.filter(|_| failure.kind().is_of_request()) {
            example.sentence = format!("request `{name}`: {}", example.sentence);
        }
        example
    };
    counts.examples.iter().flatten().map(example).collect()
}

fn by_name(config: &LoadConfig, total: &Segment, window_ns: u64) -> Vec<NamedRequests> {
    let names = set::names(config).into_iter().zip(&total.by_name);
    let named = names.map(|(name, named)| NamedRequests {
        name: name.to_owned(),
        requests: named.requests,
        requests_per_second: per_second(named.requests, window_ns),
        errors: named.errors,
        latency: LatencySummary::of_samples(&named.latency),
    });
    named.collect()
}

#[allow(clippy::cast_precision_loss, reason = "a share needs no more than 53 bits")]
fn ready_share(counts: &Counts) -> f64 {
    match counts.ready_possible {
        0 => 0.0,
        possible => counts.ready_found as f64 / possible as f64,
    }
}

/// The demand. A few requests over their time is another rate than that of the schedule: the first is due when
/// the window begins, and a count ends with its last reply. What slipped is not due any more.
#[allow(clippy::cast_precision_loss, reason = "there are few generators")]
fn offered(config: &LoadConfig, counts: &Counts, window_ns: u64, whole: bool) -> Option<Offered> {
    let LoadModel::Rate { curve, latency_from, .. } = &config.model else { return None };
    let is_known = whole || matches!(curve, RateCurve::Constant(_));
    let requests_per_second = match latency_from {
        LatencyOrigin::Due if is_known => curve.mean() / config.share.count as f64,
        LatencyOrigin::Due | LatencyOrigin::Sent => per_second(counts.due, window_ns),
    };
    let Counts { due, unsent: owed_at_end, waiting, .. } = *counts;
    Some(Offered { due, owed_at_end, waiting, requests_per_second })
}

/// Requests of a count that were not sent, over all threads; nothing where none gave up.
fn gave_up_requests(outcomes: &[Outcome]) -> Option<u64> {
    let sum = outcomes.iter().map(|outcome| outcome.gave_up_requests).sum();
    (sum > 0).then_some(sum)
}

/// The latencies of replies with an error status, by class.
fn latency_by_status(total: &Segment) -> BTreeMap<String, LatencySummary> {
    let classes = REFUSALS.into_iter().zip(&total.refusals);
    let summary = |(class, samples): (&str, &Option<Box<Samples>>)| {
        Some((class.to_owned(), LatencySummary::of_samples(samples.as_ref()?)?))
    };
    classes.filter_map(summary).collect()
}

/// Connections that no longer get replies, over all threads. Windows without replies, and those not
/// far longer than a latency, show nothing.
#[allow(clippy::cast_precision_loss, reason = "lengths of a load are far below 2^53")]
fn unanswered_connections(outcomes: &[Outcome], window_ns: u64, replies: &Histogram<u64>) -> u64 {
    if replies.is_empty() || (window_ns as f64) < ENOUGH_LATENCIES * replies.mean() {
        return 0;
    }
    outcomes.iter().map(|outcome| outcome.unanswered_connections).sum()
}

/// Rates of single threads over the segments of the window; over the whole window where it is shorter
/// than one of them.
#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn thread_rate(segments: &[ThreadSegment], outcomes: &[Outcome], window_ns: u64) -> ThreadRate {
    let mut rates: Vec<f64> =
        segments.iter().map(|segment| per_second(segment.requests, segment.length_ns)).collect();
    if rates.is_empty() && window_ns > 0 {
        let replies = |outcome: &Outcome| outcome.replies_per_connection.iter().sum();
        rates.extend(outcomes.iter().map(|outcome| per_second(replies(outcome), window_ns)));
    }
    if rates.is_empty() {
        return ThreadRate::default();
    }
    let number = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / number;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    // One segment has no spread; n - 1 is for those that have.
    let stdev = if rates.len() > 1 { (squares / (number - 1.0)).sqrt() } else { 0.0 };
    let inside = rates.iter().filter(|rate| (*rate - mean).abs() <= stdev).count();
    ThreadRate {
        mean,
        stdev,
        max: rates.iter().copied().fold(0.0, f64::max),
        within_stdev: inside as f64 / number,
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of a load are far below 2^53")]
fn fairness(outcomes: &[Outcome]) -> Fairness {
    let mut replies: Vec<u64> =
        outcomes.iter().flat_map(|outcome| &outcome.replies_per_connection).copied().collect();
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
    use crate::{collector::Collector, coordinator::LoadStatus, session::Edges};
    use wirebench_schema::load::{PIECE_NS, Phase};

    const START_NS: u64 = 10 * PIECE_NS;
    const END_NS: u64 = 14 * PIECE_NS;

    /// An outcome of a window of 0.4 s from 1 s on, with these replies per connection in its first
    /// 100 ms, and with the given records.
    fn outcome(plan: &Plan, replies: &[u64], latency_ns: u64) -> Outcome {
        let rest = (START_NS..END_NS)
            .step_by(usize::try_from(PIECE_NS).unwrap())
            .map(|start_ns| {
                let mut segment = Segment::new(plan.params.histograms);
                (segment.start_ns, segment.end_ns) = (start_ns, start_ns + PIECE_NS);
                segment.phase = Some(Phase::Window);
                if start_ns == START_NS {
                    segment.counts.requests = replies.iter().sum();
                    (0..segment.counts.requests).for_each(|_| segment.latency.reply(latency_ns));
                }
                segment
            })
            .collect();
        Outcome {
            rest,
            replies_per_connection: replies.to_vec(),
            window_end_ns: Some(END_NS),
            in_flight: 1,
            cpu_ns: 7,
            ..Outcome::default()
        }
    }

    fn report(threads: &[(&[u64], u64)]) -> LoadReport {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        let plan = Plan::new(&config).unwrap();
        let outcomes: Vec<_> = threads
            .iter()
            .map(|(replies, latency_ns)| outcome(&plan, replies, *latency_ns))
            .collect();
        let mut collector = Collector::new(plan.params.histograms, Some(PIECE_NS), threads.len());
        collector.start(START_NS, START_NS);
        for (thread, outcome) in outcomes.iter().enumerate() {
            outcome.rest.iter().for_each(|segment| collector.add(thread, segment));
        }
        let edges = Edges { start_ns: START_NS, window_start_ns: START_NS, window_end_ns: END_NS };
        let edges = (!threads.is_empty()).then_some(edges);
        let status = LoadStatus { connections_made: 4, edges, ..LoadStatus::default() };
        let collected = collector.finish().1;
        summarize(&config, &plan, &LoadOutcome { status, outcomes, collected, stalls: None })
    }

    #[test]
    fn threads_are_added_up_and_their_histograms_merged() {
        let report = report(&[(&[10, 10], 1_000), (&[20, 0], 3_000)]);
        assert_eq!((report.requests, report.window_ns), (40, 400_000_000));
        assert!((report.requests_per_second - 100.0).abs() < 1e-9);
        assert_eq!((report.in_flight_at_end, report.thread_cpu_ns), (2, vec![7, 7]));
        let latency = report.latency.unwrap();
        assert_eq!((latency.count, latency.latency_ns_min / 100), (40, 10));
        assert!((latency.latency_ns_mean - 2_000.0).abs() < 10.0);
        assert_eq!(latency.decoded().unwrap().len(), 40);
    }

    #[test]
    fn fairness_is_one_for_equal_shares_and_one_over_n_for_a_single_winner() {
        let equal = report(&[(&[5, 5], 1), (&[5, 5], 1)]).fairness;
        assert!((equal.jain_index - 1.0).abs() < 1e-12);
        let single = report(&[(&[8, 0], 1), (&[0, 0], 1)]).fairness;
        assert!((single.jain_index - 0.25).abs() < 1e-12);
        assert_eq!((single.replies_least, single.replies_median, single.replies_most), (0, 0, 8));
    }

    #[test]
    fn rates_are_those_of_single_threads_per_second() {
        let rate = report(&[(&[10], 1)]).thread_rate;
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
