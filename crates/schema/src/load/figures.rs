//! Figures that follow from those of a report. None of them judges it.

use super::{LatencyFigure, LatencyOrigin, LatencySummary, LoadModel, LoadReport, RateCurve};

impl LoadReport {
    /// The latencies of which this is a figure: of all requests, or without those that met stalls of the machine.
    #[must_use]
    pub fn latency_of(&self, figure: LatencyFigure) -> Option<&LatencySummary> {
        match figure.is_without_stalls() {
            true => self.stalls.as_ref()?.latency.as_ref(),
            false => self.latency.as_ref(),
        }
    }

    /// The one constant rate that was asked for, if there was one without a fraction.
    #[must_use]
    pub fn constant_rate(&self) -> Option<u64> {
        self.config.model.constant_rate()?.whole()
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
        let LoadModel::Rate { curve, latency_from, .. } = &self.config.model else { return None };
        match (curve, latency_from) {
            // What slipped is not due any more.
            (RateCurve::Constant(rate), LatencyOrigin::Sent) => Some(rate.as_f64()),
            _ => self.offered.map(|it| it.requests_per_second),
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
        // Not negative, and far below 2^53.
        let expected = self.on_their_way().ceil() as u64;
        sampled + self.in_flight_at_end.min(expected)
    }

    /// Correct replies that arrived in the window, whenever their requests were due, over the requests that were due in
    /// it: 1 at most, absent without a schedule. A load that lets the schedule slip owes what was demanded.
    #[must_use]
    pub fn achieved_share(&self) -> Option<f64> {
        let due = self.due_requests()?;
        Some(if due > 0.0 { (self.requests as f64 / due).min(1.0) } else { 0.0 })
    }

    /// Requests that were due in the window; with a schedule that slips, those that were demanded.
    #[must_use]
    pub fn due_requests(&self) -> Option<f64> {
        match (&self.config.model, self.offered) {
            (LoadModel::Rate { latency_from: LatencyOrigin::Due, .. }, Some(offered)) => {
                Some(offered.due as f64)
            }
            _ => Some(self.demanded_requests_per_second()? * self.window_ns as f64 / 1e9),
        }
    }

    /// Requests by which those without an answer became more through the window: in each half of it, and by more than
    /// their number varies at random. Twice the standard deviation of a Poisson distribution counts as random.
    #[must_use]
    pub fn backlog_growth(&self) -> u64 {
        let [start, middle, end] = self.offered.map_or([0; 3], |it| it.waiting);
        let half = end.saturating_sub(middle).min(middle.saturating_sub(start));
        if half as f64 > 2.0 * (middle as f64).sqrt() { end - start } else { 0 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{EngineChoice, LoadConfig, Offered, Stalls};

    fn offered(waiting: [u64; 3]) -> LoadReport {
        let mut config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        config.model = LoadModel::rate(RateCurve::per_second(480));
        let (due, requests_per_second) = (4800, 480.0);
        LoadReport {
            requests: due + waiting[0] - waiting[2],
            offered: Some(Offered { due, owed_at_end: 0, waiting, requests_per_second }),
            ..LoadReport::new("0".into(), config, EngineChoice::Epoll)
        }
    }

    #[test]
    fn a_backlog_grows_in_both_halves_of_the_window_or_does_not() {
        // Grows from the warm-up on; from the start; starts up; a stall before the end, and in the middle; at random.
        let rows = [
            ([80, 480, 880], 800),
            ([0, 400, 800], 800),
            ([0, 50, 51], 0),
            ([2, 2, 400], 0),
            ([2, 400, 2], 0),
            ([100, 115, 130], 0),
            ([0, 0, 0], 0),
        ];
        for (waiting, growth) in rows {
            assert_eq!(offered(waiting).backlog_growth(), growth, "{waiting:?}");
        }
    }

    #[test]
    fn a_figure_without_stalls_is_of_latencies_without_them() {
        let of = |latency_ns_p99| Some(LatencySummary { latency_ns_p99, ..Default::default() });
        let mut load = LoadReport { latency: of(90), ..Default::default() };
        let p99 = |load: &LoadReport, figure: LatencyFigure| {
            load.latency_of(figure).map(|it| figure.of(it) as u64)
        };
        assert_eq!(p99(&load, LatencyFigure::P99WithoutStalls), None);
        load.stalls = Some(Stalls { latency: of(50), ..Default::default() });
        let figures = [LatencyFigure::P99, LatencyFigure::P99WithoutStalls];
        assert_eq!(figures.map(|it| p99(&load, it)), [Some(90), Some(50)]);
    }

    #[test]
    fn the_achieved_rate_is_that_of_the_replies_in_the_window() {
        assert_eq!(offered([80, 480, 880]).achieved_share(), Some(4000.0 / 4800.0));
        assert_eq!(offered([80, 20, 2]).achieved_share(), Some(1.0));
        let mut slipping = offered([0; 3]);
        slipping.config.model = LoadModel::slipping(RateCurve::per_second(960));
        slipping.window_ns = 10_000_000_000;
        assert_eq!(slipping.achieved_share(), Some(0.5));
        slipping.config.model = LoadModel::Closed;
        assert_eq!(slipping.achieved_share(), None);
    }
}
