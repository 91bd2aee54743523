//! The evidence for conditions in the results of `run`, `tune` and `load`. `compare` and `ab` have their own.

use wirebench_schema::{
    gate::{Condition, Limit},
    journal::{Journal, Run, SearchLimit, Unavailable},
    load::LoadReport,
    suite::Phase,
};

use super::{Evidence, Gate, Lost, judge};
use crate::{
    analysis::{Analysis, Metric, MetricFacts, Reads, Role, WorkloadRows},
    build,
    by_name::requests,
    load,
    not_measured::{is_named, not_measured},
    tune::{Tuned, Tuning},
    view::{Cell, CellId, Figure, Verb},
};

/// The conditions on a result of `run`: changes are those of a server against the baseline.
#[must_use]
pub fn of_run(analysis: &Analysis<'_>, conditions: &[Condition]) -> Option<Gate> {
    let cells = if conditions.is_empty() { Vec::new() } else { build::cells(analysis) };
    let evidence = Evidence { verb: Verb::Run, cells: &cells, ..Evidence::default() };
    let lost = lost(analysis.journal, &evidence, conditions);
    let mut gate = judge(conditions, Evidence { lost, ..evidence })?;
    let without = gate.conditions.iter().filter(|it| it.looked_at == 0);
    let without: Vec<String> = without.map(|it| format!("'{}'", it.condition)).collect();
    gate.warnings.retain(|warning| !without.iter().any(|it| warning.starts_with(it)));
    Some(gate)
}

/// Servers that a condition concerns and that have no figures: what is worse than any figure must not pass.
fn lost(journal: &Journal, evidence: &Evidence<'_>, conditions: &[Condition]) -> Vec<Lost> {
    let is_concerned = |it: &&Cell| {
        let phase = it.id.phase;
        let by = |condition: &Condition| match condition.limit {
            Limit::Change(_) => condition.figure.changes_in(phase).is_some(),
            _ => evidence.concerns(condition, it),
        };
        let is_whole = it.id.request.is_none() && it.role != Role::SecondOfBaseline;
        let is_judged = is_whole && phase != Phase::Idle && !evidence.is_reference(it);
        it.runs.measured == 0 && is_judged && conditions.iter().any(by)
    };
    let lost = evidence.cells.iter().filter(is_concerned).filter_map(|it| {
        let reason = not_measured(journal, &it.id.variant()?, Some(&it.id.load));
        let reason = reason.unwrap_or_else(|| "was not run".to_owned());
        Some(Lost { cell: it.id.clone(), reason })
    });
    // Servers that were named and have no row.
    let is_meant = |it: &&Unavailable| {
        let by = |of: &Condition| of.of.as_ref().is_none_or(|name| it.variant.is_called(name));
        is_named(journal, &it.variant) && conditions.iter().any(by)
    };
    let absent = journal.unavailable.iter().filter(is_meant).filter_map(|it| {
        let workload = journal.start.workloads.first()?;
        Some(Lost { cell: CellId::of(workload, &it.variant, 0), reason: it.reason.clone() })
    });
    lost.chain(absent).collect()
}

/// The conditions on a result of `tune`: on the best combination, or on the rate that was found.
#[must_use]
pub fn of_tune(tuned: &Tuned<'_>, conditions: &[Condition]) -> Option<Gate> {
    let Tuned { analysis, tuning, .. } = tuned;
    let (name, rate, is_bound) = match tuning {
        Tuning::Sweep(sweep) => (sweep.best().map(|it| &it.id.load), None, false),
        Tuning::Search(search) => {
            // A rate that was not confirmed may be that of a burst.
            let confirmed = search.found.as_ref().filter(|it| it.held > 0);
            let rate = confirmed.and_then(|it| it.requests_per_second);
            let is_bound = search.found.is_some_and(|it| it.limit != SearchLimit::Server);
            (rate.map(|_| &search.sought.workload), rate, is_bound)
        }
    };
    let workload = analysis.workloads.iter().find(|it| Some(&it.workload.name) == name);
    let (cells, lost) = match workload {
        Some(workload) => (at_rate(analysis.journal, workload, rate, is_bound), Vec::new()),
        None => (Vec::new(), nothing(analysis.journal)),
    };
    judge(conditions, Evidence { verb: Verb::Tune, cells: &cells, lost, ..Evidence::default() })
}

/// The cells of a workload, or those of its runs at a rate that was found, which may be a lower bound.
fn at_rate(
    journal: &Journal,
    workload: &WorkloadRows<'_>,
    rate: Option<u64>,
    is_bound: bool,
) -> Vec<Cell> {
    let rate_of = |run: &Run| run.outcome.measured().and_then(|it| it.load.constant_rate());
    let is_meant = |run: &Run| rate.is_none() || rate_of(run) == rate;
    let mut workload = workload.clone();
    workload.rows = workload.rows.iter().map(|row| row.with_runs(is_meant)).collect();
    let is_first = |row: &usize| workload.rows[*row].role != Role::SecondOfBaseline;
    let instances: Vec<usize> = (0..workload.rows.len()).filter(is_first).collect();
    let mut cells = match (instances.as_slice(), journal.start.variants.first()) {
        ([], None) => Vec::new(),
        ([], Some(it)) => vec![build::of_workload(&workload.workload, &it.variant, 0)],
        (instances, _) => build::cell(journal, &workload, instances),
    };
    for (cell, rate) in cells.iter_mut().zip(rate) {
        let valid = cell.figure(Metric::Throughput).is_none_or(|it| it.valid);
        let reads = if is_bound { Reads::AtLeast } else { Reads::Exactly };
        let figure = Figure { reads, ..Figure::of(Metric::Throughput, rate as f64, valid) };
        cell.generator_limited = false;
        cell.figures.retain(|it| it.metric != Metric::Throughput);
        cell.figures.push(figure);
    }
    cells
}

/// That a search or a sweep has no result, unless all confirmations were disturbed, which says nothing of the server.
fn nothing(journal: &Journal) -> Vec<Lost> {
    let start = &journal.start;
    let is_disturbed = journal.found.is_some_and(|it| it.disturbed.is_some());
    let both = start.variants.first().zip(start.workloads.last()).filter(|_| !is_disturbed);
    let cell = both.map(|(it, workload)| CellId::of(workload, &it.variant, 0));
    let reason = "no combination or rate was found and confirmed".to_owned();
    cell.map(|cell| Lost { cell, reason }).into_iter().collect()
}

/// The conditions on a load.
#[must_use]
pub fn of_load(report: &LoadReport, conditions: &[Condition]) -> Option<Gate> {
    let cells: Vec<Cell> = requests(report).map(|it| load::cell(report, &it)).collect();
    judge(conditions, Evidence { verb: Verb::Load, cells: &cells, ..Evidence::default() })
}
