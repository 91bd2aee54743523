//! The evidence for conditions in a result of `tune`.

use wirebench_schema::{
    gate::Condition,
    journal::{Journal, Run, SearchLimit},
};

use super::{Tuned, Tuning};
use crate::{
    analysis::{Metric, Reads, Role, WorkloadRows},
    build,
    gates::{self, Evidence},
    view::{Cell, CellId, Figure, Gate, Lost, Verb},
};

/// The conditions on a result of `tune`: on the best combination, or on the rate that was found.
#[must_use]
pub fn gate(tuned: &Tuned<'_>, conditions: &[Condition]) -> Option<Gate> {
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
    gates::judge(
        conditions,
        Evidence { verb: Verb::Tune, cells: &cells, lost, ..Evidence::default() },
    )
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
