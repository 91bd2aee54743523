//! A search for the highest rate at which a server keeps objectives: what is sought, how one run is
//! judged, and what was found. How the search goes on is decided elsewhere.

use serde::{Deserialize, Serialize};

use super::{Measurement, Reason, ReasonKind, Weight};
use crate::{
    id::VariantId,
    load::{LatencySummary, Limit, LoadModel, LoadReport, MOST_ARE_READY, RateCurve},
    objective::Objective,
};

/// Less than this share of the requests that were due answered correctly, and the rate was not
/// kept.
pub const KEPT: f64 = 0.99;
/// How many times as long as a pause requests at a rate wait because of it: through the pause, and
/// as long again until what was due in it is made up for, at half of what a side can do.
pub const PAUSE_AND_CATCHING_UP: f64 = 2.0;
/// A side that was busy for this share of the window had no time to spare.
const BUSY: f64 = 0.95;
/// More than this share of what the connections can carry on its way on average, and requests
/// waited for a connection to be free.
const FULL: f64 = 0.9;

/// What a search is for. It is written before the first run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Sought {
    /// The server.
    pub variant: VariantId,
    /// The workload whose rate is varied. Its runs are pilots.
    pub workload: String,
    /// All of them must hold.
    pub objectives: Vec<Objective>,
    /// The search ends when half of the interval is at most this share of the rate, such as 0.03. In
    /// older journals: how far the lowest rate that misses may be above the rate that is found.
    pub precision: f64,
    /// No more runs are made. Absent in older journals.
    #[serde(default)]
    pub most_runs: Option<u32>,
    /// Of older journals: runs that must confirm what is found.
    #[serde(default)]
    pub confirmations: u32,
    /// No lower rate is tried, in requests per second.
    pub lowest: u64,
    /// No higher rate is tried, in requests per second.
    pub highest: u64,
}

/// What a search has found. It is written after the last run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Found {
    /// The highest rate that holds, in requests per second: at higher ones more than half of the
    /// runs miss. Absent when there is none.
    pub requests_per_second: Option<u64>,
    /// The lower end of the 95 % interval of that rate. Absent when it is not known.
    #[serde(default)]
    pub low: Option<u64>,
    /// The upper end.
    #[serde(default)]
    pub high: Option<u64>,
    /// Runs of which all this is made.
    #[serde(default)]
    pub runs: u32,
    /// Of older journals: in how many of the confirming runs at that rate it held.
    #[serde(default)]
    pub held: u32,
    /// Of older journals: how many confirming runs were made at that rate.
    #[serde(default)]
    pub confirmations: u32,
    /// The lowest rate above it that missed, in requests per second.
    pub missed: Option<u64>,
    /// Why it is not higher.
    pub limit: SearchLimit,
}

/// Why a search has found no higher rate.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchLimit {
    /// The server misses the objectives beyond it.
    Server,
    /// The load generator is at its limit beyond it: the server may do more.
    Generator,
    /// Beyond it others use so much of the CPUs that this alone makes it miss: the server may do
    /// more.
    Others,
    /// No higher one was to be tried.
    HighestRate,
    /// The time was up.
    Budget,
    /// A signal ended the search.
    Interrupted,
}

/// Whether a run kept the objectives.
#[derive(Clone, Debug, PartialEq)]
pub enum Kept {
    /// All of them, and the rate.
    Holds,
    /// Not all of them.
    Misses {
        /// Who is to blame.
        by: Side,
        /// Why, each as a clause with figures.
        reasons: Vec<String>,
    },
}

/// Who is to blame for a missed objective.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// The server, or the way to it.
    Server,
    /// The load generator.
    Generator,
    /// Whoever else uses the CPUs of the two.
    Others,
}

impl LoadReport {
    /// The one constant rate that was asked for, if there was one.
    #[must_use]
    pub const fn constant_rate(&self) -> Option<u64> {
        match &self.config.model {
            LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(*rate),
            _ => None,
        }
    }
}

impl Measurement {
    /// Whether the run kept all of `objectives`, at least 99 % of its rate, and made no error.
    #[must_use]
    pub fn keeps(&self, objectives: &[Objective]) -> Kept {
        let load = &self.load;
        let mut reasons = Vec::new();
        let share = share_of_rate(load);
        if share < KEPT {
            let percent = (share * 1000.0).floor() / 10.0;
            reasons.push(format!("{percent:.1} % of the requests were answered"));
        }
        reasons.extend(load.failures());
        let mut missed: Vec<&Objective> = Vec::new();
        match &load.latency {
            None => reasons.push("no latency was measured".to_owned()),
            Some(latency) => {
                missed.extend(objectives.iter().filter(|objective| !objective.holds(latency)));
                reasons.extend(missed.iter().map(|objective| {
                    format!("{} is not below {}", objective.figure, objective.limit_text())
                }));
            }
        }
        if reasons.is_empty() {
            return Kept::Holds;
        }
        let failed = load.errors.total() > 0 || load.latency.is_none();
        let late = self.generator_was_late(share, &missed).map(|reason| (Side::Generator, reason));
        let blamed = late.or_else(|| Some((Side::Others, self.others_were_there(share, &missed)?)));
        let by = match blamed.filter(|_| !failed) {
            Some((side, reason)) => {
                reasons.push(reason);
                side
            }
            None => Side::Server,
        };
        Kept::Misses { by, reasons }
    }

    /// Whether the server, or one of its threads, had no time to spare.
    fn server_is_busy(&self) -> bool {
        self.cost.cpu_share >= BUSY || self.cost.busiest_thread_share >= BUSY
    }

    /// What others did to a side, if that alone makes the objectives miss: the share of the time for
    /// which they had its CPUs, and as much again in which requests wait until it has caught up, is
    /// larger than that of the requests that may be slower. A server that did not
    /// keep the rate, or had no time to spare, has no such excuse.
    fn others_were_there(&self, share: f64, missed: &[&Objective]) -> Option<String> {
        let explains = |reason: &&Reason| {
            let held_back = matches!(reason.kind, ReasonKind::Neighbour | ReasonKind::Stolen)
                && reason.weight >= Weight::Tail;
            let of = reason.figure.unwrap_or(0.0);
            held_back
                && missed.iter().all(|it| of * PAUSE_AND_CATCHING_UP >= it.figure.tail_share())
        };
        let can_be = share >= KEPT && !missed.is_empty() && !self.server_is_busy();
        let reason = self.reasons.iter().find(explains).filter(|_| can_be)?;
        Some(reason.text.clone())
    }

    /// Why the generator and not the server is to blame, if it is.
    ///
    /// At a rate the generator looks again and again until the next request is due, so that it is
    /// busy long before it is at its limit. It is to blame when the replies wait for it, when
    /// something kept it from its CPU for so long that this alone explains what was missed, or when
    /// it sent late although connections were free and the server had time to spare.
    fn generator_was_late(&self, share: f64, missed: &[&Objective]) -> Option<String> {
        let (load, cost) = (&self.load, &self.cost);
        let generator_is_busy = cost.generator_cpu_share >= BUSY;
        let server_is_busy = self.server_is_busy();
        if generator_is_busy && load.ready_share > MOST_ARE_READY {
            return Some("the replies waited for the load generator".to_owned());
        }
        if share < KEPT {
            let is_limit = load.verdict().limit == Limit::Generator && !server_is_busy;
            return is_limit.then(|| "the load generator was at its limit".to_owned());
        }
        if server_is_busy || on_their_way(load) >= FULL * capacity(load) {
            return None;
        }
        let stall_ns = load.stall_ns_max as f64;
        let explained = |it: &&Objective| {
            // What was due in the stall, but for its last part, waited for longer than the limit.
            let slow_ns = it.figure.tail_share() * load.window_ns as f64;
            stall_ns >= it.limit_ns() + slow_ns
        };
        if missed.iter().all(explained) {
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
}

/// The share of the requests that were due that was answered correctly, at most 1. As many as the
/// connections can carry may still wait for one when the window ends: of few requests in a short
/// window they would be a large share, although the next moment sends them.
fn share_of_rate(load: &LoadReport) -> f64 {
    let (due, owed) = load.offered.map_or((load.requests, 0), |it| (it.due, it.owed_at_end));
    let waiting = (owed as f64).min(capacity(load));
    if due == 0 { 0.0 } else { ((load.answered() as f64 + waiting) / due as f64).min(1.0) }
}

/// Requests on their way, on average, by Little's law.
fn on_their_way(load: &LoadReport) -> f64 {
    let mean_ns = load.service.as_ref().map_or(0.0, LatencySummary::mean_answered_ns);
    load.requests_per_second * mean_ns / 1e9
}

fn capacity(load: &LoadReport) -> f64 {
    load.connections_made as f64 * load.config.pipeline as f64
}

#[cfg(test)]
mod tests;
