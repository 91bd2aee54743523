//! A load of its own before the measured one, on the same server, until the server is warm. A
//! compiler at run time, a collector of garbage and a cache need a while, and each a different one.
//!
//! It is the load that is measured afterwards: a phase with a rate warms up at that rate, because a
//! closed loop ends at another state of caches, batches and clock frequency. Two series must be
//! steady: the rate, and the server's CPU time per request. Where the generator is the limit a
//! server gets cheaper for long without getting faster, and the rate alone would hide it. What is
//! steady is decided by `wirebench_stats`.
//!
//! A server can be steady at a level that is not its own, because something else has its CPU. So the
//! level is compared with the best one of earlier runs of the same cell ([`BestLevels`]).

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_judge::validity::nothing_answered;
use wirebench_schema::{
    journal::{Counts, Outcome, Reason, ReasonKind, Run, WarmUp, Weight},
    load::{Interval, LoadConfig, LoadEvent, LoadModel, Stop},
};
use wirebench_server::{cost::Clocks, launch::Server};
use wirebench_stats::{STEADY_WINDOW, Steadiness, median, steadiness};

use super::{Bench, Cell, STEP, deadline::Deadline};
use crate::generate::Generator;

/// The distance of the values.
const INTERVAL: Duration = Duration::from_millis(100);
/// The generator may take so long to end once it is asked to.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// A rest of an interval that is shorter than this share of a whole one tells no rate.
const WHOLE_ENOUGH: f64 = 0.5;
/// How far the time between two looks at the clocks may be off the interval, as a factor. What was
/// told too late belongs to other requests.
const CLOCKS_OFF: f64 = 1.5;

/// A level this many times worse than the best one is not that of the same server undisturbed. The
/// levels of processes of one program differ by less: 10 to 15 % are usual.
const WORSE_MOST: f64 = 1.5;

/// The series that is always there.
const RATE: &str = "the rate";
const COST: &str = "the server's CPU time per request";

/// The best levels at which a variant became steady with one workload.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BestLevels {
    /// The highest rate.
    requests_per_second: Option<f64>,
    /// The least CPU time per request.
    cpu_ns_per_request: Option<f64>,
}

impl BestLevels {
    /// The best levels of `runs`, all of which have the same variant and workload. A pilot has
    /// another load.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Run>) -> Self {
        let mut best = Self::default();
        for run in runs.filter(|run| run.counts != Counts::Pilot) {
            let Outcome::Measured(measured) = &run.outcome else { continue };
            let Some(warm_up) = measured.warm_up.as_ref().filter(|it| it.steady) else { continue };
            let better = |of: fn(f64, f64) -> f64, one: Option<f64>, other: Option<f64>| {
                one.zip(other).map(|(one, other)| of(one, other)).or(one).or(other)
            };
            let rate = level(&warm_up.requests_per_second);
            best.requests_per_second = better(f64::max, best.requests_per_second, rate);
            let cost = level(&warm_up.cpu_ns_per_request);
            best.cpu_ns_per_request = better(f64::min, best.cpu_ns_per_request, cost);
        }
        best
    }
}

/// The level at which a series ends.
fn level(values: &[f64]) -> Option<f64> {
    median(&values[values.len().saturating_sub(STEADY_WINDOW)..]).filter(|level| *level > 0.0)
}

/// What keeps a server from being warm.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unsteady {
    /// A series is not steady.
    Series(&'static str, Steadiness),
    /// A series is steady at this many times its best level, in the direction that is worse.
    Worse(&'static str, f64),
}

/// What has been seen of the load so far. Pure.
#[derive(Debug, Default)]
struct Course {
    warm_up: WarmUp,
    best: BestLevels,
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

    /// What keeps the server from being warm.
    fn unsteady(&self) -> Option<Unsteady> {
        let WarmUp { requests_per_second, cpu_ns_per_request, .. } = &self.warm_up;
        let series = [(RATE, requests_per_second), (COST, cpu_ns_per_request)];
        // Where the clocks cannot be read at all the rate decides alone.
        let known = |(name, values): &(&str, &Vec<f64>)| *name == RATE || !values.is_empty();
        let judged = series.into_iter().filter(known);
        let mut judged = judged.map(|(name, values)| (name, steadiness(values)));
        let moving = judged.find(|(_, it)| !matches!(it, Steadiness::Steady { .. }));
        moving.map(|(name, it)| Unsteady::Series(name, it)).or_else(|| self.worse())
    }

    /// A level that is too far from the best one.
    fn worse(&self) -> Option<Unsteady> {
        let WarmUp { requests_per_second, cpu_ns_per_request, .. } = &self.warm_up;
        let rate = self.best.requests_per_second.zip(level(requests_per_second));
        let cost = self.best.cpu_ns_per_request.zip(level(cpu_ns_per_request));
        let factors = [
            rate.map(|(best, level)| (RATE, best / level)),
            cost.map(|(best, level)| (COST, level / best)),
        ];
        let mut far = factors.into_iter().flatten().filter(|(_, factor)| *factor > WORSE_MOST);
        far.next().map(|(name, factor)| Unsteady::Worse(name, factor))
    }
}

/// Why the figures of a run are not those of a warm server, if the wait for it was in vain.
pub(super) fn complaint(warm_up: &WarmUp, best: BestLevels) -> Option<Reason> {
    let course = Course { warm_up: warm_up.clone(), best };
    let change = match course.unsteady().filter(|_| !warm_up.steady)? {
        Unsteady::Worse(series, factor) => {
            format!("{series} was {factor:.1} times worse than in an earlier run of the server")
        }
        Unsteady::Series(series, steadiness) => in_words(series, steadiness)?,
    };
    let seconds = warm_up.length_ns as f64 / 1e9;
    let text = format!("not steady after {seconds:.1} s of load before the window: {change}");
    let waited_ns = Some(warm_up.length_ns as f64);
    Some(ReasonKind::NotSteady.reason(Weight::Invalid, waited_ns, text))
}

fn in_words(series: &str, steadiness: Steadiness) -> Option<String> {
    Some(match steadiness {
        Steadiness::TooFew { missing } => {
            format!("{series} lacks {missing} values to judge")
        }
        Steadiness::Unusable => format!("{series} was zero most of the time"),
        Steadiness::Noisy { noise_relative } => {
            let percent = noise_relative * 100.0;
            format!("{series} varies by {percent:.0} %, too much to see a trend")
        }
        Steadiness::Stepping { change_relative } => {
            format!("{series} had just changed by {:+.1} %", change_relative * 100.0)
        }
        Steadiness::Drifting { change_relative } => {
            let percent = change_relative * 100.0;
            format!("{series} went on changing, by {percent:+.1} % within about a second")
        }
        Steadiness::Steady { .. } => return None,
    })
}

/// The load that warms up before the load `config`.
fn load(config: &LoadConfig, within: Duration) -> LoadConfig {
    let model = match &config.model {
        LoadModel::Rate { curve, arrivals, latency_from } => LoadModel::Rate {
            // A rate that changes is never steady.
            curve: curve.constant(),
            arrivals: *arrivals,
            latency_from: *latency_from,
        },
        other => other.clone(),
    };
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
        let named = |reason| format!("in the load that warms up until it is steady: {reason}");
        let generator = self.generator(&config, false, stop).map_err(named)?;
        let course = Course { best: cell.best, ..Course::default() };
        watch(generator, &config, (course, server), stop).map(Some).map_err(named)
    }
}

/// Follows the load until it is steady, and ends it; or until its own end.
fn watch(
    mut generator: Generator,
    config: &LoadConfig,
    (mut course, server): (Course, &mut Server),
    stop: &AtomicBool,
) -> Result<WarmUp, String> {
    let mut deadline = Deadline::new(config, Instant::now());
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
        return Err(nothing_answered(&report));
    }
    Ok(course.warm_up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::{Arrivals, LatencyOrigin, Phase, RateCurve};

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
            lower_bounds: Vec::new(),
            latency: None,
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

    /// The reason in a complaint, without how long the load was.
    fn why(warm_up: &WarmUp, best: BestLevels) -> String {
        let text = complaint(warm_up, best).unwrap().text;
        text.split_once(" s of load before the window: ").unwrap().1.to_owned()
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
        assert!(matches!(cheaper.unsteady(), Some(Unsteady::Series(COST, _))));
        let reason = complaint(&cheaper.warm_up, BestLevels::default()).unwrap();
        assert_eq!((reason.kind, reason.weight), (ReasonKind::NotSteady, Weight::Invalid));
        assert_eq!(reason.figure, Some(1.2e9));
        assert_eq!(
            reason.text,
            "not steady after 1.2 s of load before the window: the server's CPU time per request \
             had just changed by -13.5 %"
        );
    }

    #[test]
    fn a_warm_server_is_not_complained_of_and_one_that_answers_nothing_is() {
        let mut warm = course((0..9).map(|_| (1000, 5000))).warm_up;
        warm.steady = true;
        assert_eq!(complaint(&warm, BestLevels::default()), None);
        let dead = course((0..9).map(|_| (0, 0))).warm_up;
        assert_eq!(why(&dead, BestLevels::default()), "the rate was zero most of the time");
        let short = course((0..3).map(|_| (1000, 5000))).warm_up;
        assert_eq!(why(&short, BestLevels::default()), "the rate lacks 5 values to judge");
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
    fn a_steady_server_far_from_its_best_level_is_waited_for_and_complained_of() {
        let best = BestLevels { requests_per_second: Some(6e4), cpu_ns_per_request: Some(5000.0) };
        let of = |requests, cpu_ns| {
            let flat = course((0..9).map(|_| (requests, cpu_ns)));
            Course { best, ..flat }
        };
        // A sixth of the usual rate, and then one of two thirds and more.
        assert!(matches!(of(1000, 5000).unsteady(), Some(Unsteady::Worse(RATE, _))));
        assert_eq!(of(4100, 5000).unsteady(), None);
        assert!(matches!(of(6000, 8000).unsteady(), Some(Unsteady::Worse(COST, _))));
        let expected = "the rate was 6.0 times worse than in an earlier run of the server";
        assert_eq!(why(&of(1000, 5000).warm_up, best), expected);
        assert_eq!(complaint(&of(1000, 5000).warm_up, BestLevels::default()), None);
    }

    #[test]
    fn a_load_that_scatters_too_much_is_not_steady() {
        let requests = [1300, 700, 1150, 850, 1000, 1250, 750, 1100, 900];
        let loud = course(requests.into_iter().map(|requests| (requests, 5000)));
        let expected = "the rate varies by 28 %, too much to see a trend";
        assert_eq!(why(&loud.warm_up, BestLevels::default()), expected);
    }

    #[test]
    fn the_load_is_the_one_that_is_measured_at_a_constant_rate() {
        let mut config = LoadConfig::new("tcp://127.0.0.1:7".parse().unwrap());
        (config.warmup, config.idle_connections) = (Duration::from_secs(1), 1000);
        let at = |curve| LoadModel::Rate {
            curve,
            arrivals: Arrivals::Poisson,
            latency_from: LatencyOrigin::Due,
        };
        let think = LoadModel::Think { delay: Duration::from_millis(1) };
        for (measured, expected) in [
            (LoadModel::Closed, LoadModel::Closed),
            (think.clone(), think),
            (at(RateCurve::Constant(500)), at(RateCurve::Constant(500))),
            (at(RateCurve::Ramp(200, 900)), at(RateCurve::Constant(200))),
        ] {
            config.model = measured;
            let load = load(&config, Duration::from_secs(3));
            assert_eq!((load.model, load.stop), (expected, Stop::After(Duration::from_secs(3))));
            assert_eq!((load.warmup, load.idle_connections), (Duration::ZERO, 0));
            assert_eq!((load.interval, load.connections), (INTERVAL, config.connections));
        }
    }
}
