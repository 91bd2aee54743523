//! The section of one workload: its heading, how its rate was found, its noise, its table and the
//! notes below it.

use std::{collections::BTreeSet, fmt::Display};
use wirebench_schema::{journal::Journal, suite::Phase};
use wirebench_stats::{Estimate, MIN_COHORTS};

use super::{
    cells::Line,
    columns::{Column, columns},
    describe::describe,
    layout,
    page::Page,
};
use crate::{
    analysis::{BaselineCheck, CheckState, Comparison, Metric, Role, Row, WorkloadRows, absent},
    interval,
    notes::Notes,
    order::in_order,
    remarks::remarks,
    table_units::thousands,
};

/// Adds the section of `rows`, compared by `wanted` if the workload has it.
pub(super) fn add(
    page: &mut Page,
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    wanted: Option<Metric>,
) {
    let phase = rows.workload.phase;
    page.heading(&describe(&rows.workload));
    for line in about_rate(rows) {
        page.line(&line);
    }
    if rows.rows.is_empty() {
        page.paragraph("no measurements");
        return;
    }
    let primary = Metric::primary(phase);
    let metric = wanted.map_or(Some(primary), |wanted| wanted.in_phase(phase));
    if let (None, Some(wanted)) = (metric, wanted) {
        page.line(&absent(phase, wanted, Metric::of_phase(phase), primary));
    }
    let metric = metric.unwrap_or(primary);
    let comparison = rows.compare(metric);
    if let Some(check) = about_check(rows, comparison) {
        page.line(&check);
    }
    let mut lines = Vec::new();
    let mut notes = Notes::default();
    for index in in_order(rows, metric) {
        let row = &rows.rows[index];
        let numbers: BTreeSet<usize> =
            remarks(journal, rows, index, comparison).iter().map(|note| notes.add(note)).collect();
        let (compared, rank) = (comparison.rows[index].as_ref(), rows.ranks(metric)[index]);
        lines.push(Line { row, compared, rank, notes: numbers.into_iter().collect() });
    }
    let table = |columns: &[Column]| {
        let heads: Vec<String> = columns.iter().map(|column| column.head(rows, metric)).collect();
        let cells = |line: &Line<'_>| -> Vec<String> {
            columns.iter().map(|column| line.cell(*column)).collect()
        };
        let cells: Vec<Vec<String>> = lines.iter().map(cells).collect();
        layout::table(page.style, columns, &heads, &cells)
    };
    let all = columns(rows, metric);
    let fitting = layout::fitting(page.style, all, |columns| layout::width(&table(columns)));
    let table = table(&fitting);
    page.table(&table, notes.texts());
}

/// How the rate of a cost phase was chosen, and which variants cannot hold it.
pub(crate) fn about_rate(rows: &WorkloadRows<'_>) -> Vec<String> {
    let Some(rate) = rows.rate else {
        let unknown = rows.workload.phase == Phase::Cost && rows.workload.needs_rate();
        let line = "not measured: no rate was found that all entries can hold";
        return unknown.then(|| line.to_owned()).into_iter().collect();
    };
    let number = thousands(rate.requests_per_second as f64);
    let mut lines = vec![format!("{number} requests/s for all: {}", rate.reason)];
    if !rate.too_slow.is_empty() {
        let names: Vec<String> =
            rate.too_slow.iter().map(|(variant, _)| variant.to_string()).collect();
        lines.push(format!("too slow for that rate: {}", names.join(", ")));
    }
    lines
}

/// What the check of the baseline has shown.
fn about_check(rows: &WorkloadRows<'_>, comparison: &Comparison) -> Option<String> {
    let baseline = rows.rows[rows.baseline?].variant;
    let is_second = |row: &Row<'_>| row.role == Role::SecondOfBaseline;
    let why = match rows.rows.iter().any(is_second) {
        true => "no cohort has figures of both instances",
        false => "there is one instance",
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
        CheckState::Failed => format!("failed, no {verdicts}"),
        CheckState::Absent => format!("needs {MIN_COHORTS} cohorts"),
    };
    Some(format!("A/A: two instances of {name} differ by {differ}{known}: {follows}"))
}
