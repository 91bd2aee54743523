//! What is wrong with a load itself, on whichever side: what `wirebench load` shows as cautions.

use wirebench_schema::{
    journal::{Bound, Reason, ReasonKind, Weight},
    load::{LatencyFigure, LoadModel, LoadReport, Stop},
};

use super::limit::limit;
use crate::thresholds::PAUSE_AND_CATCHING_UP;

/// Jain's index below which some connections were starved: with it, the load was the work of four
/// fifths of the connections at most.
const FAIR: f64 = 0.8;
/// Requests of each connection, on average, below which an uneven share says nothing.
const ENOUGH_OF_EACH: u64 = 10;
/// A connection with less than one over this of the median's replies was starved. Jain's index of
/// many connections does not show a few of those.
const STARVED: u64 = 10;
/// Replies of the median connection below which a small share may be chance.
const ENOUGH_OF_MEDIAN: u64 = 100;
/// Samples of which ten lie beyond the 99th percentile.
const ENOUGH_SAMPLES: u64 = 1000;
/// A thread that looks at its connections this much too late was stopped or had no CPU: it is
/// longer than a time visit of the kernel's scheduler.
const STALL_NS: u64 = 10_000_000;
/// From this share of the window on, delays are the 99th percentile of what is due in it.
const STALL_SHARE: f64 = 0.01;
/// From this share on the rate of a closed loop is as much too low.
const STALL_SPOILS: f64 = 0.05;
/// A lag above which a request was not sent when it was due. A thread that has its CPU is later than
/// this only when no connection is free.
pub(super) const LAG_NS: u64 = 1_000_000;
/// The side that explains this part of the lag made it.
const MOST_OF_LAG: f64 = 0.5;
/// A thread that was kept from its connections for this share of the window falls behind at a rate
/// that it could hold otherwise: its lag adds up and is longer than its longest stall explains.
const STARVED_THREAD: f64 = 0.25;

/// What is wrong with the load itself, on whichever side.
#[must_use]
pub fn faults(load: &LoadReport) -> Vec<Reason> {
    let faults = [
        connections_missing(load),
        unanswered_connections(load),
        few_samples(load),
        lower_bound(load),
        uneven_service(load),
    ];
    faults.into_iter().flatten().collect()
}

fn connections_missing(load: &LoadReport) -> Option<Reason> {
    let (asked, made) = (load.config.connections, load.connections_made);
    let (kind, detail) = (ReasonKind::ConnectionsMissing, format!("of {asked}"));
    (made < asked).then(|| kind.reason(Weight::Invalid, Some(made as f64), detail))
}

/// That connections of a closed loop get no more replies.
fn unanswered_connections(load: &LoadReport) -> Option<Reason> {
    let (unanswered, made) = (load.unanswered_connections, load.connections_made);
    let detail = format!("of {made}, during the second half of the window");
    let is_timed_loop =
        load.config.model == LoadModel::Closed && matches!(load.config.stop, Stop::After(_));
    let reason = || ReasonKind::Unanswered.reason(Weight::Invalid, Some(unanswered as f64), detail);
    (unanswered > 0 && is_timed_loop).then(reason)
}

fn few_samples(load: &LoadReport) -> Option<Reason> {
    let samples = load.latency.as_ref().map_or(0, |latency| latency.count);
    let (kind, detail) = (ReasonKind::FewSamples, "p99 needs ten beyond it");
    (samples < ENOUGH_SAMPLES).then(|| kind.reason(Weight::Note, Some(samples as f64), detail))
}

/// That a percentile which others read as a measured one is not.
fn lower_bound(load: &LoadReport) -> Option<Reason> {
    let latency = load.latency.as_ref()?;
    let enough = |figure: &LatencyFigure| latency.count >= figure.enough_samples();
    let figures = [LatencyFigure::P50, LatencyFigure::P99, LatencyFigure::P999];
    let lowest = figures.into_iter().filter(enough).find(|it| it.is_lower_bound(latency))?;
    let above = latency.lower_bounds.unwrap_or(latency.censored);
    let detail = format!("of {}: {lowest} is one", latency.count);
    let weight = match lowest {
        LatencyFigure::P50 => Weight::Invalid,
        LatencyFigure::P99 => Weight::Tail,
        _ => Weight::Note,
    };
    Some(ReasonKind::LowerBound.reason(weight, Some(above as f64), detail))
}

fn uneven_service(load: &LoadReport) -> Option<Reason> {
    let fairness = load.fairness;
    let made = load.connections_made as u64;
    if load.requests == 0 || load.requests < ENOUGH_OF_EACH * made {
        return None;
    }
    let starved = fairness.replies_median >= ENOUGH_OF_MEDIAN
        && fairness.replies_least * STARVED < fairness.replies_median;
    let detail = format!("{} to {} replies each", fairness.replies_least, fairness.replies_most);
    let weight = if starved { Weight::Invalid } else { Weight::Note };
    let reason = || ReasonKind::Unfair.reason(weight, Some(fairness.jain_index), detail);
    (starved || fairness.jain_index < FAIR).then(reason)
}

/// That requests were sent later than they were due. Latencies count from then, so they hold
/// what kept the requests back: the server, which is a result, or the generator, which spoils
/// their tail.
pub(super) fn schedule_lag(load: &LoadReport) -> Option<Reason> {
    let lag_ns = load.lag.as_ref()?.latency_ns_p99;
    let own = generator_kept_back(load);
    sent_late(load, "1 %", lag_ns, if own { Weight::Tail } else { Weight::Note })
}

/// Enough requests were sent late that they came in bursts: a server that wakes once for several
/// requests uses less CPU for each.
pub(super) fn bursts(load: &LoadReport) -> Option<Reason> {
    let lag_ns = load.lag.as_ref()?.latency_ns_p95;
    sent_late(load, "5 %", lag_ns, Weight::Invalid)
}

/// That this share of the requests was sent this late, if that is late.
fn sent_late(load: &LoadReport, share: &str, lag_ns: u64, weight: Weight) -> Option<Reason> {
    let kind = match generator_kept_back(load) {
        true => ReasonKind::ScheduleLag,
        false => ReasonKind::ConnectionsBusy,
    };
    (lag_ns > LAG_NS)
        .then(|| kind.reason(weight, Some(lag_ns as f64), format!("{share} of the requests")))
}

/// Whether the generator made one request in a hundred late: by coming too late, with what it had
/// to make up for, or because it is at its limit. Where both sides were late, it is the one that
/// explains most of the lag.
fn generator_kept_back(load: &LoadReport) -> bool {
    let share = stall_share(load);
    let is_often_late = share * PAUSE_AND_CATCHING_UP > STALL_SHARE;
    is_often_late && (share > STARVED_THREAD || stalls_explain_lag(load))
        || limit(load).0 == Bound::Generator
}

/// Whether the generator's stalls explain most of the lag, on average over all requests.
///
/// A request that is due in a stall waits for half of it on average, and making up for it takes
/// as long again at most. So the stalls explain their share of the window, times their length;
/// each is taken to be as long as the longest, so what is in doubt counts as the generator's.
fn stalls_explain_lag(load: &LoadReport) -> bool {
    let explained_ns = stall_share(load) * load.stall_ns_max as f64;
    let lag_ns = load.lag.as_ref().map_or(0.0, |lag| {
        // What every request has to wait, such as for a timer, is of neither side.
        let usual_ns = if lag.latency_ns_p50 < LAG_NS { lag.latency_ns_p50 } else { 0 };
        lag.latency_ns_mean - usual_ns as f64
    });
    explained_ns >= MOST_OF_LAG * lag_ns
}

/// The share of the window in which a thread of the generator was kept from its connections, 0
/// to 1: at a rate also the share of the requests that it could not send in time.
fn stall_share(load: &LoadReport) -> f64 {
    let threads = load.thread_cpu_ns.len().max(1) as f64;
    load.stall_ns_total as f64 / (load.window_ns.max(1) as f64 * threads)
}

/// That a thread of the generator did not run when it should have.
pub(super) fn generator_stall(load: &LoadReport) -> Option<Reason> {
    let (stall_ns, share) = (load.stall_ns_max as f64, stall_share(load));
    let detail = format!("{:.1} % of the window in total", share * 100.0);
    let weight = match share {
        _ if share > STALL_SPOILS => Weight::Invalid,
        _ if share > STALL_SHARE => Weight::Tail,
        _ => Weight::Note,
    };
    let kind = ReasonKind::GeneratorStall;
    let says = weight > Weight::Note || load.stall_ns_max > STALL_NS;
    says.then(|| kind.reason(weight, Some(stall_ns), detail))
}
