//! Whether a run at a rate kept its objectives, and which side is the limit if it did not. How a
//! search goes on is decided elsewhere.

use wirebench_schema::{
    journal::{Bound, Measurement, Reason, ReasonKind, Weight},
    objective::Objective,
};

use crate::{
    load::{failures, falls_behind, replies_wait, share_of_rate, verdict},
    thresholds::{BUSY, KEPT, NEARLY_ALL, PAUSE_AND_CATCHING_UP},
};

/// Whether a run kept the objectives.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectiveResult {
    /// All of them, and the rate.
    Holds,
    /// Not all of them.
    Misses {
        /// The side that is the limit.
        by: Side,
        /// Why, each as a clause with figures.
        reasons: Vec<String>,
    },
}

/// The side that is the limit when an objective is missed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The server, or the way to it.
    Server,
    Generator,
    /// Other programs on the CPUs of the two.
    Others,
}

/// Whether the run kept all of `objectives`, at least 99 % of its rate, and made no error.
#[must_use]
pub fn keeps(run: &Measurement, objectives: &[Objective]) -> ObjectiveResult {
    let load = &run.load;
    let mut reasons = Vec::new();
    // As many as the connections can carry may still wait for one when the window ends: of few requests in a short
    // window they would be a large share, although the next moment sends them.
    let owed = load.offered.map_or(0, |it| it.owed_at_end);
    let share = share_of_rate(load, owed.min(load.capacity()));
    reasons.extend(falls_behind(load));
    if share < KEPT {
        let percent = (share * 1000.0).floor() / 10.0;
        reasons.push(format!("{percent:.1} % of the requests were answered"));
    }
    reasons.extend(failures(load));
    let mut missed: Vec<&Objective> = Vec::new();
    match &load.latency {
        None => reasons.push("no latency was measured".to_owned()),
        Some(latency) => {
            missed.extend(objectives.iter().filter(|objective| !objective.holds(latency)));
            reasons.extend(missed.iter().map(|objective| {
                let is_below = objective.figure.of(latency) < objective.limit_ns();
                let known = if is_below { "known to be " } else { "" };
                format!("{} is not {known}below {}", objective.figure, objective.limit_text())
            }));
        }
    }
    if reasons.is_empty() {
        return ObjectiveResult::Holds;
    }
    let failed = load.errors.total() > 0 || load.latency.is_none();
    let late = generator_was_late(run, share, &missed).map(|reason| (Side::Generator, reason));
    let blamed = late.or_else(|| Some((Side::Others, others_were_there(run, share, &missed)?)));
    let by = match blamed.filter(|_| !failed) {
        Some((side, reason)) => {
            reasons.push(reason);
            side
        }
        None => Side::Server,
    };
    ObjectiveResult::Misses { by, reasons }
}

/// Whether the server, or one of its threads, had no time to spare.
fn server_is_busy(run: &Measurement) -> bool {
    run.cost.cpu_share >= BUSY || run.cost.busiest_thread_share >= BUSY
}

/// What others did to a side, if that alone makes the objectives miss: the share of the time for
/// which they had its CPUs, and as much again in which requests wait until it has caught up, is
/// larger than that of the requests that may be slower. A server that did not
/// keep the rate, or had no time to spare, has no such excuse.
fn others_were_there(run: &Measurement, share: f64, missed: &[&Objective]) -> Option<String> {
    let explains = |reason: &&Reason| {
        let held_back = matches!(reason.kind, ReasonKind::Neighbour | ReasonKind::Stolen)
            && reason.weight >= Weight::Tail;
        let explained = reason.figure.unwrap_or(0.0) * PAUSE_AND_CATCHING_UP;
        held_back
            && missed.iter().all(|it| explained >= it.figure.tail_share())
            && explains_slow(run, explained, missed)
    };
    let can_be = share >= KEPT && !missed.is_empty() && !server_is_busy(run);
    let reason = run.reasons.iter().find(explains).filter(|_| can_be)?;
    Some(reason.text())
}

/// Tells if at most this share of the requests was too slow. A server that always takes too long has no excuse.
fn explains_slow(run: &Measurement, share: f64, missed: &[&Objective]) -> bool {
    let slow = |it: &&Objective| run.load.latency.as_ref()?.share_above(it.limit_ns() as u64);
    missed.iter().filter_map(slow).all(|slow| slow <= share)
}

/// Why the generator and not the server is to blame, if it is.
///
/// At a rate the generator looks again and again until the next request is due, so that it is
/// busy long before it is at its limit. It is to blame when the replies wait for it, when
/// something kept it from its CPU for so long that this alone explains what was missed, or when
/// it sent late although connections were free and the server had time to spare.
fn generator_was_late(run: &Measurement, share: f64, missed: &[&Objective]) -> Option<String> {
    let (load, cost) = (&run.load, &run.cost);
    let generator_is_busy = cost.generator_cpu_share >= BUSY;
    let server_is_busy = server_is_busy(run);
    if generator_is_busy && replies_wait(load) {
        return Some("the replies waited for the load generator".to_owned());
    }
    if share < KEPT {
        let is_limit = verdict(load).limit == Bound::Generator && !server_is_busy;
        return is_limit.then(|| "the load generator was at its limit".to_owned());
    }
    let is_full = load.on_their_way() >= NEARLY_ALL * load.capacity() as f64;
    if missed.is_empty() || server_is_busy || is_full {
        return None;
    }
    let stall_ns = load.stall_ns_max as f64;
    let explained = |it: &&Objective| {
        // What was due in the stall, but for its last part, waited for longer than the limit.
        let slow_ns = it.figure.tail_share() * load.window_ns as f64;
        stall_ns >= it.limit_ns() + slow_ns
    };
    let stalled = PAUSE_AND_CATCHING_UP * stall_ns / load.window_ns.max(1) as f64;
    if missed.iter().all(explained) && explains_slow(run, stalled, missed) {
        return Some(format!(
            "a thread of the load generator did not run for {:.2} ms when it should have",
            stall_ns / 1e6
        ));
    }
    let (lag, service) = (load.lag.as_ref()?, load.service.as_ref()?);
    let late = missed.iter().all(|it| it.figure.of(lag) >= it.limit_ns());
    // Had a pause of the server filled the connections, a request would have been on its way
    // for as long.
    let served = missed.iter().all(|it| (service.latency_ns_max as f64) < it.limit_ns());
    (generator_is_busy && late && served).then(|| {
        format!(
            "the load generator sent one request in a hundred {:.2} ms or more after it was due",
            lag.latency_ns_p99 as f64 / 1e6
        )
    })
}

#[cfg(test)]
mod tests;
