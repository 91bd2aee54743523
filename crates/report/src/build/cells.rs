//! Rows of a workload become a cell: what the runs of a server say together. Ratios are added by whoever compares.

use std::collections::BTreeMap;
use wirebench_schema::{
    journal::{Journal, ReasonKind, Weight},
    load::{LatencyFigure, LoadModel, NamedRequests, RateCurve},
    suite::{Phase, Workload},
};
use wirebench_stats::{geometric_mean_interval, median, outliers};

use crate::{
    analysis::{self, Metric, MetricFacts, Reads, Row, WorkloadRows},
    by_name::{self, RequestFigures},
    notes::Notes,
    remarks::remarks,
    view::{Cell, CellId, Figure, Reasons, Role, Runs, Sample},
};

/// The latencies that the requests of a name have.
const LATENCIES: [LatencyFigure; 3] = [LatencyFigure::P50, LatencyFigure::P99, LatencyFigure::P999];

/// The rows at `instances` together, at least one, and the requests of each name.
pub(crate) fn cell(journal: &Journal, rows: &WorkloadRows<'_>, instances: &[usize]) -> Vec<Cell> {
    let of: Vec<&Row<'_>> = instances.iter().map(|index| &rows.rows[*index]).collect();
    let sum = |of_row: &dyn Fn(&Row<'_>) -> usize| of.iter().map(|row| of_row(row)).sum();
    let is_compared = |metric| Row::standing_of(&of, metric).is_compared();
    let (first, phase) = (of[0], rows.workload.phase);
    let main = rows.compare(Metric::primary(phase));
    let remarks = instances.iter().flat_map(|index| remarks(journal, rows, *index, main));
    let notes: Vec<String> = Notes::of(remarks).texts().collect();
    let (valid, reasons) = (is_compared(Metric::Cpu), reasons(&of));
    let mut bound_by: Vec<_> = of.iter().flat_map(|row| row.bound()).collect();
    bound_by.sort_unstable();
    bound_by.dedup();
    let whole = Cell {
        trouble: (!valid).then(|| trouble(&reasons, &notes)),
        role: Role::of(first.role),
        class: first.class,
        valid,
        tail_valid: is_compared(Metric::P99),
        runs: Runs {
            measured: sum(&|it| it.measured()),
            failed: sum(&|it| it.failed()),
            invalid: sum(&|it| it.invalid()),
            tail_invalid: sum(&|it| it.tail_invalid()),
        },
        errors: of.iter().map(|row| row.errors()).sum(),
        bound_by,
        generator_limited: of.iter().any(|row| row.is_limited()),
        saturated: first.saturated().filter(|_| phase == Phase::Saturate),
        wake_up: first.waking,
        figures: Metric::of_phase(phase).iter().filter_map(|it| figure(&of, *it)).collect(),
        reasons,
        notes,
        ..of_workload(&rows.workload, first.variant.to_string(), first.copy)
    };
    with_names(whole, &of)
}

/// What a workload says of each of its cells.
fn of_workload(workload: &Workload, server: String, copy: u32) -> Cell {
    let rate = match &workload.model {
        LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(rate.as_f64()),
        _ => None,
    };
    let (load, phase) = (workload.name.clone(), workload.phase);
    Cell {
        id: CellId { load, request: None, phase, server, copy },
        connections: workload.connections,
        workers: workload.workers,
        rate,
        ..Cell::default()
    }
}

/// The cell of a server, and one for each name of its requests.
fn with_names(whole: Cell, rows: &[&Row<'_>]) -> Vec<Cell> {
    let named: Vec<NamedRequests> = rows.iter().flat_map(|row| by_name::of_row(row)).collect();
    let of_name = |named: &NamedRequests| Cell {
        id: CellId { request: Some(named.name.clone()), ..whole.id.clone() },
        errors: named.errors,
        figures: named_figures(&named.into(), |metric| match metric.is_tail() {
            true => whole.tail_valid,
            false => whole.valid,
        }),
        ..whole.clone()
    };
    let named: Vec<Cell> = named.iter().map(of_name).collect();
    [whole].into_iter().chain(named).collect()
}

/// The figures of requests. A latency that is only a bound is not valid.
fn named_figures(requests: &RequestFigures<'_>, is_valid: impl Fn(Metric) -> bool) -> Vec<Figure> {
    let throughput = (Metric::Throughput, requests.requests_per_second, true);
    let latencies = requests.latency.into_iter().flat_map(|latency| {
        LATENCIES.map(|it| (Metric::Latency(it), it.of(latency), !it.is_lower_bound(latency)))
    });
    let figure = |(metric, value, is_known)| {
        let reads = if is_known { Reads::Exactly } else { Reads::AtLeast };
        Figure { reads, ..Figure::of(metric, value, is_known && is_valid(metric)) }
    };
    [throughput].into_iter().chain(latencies).map(figure).collect()
}

/// A metric over all cohorts and instances; none without a value.
fn figure(rows: &[&Row<'_>], metric: Metric) -> Option<Figure> {
    let samples = (0..).zip(rows).flat_map(|(instance, row)| {
        let values = row.values(metric);
        let far = outliers(&values.values().copied().collect::<Vec<_>>());
        let sample = |(place, (cohort, value))| Sample {
            cohort,
            instance,
            value,
            outlier: far.contains(&place),
        };
        values.into_iter().enumerate().map(sample).collect::<Vec<_>>()
    });
    let samples: Vec<Sample> = samples.collect();
    let values: Vec<f64> = samples.iter().map(|it| it.value).collect();
    let is_limited = rows.iter().any(|row| row.is_limited());
    let valid = Row::standing_of(rows, metric).is_compared();
    Some(Figure {
        // The instances of a cohort are no independent values.
        interval: geometric_mean_interval(&values).filter(|_| rows.len() == 1),
        reads: Reads::of(metric, is_limited, false),
        samples,
        ..Figure::of(metric, median(&values)?, valid)
    })
}

impl Role {
    fn of(role: analysis::Role) -> Self {
        match role {
            analysis::Role::Baseline => Self::Baseline,
            analysis::Role::SecondOfBaseline => Self::SecondOfBaseline,
            analysis::Role::Entrant | analysis::Role::SecondWithoutFirst => Self::Entrant,
        }
    }
}

/// The gravest reason of the runs, or why there is none.
fn trouble(reasons: &[Reasons], notes: &[String]) -> String {
    let grave = reasons.iter().find(|it| it.weight == Weight::Invalid);
    let text = grave.and_then(|it| it.texts.first()).or(notes.first());
    text.map_or("not measured", |text| text.trim_start_matches("! ")).to_owned()
}

/// What the reasons of one kind and weight have said.
#[derive(Default)]
struct ReasonTexts {
    figures: Vec<Option<f64>>,
    texts: Notes,
}

/// The reasons of all runs, those of a kind and a weight together, the gravest first.
fn reasons(rows: &[&Row<'_>]) -> Vec<Reasons> {
    let mut found: BTreeMap<(Weight, ReasonKind), ReasonTexts> = BTreeMap::new();
    for reason in rows.iter().flat_map(|row| row.reasons()) {
        let said = found.entry((reason.weight, reason.kind)).or_default();
        said.figures.push(reason.figure);
        said.texts.add(reason);
    }
    let one = |((weight, kind), said): ((Weight, ReasonKind), ReasonTexts)| {
        let known: Vec<f64> = said.figures.iter().copied().flatten().collect();
        let range = wirebench_stats::range(&known);
        Reasons {
            kind,
            weight,
            times: said.figures.len(),
            figure_least: range.map(|(least, _)| least),
            figure_most: range.map(|(_, most)| most),
            texts: said.texts.texts().collect(),
        }
    };
    found.into_iter().rev().map(one).collect()
}
