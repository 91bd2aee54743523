//! Rows of a workload become a cell: what the runs of a server say together. Ratios are added by whoever compares.

use std::collections::BTreeMap;
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Reason, ReasonKind, Weight},
    load::{LoadReport, NamedRequests, Rate},
    suite::{Phase, Workload},
};
use wirebench_stats::{geometric_mean_interval, median, outliers};

use crate::{
    analysis::{Metric, MetricFacts, Reads, Row, WorkloadRows},
    by_name,
    notes::{Notes, Remark},
    remarks::remarks,
    view::{Cell, CellId, Figure, Reasons, Runs, Sample},
};

/// The rows at `instances` together, at least one, and the requests of each name. Notes are about `main`.
pub(crate) fn cell(
    journal: &Journal,
    rows: &WorkloadRows<'_>,
    instances: &[usize],
    main: Metric,
) -> Vec<Cell> {
    let of: Vec<&Row<'_>> = instances.iter().map(|index| &rows.rows[*index]).collect();
    let sum = |of_row: &dyn Fn(&Row<'_>) -> usize| of.iter().map(|row| of_row(row)).sum();
    let is_compared = |metric| Row::standing_of(&of, metric).is_compared();
    let (first, phase) = (of[0], rows.workload.phase);
    let main = rows.compare(main);
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
        bound_by,
        generator_limited: of.iter().any(|row| row.is_limited()),
        saturated: first.saturated().filter(|_| phase == Phase::Saturate),
        wake_up: first.waking,
        figures: metrics(phase).filter_map(|it| figure(&of, it)).collect(),
        reasons,
        notes,
        ..of_workload(&rows.workload, first.variant, first.copy)
    };
    let loads: Vec<_> = of.iter().flat_map(|row| row.measurements()).map(|it| &it.load).collect();
    let sum = |of_load: fn(&LoadReport) -> u64| loads.iter().map(|it| of_load(it)).sum();
    let failed = sum(|it| it.errors.requests());
    let connections = sum(|it| it.errors.total() - it.errors.requests());
    with_names(whole.with_counts(sum(|it| it.requests), failed, connections), &of)
}

/// What a workload says of each of its cells.
pub(crate) fn of_workload(workload: &Workload, variant: &VariantId, copy: u32) -> Cell {
    Cell {
        id: CellId::of(workload, variant, copy),
        only_request: by_name::only_name(workload.requests.as_ref()),
        connections: workload.connections,
        workers: workload.workers,
        rate: workload.model.constant_rate().map(Rate::as_f64),
        ..Cell::default()
    }
}

/// The cell of a server, and one for each name of its requests.
fn with_names(whole: Cell, rows: &[&Row<'_>]) -> Vec<Cell> {
    let named: Vec<NamedRequests> = rows.iter().flat_map(|row| by_name::of_row(row)).collect();
    let of_name = |named: &NamedRequests| Cell {
        id: CellId { request: Some(named.name.clone()), ..whole.id.clone() },
        figures: of_requests(named, None, whole.generator_limited, |metric| {
            if metric.is_tail() { whole.tail_valid } else { whole.valid }
        }),
        ..whole.clone().with_counts(named.requests, named.errors, 0)
    };
    let named: Vec<Cell> = named.iter().map(of_name).collect();
    [whole].into_iter().chain(named).collect()
}

/// The figures of some requests, or of all in `load`.
pub(crate) fn of_requests(
    requests: &NamedRequests,
    load: Option<&LoadReport>,
    is_limited: bool,
    is_valid: impl Fn(Metric) -> bool,
) -> Vec<Figure> {
    let figure = |metric| {
        let latency = match metric {
            Metric::Latency(it) if it.is_without_stalls() => load?.latency_of(it),
            _ => requests.latency.as_ref(),
        };
        let (value, is_known) = match (metric, latency) {
            (Metric::Throughput, _) => (requests.requests_per_second, true),
            (Metric::Errors, _) => (requests.errors as f64, true),
            (Metric::Latency(it), Some(latency)) => (it.of(latency), !it.is_lower_bound(latency)),
            (Metric::Achieved, _) => (load?.achieved_share()?, true),
            (Metric::Unsent, _) => (load?.offered?.owed_at_end as f64, true),
            _ => return None,
        };
        let of_replies = if is_known { Reads::Exactly } else { Reads::AtLeast };
        let reads = of_replies.with(Reads::of(metric, is_limited, false));
        Some(Figure { reads, ..Figure::of(metric, value, is_valid(metric)) })
    };
    Metric::limitable().filter_map(figure).collect()
}

/// The metrics of which a cell may have a figure: those that are compared, and those that conditions may be about.
fn metrics(phase: Phase) -> impl Iterator<Item = Metric> {
    let compared = Metric::of_phase(phase).iter().copied();
    let others = Metric::limitable().filter(|it| it.compared().is_none());
    compared.chain(others.filter(move |_| phase != Phase::Idle))
}

/// A latency is a lower bound where no reply took as long in at least half of the runs.
fn of_replies(rows: &[&Row<'_>], metric: Metric) -> Reads {
    let Metric::Latency(figure) = metric else { return Reads::Exactly };
    let loads = rows.iter().flat_map(|row| row.measurements()).map(|it| &it.load);
    let latencies: Vec<_> = loads.filter_map(|it| it.latency.as_ref()).collect();
    let bounds = latencies.iter().filter(|it| figure.is_lower_bound(it)).count();
    if bounds > 0 && 2 * bounds >= latencies.len() { Reads::AtLeast } else { Reads::Exactly }
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
        reads: of_replies(rows, metric).with(Reads::of(metric, is_limited, false)),
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

/// The reasons of all runs, those of a kind and a weight together, the gravest first.
fn reasons(rows: &[&Row<'_>]) -> Vec<Reasons> {
    let mut found: BTreeMap<(Weight, ReasonKind), Vec<&Reason>> = BTreeMap::new();
    for reason in rows.iter().flat_map(|row| row.reasons()) {
        found.entry((reason.weight, reason.kind)).or_default().push(reason);
    }
    let one = |((weight, kind), reasons): ((Weight, ReasonKind), Vec<&Reason>)| {
        let figures: Vec<f64> = reasons.iter().filter_map(|it| it.figure).collect();
        let range = wirebench_stats::range(&figures);
        Reasons {
            kind,
            weight,
            times: reasons.len(),
            figure_least: range.map(|(least, _)| least),
            figure_most: range.map(|(_, most)| most),
            texts: Notes::of(reasons.into_iter().map(Remark::from)).texts().collect(),
        }
    };
    found.into_iter().rev().map(one).collect()
}
