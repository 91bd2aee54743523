//! Why figures are hidden or absent: one line for each cause, with the rows that it concerns.
//! The reasons of single runs are in the details.

use std::collections::BTreeMap;
use wirebench_schema::{
    journal::{
        Bound, Cost, Counts, Journal, Measurement, ProgramShare, Reason, ReasonKind, Run, Weight,
        next_step, unstoppable,
    },
    suite::{Phase, Scale},
};

use super::{
    model::title,
    row::{is_listed, name},
};
use crate::{
    analysis::{self, Analysis, Row, WorkloadRows},
    notes::Remark,
    published_rows::{self, few},
    remarks::{SHIFT, is_shifted},
    services,
    shown::{Shown, decisive, most_frequent, shown, was_bound_by},
    table::{self, states::sentences},
    table_units::latency,
};

/// Rows that a cause names; more are counted.
const NAMED_ROWS: usize = 2;

/// A workload's rows with the name of its load.
type Labelled<'r, 'a> = (String, &'r WorkloadRows<'a>);

/// Each row, after the name of its load and the other rows of it.
fn labelled<'r, 'a>(
    workloads: &'r [Labelled<'r, 'a>],
) -> impl Iterator<Item = (&'r str, &'r WorkloadRows<'a>, &'r Row<'a>)> {
    let rows = |(label, rows): &'r Labelled<'r, 'a>| {
        rows.rows.iter().map(move |row| (label.as_str(), *rows, row))
    };
    workloads.iter().flat_map(rows)
}

/// Everything that hides or qualifies figures or keeps rows from having some, and what to do about rows that were
/// disturbed, if there are any.
pub(super) fn causes(analysis: &Analysis<'_>) -> (Vec<String>, Option<&'static str>) {
    let journal = analysis.journal;
    let workloads: &Vec<Labelled<'_, '_>> = &(analysis.workloads.iter())
        .map(|it| (format!("{} {}", it.workload.scenario, title(it)), it))
        .collect();
    // What has no figures comes before what is wrong with some.
    let mut lines = sentences(&analysis.workloads);
    lines.extend([conditions(journal), unavailable(journal), refusals(journal)].concat());
    lines.extend([too_slow(workloads), failures(workloads), services::notes(journal)].concat());
    // The names of rows of which the same is hidden for the same kind of reason, and all that was found of it.
    type HiddenRows = (Vec<String>, Option<Remark>);
    let mut groups: BTreeMap<(Shown, ReasonKind), HiddenRows> = BTreeMap::new();
    let mut programs: Vec<&ProgramShare> = Vec::new();
    for (label, rows, row) in labelled(workloads).filter(|(.., row)| is_listed(row)) {
        let is_shifted = is_shifted(journal, rows, row);
        // All that other work does to a row is in one line.
        let shown = if is_shifted { shown(row).min(Shown::Shifted) } else { shown(row) };
        let Some(kind) = main_kind(row, shown).map(worded_as) else { continue };
        if kind.is_disturbance() {
            programs.extend(row.reasons().flat_map(|it| it.programs.iter().flatten()));
        }
        let (names, found) = groups.entry((shown, kind)).or_default();
        names.push(format!("{} {label}", name(row)));
        let counts = |it: &&Reason| it.weight > Weight::Note || kind == ReasonKind::FewSamples;
        let reasons = row.reasons().filter(|it| worded_as(it.kind) == kind).filter(counts);
        let reasons = reasons.map(|it| {
            let figure = it.figure.filter(|_| it.kind == kind);
            Remark::from(&Reason { kind, figure, ..it.clone() })
        });
        *found = found.take().into_iter().chain(reasons).reduce(Remark::with);
    }
    let is_disturbed = groups.keys().any(|(_, kind)| kind.is_disturbance());
    for ((shown, _), (names, found)) in groups {
        let tail = if shown == Shown::NoTail { "p99 of " } else { "" };
        let rows = few(&names, NAMED_ROWS, "rows");
        let found = found.map_or_else(|| "too few samples".to_owned(), |it| it.short());
        let shift = if shown == Shown::Shifted { format!("; {SHIFT}") } else { String::new() };
        lines.push(format!("{tail}{rows}: {found}{shift}"));
    }
    lines.extend(unstoppable(programs.iter().copied().filter(|it| it.is_much())));
    // On shared CPUs the two sides together are the bottleneck.
    lines.extend(journal.start.placement.disjoint.then(|| unsaturated(workloads)).flatten());
    (lines, is_disturbed.then(|| next_step(programs)))
}

/// The kind whose sentence a reason has. All that other work does to rows is in one line.
const fn worded_as(kind: ReasonKind) -> ReasonKind {
    if kind.is_disturbance() { ReasonKind::Neighbour } else { kind }
}

/// The kind that most runs of a row have, of those that hide something.
fn main_kind<'a>(row: &'a Row<'a>, shown: Shown) -> Option<ReasonKind> {
    let spoils = |it: &&Reason| it.kind == ReasonKind::Throttled && it.weight == Weight::Invalid;
    let of_run = |run: &&'a Run| -> Vec<&'a Reason> {
        let throttled = run.outcome.reasons().iter().find(spoils);
        match throttled.filter(|_| shown != Shown::All) {
            // Whatever else there is, such as a rate that was not reached, follows from it.
            Some(reason) => vec![reason],
            None => decisive(run, row, shown).collect(),
        }
    };
    let reasons: Vec<Vec<&Reason>> = row.runs.iter().map(of_run).collect();
    let few_samples = (shown == Shown::NoTail).then_some(ReasonKind::FewSamples);
    most_frequent(&reasons).map(|it| it.kind).or(few_samples)
}

fn conditions(journal: &Journal) -> Vec<String> {
    let smoke = (journal.start.scale == Scale::Smoke).then(|| table::headline::SMOKE.to_owned());
    let texts = analysis::conditions(journal).into_iter().map(|text| format!("all rows: {text}"));
    smoke.into_iter().chain(texts).chain(sharing(journal)).collect()
}

/// What the sharing of CPUs means for the figures: the scheduler's part of a request.
fn sharing(journal: &Journal) -> Option<String> {
    let counted = journal.runs.iter().filter(|run| run.counts == Counts::Yes);
    let measured = counted
        .filter_map(|run| run.outcome.measured())
        .filter(|it| it.load.requests > 0 && it.cost.is_of_processes());
    let each = |of: fn(&Cost) -> Option<u64>| {
        let share = |it: &Measurement| Some(of(&it.cost)? as f64 / it.load.requests as f64);
        wirebench_stats::range(&measured.clone().filter_map(share).collect::<Vec<_>>())
    };
    let waited = each(|cost| cost.run_queue_ns).filter(|_| !journal.start.placement.disjoint)?;
    let lost = each(|cost| Some(cost.context_switches_involuntary))?;
    let range = |(low, high): (f64, f64), show: fn(f64) -> String| match (show(low), show(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    Some(format!(
        "all rows: a server waited {} per request for a CPU, with {} involuntary context switches; requests/s and \
         latencies include the wait, CPU time does not",
        range(waited, latency),
        range(lost, |times| format!("{times:.2}")),
    ))
}

/// Rows whose throughput was set by waiting.
fn unsaturated(workloads: &[Labelled<'_, '_>]) -> Option<String> {
    let waited = labelled(workloads)
        .filter(|(_, rows, row)| rows.workload.phase == Phase::Saturate && is_listed(row))
        .filter(|(.., row)| shown(row).is_compared() && was_bound_by(row, Bound::Neither));
    let names: Vec<String> =
        waited.map(|(label, _, row)| format!("{} {label}", name(row))).collect();
    let rows = few(&names, NAMED_ROWS, "rows");
    (!names.is_empty()).then(|| format!("{rows}: not saturated, neither side was the bottleneck"))
}

/// Servers that were not measured because they failed a check.
fn refusals(journal: &Journal) -> Vec<String> {
    let first = journal.verified.iter().filter_map(|it| Some((it, it.failed.first()?)));
    first
        .map(|(it, (check, why))| {
            format!("{} {}: not measured, fails `{check}`: {why}", it.variant, it.scenario)
        })
        .collect()
}

/// Rows with runs that failed, the first reason of each.
fn failures(workloads: &[Labelled<'_, '_>]) -> Vec<String> {
    let of_row = |(label, _, row): (&str, &WorkloadRows<'_>, &Row<'_>)| {
        let reason = row.runs.iter().find_map(|run| run.outcome.failure())?;
        let (failed, all) = (row.failed(), row.runs.len());
        Some(format!("{} {label}: {failed} of {all} runs failed: {reason}", name(row)))
    };
    labelled(workloads).filter_map(of_row).collect()
}

/// Servers that cannot hold the rate of a load.
fn too_slow(workloads: &[Labelled<'_, '_>]) -> Vec<String> {
    let of_load = |(label, rows): &Labelled<'_, '_>| {
        let slow = rows.rate.iter().flat_map(|rate| &rate.too_slow);
        let names: Vec<String> = slow.map(|(variant, _)| variant.to_string()).collect();
        (!names.is_empty()).then(|| format!("too slow for {label}: {}", names.join(", ")))
    };
    workloads.iter().filter_map(of_load).collect()
}

fn unavailable(journal: &Journal) -> Vec<String> {
    // A row of the document without a variant is listed with its clause instead.
    let texts = table::unavailable(journal, |what| !published_rows::is_missing(journal, what));
    texts.iter().map(|text| format!("not measured: {text}")).collect()
}
