//! Progress of an experiment on standard error: a bar with the time left and the table so far on a
//! terminal, a line every ten seconds otherwise, errors only with `--quiet`.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use jiff::Zoned;
use std::time::{Duration, Instant};
use wirebench_catalogue::build::Built;
use wirebench_experiment::experiment::{Observer, Progress};
use wirebench_report::{document::Look, table_units::percent};
use wirebench_schema::journal::{Journal, Run, Verified};

use crate::{
    out,
    plan::{count, outlook_lines, show},
};

/// The time between two lines that only say that the program is at work.
const BEAT: Duration = Duration::from_secs(10);
/// The bar while the number of runs is not known yet, and while it is.
const PREPARING: &str = "{spinner} {msg}";
const MEASURING: &str = "{bar:30} {pos}/{len} {prefix} left  {msg}";

#[derive(Debug)]
pub(crate) struct Reporter {
    /// Whether only what went wrong is shown.
    is_quiet: bool,
    /// Hidden when standard error is no terminal.
    bar: ProgressBar,
    runs: usize,
    done: usize,
    conforming: usize,
    /// How far a precision is, if one was asked for.
    precision: String,
    /// The part of the journal so far that is shown below the bar, after each run.
    pub(crate) view: Option<fn(&Journal) -> String>,
    table: String,
    /// When the measurement is expected to end.
    end: Instant,
    /// The last line that says so.
    last_beat: Instant,
    /// The difference that it finds, shown after the plan.
    pub(crate) outlook: Option<String>,
}

impl Reporter {
    pub(crate) fn new(is_quiet: bool) -> Self {
        let terminal = out::is_live() && !is_quiet;
        let bar = bar(terminal);
        Self {
            is_quiet,
            bar,
            runs: 0,
            done: 0,
            conforming: 0,
            precision: String::new(),
            view: None,
            table: String::new(),
            end: Instant::now(),
            last_beat: Instant::now(),
            outlook: None,
        }
    }

    /// A line that stays, above the bar if there is one.
    pub(crate) fn note(&self, text: &str) {
        if !self.bar.is_hidden() || !self.is_quiet {
            self.problem(text);
        }
    }

    /// What happens just now, in the bar. Lines tell what has happened instead.
    pub(crate) fn now(&self, text: String) {
        self.bar.set_message(text);
    }

    fn problem(&self, text: &str) {
        match self.bar.is_hidden() {
            false => self.bar.println(out::shown(text, Look::Plain)),
            true => out::note(text),
        }
    }

    fn measuring(&mut self, runs: usize, left: Duration) {
        self.runs = runs;
        if self.bar.is_hidden() && self.conforming > 0 {
            let passed = count(self.conforming, "scenario");
            self.note(&format!("conformance checks: {passed} passed"));
        }
        self.bar.set_length(runs as u64);
        self.bar.set_style(style(MEASURING));
        if self.bar.is_hidden() {
            self.note(&format!("{}, about {}", count(runs, "run"), show(left)));
        }
    }

    fn precision(&mut self, widest: Option<f64>, goal: f64) {
        let goal = percent(goal);
        let Some(widest) = widest else { return };
        let text = format!("widest interval +-{}, goal {goal}", percent(widest));
        if self.bar.is_hidden() {
            self.note(&text);
        }
        self.precision = format!("  ({text})");
    }

    fn failed(&self, name: &str, run: &Run) {
        if let Some(reason) = run.outcome.failure() {
            self.problem(&format!("FAILED {name} {}: {reason}", run.workload));
        }
    }

    /// A line if nothing was shown for a while.
    fn beat(&mut self, text: &str) {
        if self.bar.is_hidden() && self.last_beat.elapsed() >= BEAT {
            self.last_beat = Instant::now();
            self.note(text);
        }
    }

    fn running(&mut self, name: &str, workload: &str, left: Duration) {
        self.end = Instant::now() + left;
        self.bar.set_prefix(show(left));
        self.now(format!("{name} {workload}{}\n\n{}", self.precision, self.table));
        self.beat(&format!("{} of {} runs, about {} left", self.done, self.runs, show(left)));
    }

    /// A round begins. The servers are measured, so nothing is computed: the table is that of the last cohort.
    fn round(&mut self, text: &str) {
        let left = show(self.end.saturating_duration_since(Instant::now()));
        self.bar.set_prefix(left.clone());
        self.now(format!("{text}{}\n\n{}", self.precision, self.table));
        let (done, runs) = (self.done, self.runs);
        self.beat(&format!("{text}; {done} of {runs} runs, about {left} left"));
    }

    fn ran(&mut self, name: &str, run: &Run, journal: &Journal) {
        self.done += 1;
        if !self.bar.is_hidden() {
            self.bar.set_position(self.done as u64);
            self.table = self.view.map_or_else(String::new, |view| view(journal));
            self.bar.set_message(format!("{}\n\n{}", self.precision, self.table));
        }
        self.failed(name, run);
    }

    fn verified(&mut self, verified: &Verified) {
        let name = format!("{} {}", verified.variant, verified.scenario);
        for (check, finding) in &verified.failed {
            self.problem(&format!("FAIL {name} {check}: {finding}"));
        }
        if verified.failed.is_empty() {
            self.conforming += 1;
        }
        self.beat(&format!("conformance checks: {} scenarios passed so far", self.conforming));
    }
}

impl Drop for Reporter {
    /// Takes the bar away, so that results and errors begin on a clean line.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Reporter {
    fn on(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Building { variant } => self.now(format!("building {variant}")),
            Progress::Built { variant, built: Built::Made } => {
                self.note(&format!("built {variant}"));
            }
            Progress::Built { .. } => {}
            Progress::Unavailable(it) => {
                self.note(&format!("skipped {}: {}", it.variant, it.reason));
            }
            Progress::Verifying { variant, scenario } => {
                self.now(format!("verifying {variant} {scenario}"));
            }
            Progress::VerifyingAgain(first) => {
                for (check, _) in &first.failed {
                    let name = format!("{} {}", first.variant, first.scenario);
                    self.note(&format!("{name}: `{check}` failed, all is checked again alone"));
                }
            }
            Progress::Verified(verified) => self.verified(verified),
            Progress::Started { folder } => {
                self.note(&format!("results: {}", folder.display()));
            }
            Progress::Resumed { folder, runs, torn } => {
                let runs = count(*runs, "run");
                self.note(&format!("resuming {}: {runs} recorded", folder.display()));
                if *torn > 0 {
                    self.note(&format!("incomplete last record ({torn} bytes) moved aside"));
                }
            }
            Progress::Planned(forecast) => {
                let lines = outlook_lines(forecast, Some(&Zoned::now()));
                for line in lines.into_iter().chain(self.outlook.take()) {
                    self.note(&line);
                }
            }
            Progress::Measuring { runs, left } => self.measuring(*runs, *left),
            Progress::Precision { widest, goal } => self.precision(*widest, *goal),
            Progress::Piloted { name, run } => self.failed(name, run),
            Progress::Further { runs } => {
                self.runs += runs;
                self.bar.set_length(self.runs as u64);
            }
            Progress::Running { name, workload, left } => self.running(name, workload, *left),
            Progress::Round { name, round, rounds } => {
                self.round(&format!("{name}, round {} of {rounds}", round + 1));
            }
            Progress::Ran { name, run, journal } => self.ran(name, run, journal),
        }
    }
}

/// A live line while what happens has no measure yet, or a hidden one.
pub(crate) fn bar(is_shown: bool) -> ProgressBar {
    if !is_shown {
        return ProgressBar::hidden();
    }
    let target = ProgressDrawTarget::stderr_with_hz(4);
    ProgressBar::with_draw_target(None, target).with_style(style(PREPARING))
}

/// A style of the bar. The templates are constants, and tests read them.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
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
}
