//! The view of a run: rows against the baseline of their load.

use std::collections::BTreeMap;

use super::cells::cell;
use crate::{
    analysis::{Analysis, Metric, MetricFacts, WorkloadRows},
    conclusions,
    order::in_order,
    published_rows,
    published_table::tables,
    screen,
    view::{Cell, Gate, LoadFacts, PublishedReport, Ratio, Reference, ResultView, Source, Verb},
    why::whys,
};

pub(crate) fn run<'a>(analysis: &'a Analysis<'_>, gate: Option<&'a Gate>) -> ResultView<'a> {
    let Analysis { journal, workloads, .. } = analysis;
    ResultView {
        results: vec![Source::of(journal)],
        loads: loads(workloads),
        published: published(analysis),
        why: whys(journal, workloads),
        gate,
        ..ResultView::of(Verb::Run, screen::sentence(analysis), cells(analysis))
    }
}

/// What is known of each load besides its cells.
pub(crate) fn loads<'a>(workloads: &[WorkloadRows<'a>]) -> Vec<LoadFacts<'a>> {
    let of = |rows: &WorkloadRows<'a>| {
        let phase = rows.workload.phase;
        let check = |metric: &Metric| (metric.field(), rows.compare(*metric).baseline_check);
        LoadFacts {
            name: rows.workload.name.clone(),
            rate: rows.rate,
            cohorts: rows.blocks,
            primary_metric: Metric::primary(phase).field(),
            baseline_check: Metric::of_phase(phase).iter().map(check).collect(),
            machine_states: rows.states.clone(),
        }
    };
    workloads.iter().map(of).collect()
}

/// The cells of all workloads.
pub(crate) fn cells(analysis: &Analysis<'_>) -> Vec<Cell> {
    analysis.workloads.iter().flat_map(|rows| of_rows(analysis, rows)).collect()
}

/// The cells of a workload, the best first by the primary metric.
fn of_rows(analysis: &Analysis<'_>, rows: &WorkloadRows<'_>) -> Vec<Cell> {
    let primary = Metric::primary(rows.workload.phase);
    let mut others = others(analysis, rows, primary);
    let of_row = |index: usize| {
        let mut cells = cell(analysis.journal, rows, &[index], primary);
        for figure in &mut cells[0].figures {
            let metric = figure.metric;
            if metric.compared().is_none() {
                continue;
            }
            let baseline = rows.baseline.map(|it| rows.rows[it].standing(metric).is_compared());
            let ratio = rows.compare(metric).ratios[index].clone();
            let valid = figure.valid && baseline == Some(true);
            figure.rank = rows.ranks(metric)[index];
            figure.ratios.extend(ratio.map(|it| Ratio::of(Reference::Baseline, it, valid)));
            if metric == primary {
                figure.ratios.append(others.entry(index).or_default());
            }
        }
        cells
    };
    in_order(rows, primary).into_iter().flat_map(of_row).collect()
}

/// The ratios of each row in each other state of the machine of which there are enough cohorts.
fn others(
    analysis: &Analysis<'_>,
    rows: &WorkloadRows<'_>,
    metric: Metric,
) -> BTreeMap<usize, Vec<Ratio>> {
    let mut found: BTreeMap<usize, Vec<Ratio>> = BTreeMap::new();
    for state in rows.states.others.iter().map(|it| it.state) {
        let Some(there) = analysis.in_state(rows, state) else { continue };
        for (index, ratio) in there.compare(metric).ratios.iter().cloned().enumerate() {
            let valid = there.rows[index].standing(metric).is_compared();
            let ratio = ratio.map(|it| Ratio::of(Reference::Baseline, it, valid));
            found
                .entry(index)
                .or_default()
                .extend(ratio.map(|it| Ratio { state: Some(state), ..it }));
        }
    }
    found
}

/// The document of `journal` with all of its rows that have a state.
fn published<'a>(analysis: &'a Analysis<'_>) -> Option<PublishedReport<'a>> {
    let journal = analysis.journal;
    let published = published_rows::document(journal)?;
    let (rows, document) = (published_rows::rows(journal)?, published.document.clone());
    let conclusions = conclusions::judge(analysis);
    Some(PublishedReport { document, rows, tables: tables(analysis), conclusions })
}
