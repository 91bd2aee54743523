//! Which side set the rate of a load, with the figures from which that follows. It knows nothing of
//! what speaks against the figures.

use super::{Limit, MOST_ARE_READY, faults::LAG_NS, percent};
use crate::{
    journal::KEPT,
    load::{LatencyOrigin, LoadModel, LoadReport, Waiting},
};

/// A thread that ran for this share of the window was busy.
const BUSY: f64 = 0.9;
/// This share of the connections, or of their time, is all of it.
const NEARLY_ALL: f64 = 0.9;
/// Requests below which nothing can be told of a limit.
const ENOUGH_REQUESTS: u64 = 100;
/// Mean latencies that a window must have: in fewer the connections run in step, and the edges of
/// the window weigh more than what is between.
const ENOUGH_LATENCIES: f64 = 20.0;

impl LoadReport {
    /// What set the rate, and why.
    pub(super) fn limit(&self) -> (Limit, Vec<String>) {
        let answered = self.answered();
        if self.requests == 0 {
            let reason = match answered {
                0 => "no valid reply".to_owned(),
                _ => format!("no valid reply within the window, {answered} after it"),
            };
            return (Limit::Unknown, vec![reason]);
        }
        let all = answered + self.errors.requests();
        if all < ENOUGH_REQUESTS {
            let reason =
                format!("{all} requests are too few to find the limit: at least {ENOUGH_REQUESTS}");
            return (Limit::Unknown, vec![reason]);
        }
        match (&self.config.model, self.demanded_requests_per_second()) {
            (LoadModel::Rate { .. }, Some(demanded)) => self.limit_at_rate(demanded),
            (LoadModel::Think { delay }, _) => {
                let connections = self.connections_made as f64;
                let paused = self.requests_per_second * delay.as_secs_f64() / connections.max(1.0);
                // At the end of a count, fewer connections than there are may still pause.
                let paused = paused.min(1.0);
                let correct = self.requests as f64 / all as f64;
                if paused < NEARLY_ALL || correct < KEPT || self.gave_up().is_some() {
                    return self.limit_of_loop();
                }
                let reason = format!("pauses took {} of each connection's time", percent(paused));
                (Limit::Schedule, vec![reason])
            }
            (LoadModel::Closed | LoadModel::Rate { .. }, _) => self.limit_of_loop(),
        }
    }

    /// The most requests that can be in flight.
    pub(super) fn capacity(&self) -> u64 {
        self.connections_made as u64 * self.config.pipeline as u64
    }

    /// Requests on their way, on average over the window, by Little's law; never more than can be.
    ///
    /// What a request waited for after the window is no part of it: the rate is that of the replies
    /// within the window, and none of those waited for longer than the connection had.
    pub(super) fn on_their_way(&self) -> f64 {
        let waiting = self.requests_per_second * self.mean_service_ns() / 1e9;
        waiting.min(self.capacity() as f64)
    }

    /// From the sending of a request to its reply, at most the window. Requests without a reply do not
    /// count: those that are never answered are found by the connections that they leave over.
    fn mean_service_ns(&self) -> f64 {
        let service = self.service.as_ref().or(match &self.config.model {
            LoadModel::Rate { latency_from: LatencyOrigin::Due, .. } => None,
            _ => self.latency.as_ref(),
        });
        service.map_or(0.0, |service| service.mean_answered_ns().min(self.window_ns as f64))
    }

    /// Why the window is too short to tell anything, if it is.
    fn too_short(&self) -> Option<String> {
        let mean_ns = self.mean_service_ns();
        ((self.window_ns as f64) < ENOUGH_LATENCIES * mean_ns).then(|| {
            format!(
                "the window of {:.2} s is too short to find the limit: the mean latency is {:.2} ms, and it \
                 must be {ENOUGH_LATENCIES} times that",
                self.window_ns as f64 / 1e9,
                mean_ns / 1e6
            )
        })
    }

    /// Connections of one thread.
    fn connections_per_thread(&self) -> f64 {
        self.connections_made as f64 / self.thread_cpu_ns.len().max(1) as f64
    }

    /// A thread with one connection finds it ready whenever it finds anything.
    fn ready_share_tells(&self) -> bool {
        self.connections_per_thread() >= 2.0
    }

    /// Whether most connections are ready, beyond the one that is ready whenever anything is.
    fn replies_wait(&self) -> bool {
        if !self.ready_share_tells() {
            return false;
        }
        let least = 1.0 / self.connections_per_thread();
        (self.ready_share - least) / (1.0 - least) > MOST_ARE_READY
    }

    /// A thread that spins runs all the time, which says nothing.
    fn is_busy(&self) -> bool {
        self.config.waiting == Waiting::Sleep && self.busiest_thread_share() >= BUSY
    }

    /// What the generator's threads did, as the second half of a sentence.
    fn threads_did(&self) -> String {
        let ran = match self.config.waiting {
            Waiting::Spin => "the load generator's threads never slept (--spin)".to_owned(),
            Waiting::Sleep => format!(
                "the load generator's busiest thread ran {} of the window",
                percent(self.busiest_thread_share())
            ),
        };
        if !self.ready_share_tells() {
            return ran;
        }
        let ready = percent(self.ready_share);
        format!("{ran}, with {ready} of its connections ready")
    }

    fn limit_of_loop(&self) -> (Limit, Vec<String>) {
        if let Some(reason) = self.too_short() {
            return (Limit::Unknown, vec![reason]);
        }
        let limit = match (self.is_busy(), self.replies_wait()) {
            (true, true) => Limit::Generator,
            // A single connection that keeps a thread busy leaves no time for the server.
            (true, false) if !self.ready_share_tells() => Limit::Generator,
            (true | false, false) => Limit::Server,
            (false, true) if self.config.waiting == Waiting::Spin => Limit::Generator,
            // All replies at once, and then none.
            (false, true) => Limit::Unknown,
        };
        let mut reasons = vec![self.threads_did()];
        if limit == Limit::Unknown {
            reasons.push("the two sides took turns, or another process used the CPUs".to_owned());
        }
        (limit, reasons)
    }

    /// Requests that were answered correctly, over those that were due; 1 at most.
    pub(super) fn share_of_rate(&self, demanded: f64) -> f64 {
        let seconds = self.window_ns as f64 / 1e9;
        let answered = self.answered() as f64 / seconds.max(f64::MIN_POSITIVE);
        (answered / demanded.max(f64::MIN_POSITIVE)).min(1.0)
    }

    /// How far the schedule was kept, as a sentence.
    pub(super) fn kept(&self, demanded: f64) -> String {
        let share = self.share_of_rate(demanded);
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
    pub fn fell_behind(&self) -> bool {
        let (Some(offered), Some(demanded)) = (self.offered, self.demanded_requests_per_second())
        else {
            return true;
        };
        let owed = offered.owed_at_end as f64 > (1.0 - KEPT) * offered.due as f64;
        let late = self.lag.as_ref().is_some_and(|lag| lag.latency_ns_p99 > LAG_NS);
        owed || late || offered.requests_per_second < KEPT * demanded
    }

    fn limit_at_rate(&self, demanded: f64) -> (Limit, Vec<String>) {
        let share = self.share_of_rate(demanded);
        let kept = self.kept(demanded);
        if share >= KEPT && self.gave_up().is_none() {
            return (Limit::Schedule, vec![kept]);
        }
        let (waiting, capacity) = (self.on_their_way(), self.capacity() as f64);
        let occupied =
            format!("{waiting:.1} of at most {capacity:.0} requests were in flight on average");
        let mut reasons = vec![kept, occupied, self.threads_did()];
        let full = waiting.max(self.in_flight_at_end as f64) >= NEARLY_ALL * capacity;
        let failed = self.errors.total() - self.errors.surplus;
        let limit = match (full, self.is_busy() && self.fell_behind()) {
            (_, true) if self.replies_wait() => Limit::Generator,
            (true, _) => Limit::Server,
            (false, true) => Limit::Generator,
            (false, false) if failed > 0 => Limit::Server,
            (false, false) => Limit::Unknown,
        };
        reasons.extend(self.offered.filter(|_| failed > 0).map(|offered| {
            format!(
                "{} requests were sent, {failed} requests or connections failed",
                offered.due.saturating_sub(offered.owed_at_end)
            )
        }));
        match self.too_short() {
            Some(reason) => (Limit::Unknown, vec![reasons.swap_remove(0), reason]),
            None => (limit, reasons),
        }
    }
}
