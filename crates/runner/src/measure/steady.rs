//! A load of its own before the measured one, on the same server, until the server is warm. A
//! compiler at run time, a collector of garbage and a cache need a while, and each a different one.
//!
//! It is a closed loop, also where the measured load has a rate, because that warms fastest. Two
//! series must be steady: the rate, and the server's CPU time per request. Where the generator is
//! the limit a server gets cheaper for long without getting faster, and the rate alone would hide
//! it. What is steady is decided by `wirebench_stats`.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    journal::{Reason, ReasonKind, WarmUp, Weight},
    load::{Interval, LoadConfig, LoadEvent, LoadModel, Stop},
};
use wirebench_stats::{Steadiness, steadiness};

use super::{Bench, Cell, STEP, deadline::Deadline};
use crate::{
    cost::Clocks,
    generate::{Generator, load_arguments},
    launch::Server,
    validity,
};

/// The distance of the values.
const INTERVAL: Duration = Duration::from_millis(100);
/// The generator may take so long to end once it is asked to.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// A rest of an interval that is shorter than this share of a whole one tells no rate.
const WHOLE_ENOUGH: f64 = 0.5;
/// How far the time between two looks at the clocks may be off the interval, as a factor. What was
/// told too late belongs to other requests.
const CLOCKS_OFF: f64 = 1.5;

/// The series that is always there.
const RATE: &str = "the rate";

/// What has been seen of the load so far. Pure.
#[derive(Debug, Default)]
struct Course {
    warm_up: WarmUp,
}

impl Course {
    /// Takes in one interval and what the server's clocks said at its edges.
    fn add(&mut self, interval: &Interval, cpu_ns: u64, sampled: Duration) {
        let length_ns = interval.length_ns as f64;
        self.warm_up.length_ns = interval.start_ns + interval.length_ns;
        if length_ns < WHOLE_ENOUGH * INTERVAL.as_nanos() as f64 {
            return;
        }
        self.warm_up.requests_per_second.push(interval.requests_per_second);
        let sampled_ns = sampled.as_nanos() as f64;
        let off = sampled_ns / length_ns;
        if interval.requests > 0 && cpu_ns > 0 && off < CLOCKS_OFF && off * CLOCKS_OFF > 1.0 {
            let cpu_ns = cpu_ns as f64 / off;
            self.warm_up.cpu_ns_per_request.push(cpu_ns / interval.requests as f64);
        }
    }

    /// What keeps the server from being warm: which series, and how.
    fn unsteady(&self) -> Option<(&'static str, Steadiness)> {
        let WarmUp { requests_per_second, cpu_ns_per_request, .. } = &self.warm_up;
        let series = [
            (RATE, requests_per_second),
            ("the server's CPU time per request", cpu_ns_per_request),
        ];
        // Where the clocks cannot be read at all the rate decides alone.
        let told = |(name, values): &(&str, &Vec<f64>)| *name == RATE || !values.is_empty();
        series
            .into_iter()
            .filter(told)
            .map(|(name, values)| (name, steadiness(values)))
            .find(|(_, steadiness)| !matches!(steadiness, Steadiness::Steady { .. }))
    }
}

/// Why the figures of a run are not those of a warm server, if the wait for it was in vain.
pub(super) fn complaint(warm_up: &WarmUp) -> Option<Reason> {
    let course = Course { warm_up: warm_up.clone() };
    let (series, steadiness) = course.unsteady().filter(|_| !warm_up.steady)?;
    let change = match steadiness {
        Steadiness::TooFew { missing } => {
            format!("{series} had {missing} values too few to tell")
        }
        Steadiness::Unusable => format!("{series} was zero most of the time"),
        Steadiness::Stepping { change_relative } => {
            format!("{series} had just changed by {:+.1} %", change_relative * 100.0)
        }
        Steadiness::Drifting { change_relative } => {
            let percent = change_relative * 100.0;
            format!("{series} went on changing, by {percent:+.1} % within about a second")
        }
        Steadiness::Steady { .. } => return None,
    };
    let seconds = warm_up.length_ns as f64 / 1e9;
    let text = format!("not steady after {seconds:.1} s of load before the window: {change}");
    let waited_ns = Some(warm_up.length_ns as f64);
    Some(ReasonKind::NotSteady.reason(Weight::Invalid, waited_ns, text))
}

/// The load that warms up before the load `config`.
fn load(config: &LoadConfig, within: Duration) -> LoadConfig {
    LoadConfig {
        model: LoadModel::Closed,
        warmup: Duration::ZERO,
        stop: Stop::After(within),
        interval: INTERVAL,
        // They warm nothing, and making them takes time.
        idle_connections: 0,
        ..config.clone()
    }
}

impl Bench {
    /// Loads the server until it is warm, if the workload asks for it.
    pub(super) fn warm_until_steady(
        &self,
        cell: &Cell<'_>,
        config: &LoadConfig,
        server: &mut Server,
        stop: &AtomicBool,
    ) -> Result<Option<WarmUp>, String> {
        let within = cell.workload.steady_within;
        if within.is_zero() {
            return Ok(None);
        }
        let config = load(config, within);
        let argv = [self.load_command.clone(), load_arguments(&config)].concat();
        let named = |reason| format!("in the load that warms up until it is steady: {reason}");
        let generator = Generator::start(&argv, self.generator_cpus())
            .map_err(|error| named(format!("the generator could not be started: {error}")))?;
        watch(generator, &config, server, stop).map(Some).map_err(named)
    }
}

/// Follows the load until it is steady, and ends it; or until its own end.
fn watch(
    mut generator: Generator,
    config: &LoadConfig,
    server: &mut Server,
    stop: &AtomicBool,
) -> Result<WarmUp, String> {
    let mut deadline = Deadline::new(config, Instant::now());
    let mut course = Course::default();
    let mut known = server.tree();
    let mut clocks = Clocks::read(&known);
    let report = loop {
        if stop.load(Ordering::Relaxed) {
            return Err("interrupted".to_owned());
        }
        if server.ended().is_some() {
            return Err("the load was broken off".to_owned());
        }
        deadline.check(Instant::now())?;
        let event = generator.next_event(STEP)?;
        event.iter().for_each(|event| deadline.hear(event, Instant::now()));
        match event {
            // A server may start processes for its first connections.
            Some(LoadEvent::Connected { .. }) => {
                known = server.tree();
                clocks = Clocks::read(&known);
            }
            Some(LoadEvent::Interval(interval)) => {
                let now = Clocks::read(&known);
                let cpu_ns = now.cpu_ns.saturating_sub(clocks.cpu_ns);
                course.add(&interval, cpu_ns, now.at.duration_since(clocks.at));
                clocks = now;
                if course.unsteady().is_none() {
                    course.warm_up.steady = true;
                    break generator.end(END_PATIENCE)?;
                }
            }
            Some(LoadEvent::Failed { reason }) => return Err(reason),
            Some(LoadEvent::Report(report)) => break report,
            None
            | Some(
                LoadEvent::Connecting { .. }
                | LoadEvent::WindowStart
                | LoadEvent::WindowEnd
                | LoadEvent::ServerClocks(_),
            ) => {}
        }
    };
    if report.requests == 0 {
        return Err(validity::nothing_answered(&report));
    }
    Ok(course.warm_up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::Phase;

    fn interval(number: u64, requests: u64) -> Interval {
        Interval {
            phase: Phase::Window,
            start_ns: number * 100_000_000,
            length_ns: 100_000_000,
            requests,
            requests_per_second: requests as f64 * 10.0,
            errors: 0,
            bytes_received: 0,
            latency_ns_p50: None,
            latency_ns_p99: None,
            latency_ns_max: None,
        }
    }

    /// What came of intervals with these requests, each of which took this much CPU time.
    fn course(values: impl Iterator<Item = (u64, u64)>) -> Course {
        let mut course = Course::default();
        for (number, (requests, cpu_ns)) in (0..).zip(values) {
            course.add(&interval(number, requests), requests * cpu_ns, INTERVAL);
        }
        course
    }

    #[test]
    fn a_flat_load_is_steady_after_eight_intervals() {
        assert!(course((0..7).map(|_| (1000, 5000))).unsteady().is_some());
        let warm = course((0..8).map(|_| (1000, 5000)));
        assert_eq!(warm.unsteady(), None);
        assert_eq!(warm.warm_up.length_ns, 800_000_000);
        assert!((warm.warm_up.cpu_ns_per_request[0] - 5000.0).abs() < 1e-9);
    }

    #[test]
    fn a_server_that_gets_cheaper_at_an_even_rate_is_not_warm() {
        let cheaper = course((0..12).map(|number| (1000, 5000 - number * 100)));
        let (series, _) = cheaper.unsteady().unwrap();
        assert_eq!(series, "the server's CPU time per request");
        let reason = complaint(&cheaper.warm_up).unwrap();
        assert_eq!((reason.kind, reason.weight), (ReasonKind::NotSteady, Weight::Invalid));
        assert_eq!(reason.figure, Some(1.2e9));
        let begin = "not steady after 1.2 s of load before the window: the server's CPU time";
        assert!(reason.text.starts_with(begin) && reason.text.contains(" -"), "{}", reason.text);
    }

    #[test]
    fn a_warm_server_is_not_complained_of_and_one_that_answers_nothing_is() {
        let mut warm = course((0..9).map(|_| (1000, 5000))).warm_up;
        warm.steady = true;
        assert_eq!(complaint(&warm), None);
        let dead = course((0..9).map(|_| (0, 0))).warm_up;
        assert!(complaint(&dead).unwrap().text.contains("the rate was zero"));
        let short = course((0..3).map(|_| (1000, 5000))).warm_up;
        assert!(complaint(&short).unwrap().text.contains("5 values too few"));
    }

    #[test]
    fn the_rest_of_an_interval_and_clocks_that_were_read_late_tell_nothing() {
        let mut course = Course::default();
        course.add(&Interval { length_ns: 20_000_000, ..interval(0, 5) }, 5000, INTERVAL);
        assert!(course.warm_up.requests_per_second.is_empty());
        course.add(&interval(1, 100), 5000, INTERVAL * 2);
        assert_eq!(course.warm_up.requests_per_second.len(), 1);
        assert!(course.warm_up.cpu_ns_per_request.is_empty());
    }

    #[test]
    fn the_load_is_a_closed_loop_whatever_is_measured() {
        let mut config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        config.model = LoadModel::Think { delay: Duration::from_millis(1) };
        (config.warmup, config.idle_connections) = (Duration::from_secs(1), 1000);
        let load = load(&config, Duration::from_secs(3));
        assert_eq!(
            (load.model, load.stop),
            (LoadModel::Closed, Stop::After(Duration::from_secs(3)))
        );
        assert_eq!((load.warmup, load.idle_connections), (Duration::ZERO, 0));
        assert_eq!((load.interval, load.connections), (INTERVAL, config.connections));
    }
}
