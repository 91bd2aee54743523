//! Carries out a suite: prepares every subject, writes the plan down, makes the runs, and writes
//! each one down.
//!
//! The order, which the journal keeps:
//! 1. [`prepare()`]: what is missing is found out, the rest is built, versions are read.
//! 2. The journal begins. What could not be prepared is its first news.
//! 3. Conformance: a subject that fails a scenario is not measured in it.
//! 4. The blocks of runs.
//! 5. The journal ends, also when a signal ended the run.

mod conduct;
mod prepare;

pub(crate) use conduct::{Begun, begin};
pub use conduct::{ExperimentError, Finished, conduct};
pub use prepare::{Prepared, prepare};

use std::{path::Path, time::Duration};
use wirebench_schema::{
    id::VariantId,
    journal::{LeftOut, Published, Run, Unavailable, Verified},
    scenario::Scenario,
    suite::{Scale, Suite},
};

use crate::{build::Built, measure::Bench, project::Project};

/// The variant that stands in for a baseline that cannot be measured: it needs no toolchain.
pub const FALLBACK_BASELINE: &str = "builtin/epoll";

/// What is to be carried out.
#[derive(Debug)]
pub struct Experiment {
    /// Workloads, blocks and the baselines' names.
    pub suite: Suite,
    /// How much of the suite this is.
    pub scale: Scale,
    /// What the suite's document has published, if it repeats one.
    pub published: Option<Published>,
    /// Parts of the suite that cannot be carried out.
    pub left_out: Vec<LeftOut>,
    /// How runs are made.
    pub bench: Bench,
    /// Where results go.
    pub project: Project,
    /// The program's arguments, for the journal.
    pub command: Vec<String>,
    /// Whether conformance is checked first.
    pub verification: Verification,
}

/// Whether conformance is checked before anything is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verification {
    /// Every scenario of every subject that is to be measured.
    Full,
    /// Left out; every run is flagged.
    LeftOut,
}

/// What happens while an experiment goes on.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A build begins, or is found to be up to date.
    Building {
        /// Of this variant.
        variant: &'a VariantId,
    },
    /// A build has ended well.
    Built {
        /// Of this variant.
        variant: &'a VariantId,
        /// What was done.
        built: Built,
    },
    /// A variant cannot be measured here.
    Unavailable(&'a Unavailable),
    /// Conformance checks begin.
    Verifying {
        /// Of this variant.
        variant: &'a VariantId,
        /// In this scenario.
        scenario: Scenario,
    },
    /// Conformance checks have ended.
    Verified(&'a Verified),
    /// The journal has begun.
    Started {
        /// The folder of the results.
        folder: &'a Path,
    },
    /// The runs begin.
    Planned {
        /// How many.
        runs: usize,
        /// How long they take, about.
        estimate: Duration,
    },
    /// A run begins.
    Running {
        /// Of this variant.
        variant: &'a VariantId,
        /// With this workload.
        workload: &'a str,
        /// How long the rest takes, about.
        left: Duration,
    },
    /// A run has ended and is in the journal.
    Ran(&'a Run),
}

/// Is told what happens. It must return at once: the machine is being measured.
pub trait Observer {
    /// Something happened.
    fn on(&mut self, progress: &Progress<'_>);
}
