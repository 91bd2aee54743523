//! The journal of a run, `runs.jsonl`: one JSON object per line, flushed at once, never changed.
//!
//! Every report can be computed from it. A failed measurement is a [`Run`] with
//! [`Outcome::Failed`]; an entry that could not be built is an [`Unavailable`] record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::{
    duration_text::DurationText,
    id::VariantId,
    labels::Labels,
    load::{IdleMode, Rate},
    secrets::{MARK, SHOW_OPTION},
    suite::{Document, PublishedFigures, Scale, Workload},
};

mod described;
mod generator;
mod look;
mod measurement;
mod placement;
mod program;
mod read;
mod reason;
mod search;
mod visit;
mod why;

pub use crate::load::Bound;
pub use described::{Cause, Described, Unavailable, Verified};
pub use generator::{Generator, GeneratorVersion, ToolLatency, ToolReport};
pub use look::InterimLook;
pub use measurement::{Cost, IdleMeasurement, Measurement};
pub use placement::{MachinePart, Placement};
pub use program::{Owner, ProgramShare, unstoppable};
pub use read::{Journal, JournalError};
pub use reason::{Reason, ReasonKind, RunSide, Weight, next_step};
pub use search::{SearchLimit, SearchResult, SearchSpec};
pub use visit::{Balance, Distances, Instance, Procedure, Visit, logarithms_by_round};
pub use why::{Profile, Why, WhyOutcome};

/// The version of all records. It grows whenever a field changes its meaning or goes away.
pub const JOURNAL_FORMAT: u32 = 3;

/// The oldest format that is read.
pub const OLDEST_JOURNAL_FORMAT: u32 = 2;

/// One line of the journal.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a journal has one head, and no list holds records")]
pub enum Record {
    /// The first line: the plan.
    Start(Start),
    /// A variant of the selection that cannot be measured here.
    Unavailable(Unavailable),
    /// A variant passed or failed its conformance checks.
    Verified(Verified),
    /// The one rate at which the cost of all variants is measured in a workload.
    Rate(FixedRate),
    /// A search for the highest rate begins.
    #[serde(rename = "sought")]
    SearchStarted(SearchSpec),
    /// The result of the search.
    #[serde(rename = "found")]
    SearchResult(SearchResult),
    /// One measurement of one cell.
    Run(Box<Run>),
    /// A look at the comparison, which may have ended it.
    Look(InterimLook),
    /// A profile, which counts in no figure.
    Why(Box<Why>),
    /// A block that was given to a pair of hosts.
    Part(Part),
    /// A run that was cut off goes on from here.
    Resumed(Resumed),
    /// The last line, also of an interrupted run. Without it the run was cut off.
    End(End),
}

/// The head of a journal.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Start {
    /// [`JOURNAL_FORMAT`] of the writer.
    pub format: u32,
    /// Time as RFC 3339 in UTC.
    pub started: String,
    /// The arguments of the program.
    pub command: Vec<String>,
    /// The measured version.
    #[serde(flatten)]
    pub labels: Labels,
    /// The suite's name.
    pub suite: String,
    /// The variants that ratios may refer to, the preferred one first: in each workload the first
    /// of them that has figures.
    pub baselines: Vec<VariantId>,
    /// Seed of the order of runs and of payloads.
    pub seed: u64,
    /// The working directory; paths in the command may be relative to it.
    #[serde(default)]
    pub folder: String,
    /// The procedure of the runs.
    #[serde(default)]
    pub procedure: Procedure,
    /// The ratio up to which two servers count as equal, such as 0.03, if it is not the usual one.
    pub margin: Option<f64>,
    /// The metric of the verdict of `ab`, as on the command line, if it is not the usual one.
    pub metric: Option<String>,
    /// Number of counted runs per cell; more with a precision, fewer with a budget.
    pub blocks: u32,
    /// Blocks before those, which do not count.
    #[serde(default)]
    pub warmup_blocks: u32,
    /// The only block of those that was measured, from 1; absent if all were. Others are in results of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// Number of copies of each variant in a block.
    #[serde(default = "one")]
    pub copies: u32,
    /// Number of baseline runs in a block. Two allow its check (A/A).
    #[serde(default = "one")]
    pub baseline_copies: u32,
    /// A further condition for the end of the experiment, besides its blocks.
    #[serde(default)]
    pub goal: Goal,
    /// The scale of the suite.
    #[serde(default)]
    pub scale: Scale,
    /// The published document that the suite repeats, if any.
    pub published: Option<Box<Published>>,
    /// The load generator.
    #[serde(default)]
    pub generator: GeneratorVersion,
    /// Parts of the suite that are not carried out.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// The variants to be measured.
    pub variants: Vec<Described>,
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// The CPUs of server and generator.
    pub placement: Placement,
    /// The mode of idle CPUs; absent in files of older versions, which are natural.
    #[serde(default)]
    pub idle: IdleMode,
    /// The price of waking a CPU; absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<WakeUpPrice>,
}

impl Start {
    /// Tells if the journal keeps secrets, because its command asks for it.
    #[must_use]
    pub fn keeps_secrets(&self) -> bool {
        self.command.iter().any(|word| word == SHOW_OPTION)
    }

    /// Tells if the command cannot be repeated, because its secrets are not in the journal.
    #[must_use]
    pub fn lacks_secrets(&self) -> bool {
        self.command.iter().any(|word| word.contains(MARK))
    }

    /// What one repetition of everything is called.
    #[must_use]
    pub fn repetition(&self) -> &'static str {
        let has_cohorts = self.workloads.iter().any(Workload::has_slices);
        if has_cohorts { self.procedure.repetition() } else { Procedure::Whole.repetition() }
    }
}

const fn one() -> u32 {
    1
}

/// The price of waking an idle CPU: how much more a request takes where CPUs sleep than where they are kept awake.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WakeUpPrice {
    /// CPU time of the server per request.
    pub cpu_ns: f64,
    /// Median latency.
    pub latency_ns: f64,
}

/// Conditions for the end of an experiment, besides its number of blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Goal {
    /// Further blocks are made until every ratio's interval is this narrow: half of its width over
    /// the ratio, such as 0.01.
    pub precision: Option<f64>,
    /// No block is begun that would end later than this after the first run began.
    #[serde(
        default,
        serialize_with = "DurationText::serialize",
        deserialize_with = "DurationText::optional"
    )]
    #[schemars(with = "Option<String>")]
    pub budget: Option<Duration>,
    /// True if it may end before its budget, at a look at which the answer is known.
    #[serde(default)]
    pub until_decided: bool,
}

/// The one rate at which the cost of all variants is measured in a workload.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FixedRate {
    /// The workload's name.
    pub workload: String,
    /// Requests per second, over all connections.
    pub requests_per_second: Rate,
    /// Why this one, as a sentence.
    pub reason: String,
    /// The result of each variant in the pilot, in requests per second.
    pub reached: Vec<(VariantId, f64)>,
    /// Variants that cannot hold it, each with a sentence. They are not measured at it.
    pub too_slow: Vec<(VariantId, String)>,
}

/// A block that was measured by itself, as on a machine of its own. Its runs, if there are any, come right before.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Part {
    /// The host of the servers and those of the load, such as `lab1:lab2`; one name if the load was generated there.
    pub pair: String,
    /// The machine of the servers.
    pub machine: Option<String>,
    /// The block, from 0.
    pub block: u32,
    /// Why it was not measured, if so.
    pub failure: Option<String>,
}

/// A run that was cut off goes on.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Resumed {
    /// Time as RFC 3339 in UTC.
    pub at: String,
    /// The arguments of the program that goes on.
    pub command: Vec<String>,
    /// The changes since the start, each as a sentence.
    pub differences: Vec<String>,
}

/// The tail of a journal.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct End {
    /// Time as RFC 3339 in UTC.
    pub ended: String,
    /// The way it ended.
    pub reason: EndReason,
}

/// The end of a suite's run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndReason {
    /// All runs were made.
    Complete,
    /// A signal ended it.
    Interrupted,
    /// Every interval is as narrow as was asked for.
    Precise,
    /// The answer was known.
    Decided,
    /// The time was up.
    Budget,
}

/// The published document that a suite repeats: its setup and its figures.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Published {
    /// The document.
    pub document: Document,
    /// Number of runs of each cell.
    pub blocks: u32,
    /// Whole rounds before those.
    pub warmup_blocks: u32,
    /// The workloads as they were published.
    pub workloads: Vec<Workload>,
    /// The figures of its tables.
    pub figures: PublishedFigures,
}

/// A part of a suite that is not carried out.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct LeftOut {
    /// A workload's name, or what else the suite names.
    pub what: String,
    /// A sentence.
    pub reason: String,
}

/// One measurement of one cell with a fresh instance of the server, which in a cohort is shared with
/// the runs of other loads.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Run {
    /// The block, from 0. Warm-up blocks come first.
    pub block: u32,
    /// The group of instances within the block, from 0: instances of one group are alive together.
    #[serde(default)]
    pub group: u32,
    /// Whether it counts.
    #[serde(default)]
    pub counts: Counts,
    /// The position within the block, from 0.
    pub position: u32,
    /// The variant.
    pub variant: VariantId,
    /// Which of several copies of the same, from 0. The baseline's second one is the A/A run.
    #[serde(default)]
    pub copy: u32,
    /// The workload's name.
    pub workload: String,
    /// Time as RFC 3339 in UTC.
    pub started: String,
    /// Workers asked for.
    pub workers: u32,
    /// The server's argument list.
    pub server_command: Vec<String>,
    /// The generator's argument list.
    pub generator_command: Vec<String>,
    /// The result.
    pub outcome: Outcome,
}

/// The numbers of two groups of one block, as cohorts, are this far apart. No run has more blocks.
const COHORTS_PER_GROUP: u32 = 10_000;

impl Run {
    /// The number of its cohort, the instances that are compared with each other: that of its block,
    /// plus 10 000 for each group of the block before its own.
    #[must_use]
    pub const fn cohort(&self) -> u32 {
        self.block.saturating_add(self.group.saturating_mul(COHORTS_PER_GROUP))
    }
}

/// The block that the cohort of this number belongs to.
#[must_use]
pub const fn block_of_cohort(cohort: u32) -> u32 {
    cohort % COHORTS_PER_GROUP
}

/// Whether a run counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// It counts in all statistics.
    #[default]
    Yes,
    /// It belongs to a warm-up block before the counted ones.
    WarmUp,
    /// It is a pilot that finds the rate of a cost phase.
    Pilot,
}

/// The result of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Figures.
    Measured(Box<Measurement>),
    /// Figures of silent connections.
    Idle(Box<IdleMeasurement>),
    /// None, and why.
    Failed {
        /// A sentence.
        reason: String,
        /// The last part of the server's standard error.
        server_stderr: String,
    },
}

impl Outcome {
    /// A digest of the files that the server's processes had mapped.
    #[must_use]
    pub fn mapped(&self) -> Option<&str> {
        match self {
            Self::Measured(measured) => measured.cost.mapped.as_deref(),
            Self::Idle(idle) => idle.mapped.as_deref(),
            Self::Failed { .. } => None,
        }
    }

    /// Whether anything was measured.
    #[must_use]
    pub const fn has_figures(&self) -> bool {
        !matches!(self, Self::Failed { .. })
    }
}
