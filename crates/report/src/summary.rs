//! From a journal to rows: what all runs of one cell say together.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{
    entry::Class,
    id::VariantId,
    journal::{Bound, Counts, Journal, Measurement, Outcome, Run},
    suite::Workload,
};

/// All rows of one workload, the fastest first.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadSummary {
    /// The workload.
    pub workload: Workload,
    /// One for each variant that was run or refused.
    pub rows: Vec<Row>,
}

/// What the runs of one cell say together.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The variant.
    pub variant: VariantId,
    /// Absent for a command line of the user's.
    pub class: Option<Class>,
    /// Whether ratios refer to this row.
    pub is_baseline: bool,
    /// Runs with figures.
    pub measured: usize,
    /// Figures; absent when no run has any.
    pub figures: Option<Figures>,
    /// Failures and flags, each once.
    pub notes: Vec<String>,
}

/// Medians over the runs of one cell, unless something else is said.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// Correct replies per second.
    pub requests_per_second: f64,
    /// That in relation to the baseline's.
    pub ratio: Option<Ratio>,
    /// Median latency.
    pub latency_ns_p50: Option<f64>,
    /// That in relation to the baseline's: the median over the blocks.
    pub latency_p50_ratio: Option<f64>,
    /// 99th percentile of latency.
    pub latency_ns_p99: Option<f64>,
    /// That in relation to the baseline's: the median over the blocks.
    pub latency_p99_ratio: Option<f64>,
    /// CPU time of the server's whole process tree per request.
    pub server_cpu_ns_per_request: Option<f64>,
    /// The most over the runs.
    pub memory_peak_bytes: u64,
    /// Sum over the runs.
    pub errors: u64,
    /// Each side that bounded a run.
    pub bound: BTreeSet<Bound>,
}

/// The ratio of requests/s to the baseline's in the same block, over the blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The middle one.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// How it is to be read.
    pub reads: Reads,
}

/// How a ratio is to be read when the generator was at its limit: that side may do more.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reads {
    /// As it stands.
    Exactly,
    /// The row may do more.
    AtLeast,
    /// The baseline may do more.
    AtMost,
    /// Both may do more.
    Either,
}

impl Reads {
    const fn of(row_is_limited: bool, baseline_is_limited: bool) -> Self {
        match (row_is_limited, baseline_is_limited) {
            (false, false) => Self::Exactly,
            (true, false) => Self::AtLeast,
            (false, true) => Self::AtMost,
            (true, true) => Self::Either,
        }
    }
}

/// What the rows of one workload are put in relation to.
struct Baseline<'a> {
    variant: &'a VariantId,
    runs: Vec<&'a Run>,
    is_limited: bool,
}

impl Baseline<'_> {
    /// What `value` is in relation to the baseline's in the same block.
    fn ratios(&self, runs: &[&Run], value: fn(&Measurement) -> Option<f64>) -> Vec<f64> {
        wirebench_stats::ratios_by_block(&by_block(runs, value), &by_block(&self.runs, value))
    }
}

#[allow(clippy::unnecessary_wraps, reason = "one of several values, of which some are not there")]
fn rate(measurement: &Measurement) -> Option<f64> {
    Some(measurement.load.requests_per_second)
}

/// The median latency, by whoever has measured it.
fn p50(measurement: &Measurement) -> Option<f64> {
    match &measurement.tool {
        Some(tool) => tool.latency.latency_ns_p50,
        None => measurement.load.latency.as_ref().map(|it| it.latency_ns_p50 as f64),
    }
}

/// The 99th percentile of latency, by whoever has measured it.
fn p99(measurement: &Measurement) -> Option<f64> {
    match &measurement.tool {
        Some(tool) => tool.latency.latency_ns_p99,
        None => measurement.load.latency.as_ref().map(|it| it.latency_ns_p99 as f64),
    }
}

/// Summarises every workload of `journal`.
#[must_use]
pub fn summarise(journal: &Journal) -> Vec<WorkloadSummary> {
    let workloads = journal.start.workloads.iter();
    workloads
        .map(|workload| {
            let mut rows = rows(journal, workload);
            let rate = |row: &Row| row.figures.as_ref().map_or(-1.0, |f| f.requests_per_second);
            rows.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
            WorkloadSummary { workload: workload.clone(), rows }
        })
        .collect()
}

fn rows(journal: &Journal, workload: &Workload) -> Vec<Row> {
    let of_variant = |variant: &VariantId| -> (Vec<&Run>, Vec<&Run>) {
        let mine =
            |run: &&Run| run.workload == workload.name && run.variant == *variant && run.copy == 0;
        journal.runs.iter().filter(mine).partition(|run| run.counts == Counts::Yes)
    };
    let baseline = journal.start.baselines.iter().find_map(|variant| {
        let (runs, _) = of_variant(variant);
        let is_limited = runs.iter().filter_map(|run| measurement(run)).any(limited);
        let has_figures = runs.iter().any(|run| measurement(run).is_some());
        has_figures.then_some(Baseline { variant, runs, is_limited })
    });
    let mut rows = Vec::new();
    for described in &journal.start.variants {
        let (runs, warm_up) = of_variant(&described.variant);
        let mut notes = check_notes(journal, &described.variant, workload);
        if runs.is_empty() && warm_up.is_empty() && notes.is_empty() {
            continue;
        }
        notes.extend(run_notes(&runs));
        // What was measured to warm up does not count; that it failed does.
        let failed = warm_up.into_iter().filter(|run| measurement(run).is_none());
        let failed = run_notes(&failed.collect::<Vec<_>>());
        notes.extend(failed.into_iter().map(|note| format!("in a warm-up block: {note}")));
        let measured: Vec<&Measurement> = runs.iter().filter_map(|run| measurement(run)).collect();
        rows.push(Row {
            variant: described.variant.clone(),
            class: described.class,
            is_baseline: baseline.as_ref().is_some_and(|b| *b.variant == described.variant),
            measured: measured.len(),
            figures: figures(&runs, &measured, baseline.as_ref()),
            notes,
        });
    }
    rows
}

/// Whether the generator was at its limit.
fn limited(measurement: &Measurement) -> bool {
    measurement.bound == Bound::Generator
}

fn measurement(run: &Run) -> Option<&Measurement> {
    match &run.outcome {
        Outcome::Measured(measurement) => Some(measurement),
        Outcome::Idle(_) | Outcome::Failed { .. } => None,
    }
}

fn by_block(runs: &[&Run], value: fn(&Measurement) -> Option<f64>) -> BTreeMap<u32, f64> {
    runs.iter().filter_map(|run| Some((run.block, value(measurement(run)?)?))).collect()
}

/// Why the variant was not measured in this workload's scenario, which checks it fails as declared,
/// and what of it was not checked.
fn check_notes(journal: &Journal, variant: &VariantId, workload: &Workload) -> Vec<String> {
    let mine = |verified: &&wirebench_schema::journal::Verified| {
        verified.variant == *variant && verified.scenario == workload.scenario
    };
    let mut notes = Vec::new();
    for verified in journal.verified.iter().filter(mine) {
        let failed = verified.failed.iter();
        notes.extend(failed.map(|(check, why)| format!("not measured, fails `{check}`: {why}")));
        let known = verified.deviates.iter();
        notes.extend(known.map(|(check, why)| format!("known to fail `{check}`: {why}")));
        // A scenario whose point was not checked is worth a word; `workers` skipped is not.
        let timeouts = verified.skipped.iter().find(|(check, _)| check.starts_with("timeout-"));
        notes.extend(timeouts.map(|(_, why)| format!("its timeouts were not checked: {why}")));
    }
    notes
}

fn run_notes(runs: &[&Run]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for run in runs {
        match &run.outcome {
            Outcome::Measured(measurement) => {
                measurement.reasons.iter().map(|reason| reason.text.clone()).for_each(&mut add);
            }
            Outcome::Idle(measurement) => {
                measurement.reasons.iter().map(|reason| reason.text.clone()).for_each(&mut add);
            }
            Outcome::Failed { reason, server_stderr } => {
                let said = server_stderr.trim();
                let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
                add(format!("failed: {reason}{said}"));
            }
        }
    }
    notes
}

fn figures(
    runs: &[&Run],
    measured: &[&Measurement],
    baseline: Option<&Baseline<'_>>,
) -> Option<Figures> {
    let median = |value: &dyn Fn(&Measurement) -> Option<f64>| {
        let values: Vec<f64> = measured.iter().filter_map(|m| value(m)).collect();
        wirebench_stats::median(&values)
    };
    let latency_ratio = |value| {
        baseline.and_then(|baseline| wirebench_stats::median(&baseline.ratios(runs, value)))
    };
    let ratio = baseline.and_then(|baseline| {
        let ratios = baseline.ratios(runs, rate);
        let (least, most) = wirebench_stats::range(&ratios)?;
        let is_limited = measured.iter().any(|m| limited(m));
        let is_itself = runs.iter().all(|run| run.variant == *baseline.variant);
        let reads = match is_itself {
            true => Reads::Exactly,
            false => Reads::of(is_limited, baseline.is_limited),
        };
        Some(Ratio { median: wirebench_stats::median(&ratios)?, least, most, reads })
    });
    Some(Figures {
        requests_per_second: median(&rate)?,
        ratio,
        latency_ns_p50: median(&p50),
        latency_p50_ratio: latency_ratio(p50),
        latency_ns_p99: median(&p99),
        latency_p99_ratio: latency_ratio(p99),
        server_cpu_ns_per_request: median(&|m| m.cost.cpu_ns_per_request),
        memory_peak_bytes: measured.iter().map(|m| m.cost.memory_peak_bytes).max()?,
        errors: measured.iter().map(|m| m.load.errors.total()).sum(),
        bound: measured.iter().map(|m| m.bound).collect(),
    })
}
