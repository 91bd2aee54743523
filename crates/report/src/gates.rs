//! Conditions of `--fail-if` in the results of `run`, `tune` and `load`: what each has that a condition can be about.
//! `compare` and `ab` have their own; how a condition is judged is in `compare`.

use std::collections::BTreeSet;
use wirebench_schema::{
    gate::{Condition, GateScope},
    id::VariantId,
    journal::{Journal, Run, SearchLimit, Unavailable},
    load::{LoadConfig, LoadModel, LoadReport},
    suite::{Phase, Workload},
};

use crate::{
    analysis::{Analysis, Metric, MetricFacts, Role, WorkloadRows},
    compare::{
        Cell, Change, Figure, Gate, Lost,
        conditions::{Evidence, judge},
        limits::{Subject, is_of_phase, subjects},
        relative::OnChange,
    },
    not_measured::{is_named, not_measured},
    tune::{Tuned, Tuning},
};

/// The figures of which changes are computed.
#[must_use]
pub fn changes() -> Vec<Metric> {
    Metric::limitable().filter_map(MetricFacts::compared).collect()
}

/// The figures whose values workloads are measured for.
#[must_use]
pub fn values(workloads: &[Workload]) -> Vec<Metric> {
    let has = |it: &Metric| workloads.iter().any(|workload| is_of_phase(*it, workload.phase));
    Metric::limitable().filter(has).collect()
}

/// The names of the requests of these workloads.
#[must_use]
pub fn requests<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> Vec<String> {
    let sets = workloads.into_iter().filter_map(|it| it.requests.as_ref());
    let names: BTreeSet<&str> = sets.flat_map(|set| set.names()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// Which option of `run` adds figures.
pub const HINT: &str = "throughput is measured with --phase saturate, latency with --phase cost";

/// What conditions on a result may be about, from its journal.
#[must_use]
pub fn scope<'a>(verb: &'a str, journal: &Journal) -> GateScope<'a> {
    let start = &journal.start;
    GateScope {
        verb,
        values: values(&start.workloads),
        changes: changes(),
        hint: HINT,
        servers: start.variants.iter().map(|it| it.variant.clone()).collect(),
        names: requests(&start.workloads),
    }
}

/// The conditions on a result of `run`: changes are those of a server against the baseline.
#[must_use]
pub fn of_run(analysis: &Analysis<'_>, conditions: &[Condition]) -> Option<Gate> {
    let changes: Vec<Change> = analysis
        .workloads
        .iter()
        .flat_map(|workload| against_baseline(workload, conditions))
        .collect();
    let subjects = subjects(&analysis.workloads);
    let lost = lost(analysis, &subjects, conditions);
    let evidence = Evidence { changes: &changes, lost, subjects: &subjects, ..Evidence::default() };
    let mut gate = judge(conditions, evidence)?;
    let without = gate.conditions.iter().filter(|it| it.looked_at == 0);
    let without: Vec<String> = without.map(|it| format!("'{}'", it.condition)).collect();
    gate.warnings.retain(|warning| !without.iter().any(|it| warning.starts_with(it)));
    Some(gate)
}

/// The rows of a workload against its baseline, by the figures of these conditions.
fn against_baseline(workload: &WorkloadRows<'_>, conditions: &[Condition]) -> Vec<Change> {
    let phase = workload.workload.phase;
    let of_phase = conditions.iter().filter_map(OnChange::of).filter_map(|it| it.metric(phase));
    let metrics: BTreeSet<Metric> = of_phase.collect();
    let changes = metrics.into_iter().flat_map(|metric| {
        (0..workload.rows.len()).filter_map(move |index| {
            let ratio = workload.to_baseline(metric, index)?;
            let [row, baseline] = [index, workload.baseline?].map(|index| &workload.rows[index]);
            let [old, new] = [baseline, row].map(|row| Figure::of(&[row], metric, Vec::new()));
            let change = Change::of(Cell::of_row(workload, row), metric, [old?, new?], ratio);
            Some(Change { relative_to: Some(baseline.variant.clone()), ..change })
        })
    });
    changes.collect()
}

/// Servers that a condition concerns and that have no figures: what is worse than any figure must not pass.
fn lost(analysis: &Analysis<'_>, subjects: &[Subject<'_>], conditions: &[Condition]) -> Vec<Lost> {
    let is_concerned = |it: &&Subject<'_>| {
        let phase = it.cell.as_ref().map(|cell| cell.phase);
        let by = |condition: &Condition| match OnChange::of(condition) {
            Some(change) => phase.is_some_and(|phase| change.metric(phase).is_some()),
            None => it.is_concerned_by(condition, None),
        };
        it.loads.is_empty()
            && !it.is_reference
            && phase != Some(Phase::Idle)
            && conditions.iter().any(by)
    };
    let lost = subjects.iter().filter(is_concerned).filter_map(|it| {
        let cell = it.cell.clone()?;
        let reason = not_measured(analysis.journal, &cell.variant, Some(&cell.workload));
        Some(Lost { cell, reason: reason.unwrap_or_else(|| "was not run".to_owned()) })
    });
    lost.chain(absent(analysis.journal, conditions)).collect()
}

/// Servers that were named and have no row, where a condition concerns them.
fn absent(journal: &Journal, conditions: &[Condition]) -> impl Iterator<Item = Lost> {
    let is_meant = |variant: &VariantId| {
        let by = |it: &Condition| it.of.as_ref().is_none_or(|name| variant.is_called(name));
        is_named(journal, variant) && conditions.iter().any(by)
    };
    let unavailable = journal.unavailable.iter().filter(move |it| is_meant(&it.variant));
    let workload = journal.start.workloads.first();
    let lost = move |it: &Unavailable| {
        Some(Lost { cell: Cell::of(workload?, &it.variant, 0), reason: it.reason.clone() })
    };
    unavailable.filter_map(lost)
}

/// The conditions on a result of `tune`: on the best combination, or on the rate that was found.
#[must_use]
pub fn of_tune(tuned: &Tuned<'_>, conditions: &[Condition]) -> Option<Gate> {
    let Tuned { analysis, tuning, .. } = tuned;
    let (name, rate, is_rate_bound) = match tuning {
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
    let Some(workload) = workload else {
        return judge(
            conditions,
            Evidence { lost: nothing(analysis.journal), ..Evidence::default() },
        );
    };
    let rate_of = |run: &Run| run.outcome.measured().and_then(|it| it.load.constant_rate());
    let is_meant = |run: &Run| rate.is_none() || rate_of(run) == rate;
    let rows = workload.rows.iter().filter(|row| row.role != Role::SecondOfBaseline);
    let rows: Vec<_> = rows.map(|row| row.with_runs(is_meant)).collect();
    let mut subject = Subject::of_rows(workload, rows.iter().collect());
    (subject.has_all, subject.rate) = (true, rate.map(|it| it as f64));
    subject.is_rate_bound = is_rate_bound;
    judge(conditions, Evidence { subjects: &[subject], ..Evidence::default() })
}

/// That a search or a sweep has no result, unless all confirmations were disturbed, which says nothing of the server.
fn nothing(journal: &Journal) -> Vec<Lost> {
    let start = &journal.start;
    let is_disturbed = journal.found.is_some_and(|it| it.disturbed.is_some());
    let both = start.variants.first().zip(start.workloads.last()).filter(|_| !is_disturbed);
    let cell = both.map(|(it, workload)| Cell::of(workload, &it.variant, 0));
    let reason = "no combination or rate was found and confirmed".to_owned();
    cell.map(|cell| Lost { cell, reason }).into_iter().collect()
}

/// The conditions on a load.
#[must_use]
pub fn of_load(report: &LoadReport, conditions: &[Condition]) -> Option<Gate> {
    judge(conditions, Evidence { subjects: &[Subject::of_load(report)], ..Evidence::default() })
}

/// What conditions on a load may be about: a client does not see the server's CPU time and memory.
#[must_use]
pub fn scope_of_load<'a>(verb: &'a str, config: &LoadConfig) -> GateScope<'a> {
    let has_rate = matches!(config.model, LoadModel::Rate { .. });
    let is_seen = |it: &Metric| match it {
        Metric::Cpu | Metric::Memory => false,
        Metric::Achieved | Metric::Unsent => has_rate,
        _ => true,
    };
    let names = config.requests.iter().flat_map(|set| set.names());
    GateScope {
        verb,
        values: Metric::limitable().filter(is_seen).collect(),
        names: names.map(str::to_owned).collect(),
        hint: if has_rate { "" } else { "achieved and unsent are those of a rate" },
        ..GateScope::default()
    }
}

#[cfg(test)]
mod tests;
