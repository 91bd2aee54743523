//! Runs a suite: prepares every subject, writes the plan down, makes the runs, and writes
//! each one down.
//!
//! The order, which the journal keeps:
//! 1. [`prepare()`]: what is missing is found out, the rest is built, versions are read.
//! 2. The journal begins. What could not be prepared is its first news.
//! 3. Conformance: a subject that fails a scenario is not measured in it.
//! 4. Rates: where the cost of all variants is compared at one rate, that rate is found.
//! 5. The blocks of runs, until those that were planned are made, all intervals are as narrow as was
//!    asked for, or the time is up.
//! 6. The journal ends, also when a signal ended the run.
//!
//! An experiment that was cut off anywhere after the second step goes on where it was: what is in
//! its journal is not done again ([`ResumedExperiment`]).

mod blocks;
mod changed;
mod checks;
mod conduct;
mod forecast;
mod limits;
mod loads;
mod needs;
mod open_journal;
mod pace;
mod parts;
pub mod pilot;
mod prepare;
mod rates;
mod resume;
mod start;
mod units;
mod whys;

pub use crate::why::applies as has_profile;
pub use conduct::{ENVIRONMENT_FILE, ExperimentError, Finished, conduct, write_environment};
pub use forecast::Forecast;
pub use limits::MOST_BLOCKS_FOR_PRECISION;
pub use needs::{Needs, generator_threads};
pub use parts::{ExperimentPart, between_parts, results_in};
pub use prepare::{Prepared, prepare};
pub use resume::{Differences, ResumedExperiment};
pub use units::Unit;

use std::{path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_catalogue::{build::Built, project::Project, subject::Subject};
use wirebench_schema::{
    id::VariantId,
    journal::{Goal, Journal, LeftOut, Procedure, Published, Run, Unavailable, Verified},
    labels::Labels,
    scenario::Scenario,
    suite::{Scale, Suite, Workload},
    verification::Verification,
};
use wirebench_server::perf::Perf;

use crate::{journal::OpenJournal, measure::RunSettings, plan, why};

/// Statistics on the ratios of a journal, which this crate does not make.
pub struct Knowledge {
    /// How wide the widest interval of a ratio is: half of its width over the ratio; none as long
    /// as one of them is not known.
    pub half_width: Box<HalfWidth>,
    /// True if all that is asked is answered.
    pub is_decided: Box<IsDecided>,
}

type HalfWidth = dyn Fn(&Journal) -> Option<f64> + Sync;
type IsDecided = dyn Fn(&Journal) -> bool + Sync;

impl Knowledge {
    /// Of an experiment that does not end when it is decided.
    #[must_use]
    pub fn of_width(half_width: impl Fn(&Journal) -> Option<f64> + Sync + 'static) -> Self {
        Self { half_width: Box::new(half_width), is_decided: Box::new(|_| false) }
    }
}

impl std::fmt::Debug for Knowledge {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Knowledge")
    }
}

/// The experiment of a verb: its suite, its servers' settings and its end.
#[derive(Debug)]
pub struct Experiment {
    /// Workloads, blocks and the baselines' names.
    pub suite: Suite,
    /// How much of the suite this is.
    pub scale: Scale,
    /// What the suite's document has published, if it repeats one.
    pub published: Option<Published>,
    /// Parts of the suite that cannot run.
    pub left_out: Vec<LeftOut>,
    pub settings: RunSettings,
    /// Whether cohorts of live servers are measured, or each run has a process of its own.
    pub procedure: Procedure,
    /// The ratio up to which two servers count as equal, if it is not the usual one.
    pub margin: Option<f64>,
    /// The metric of the verdict of `ab`, if it is not the usual one.
    pub metric: Option<String>,
    /// Blocks that are made whatever the budget.
    pub least_blocks: u32,
    pub project: Project,
    /// The program's arguments, for the journal.
    pub command: Vec<String>,
    /// The measured version.
    pub labels: Labels,
    pub verification: Verification,
    /// Servers that the user named. One of them is measured even if nothing else is left to compare it with.
    pub named: Vec<VariantId>,
    /// Conditions that end it, in addition to its number of blocks.
    pub goal: Goal,
    /// The part of it that is measured here; none if all of it is.
    pub part: Option<ExperimentPart>,
    pub knowledge: Knowledge,
    /// How many cohorts are complete in the state of the machine that is compared; none where the machine has one
    /// state, and where no cohort may be added.
    pub complete_cohorts: fn(&Journal) -> Option<u32>,
    /// What profiles each server after the runs, if that was asked for.
    pub why: Option<Perf>,
}

/// What all parts of an experiment work with.
#[derive(Clone, Copy, Debug)]
struct Stage<'a> {
    experiment: &'a Experiment,
    subjects: &'a [Subject],
    stop: &'a AtomicBool,
}

/// An experiment in progress.
struct Execution<'a> {
    stage: Stage<'a>,
    journal_file: OpenJournal,
    observer: &'a mut dyn Observer,
}

impl Experiment {
    /// What will be done with `subjects`.
    #[must_use]
    pub fn forecast(&self, subjects: &[Subject]) -> Forecast {
        let units = self.units(subjects, 0);
        let mut suite = self.suite.clone();
        if self.part.is_some() {
            suite.blocks = 1;
        }
        let (plan, rest) = ((subjects, &suite), (self.verification, self.goal));
        let mut forecast = Forecast::new(plan, &units, rest, |workload| self.estimate(workload));
        if self.part.as_ref().is_some_and(|it| it.rates.is_some()) {
            (forecast.pilots, forecast.pilots_time) = (0, Duration::ZERO);
        }
        Forecast { whys: self.whys(subjects), ..forecast }
    }

    /// True if all `steps` are of baselines that the user did not name, so that measuring them answers nothing.
    #[must_use]
    pub fn compares_nothing(&self, subjects: &[Subject], steps: &[plan::Step]) -> bool {
        let is_named = |step: &plan::Step| self.named.contains(&subjects[step.subject].variant.id);
        plan::compares_nothing(subjects, &self.suite, steps) && !steps.iter().any(is_named)
    }

    /// How many profiles are made.
    fn whys(&self, subjects: &[Subject]) -> usize {
        let steps = plan::block(subjects, &self.suite, 1, 0);
        let has = |step: &plan::Step| why::applies(&self.suite.workloads[step.workload]);
        self.why.map_or(0, |_| whys::cells(steps, has).len())
    }

    /// How long a run of `workload` takes, about.
    #[must_use]
    pub fn estimate(&self, workload: &Workload) -> Duration {
        match self.in_cohorts() && workload.has_slices() {
            true => {
                let modes = if self.settings.has_both(workload) { 2 } else { 1 };
                self.settings.cut.estimate(workload, modes)
            }
            false => plan::estimate(workload),
        }
    }

    /// True if runs that can be are measured in cohorts.
    #[must_use]
    pub fn in_cohorts(&self) -> bool {
        self.procedure == Procedure::Short && self.settings.tool.is_none()
    }

    /// What is measured at once of block `number`, in this order.
    #[must_use]
    pub fn units(&self, subjects: &[Subject], number: u32) -> Vec<Unit> {
        let steps = plan::block(subjects, &self.suite, self.settings.seed, number);
        units::units((subjects, &self.suite), self.most_instances(), steps, |_| false)
    }

    fn most_instances(&self) -> Option<usize> {
        self.in_cohorts().then_some(self.settings.most_instances)
    }
}

/// What happens while an experiment goes on.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A build begins, or is found to be up to date.
    Building {
        variant: &'a VariantId,
    },
    Built {
        variant: &'a VariantId,
        built: Built,
    },
    /// A variant cannot be measured here.
    Unavailable(&'a Unavailable),
    Verifying {
        variant: &'a VariantId,
        scenario: Scenario,
    },
    /// Some have failed while others ran, and begin again alone.
    VerifyingAgain(&'a Verified),
    Verified(&'a Verified),
    Started {
        folder: &'a Path,
    },
    /// The journal of a run that was cut off goes on.
    Resumed {
        folder: &'a Path,
        runs: usize,
        /// Bytes of a last line that was cut off, and is put aside.
        torn: usize,
    },
    /// What will be done, before the checks.
    Planned(&'a Forecast),
    /// The runs of the blocks begin.
    Measuring {
        runs: usize,
        left: Duration,
    },
    /// How far the precision is that was asked for.
    Precision {
        /// Half of the width of the widest interval over its ratio, if it is known yet.
        widest: Option<f64>,
        goal: f64,
    },
    /// A run that helps to find the rate of a cost phase has ended.
    Piloted {
        name: &'a str,
        /// What is in the journal next.
        run: &'a Run,
    },
    /// The precision is not reached, so there are more runs.
    Further {
        runs: usize,
    },
    Running {
        /// Of this variant, with its copy.
        name: &'a str,
        workload: &'a str,
        /// How long this one and the rest of what is planned take, as far as the runs so far tell.
        left: Duration,
    },
    /// A round of a cohort begins.
    Round {
        name: &'a str,
        /// Its number, from 0.
        round: u32,
        rounds: u32,
    },
    /// A run has ended and is in the journal.
    Ran {
        /// Of this variant, with its copy.
        name: &'a str,
        run: &'a Run,
        journal: &'a Journal,
    },
}

/// Receives progress. It must return at once: the machine is being measured.
pub trait Observer: Send {
    fn on(&mut self, progress: &Progress<'_>);
}
