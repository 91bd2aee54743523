//! Progress of a load on standard error: a view on a terminal, a line every ten seconds elsewhere. It is drawn once per
//! interval, on the thread that collects and generates no load.

mod view;

use indicatif::{ProgressBar, ProgressDrawTarget};
use std::{
    io::{IsTerminal, stderr, stdout},
    time::Duration,
};
use wirebench_report::wrk_units;
use wirebench_schema::load::{Interval, LatencyFigure, LoadConfig, LoadEvent, Phase, Stop};

use self::view::View;
use super::options::OutputOptions;
use crate::{live::progress::style, out};

const TEMPLATE: &str = "{bar:20} {prefix}  {msg}";
const STEPS: u64 = 1000;
/// Seconds of the load between two lines.
const LINE_SECONDS: u64 = 10;

#[derive(Debug)]
pub(crate) struct Live {
    /// Absent where it would not be visible.
    bar: Option<ProgressBar>,
    prints_lines: bool,
    state: State,
    view: View,
}

impl Live {
    pub(crate) fn new(config: &LoadConfig, output: &OutputOptions) -> Self {
        // A program reads the events, and nothing may interrupt JSON on a terminal.
        let unwanted = output.quiet || output.events || (output.json && stdout().is_terminal());
        let is_live = out::is_live();
        let bar = (is_live && !unwanted).then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            bar.set_style(style(TEMPLATE));
            bar
        });
        let prints_lines = !is_live && !unwanted;
        Self { bar, prints_lines, state: State::new(config), view: View::default() }
    }

    pub(crate) fn on(&mut self, event: &LoadEvent) {
        let Some(bar) = &self.bar else {
            if let LoadEvent::Interval(interval) = event
                && self.prints_lines
            {
                self.line(interval);
            }
            return;
        };
        match event {
            LoadEvent::Connecting { settled } => {
                bar.set_message(format!("{settled} connections so far"));
            }
            LoadEvent::Connected { connections } => {
                bar.set_message(format!("{connections} connections"));
            }
            LoadEvent::Interval(interval) => {
                self.state.add(interval);
                let (position, left) = self.state.progress();
                bar.set_position(position);
                bar.set_prefix(left);
                self.view.add(interval);
                let mut message = self.state.message(interval);
                if wirebench_sys::terminal::columns(&stderr()).is_some_and(|it| it >= view::WIDTH) {
                    let lines = self.view.lines(out::colours());
                    lines.iter().for_each(|line| message += &format!("\n{line}"));
                }
                bar.set_message(message);
            }
            _ => {}
        }
    }

    /// A line when ten more seconds of the load have passed.
    fn line(&mut self, interval: &Interval) {
        let before = self.state.passed.as_secs() / LINE_SECONDS;
        self.state.add(interval);
        if self.state.passed.as_secs() / LINE_SECONDS > before {
            let left = self.state.progress().1;
            out::note(&format!("{left}  {}", self.state.message(interval)));
        }
    }

    /// Takes the line away, so that the result begins on a clean one.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What has been seen so far.
#[derive(Debug)]
struct State {
    stop: Stop,
    connections: usize,
    phase: Phase,
    /// Time of the load.
    passed: Duration,
    window: Duration,
    finished: u64,
    errors: u64,
}

impl State {
    fn new(config: &LoadConfig) -> Self {
        Self {
            stop: config.stop,
            connections: config.connections,
            phase: Phase::Warmup,
            passed: Duration::ZERO,
            window: Duration::ZERO,
            finished: 0,
            errors: 0,
        }
    }

    fn add(&mut self, interval: &Interval) {
        self.phase = interval.phase;
        self.errors += interval.errors;
        self.passed += Duration::from_nanos(interval.length_ns);
        if interval.phase == Phase::Window {
            self.window += Duration::from_nanos(interval.length_ns);
            self.finished += interval.requests + interval.errors;
        }
    }

    /// The position of the bar, and what is left of the load.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a bar's steps"
    )]
    fn progress(&self) -> (u64, String) {
        let of = |count: u64| {
            let left = count.saturating_sub(self.finished);
            (self.finished as f64 / count.max(1) as f64, format!("{left} left"))
        };
        let (share, left) = match self.stop {
            Stop::After(window) => {
                let left = window.saturating_sub(self.window).as_secs_f64().ceil();
                let share = self.window.as_secs_f64() / window.as_secs_f64();
                (share, format!("{left:.0} s left"))
            }
            stop @ (Stop::Requests(_) | Stop::RequestsPerConnection(_)) => {
                of(stop.count(self.connections).unwrap_or(0))
            }
        };
        let left = match self.phase {
            Phase::Warmup => "warm-up".to_owned(),
            Phase::Window => left,
        };
        ((share.clamp(0.0, 1.0) * STEPS as f64) as u64, left)
    }

    #[allow(clippy::cast_precision_loss, reason = "what is shown has two decimals")]
    fn message(&self, interval: &Interval) -> String {
        let rate = wrk_units::rate(interval.requests_per_second);
        let sign = if interval.lower_bounds.contains(&LatencyFigure::P99) { ">" } else { "" };
        let p99 = interval.latency_ns_p99;
        let p99 = p99.map(|ns| format!("  p99 {sign}{}", wrk_units::time(ns as f64)));
        format!("{rate} requests/s{}  {} errors", p99.unwrap_or_default(), self.errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::ProgressStyle;

    fn interval(phase: Phase, requests: u64) -> Interval {
        Interval {
            phase,
            length_ns: 1_000_000_000,
            requests,
            requests_per_second: 12_340.0,
            errors: 1,
            latency_ns_p99: Some(1_200_000),
            ..Interval::default()
        }
    }

    fn state(stop: Stop) -> State {
        let config = LoadConfig::new("http://127.0.0.1:80/".parse().unwrap());
        State::new(&LoadConfig { stop, ..config })
    }

    #[test]
    fn the_template_can_be_read() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }

    #[test]
    fn a_load_over_a_time_shows_the_time_that_is_left() {
        let mut state = state(Stop::After(Duration::from_secs(4)));
        state.add(&interval(Phase::Warmup, 100));
        assert_eq!(state.progress(), (0, "warm-up".to_owned()));
        state.add(&interval(Phase::Window, 100));
        assert_eq!(state.progress(), (250, "3 s left".to_owned()));
        let message = state.message(&interval(Phase::Window, 100));
        assert_eq!(message, "12.34k requests/s  p99 1.20ms  2 errors");
    }

    #[test]
    fn a_load_of_a_count_shows_the_requests_that_are_left() {
        let mut requests = state(Stop::Requests(400));
        requests.add(&interval(Phase::Window, 99));
        assert_eq!(requests.progress(), (250, "300 left".to_owned()));
        let mut each = state(Stop::RequestsPerConnection(40));
        each.add(&interval(Phase::Window, 999));
        assert_eq!(each.progress(), (STEPS, "0 left".to_owned()));
    }

    #[test]
    fn without_an_answer_there_is_no_percentile() {
        let silent = Interval { latency_ns_p99: None, ..interval(Phase::Window, 0) };
        let message = state(Stop::Requests(1)).message(&silent);
        assert_eq!(message, "12.34k requests/s  0 errors");
    }

    #[test]
    fn a_percentile_that_no_reply_reached_is_a_lower_bound() {
        let lower_bounds = vec![LatencyFigure::P99];
        let stalled = Interval { lower_bounds, ..interval(Phase::Window, 100) };
        let message = state(Stop::Requests(1)).message(&stalled);
        assert_eq!(message, "12.34k requests/s  p99 >1.20ms  0 errors");
    }
}
