//! Rows of a workload become a cell: what the runs of a server say together. Ratios are added by whoever compares.

use std::collections::BTreeMap;
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, ReasonKind, Weight},
    load::{LoadModel, NamedRequests, RateCurve},
    suite::{Phase, Workload},
};
use wirebench_stats::{geometric_mean_interval, median, outliers};

use crate::{
    analysis::{Metric, MetricFacts, Reads, Row, WorkloadRows},
    by_name::{self, RequestFigures},
    notes::Notes,
    remarks::remarks,
    view::{Cell, CellId, Figure, Reasons, Runs, Sample},
};

/// The figures of the requests of a name.
const NAMED: [Metric; 4] = [Metric::Throughput, Metric::P50, Metric::P99, Metric::P999];

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
        role: first.role,
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
        ..of_workload(&rows.workload, first.variant, first.copy)
    };
    with_names(whole, &of)
}

/// What a workload says of each of its cells.
pub(crate) fn of_workload(workload: &Workload, variant: &VariantId, copy: u32) -> Cell {
    let (load, server) = (workload.name.clone(), variant.to_string());
    Cell {
        id: CellId { load, request: None, phase: workload.phase, server, copy },
        connections: workload.connections,
        workers: workload.workers,
        rate: constant_rate(&workload.model),
        ..Cell::default()
    }
}

/// The rate that was asked for, if it does not change.
pub(crate) fn constant_rate(model: &LoadModel) -> Option<f64> {
    match model {
        LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(rate.as_f64()),
        _ => None,
    }
}

/// The cell of a server, and one for each name of its requests.
fn with_names(whole: Cell, rows: &[&Row<'_>]) -> Vec<Cell> {
    let named: Vec<NamedRequests> = rows.iter().flat_map(|row| by_name::of_row(row)).collect();
    let is_valid = |metric: Metric| if metric.is_tail() { whole.tail_valid } else { whole.valid };
    let of_name = |named: &NamedRequests| {
        let mut figures = request_figures(&named.into(), &NAMED, false, is_valid);
        figures.iter_mut().for_each(|it| it.valid &= it.reads == Reads::Exactly);
        let id = CellId { request: Some(named.name.clone()), ..whole.id.clone() };
        Cell { id, errors: named.errors, figures, ..whole.clone() }
    };
    let named: Vec<Cell> = named.iter().map(of_name).collect();
    [whole].into_iter().chain(named).collect()
}

/// Those of `metrics` that requests have. The generator at its limit makes a bound of a figure, and so does a latency
/// that no reply took.
pub(crate) fn request_figures(
    requests: &RequestFigures<'_>,
    metrics: &[Metric],
    is_limited: bool,
    is_valid: impl Fn(Metric) -> bool,
) -> Vec<Figure> {
    let figure = |metric: &Metric| {
        let (value, is_bound) = match *metric {
            Metric::Latency(figure) => {
                let latency = requests.latency?;
                (figure.of(latency), figure.is_lower_bound(latency))
            }
            Metric::Errors => (requests.errors as f64, false),
            _ => (requests.requests_per_second, false),
        };
        let of_replies = if is_bound { Reads::AtLeast } else { Reads::Exactly };
        let reads = of_replies.with(Reads::of(*metric, is_limited, false));
        Some(Figure { reads, ..Figure::of(*metric, value, is_valid(*metric)) })
    };
    metrics.iter().filter_map(figure).collect()
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
