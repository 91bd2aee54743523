//! Figures that follow from those of a report. None of them judges it.

use super::{LatencyOrigin, LoadModel, LoadReport, RateCurve};

impl LoadReport {
    /// The one constant rate that was asked for, if there was one.
    #[must_use]
    pub const fn constant_rate(&self) -> Option<u64> {
        match &self.config.model {
            LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(*rate),
            _ => None,
        }
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
                    curve: curve @ (RateCurve::Constant(_) | RateCurve::Thousandths(_)),
                    latency_from: LatencyOrigin::Sent,
                    ..
                },
                _,
            ) => Some(curve.first()),
            (LoadModel::Rate { .. }, Some(offered)) => Some(offered.requests_per_second),
            _ => None,
        }
    }

    /// Correct replies to requests that were due in the window, of those that came after it too.
    ///
    /// At a rate they are the samples that are no lower bounds, and the replies on heavy connections. A
    /// load that lets the schedule slip or that was stopped does not wait for what is in flight; of that
    /// as much counts as Little's law expects of requests that are answered.
    #[must_use]
    pub fn answered(&self) -> u64 {
        let LoadModel::Rate { latency_from, .. } = &self.config.model else { return self.requests };
        let sampled = match (latency_from, &self.latency) {
            (LatencyOrigin::Due, Some(latency)) => latency.count.saturating_sub(latency.censored),
            (LatencyOrigin::Due, None) => 0,
            (LatencyOrigin::Sent, _) => self.requests,
        };
        if *latency_from == LatencyOrigin::Due && !self.interrupted {
            return sampled + self.heavy_replies.unwrap_or(0);
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and far below 2^53"
        )]
        let expected = self.on_their_way().ceil() as u64;
        sampled + self.in_flight_at_end.min(expected)
    }

    /// The most requests that can be in flight.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.connections_made as u64 * self.config.pipeline as u64
    }

    /// Requests on their way, on average over the window, by Little's law; never more than can be.
    ///
    /// What a request waited for after the window is no part of it: the rate is that of the replies
    /// within the window, and none of those waited for longer than the connection had.
    #[must_use]
    pub fn on_their_way(&self) -> f64 {
        let waiting = self.requests_per_second * self.mean_service_ns() / 1e9;
        waiting.min(self.capacity() as f64)
    }

    /// From the sending of a request to its reply, at most the window. Requests without a reply do not
    /// count: those that are never answered are found by the connections that they leave over.
    #[must_use]
    pub fn mean_service_ns(&self) -> f64 {
        let service = self.service.as_ref().or(match &self.config.model {
            LoadModel::Rate { latency_from: LatencyOrigin::Due, .. } => None,
            _ => self.latency.as_ref(),
        });
        service.map_or(0.0, |service| service.mean_answered_ns().min(self.window_ns as f64))
    }
}
