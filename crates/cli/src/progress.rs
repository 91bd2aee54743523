//! Shows how an experiment goes on: a bar with the time left on a terminal, plain lines elsewhere,
//! nothing when asked.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};
use wirebench_runner::{
    build::Built,
    experiment::{Observer, Progress},
};
use wirebench_schema::{
    id::VariantId,
    journal::{Outcome, Run, Verified},
};

use crate::out;

/// The bar while the number of runs is not known yet, and while it is.
const PREPARING: &str = "{spinner} {msg}";
const MEASURING: &str = "{bar:30} {pos}/{len} {prefix} left  {msg}";

/// How much is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verbosity {
    /// A bar or lines.
    Normal,
    /// Only what went wrong.
    Quiet,
}

/// Shows progress on standard error.
#[derive(Debug)]
pub(crate) struct Reporter {
    verbosity: Verbosity,
    /// Absent when standard error is no terminal.
    bar: Option<ProgressBar>,
    began: Option<Instant>,
    estimate: Duration,
    runs: usize,
    done: usize,
}

impl Reporter {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let terminal = std::io::stderr().is_terminal() && verbosity == Verbosity::Normal;
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            bar.set_style(style(PREPARING));
            bar
        });
        let (estimate, runs, done) = (Duration::ZERO, 0, 0);
        Self { verbosity, bar, began: None, estimate, runs, done }
    }

    /// Takes the bar away, so that results begin on a clean line.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// A part of the suite that is not carried out.
    pub(crate) fn left_out(&self, what: &str, reason: &str) {
        self.line(&format!("left out {what}: {reason}"));
    }

    /// A line that stays, above the bar if there is one.
    pub(crate) fn line(&self, text: &str) {
        match (&self.bar, self.verbosity) {
            (Some(bar), _) => bar.println(text),
            (None, Verbosity::Normal) => out::note(text),
            (None, Verbosity::Quiet) => {}
        }
    }

    /// What happens just now, in the bar. Lines tell what has happened instead.
    pub(crate) fn now(&self, text: String) {
        if let Some(bar) = &self.bar {
            bar.set_message(text);
        }
    }

    fn built(&self, variant: &VariantId, built: Built) {
        if built == Built::Made {
            self.line(&format!("built {variant}"));
        }
    }

    fn problem(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => out::note(text),
        }
    }

    fn planned(&mut self, runs: usize, estimate: Duration) {
        self.runs = runs;
        self.estimate = estimate;
        self.began = Some(Instant::now());
        match &self.bar {
            Some(bar) => {
                bar.set_length(runs as u64);
                bar.set_style(style(MEASURING));
            }
            None if runs == 1 => self.line(&format!("1 run, about {}", show(estimate))),
            None => self.line(&format!("{runs} runs, about {}", show(estimate))),
        }
    }

    /// The time left: what was planned, corrected by how the plan has held so far.
    fn left(&self, planned: Duration) -> Duration {
        let spent = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        let should = self.estimate.saturating_sub(planned);
        if should.is_zero() {
            return planned;
        }
        planned.mul_f64((spent.as_secs_f64() / should.as_secs_f64()).clamp(0.5, 5.0))
    }

    fn ran(&mut self, run: &Run) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        }
        let name = format!("{} {}", run.variant, run.workload);
        match &run.outcome {
            Outcome::Failed { reason, .. } => self.problem(&format!("FAILED {name}: {reason}")),
            Outcome::Measured(measured) if self.bar.is_none() => {
                let rate = measured.load.requests_per_second;
                self.line(&format!("{}/{} {name}: {rate:.0} requests/s", self.done, self.runs));
            }
            Outcome::Measured(_) | Outcome::Idle(_) => {}
        }
    }

    fn verified(&self, verified: &Verified) {
        let name = format!("{} {}", verified.variant, verified.scenario);
        for (check, finding) in &verified.failed {
            self.problem(&format!("FAIL {name} {check}: {finding}"));
        }
        if verified.failed.is_empty() && self.bar.is_none() {
            self.line(&format!("{name}: {} checks passed", verified.passed));
        }
    }
}

impl Observer for Reporter {
    fn on(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Building { variant } => self.now(format!("building {variant}")),
            Progress::Built { variant, built } => self.built(variant, *built),
            Progress::Unavailable(it) => {
                self.line(&format!("left out {}: {}", it.variant, it.reason));
            }
            Progress::Verifying { variant, scenario } => {
                self.now(format!("verifying {variant} {scenario}"));
            }
            Progress::Verified(verified) => self.verified(verified),
            Progress::Started { folder } => {
                self.line(&format!("results go to {}", folder.display()));
            }
            Progress::Planned { runs, estimate } => self.planned(*runs, *estimate),
            Progress::Running { variant, workload, left } => {
                if let Some(bar) = &self.bar {
                    bar.set_prefix(show(self.left(*left)));
                }
                self.now(format!("{variant} {workload}"));
            }
            Progress::Ran(run) => self.ran(run),
        }
    }
}

/// The live line while what happens has no measure yet.
pub(crate) fn preparing() -> ProgressStyle {
    style(PREPARING)
}

/// A style of the bar. The templates are constants of this file, and a test reads both.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A time to wait, in whole seconds or minutes, or in hours with a tenth.
pub(crate) fn show(duration: Duration) -> String {
    let seconds = duration.as_secs_f64().ceil() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..10_800 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_templates_of_the_bar_can_be_read() {
        for template in [PREPARING, MEASURING] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn the_time_left_follows_how_the_plan_has_held() {
        let mut reporter = Reporter::new(Verbosity::Quiet);
        reporter.estimate = Duration::from_secs(100);
        assert_eq!(reporter.left(Duration::from_secs(100)), Duration::from_secs(100));
        // Half of the plan took twice its time; so will the rest.
        reporter.began = Instant::now().checked_sub(Duration::from_secs(100));
        let left = reporter.left(Duration::from_secs(50)).as_secs_f64();
        assert!((99.0..102.0).contains(&left), "{left}");
        assert_eq!(show(Duration::from_millis(1500)), "2 s");
        assert_eq!(show(Duration::from_secs(121)), "3 min");
        assert_eq!(show(Duration::from_secs(5400 * 3)), "4.5 h");
    }
}
