//! What a load says of itself: which side set its rate, and what a reader must know before trusting
//! the figures. Every sentence carries its figures.
//!
//! It knows the generator's side alone. Whoever also knows how busy the server was, as `wirebench
//! run` does, can say more.

mod faults;
mod limit;
mod reasons;

use serde::Serialize;

use super::{LatencyOrigin, LoadModel, LoadReport, RateCurve};
use crate::journal::Reason;

/// More than this share of the connections ready, each time that a thread looks: the replies wait
/// for the generator.
pub const MOST_ARE_READY: f64 = 0.5;
/// More than this share of the ceiling, and a server that does nothing would not be much faster.
const NEAR_THE_CEILING: f64 = 0.9;
/// So much above the ceiling, and it was none.
const NO_CEILING: f64 = 1.1;
/// How the sentence of a load that gave up begins.
const GAVE_UP: &str = "gave up";

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
                "the ceiling is invalid: the rate is {} of it, so another process disturbed its measurement",
                percent(share)
            )),
            Some(share) if share > NEAR_THE_CEILING => {
                reasons.push(format!(
                    "the rate is {} of the load generator's ceiling",
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

    /// What failed, as one sentence: requests, connections, and what nobody asked for are told
    /// apart.
    #[must_use]
    pub fn failures(&self) -> Option<String> {
        let (requests, errors) = (self.errors.requests(), &self.errors);
        let mut clauses = Vec::new();
        if requests > 0 {
            clauses.push(format!("{requests} of {} requests failed", self.requests + requests));
        }
        if errors.connections() > 0 {
            clauses.push(format!("{} connections failed", errors.connections()));
        }
        if errors.surplus > 0 {
            clauses.push(format!("unrequested bytes arrived {} times", errors.surplus));
        }
        (!clauses.is_empty()).then(|| clauses.join("; "))
    }

    /// The sentence of a load with a count that ended before it, because the server said nothing
    /// any more.
    #[must_use]
    pub fn gave_up(&self) -> Option<&str> {
        let sentences = self.error_examples.iter().map(String::as_str);
        sentences.into_iter().find(|sentence| sentence.starts_with(GAVE_UP))
    }

    /// Correct replies to requests that were due in the window, of those that came after it too.
    ///
    /// At a rate they are the samples that are no lower bounds. A load that lets the schedule slip
    /// or that was stopped does not wait for what is in flight; of that as much counts as Little's
    /// law expects of requests that are answered.
    #[must_use]
    pub fn answered(&self) -> u64 {
        let LoadModel::Rate { latency_from, .. } = &self.config.model else { return self.requests };
        let sampled = match (latency_from, &self.latency) {
            (LatencyOrigin::Due, Some(latency)) => latency.count.saturating_sub(latency.censored),
            (LatencyOrigin::Due, None) => 0,
            (LatencyOrigin::Sent, _) => self.requests,
        };
        if *latency_from == LatencyOrigin::Due && !self.interrupted {
            return sampled;
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and far below 2^53"
        )]
        let expected = self.on_their_way().ceil() as u64;
        sampled + self.in_flight_at_end.min(expected)
    }

    fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        cautions.extend(self.failures());
        cautions.extend(self.gave_up().map(str::to_owned));
        if self.interrupted {
            let seconds = self.window_ns as f64 / 1e9;
            cautions.push(format!("interrupted: the window was {seconds:.2} s long"));
        }
        // Before the window there was nothing to find fault with.
        if self.window_ns > 0 {
            cautions.extend(self.faults().iter().map(Reason::brief));
        }
        let late = [self.schedule_lag(), self.generator_stall()];
        cautions.extend(late.iter().flatten().map(Reason::brief));
        cautions
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
