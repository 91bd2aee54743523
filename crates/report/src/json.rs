//! `report.json`: everything that the tables say and every ratio behind it, for programs. What the
//! fields mean is written here, and their names do not change with the code behind them.
//! `docs/formats.md` shows it to people.

mod published;
mod row;

use schemars::JsonSchema;
use serde::Serialize;
use std::{collections::BTreeMap, mem::take, time::Duration};
use wirebench_schema::{
    journal::{
        EndReason, FixedRate, Generator, LeftOut, Placement, Resumed, Unavailable, WakeUpPrice,
    },
    labels::Labels,
    load::IdleMode,
    printable::printable_json,
    suite::{Phase, Scale, Workload},
};
use wirebench_stats::{CONFIDENCE, MIN_COHORTS};

pub use self::{
    published::{PublishedReport, PublishedRowReport},
    row::{Figure, OtherState, Reasons, Row, Runs},
};
use crate::{
    analysis::{
        Analysis, BaselineCheck, Comparison, MachineStates, Metric, MetricFacts, WorkloadRows,
    },
    compare::Gate,
    order::in_order,
    why::{Why, whys},
};

/// The version of `report.json`. It grows whenever a field changes its meaning or goes away.
pub const REPORT_FORMAT: u32 = 4;

pub(crate) const BASELINE: &str = "baseline";

/// The role of its second instance.
pub(crate) const SECOND_OF_BASELINE: &str = "second-of-baseline";

/// The whole of a report.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Report<'a> {
    /// [`REPORT_FORMAT`] of the writer.
    pub format: u32,
    /// The suite's name.
    pub suite: String,
    /// How much of it was carried out. At `smoke` figures mean nothing.
    pub scale: Scale,
    /// When the run began, as RFC 3339 in UTC.
    pub started: String,
    /// The measured version.
    #[serde(flatten)]
    pub labels: Labels,
    /// Seed of the order of runs and of payloads.
    pub seed: u64,
    /// The arguments of the program.
    pub command: Vec<String>,
    /// The load generator.
    pub generator: Generator,
    /// Its version.
    pub generator_version: String,
    /// Where server and generator ran.
    pub placement: Placement,
    /// The mode of idle CPUs.
    pub idle: IdleMode,
    /// The price of waking a CPU; absent where it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<WakeUpPrice>,
    /// Blocks that were planned; with a precision there may be more, with a budget fewer.
    pub blocks_planned: u32,
    /// Blocks before those. They are in no figure.
    pub warmup_blocks: u32,
    /// The half width over the middle that every interval was to have.
    pub precision: Option<f64>,
    /// How long the run was to take at most.
    pub budget_ns: Option<u64>,
    /// How it ended; absent if it was cut off.
    pub ended: Option<EndReason>,
    /// When it went on after it was cut off.
    pub resumed: Vec<Resumed>,
    /// The confidence of every interval, 0 to 1.
    pub confidence: f64,
    /// With fewer blocks there are neither intervals nor claims.
    pub blocks_needed: u32,
    /// Half of the width of the widest interval over its middle, of the primary metrics; absent as
    /// long as a row has none.
    pub widest_interval: Option<f64>,
    /// The document that the suite repeats; absent without one, and at `smoke`.
    pub published: Option<PublishedReport<'a>>,
    /// One for each workload.
    pub workloads: Vec<WorkloadReport<'a>>,
    /// The profiles of `--why`, each workload's baseline first; absent without any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<Why<'a>>,
    /// What could not be measured.
    pub unavailable: Vec<Unavailable>,
    /// Parts of the suite that were not carried out.
    pub left_out: Vec<LeftOut>,
}

/// One workload.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WorkloadReport<'a> {
    /// Its name.
    pub name: String,
    /// What it is measured for.
    pub phase: Phase,
    /// All of it, at its fixed rate if it has one.
    pub workload: Workload,
    /// The rate of a cost phase: who chose it, why, and who cannot hold it.
    pub rate: Option<FixedRate>,
    /// The variant that ratios refer to; absent without figures.
    pub baseline: Option<String>,
    /// Blocks that count in which at least one run was made.
    pub blocks: u32,
    /// The headline figure, by the name that it has in `figures`: rows are compared and sorted by it in
    /// every form.
    pub primary_metric: &'static str,
    /// For each metric the difference below which two rows count as the same: 0.03 is 3 %.
    pub margins: BTreeMap<&'static str, f64>,
    /// For each metric the baseline's two instances compared with each other (A/A).
    pub baseline_check: BTreeMap<&'static str, BaselineCheck>,
    /// The states of the machine in its slices, and the one whose slices alone are compared.
    pub machine_states: MachineStates,
    /// The rows, the best first by the primary metric.
    pub rows: Vec<Row<'a>>,
}

/// Everything that a journal says.
#[must_use]
pub fn report<'a>(analysis: &'a Analysis<'_>) -> Report<'a> {
    let Analysis { journal, workloads, .. } = analysis;
    let start = &journal.start;
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Report {
        format: REPORT_FORMAT,
        suite: start.suite.clone(),
        scale: start.scale,
        started: start.started.clone(),
        labels: start.labels.clone(),
        seed: start.seed,
        command: start.command.clone(),
        generator: start.generator.name,
        generator_version: start.generator.version.clone(),
        placement: start.placement.clone(),
        idle: start.idle,
        wake_up: start.wake_up,
        blocks_planned: start.blocks,
        warmup_blocks: start.warmup_blocks,
        precision: start.goal.precision,
        budget_ns: start.goal.budget.map(nanoseconds),
        ended: journal.end.as_ref().map(|end| end.reason),
        resumed: journal.resumed.clone(),
        confidence: CONFIDENCE,
        blocks_needed: u32::try_from(MIN_COHORTS).unwrap_or(u32::MAX),
        widest_interval: analysis.widest_interval(),
        published: published::published(analysis),
        workloads: workloads.iter().map(|rows| workload(analysis, rows)).collect(),
        why: whys(journal, workloads),
        unavailable: journal.unavailable.clone(),
        left_out: start.left_out.clone(),
    }
}

/// Any report of this crate as text. All keys are words or numbers, and a number that JSON does not have becomes null.
pub(crate) fn pretty(report: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(report).expect("every report can be written as JSON");
    printable_json(&text) + "\n"
}

/// A result with that of its conditions.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct WithGate<'a, T> {
    #[serde(flatten)]
    pub(crate) result: T,
    /// The result of the conditions; null without conditions.
    pub(crate) gate: Option<&'a Gate>,
}

fn workload<'a, 'j>(analysis: &'a Analysis<'j>, rows: &'a WorkloadRows<'j>) -> WorkloadReport<'a> {
    let phase = rows.workload.phase;
    let primary = Metric::primary(phase);
    let comparisons: Vec<&Comparison> =
        Metric::of_phase(phase).iter().map(|metric| rows.compare(*metric)).collect();
    let mut others = others(analysis, rows, primary);
    WorkloadReport {
        name: rows.workload.name.clone(),
        phase,
        workload: rows.workload.clone(),
        rate: rows.rate.cloned(),
        baseline: rows.baseline.map(|index| rows.rows[index].variant.to_string()),
        blocks: rows.blocks,
        primary_metric: primary.field(),
        margins: comparisons.iter().map(|it| (it.metric.field(), it.margin)).collect(),
        baseline_check: comparisons
            .iter()
            .map(|it| (it.metric.field(), it.baseline_check))
            .collect(),
        machine_states: rows.states.clone(),
        rows: in_order(rows, primary)
            .into_iter()
            .map(|index| Row {
                other_states: take(&mut others[index]),
                ..row::row(analysis.journal, rows, index, &comparisons)
            })
            .collect(),
    }
}

/// The ratios of each row in each other state of the machine of which there are enough cohorts.
fn others(
    analysis: &Analysis<'_>,
    rows: &WorkloadRows<'_>,
    metric: Metric,
) -> Vec<Vec<OtherState>> {
    let mut found = vec![Vec::new(); rows.rows.len()];
    for state in rows.states.others.iter().map(|it| it.state) {
        let Some(there) = analysis.in_state(rows, state) else { continue };
        for (found, row) in found.iter_mut().zip(&there.compare(metric).rows) {
            let ratio = row.as_ref().and_then(|it| it.ratio.as_ref());
            found.extend(ratio.map(|it| OtherState { state, ratio: it.estimate }));
        }
    }
    found
}

#[cfg(test)]
mod tests;
