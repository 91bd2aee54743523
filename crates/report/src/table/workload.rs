//! The section of one workload: its heading, how its rate was found, its noise, its table and the
//! notes below it.

use std::fmt::Display;
use wirebench_schema::{journal::Journal, suite::Phase};
use wirebench_stats::{Estimate, MIN_COHORTS};

use super::columns::{Column, columns};
use crate::{
    analysis::{BaselineCheck, CheckState, Comparison, Metric, MetricFacts, WorkloadRows},
    document::{Block, Cell, Table},
    idle_words, interval,
    load_words::describe,
    notes::Remark,
    order::in_order,
    remarks::remarks,
    table_units::asked_rate,
};

/// The section of `rows`, compared by `wanted` if the workload has it.
pub(super) fn section(journal: &Journal, rows: &WorkloadRows<'_>, wanted: Option<Metric>) -> Block {
    let phase = rows.workload.phase;
    let mut lines = about_rate(rows);
    let primary = Metric::primary(phase);
    let metric = wanted.map_or(Some(primary), |wanted| wanted.in_phase(phase));
    let mut table = None;
    if rows.rows.is_empty() {
        lines.push("no measurements".to_owned());
    } else {
        if let (None, Some(wanted)) = (metric, wanted) {
            lines.push(absent(phase, wanted, Metric::of_phase(phase), primary));
        }
        let metric = metric.unwrap_or(primary);
        lines.extend(about_check(rows, rows.compare(metric)));
        table = Some(Block::Table(self::table(journal, rows, metric)));
    }
    let lines = lines.into_iter().map(Block::line);
    Block::Section(describe(&rows.workload), lines.chain(table).collect())
}

fn table(journal: &Journal, rows: &WorkloadRows<'_>, metric: Metric) -> Table {
    let notes = |index: usize| {
        let waking = rows.rows[index].waking.as_ref().map(idle_words::added);
        let known = remarks(journal, rows, index, rows.compare(metric));
        known.into_iter().chain(waking.map(Remark::from)).collect()
    };
    table_of(rows, metric, &columns(rows, metric), notes)
}

/// A table of these columns, with notes below the names of the rows.
pub(super) fn table_of(
    rows: &WorkloadRows<'_>,
    metric: Metric,
    columns: &[Column],
    notes: impl Fn(usize) -> Vec<Remark>,
) -> Table {
    let cell = |column: &Column, index: usize| Cell {
        text: column.cell(rows, index, metric),
        notes: if *column == Column::Entry { notes(index) } else { Vec::new() },
        ..Cell::default()
    };
    let row = |index: usize| columns.iter().map(|column| cell(column, index)).collect();
    let heads = columns.iter().map(|column| column.of(rows, metric)).collect();
    Table::new(heads, in_order(rows, metric).into_iter().map(row))
}

/// How the rate of a cost phase was chosen, and which variants cannot hold it.
pub(crate) fn about_rate(rows: &WorkloadRows<'_>) -> Vec<String> {
    let Some(rate) = rows.rate else {
        let unknown = rows.workload.phase == Phase::Cost && rows.workload.needs_rate();
        let line = "not measured: no rate was found that all entries can hold";
        return unknown.then(|| line.to_owned()).into_iter().collect();
    };
    let number = asked_rate(rate.requests_per_second);
    let mut lines = vec![format!("{number} requests/s for all: {}", rate.reason)];
    if !rate.too_slow.is_empty() {
        let names: Vec<String> =
            rate.too_slow.iter().map(|(variant, _)| variant.to_string()).collect();
        lines.push(format!("too slow for that rate: {}", names.join(", ")));
    }
    lines
}

/// What the check of the baseline has shown.
pub(super) fn about_check(rows: &WorkloadRows<'_>, comparison: &Comparison) -> Option<String> {
    let baseline = rows.rows[rows.baseline?].variant;
    let why = match rows.second() {
        Some(_) => "no cohort has figures of both instances",
        None => "there is one instance",
    };
    let found = instances_differ(baseline, &comparison.baseline_check, "verdicts");
    Some(found.unwrap_or_else(|| format!("A/A: {baseline} is not checked, because {why}")))
}

/// By how much two instances of a program differ, and what follows; none without a cohort of both.
pub(crate) fn instances_differ(
    name: impl Display,
    check: &BaselineCheck,
    verdicts: &str,
) -> Option<String> {
    let Estimate { value, interval, .. } = check.second_over_first?;
    let differ = interval::change(value, interval);
    let known = interval.map_or("", |_| " with 99 % confidence");
    let follows = match check.state {
        CheckState::Passed => "passed".to_owned(),
        CheckState::TooNoisy => "too noisy to tell".to_owned(),
        CheckState::Suspicious => format!("suspicious, no {verdicts}"),
        CheckState::Absent => format!("needs {MIN_COHORTS} cohorts"),
    };
    Some(format!("A/A: two instances of {name} differ by {differ}{known}: {follows}"))
}

/// That a phase has no figure of the name that was asked for, those that it `has`, and what it is
/// compared by `instead`.
pub(crate) fn absent(phase: Phase, wanted: Metric, has: &[Metric], instead: Metric) -> String {
    let names: Vec<&str> = has.iter().map(|metric| metric.name()).collect();
    format!(
        "the phase {phase} has no {wanted}, but {}: compared by {}",
        names.join(", "),
        instead.title()
    )
}
