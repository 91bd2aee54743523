//! A load of its own before the measured one, on the same server, until the server is warm. A
//! compiler at run time, a collector of garbage and a cache need a while, and each a different one.
//!
//! It is the load that is measured afterwards: a phase with a rate warms up at that rate, because a
//! closed loop ends at another state of caches, batches and clock frequency. Judged is the server's CPU
//! time per request: where the generator is the limit a server gets cheaper for long without getting faster.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};
use wirebench_judge::{
    instance::{not_steady, still_changed},
    validity::nothing_answered,
};
use wirebench_schema::{
    agent::{WindowOrder, Windows},
    journal::{Reason, WarmUp},
    load::{Interval, LoadConfig, LoadEvent, LoadModel, Stop},
};
use wirebench_server::{cost::Clocks, launch::Server};

use super::{Attempt, outside::patience};
use crate::tool::run;

const INTERVAL: Duration = Duration::from_millis(100);
/// A rest of an interval that is shorter than this share of a whole one tells no rate.
const WHOLE_ENOUGH: f64 = 0.5;
/// How far the time between two looks at the clocks may be off the interval, as a factor. What was
/// reported too late belongs to other requests.
const CLOCKS_OFF: f64 = 1.5;
/// The best of this many values is compared with the best of as many before: what disturbs a server makes
/// it cost more, so noise hides no change.
const TOGETHER: usize = 4;
/// By how much they may differ.
const TOLERANCE: f64 = 0.03;

/// Takes in one interval and what the server's clocks said at its edges.
fn add(warm_up: &mut WarmUp, interval: &Interval, cpu_ns: u64, sampled: Duration) {
    let length_ns = interval.length_ns as f64;
    warm_up.length_ns = interval.start_ns + interval.length_ns;
    if length_ns < WHOLE_ENOUGH * INTERVAL.as_nanos() as f64 {
        return;
    }
    warm_up.requests_per_second.push(interval.requests_per_second);
    let off = sampled.as_nanos() as f64 / length_ns;
    if interval.requests > 0 && cpu_ns > 0 && off < CLOCKS_OFF && off * CLOCKS_OFF > 1.0 {
        warm_up.cpu_ns_per_request.push(cpu_ns as f64 / off / interval.requests as f64);
    }
}

/// How CPU time per request has changed at last; where the clocks cannot be read, time per request. None
/// with too few values.
fn change(warm_up: &WarmUp) -> Option<f64> {
    let costs = &warm_up.cpu_ns_per_request;
    let times: Vec<f64> = warm_up.requests_per_second.iter().map(|rate| 1.0 / rate).collect();
    let values = if costs.is_empty() { &times } else { costs };
    let best = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let (before, last) = values.split_at_checked(values.len().checked_sub(TOGETHER)?)?;
    let before = &before[before.len().checked_sub(TOGETHER)?..];
    Some(best(last) / best(before) - 1.0)
}

fn is_steady(warm_up: &WarmUp) -> bool {
    change(warm_up).is_some_and(|change| change.abs() <= TOLERANCE)
}

/// Why the figures of a run are not those of a warm server, if the wait for it was in vain.
pub(super) fn complaint(warm_up: &WarmUp) -> Option<Reason> {
    (!warm_up.steady).then(|| not_steady(warm_up.length_ns, &still_changed(change(warm_up))))
}

/// The load that warms up before the load `config`.
fn load(config: &LoadConfig, within: Duration) -> LoadConfig {
    let mut model = config.model.clone();
    if let LoadModel::Rate { curve, .. } = &mut model {
        // A rate that changes is never steady.
        *curve = curve.constant();
    }
    LoadConfig {
        model,
        warmup: Duration::ZERO,
        stop: Stop::After(within),
        interval: INTERVAL,
        // They warm nothing, and making them takes time.
        idle_connections: 0,
        ..config.clone()
    }
}

impl Attempt<'_> {
    /// Loads the server until it is warm, if the workload asks for it.
    pub(super) fn warm_until_steady(&self, server: &mut Server) -> Result<Option<WarmUp>, String> {
        let within = self.cell.workload.steady_within;
        if within.is_zero() {
            return Ok(None);
        }
        let named = |reason| format!("in the load that warms up until it is steady: {reason}");
        self.warm(&load(&self.config, within), server).map(Some).map_err(named)
    }

    /// Generates a load until it is steady, or until its own end.
    fn warm(&self, config: &LoadConfig, server: &mut Server) -> Result<WarmUp, String> {
        let stop = self.stop;
        let mut agents = self.settings.agents(stop)?;
        agents.connect(0, config, Windows::One, &mut |_| {})?;
        let mut warm_up = WarmUp::default();
        // A server may start processes for its first connections.
        let known = server.tree();
        let mut clocks = Clocks::read(&known);
        let (enough, mut has_ended) = (AtomicBool::new(false), false);
        let order = WindowOrder::whole(config, Vec::new());
        let report = agents.window(&order, Some(&enough), &mut |event| {
            let LoadEvent::Interval(interval) = event else { return };
            has_ended |= server.ended().is_some();
            if !warm_up.steady && !has_ended {
                let now = Clocks::read(&known);
                let cpu_ns = now.cpu_ns.saturating_sub(clocks.cpu_ns);
                add(&mut warm_up, &interval, cpu_ns, now.at.duration_since(clocks.at));
                clocks = now;
                warm_up.steady = is_steady(&warm_up);
            }
            let is_over = warm_up.steady || has_ended || stop.load(Ordering::Relaxed);
            enough.store(is_over, Ordering::Relaxed);
        })?;
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        if has_ended {
            return Err("the load was broken off".to_owned());
        }
        if report.report.requests == 0 {
            return Err(nothing_answered(&report.report));
        }
        Ok(warm_up)
    }

    /// Loads the server with requests that do not count, by a generator of their own.
    pub(super) fn warm_up(&self) -> Result<(), String> {
        let Self { settings, cell, config, stop } = self;
        // Some generators need a request for each connection.
        let requests = cell.workload.warmup_requests.map(|n| n.max(config.connections as u64));
        let warmup = match (requests, &settings.tool) {
            (Some(requests), Some(tool)) => tool.warm_up(requests),
            (Some(requests), None) => Stop::Requests(requests),
            // Our own generator has a warm-up within its load.
            (None, Some(_)) if !config.warmup.is_zero() => Stop::After(config.warmup),
            (None, _) => return Ok(()),
        };
        let config = LoadConfig { warmup: Duration::ZERO, stop: warmup, ..config.clone() };
        let named = |reason| format!("in the load before the measured one: {reason}");
        if settings.tool.is_some() {
            let argv = settings.generator_command(&config);
            return run(&argv, settings.generator_cpus(), patience(&config), stop)
                .map(|_| ())
                .map_err(named);
        }
        let mut agents = settings.agents(stop)?;
        agents.connect(0, &config, Windows::One, &mut |_| {}).map_err(named)?;
        let order = WindowOrder::whole(&config, Vec::new());
        agents.window(&order, None, &mut |_| {}).map(|_| ()).map_err(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::journal::{ReasonKind, Weight};
    use wirebench_schema::load::RateCurve;

    fn interval(number: u64, requests: u64) -> Interval {
        Interval {
            start_ns: number * 100_000_000,
            length_ns: 100_000_000,
            requests,
            requests_per_second: requests as f64 * 10.0,
            ..Interval::default()
        }
    }

    /// Of intervals with these requests, each of which took this much CPU time.
    fn warm_up(values: impl Iterator<Item = (u64, u64)>) -> WarmUp {
        let mut warm_up = WarmUp::default();
        for (number, (requests, cpu_ns)) in (0..).zip(values) {
            add(&mut warm_up, &interval(number, requests), requests * cpu_ns, INTERVAL);
            warm_up.steady = is_steady(&warm_up);
        }
        warm_up
    }

    /// The reason in a complaint, without how long the load was.
    fn why(warm_up: &WarmUp) -> String {
        complaint(warm_up).unwrap().detail.unwrap()
    }

    #[test]
    fn a_flat_load_is_steady_after_eight_intervals() {
        assert!(!warm_up((0..7).map(|_| (1000, 5000))).steady);
        let warm = warm_up((0..8).map(|_| (1000, 5000)));
        assert!(warm.steady && complaint(&warm).is_none());
        assert_eq!(warm.length_ns, 800_000_000);
        assert!((warm.cpu_ns_per_request[0] - 5000.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_gets_cheaper_or_more_expensive_at_an_even_rate_is_not_warm() {
        let cheaper = warm_up((0..12).map(|number| (1000, 5000 - number * 100)));
        let reason = complaint(&cheaper).unwrap();
        assert_eq!((reason.kind, reason.weight), (ReasonKind::NotSteady, Weight::Invalid));
        assert_eq!(reason.figure, Some(1.2e9));
        assert_eq!(reason.detail.unwrap(), "its CPU time per request changed by -9.3 %");
        assert!(!warm_up((0..12).map(|number| (1000, 5000 + number * 100))).steady);
    }

    #[test]
    fn noise_neither_delays_the_end_nor_hides_a_change() {
        let noise = |number: u64| if number.is_multiple_of(2) { 1000 } else { 1400 };
        assert!(warm_up((0..10).map(|number| (1000, 5 * noise(number)))).steady);
        let falling = |number: u64| (1000, (100 - 3 * number) * noise(number) / 10);
        assert!((8..25).all(|count| !warm_up((0..count).map(falling)).steady));
    }

    #[test]
    fn without_clocks_the_rate_decides_and_a_server_that_answers_nothing_is_never_warm() {
        assert!(warm_up((0..10).map(|_| (1000, 0))).steady);
        assert!(!warm_up((0..10).map(|number| (1000 + 50 * number, 0))).steady);
        let dead = warm_up((0..20).map(|_| (0, 0)));
        assert_eq!(why(&dead), "too few requests were answered to judge");
        assert_eq!(why(&warm_up((0..3).map(|_| (1000, 5000)))), why(&dead));
    }

    #[test]
    fn the_rest_of_an_interval_and_clocks_that_were_read_late_tell_nothing() {
        let mut warm_up = WarmUp::default();
        let rest = Interval { length_ns: 20_000_000, ..interval(0, 5) };
        add(&mut warm_up, &rest, 5000, INTERVAL);
        assert!(warm_up.requests_per_second.is_empty());
        add(&mut warm_up, &interval(1, 100), 5000, INTERVAL * 2);
        assert_eq!(warm_up.requests_per_second.len(), 1);
        assert!(warm_up.cpu_ns_per_request.is_empty());
    }

    #[test]
    fn the_load_is_the_one_that_is_measured_at_a_constant_rate() {
        let mut config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        (config.warmup, config.idle_connections) = (Duration::from_secs(1), 1000);
        let at = LoadModel::rate;
        let think = LoadModel::Think { delay: Duration::from_millis(1) };
        for (measured, expected) in [
            (LoadModel::Closed, LoadModel::Closed),
            (think.clone(), think),
            (at(RateCurve::per_second(500)), at(RateCurve::per_second(500))),
            (at(RateCurve::ramp(200, 900)), at(RateCurve::per_second(200))),
        ] {
            config.model = measured;
            let load = load(&config, Duration::from_secs(3));
            assert_eq!((load.model, load.stop), (expected, Stop::After(Duration::from_secs(3))));
            assert_eq!((load.warmup, load.idle_connections), (Duration::ZERO, 0));
            assert_eq!((load.interval, load.connections), (INTERVAL, config.connections));
        }
    }
}
