//! Which side set the rate of a load, with the figures from which that follows. It knows nothing of
//! what speaks against the figures.

use wirebench_schema::{
    journal::Bound,
    load::{LoadModel, LoadReport, Waiting},
};

use super::{faults::LAG_NS, gave_up, percent};
use crate::thresholds::{BUSY, ENOUGH_LATENCIES, GROWTH, KEPT, MOST_ARE_READY, NEARLY_ALL};

/// Requests below which no limit is determined.
const ENOUGH_REQUESTS: u64 = 100;

/// What set the rate, and why.
pub(super) fn limit(load: &LoadReport) -> (Bound, Vec<String>) {
    let answered = load.answered();
    if load.requests == 0 {
        let reason = match answered {
            0 => "no valid reply".to_owned(),
            _ => format!("no valid reply in the window ({answered} after it)"),
        };
        return (Bound::Unknown, vec![reason]);
    }
    let all = answered + load.errors.requests();
    if all < ENOUGH_REQUESTS {
        let reason =
            format!("{all} requests are too few to find the limit: at least {ENOUGH_REQUESTS}");
        return (Bound::Unknown, vec![reason]);
    }
    match (&load.config.model, load.demanded_requests_per_second()) {
        (LoadModel::Rate { .. }, Some(demanded)) => limit_at_rate(load, demanded),
        (LoadModel::Think { delay }, _) => {
            let connections = load.connections_made as f64;
            let paused = load.requests_per_second * delay.as_secs_f64() / connections.max(1.0);
            // At the end of a count, fewer connections than there are may still pause.
            let paused = paused.min(1.0);
            let correct = load.requests as f64 / all as f64;
            if paused < NEARLY_ALL || correct < KEPT || gave_up(load).is_some() {
                return limit_of_loop(load);
            }
            let reason = format!("pauses took {} of each connection's time", percent(paused));
            (Bound::Schedule, vec![reason])
        }
        (LoadModel::Closed | LoadModel::Rate { .. }, _) => limit_of_loop(load),
    }
}

/// Why the window is too short to tell anything, if it is.
fn too_short(load: &LoadReport) -> Option<String> {
    let mean_ns = load.mean_service_ns();
    ((load.window_ns as f64) < ENOUGH_LATENCIES * mean_ns).then(|| {
        format!(
            "the window of {:.2} s is too short to find the limit: the mean latency is {:.2} ms, and it \
             must be {ENOUGH_LATENCIES} times that",
            load.window_ns as f64 / 1e9,
            mean_ns / 1e6
        )
    })
}

/// Requests that a thread may have in flight; at a rate, those that it has on average.
fn requests_per_thread(load: &LoadReport) -> f64 {
    let requests = match load.config.model {
        LoadModel::Rate { .. } => load.on_their_way(),
        LoadModel::Closed | LoadModel::Think { .. } => load.capacity() as f64,
    };
    requests / load.thread_cpu_ns.len().max(1) as f64
}

/// A thread with one request in flight finds it answered whenever it finds anything.
fn ready_share_tells(load: &LoadReport) -> bool {
    requests_per_thread(load) >= 2.0
}

/// Whether most requests are answered, beyond the one that is whenever anything is found.
pub(crate) fn replies_wait(load: &LoadReport) -> bool {
    if !ready_share_tells(load) {
        return false;
    }
    let least = 1.0 / requests_per_thread(load);
    (load.ready_share - least) / (1.0 - least) > MOST_ARE_READY
}

/// A thread that spins runs all the time, which says nothing.
fn is_busy(load: &LoadReport) -> bool {
    load.config.waiting == Waiting::Sleep && load.busiest_thread_share() >= BUSY
}

/// What the generator's threads did, as the second half of a sentence.
fn threads_did(load: &LoadReport) -> String {
    let ran = match load.config.waiting {
        Waiting::Spin => "the load generator's threads never slept (--spin)".to_owned(),
        Waiting::Sleep => format!(
            "the load generator's busiest thread ran {} of the window",
            percent(load.busiest_thread_share())
        ),
    };
    if !ready_share_tells(load) {
        return ran;
    }
    format!("{ran}, with {}", ready(load, ""))
}

/// How much a thread found when it looked.
pub(crate) fn ready(load: &LoadReport, verb: &str) -> String {
    let share = percent(load.ready_share);
    match load.config.pipeline {
        1 => format!("{share} of its connections {verb}ready"),
        _ => format!("{share} of its requests in flight {verb}answered"),
    }
}

fn limit_of_loop(load: &LoadReport) -> (Bound, Vec<String>) {
    if let Some(reason) = too_short(load) {
        return (Bound::Unknown, vec![reason]);
    }
    let limit = match (is_busy(load), replies_wait(load)) {
        (true, true) => Bound::Generator,
        // A single request at a time that keeps a thread busy leaves no time for the server.
        (true, false) if !ready_share_tells(load) => Bound::Generator,
        (true | false, false) => Bound::Server,
        (false, true) if load.config.waiting == Waiting::Spin => Bound::Generator,
        // All replies at once, and then none.
        (false, true) => Bound::Unknown,
    };
    let mut reasons = vec![threads_did(load)];
    if limit == Bound::Unknown {
        reasons.push("the two sides took turns, or another process used the CPUs".to_owned());
    }
    (limit, reasons)
}

/// The share of the requests that were due for which the rate was kept, at most 1: without the growth of the backlog,
/// although it is answered after the window, and without those that failed or were not sent, except for `excused`.
pub(crate) fn share_of_rate(load: &LoadReport, excused: u64) -> f64 {
    let due = load.due_requests().unwrap_or(0.0);
    let [before, _, waiting] = load.offered.map_or([0; 3], |it| it.waiting);
    let answered = load.answered() + excused;
    let in_time = (load.requests + waiting).saturating_sub(before + load.backlog_growth());
    let kept = if waiting > 0 { answered.min(in_time) } else { answered };
    if due > 0.0 { (kept as f64 / due).min(1.0) } else { 0.0 }
}

/// Which side falls behind and by how much, if the backlog grew by more than a negligible share of the requests.
#[must_use]
pub fn falls_behind(load: &LoadReport) -> Option<String> {
    let growth = load.backlog_growth() as f64;
    let per_second = growth * 1e9 / load.window_ns.max(1) as f64;
    let side = if is_busy(load) && fell_behind(load) { "load generator" } else { "server" };
    (growth > GROWTH * load.due_requests()?)
        .then(|| format!("the {side} falls behind by {per_second:.0} requests/s"))
}

/// How far the schedule was kept, as a sentence.
#[must_use]
pub fn kept(load: &LoadReport, demanded: f64) -> String {
    let share = share_of_rate(load, 0);
    format!(
        "{:.0} of {demanded:.0} due requests/s were answered correctly ({})",
        share * demanded,
        percent(share)
    )
}

/// Whether requests were sent late or not at all at a constant or changing rate. If not, the
/// generator did all that was asked of it, however busy it was: near a rate at which sleeping
/// takes too long, its threads never sleep.
#[must_use]
pub fn fell_behind(load: &LoadReport) -> bool {
    let (Some(offered), Some(demanded)) = (load.offered, load.demanded_requests_per_second())
    else {
        return true;
    };
    let owed = offered.owed_at_end as f64 > (1.0 - KEPT) * offered.due as f64;
    let late = load.lag.as_ref().is_some_and(|lag| lag.latency_ns_p99 > LAG_NS);
    owed || late || offered.requests_per_second < KEPT * demanded
}

fn limit_at_rate(load: &LoadReport, demanded: f64) -> (Bound, Vec<String>) {
    let share = share_of_rate(load, 0);
    let kept = kept(load, demanded);
    if share >= KEPT && gave_up(load).is_none() {
        return (Bound::Schedule, vec![kept]);
    }
    let (waiting, capacity) = (load.on_their_way(), load.capacity() as f64);
    let occupied =
        format!("{waiting:.1} of at most {capacity:.0} requests were in flight on average");
    let mut reasons = vec![kept, occupied, threads_did(load)];
    let full = waiting.max(load.in_flight_at_end as f64) >= NEARLY_ALL * capacity;
    let failed = load.errors.total() - load.errors.surplus;
    let limit = match (full, is_busy(load) && fell_behind(load)) {
        (_, true) if replies_wait(load) => Bound::Generator,
        (true, _) => Bound::Server,
        (false, true) => Bound::Generator,
        (false, false) if failed > 0 => Bound::Server,
        (false, false) => Bound::Unknown,
    };
    reasons.extend(load.offered.filter(|_| failed > 0).map(|offered| {
        format!(
            "{} requests were sent, {failed} requests or connections failed",
            offered.due.saturating_sub(offered.owed_at_end)
        )
    }));
    match too_short(load) {
        Some(reason) => (Bound::Unknown, vec![reasons.swap_remove(0), reason]),
        None => (limit, reasons),
    }
}
