//! What a load says of itself: which side set its rate, and what a reader must know before trusting
//! the figures. Every sentence carries its figures.
//!
//! It knows the generator's side alone. Whoever also knows how busy the server was, as `wirebench
//! run` does, can say more.

use serde::Serialize;

use super::{LatencyOrigin, LoadModel, LoadReport, RateCurve, Waiting};

/// More than this share of the connections ready, each time that a thread looks: the replies wait
/// for the generator.
pub const MOST_ARE_READY: f64 = 0.5;
/// A thread that ran for this share of the window was busy.
const BUSY: f64 = 0.9;
/// Less than this share of what was due, and the schedule was not kept.
const KEPT: f64 = 0.99;
/// More than this share of the ceiling, and a server that does nothing would not be much faster.
const NEAR_THE_CEILING: f64 = 0.9;
/// So much above the ceiling, and it was none.
const NO_CEILING: f64 = 1.1;
/// This share of the connections, or of their time, is all of it.
const NEARLY_ALL: f64 = 0.9;
/// Jain's index below which some connections were starved.
const FAIR: f64 = 0.8;
/// Samples of which ten lie beyond the 99th percentile.
const ENOUGH_SAMPLES: u64 = 1000;
/// A thread that looks at its connections this much too late was stopped or had no CPU.
const STALL_NS: u64 = 10_000_000;
/// A 99th percentile of the lag above which requests were not sent when they were due.
const LAG_NS: u64 = 1_000_000;

/// What set the rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The generator: the server may be able to do more.
    Generator,
    /// The server, or the way to it: the generator waited for replies.
    Server,
    /// What was asked for: a rate that was kept, or pauses.
    Schedule,
    /// It cannot be told.
    Unknown,
}

impl Limit {
    /// The name in texts and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Server => "server",
            Self::Schedule => "schedule",
            Self::Unknown => "unknown",
        }
    }
}

/// What a load says of itself.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// What set the rate.
    pub limit: Limit,
    /// Why, each as a sentence with figures.
    pub reasons: Vec<String>,
    /// What a reader must know before trusting the figures, each as a sentence with figures.
    pub cautions: Vec<String>,
}

impl LoadReport {
    /// Which side set the rate, and what speaks against the figures.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let (mut limit, mut reasons) = self.limit();
        match self.share_of_ceiling() {
            Some(share) if share > NO_CEILING => reasons.push(format!(
                "the ceiling was measured below the rate, which is {} of it: something else had the \
                 CPUs then, so it says nothing",
                percent(share)
            )),
            Some(share) if share > NEAR_THE_CEILING => {
                reasons.push(format!(
                    "the rate is {} of what the generator reaches on a server that does nothing but \
                     answer",
                    percent(share)
                ));
                if limit == Limit::Server {
                    limit = Limit::Unknown;
                }
            }
            Some(_) | None => {}
        }
        Verdict { limit, reasons, cautions: self.cautions() }
    }

    /// The rate over the one that the generator reaches on a server that does nothing but answer,
    /// if that was measured.
    #[must_use]
    pub fn share_of_ceiling(&self) -> Option<f64> {
        let ceiling = self.ceiling_requests_per_second.filter(|ceiling| *ceiling > 0.0)?;
        Some(self.requests_per_second / ceiling)
    }

    /// The share of the window in which the generator's busiest thread ran, 0 to 1.
    #[must_use]
    pub fn busiest_thread_share(&self) -> f64 {
        let most_ns = self.thread_cpu_ns.iter().copied().max().unwrap_or(0);
        if self.window_ns == 0 { 0.0 } else { most_ns as f64 / self.window_ns as f64 }
    }

    /// Requests per second that were to be sent, with a schedule.
    #[must_use]
    pub fn demanded_requests_per_second(&self) -> Option<f64> {
        match (&self.config.model, self.offered) {
            // What slipped is not due any more.
            (
                LoadModel::Rate {
                    curve: RateCurve::Constant(rate),
                    latency_from: LatencyOrigin::Sent,
                    ..
                },
                _,
            ) => Some(*rate as f64),
            (LoadModel::Rate { .. }, Some(offered)) => Some(offered.requests_per_second),
            _ => None,
        }
    }

    /// What is wrong with the load itself, whoever was the limit.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let (asked, made) = (self.config.connections, self.connections_made);
        let mut faults = Vec::new();
        if made < asked {
            faults.push(format!("{made} of {asked} connections could be made"));
        }
        if let Some(busy) = self.unanswered() {
            faults.push(format!(
                "only {busy:.1} of {made} connections had a request that was answered, on average \
                 (Little's law); {} requests had no answer when the window ended",
                self.in_flight_at_end
            ));
        }
        let samples = self.latency.as_ref().map_or(0, |latency| latency.count);
        if samples < ENOUGH_SAMPLES {
            faults.push(format!(
                "{samples} samples are too few for a 99th percentile: ten must lie beyond it"
            ));
        }
        let fairness = self.fairness;
        if self.requests > 0 && fairness.jain_index < FAIR {
            faults.push(format!(
                "unevenly served: {} to {} replies a connection, Jain's index {:.2}",
                fairness.replies_least, fairness.replies_most, fairness.jain_index
            ));
        }
        faults
    }

    fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let failed = self.errors.total();
        if failed > 0 {
            let all = self.requests + failed;
            cautions.push(format!("{failed} of {all} requests failed"));
        }
        if self.interrupted {
            let seconds = self.window_ns as f64 / 1e9;
            cautions.push(format!("interrupted: the window was {seconds:.2} s long"));
        }
        // Before the window there was nothing to find fault with.
        if self.window_ns > 0 {
            cautions.extend(self.faults());
        }
        if let Some(lag) = self.lag.as_ref().filter(|lag| lag.latency_ns_p99 > LAG_NS) {
            cautions.push(format!(
                "one request in a hundred was sent {:.2} ms or more after it was due",
                lag.latency_ns_p99 as f64 / 1e6
            ));
        }
        if self.stall_ns_max > STALL_NS {
            cautions.push(format!(
                "a thread of the generator did not run for {:.2} ms when it should have: something \
                 else had its CPU, and latencies contain that",
                self.stall_ns_max as f64 / 1e6
            ));
        }
        cautions
    }

    fn limit(&self) -> (Limit, Vec<String>) {
        if self.requests == 0 {
            return (Limit::Unknown, vec!["no request was answered correctly".to_owned()]);
        }
        match (&self.config.model, self.demanded_requests_per_second()) {
            (LoadModel::Rate { .. }, Some(demanded)) => self.limit_at_rate(demanded),
            (LoadModel::Think { delay }, _) => {
                let connections = self.connections_made as f64;
                let paused = self.requests_per_second * delay.as_secs_f64() / connections.max(1.0);
                if paused < NEARLY_ALL {
                    return self.limit_of_loop();
                }
                let reason = format!("pauses took {} of each connection's time", percent(paused));
                (Limit::Schedule, vec![reason])
            }
            (LoadModel::Closed | LoadModel::Rate { .. }, _) => self.limit_of_loop(),
        }
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
            Waiting::Spin => "the generator's threads never slept, as asked".to_owned(),
            Waiting::Sleep => format!(
                "the generator's busiest thread ran for {} of the window",
                percent(self.busiest_thread_share())
            ),
        };
        if !self.ready_share_tells() {
            return ran;
        }
        let ready = percent(self.ready_share);
        format!("{ran}, and {ready} of its connections were ready when it looked")
    }

    fn limit_of_loop(&self) -> (Limit, Vec<String>) {
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
            reasons.push("the two sides took turns, or something else had the CPUs".to_owned());
        }
        (limit, reasons)
    }

    fn limit_at_rate(&self, demanded: f64) -> (Limit, Vec<String>) {
        let seconds = self.window_ns as f64 / 1e9;
        let sent = self.requests + self.errors.total() + self.in_flight_at_end;
        let kept = format!(
            "{:.0} of {demanded:.0} requests/s that were due were answered correctly ({})",
            self.requests_per_second,
            percent(self.requests_per_second / demanded.max(f64::MIN_POSITIVE))
        );
        if sent as f64 >= KEPT * demanded * seconds {
            return (Limit::Schedule, vec![kept]);
        }
        let capacity = (self.connections_made * self.config.pipeline) as f64;
        let service = self.service.as_ref().map_or(0.0, |service| service.latency_ns_mean);
        let waiting = self.requests_per_second * service / 1e9;
        let occupied = format!(
            "{waiting:.1} requests were on their way on average, and the connections can have \
             {capacity:.0}"
        );
        let limit = match (waiting >= NEARLY_ALL * capacity, self.is_busy()) {
            (_, true) if self.replies_wait() => Limit::Generator,
            (true, _) => Limit::Server,
            (false, true) => Limit::Generator,
            (false, false) => Limit::Unknown,
        };
        (limit, vec![kept, occupied, self.threads_did()])
    }
}

/// A share as people read it. A part that is not all of it is not rounded to all of it.
fn percent(share: f64) -> String {
    if (0.99..1.0).contains(&share) {
        return format!("{:.2} %", (share * 10_000.0).floor() / 100.0);
    }
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests;
