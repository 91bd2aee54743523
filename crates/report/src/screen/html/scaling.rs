//! Figures over what a suite varies: connections, the size of messages, idle connections or workers.

use std::{collections::BTreeSet, time::Duration};
use wirebench_schema::{
    journal::Journal,
    suite::{Phase, Workload},
};

use super::lines;
use crate::{
    analysis::{Metric, MetricFacts, WorkloadRows},
    chart::{Chart, ChartKind},
    document::Block,
    load_words::{describe_payload, describe_shape},
    order::grouped,
    screen::model::title,
    table_units::bytes,
};

const LEGEND: &str = "Both axes are logarithmic. Small dots are single cohorts, grey lines are not valid. A hollow \
                      mark is a lower bound: the load generator was saturated.";
/// Fewer values do not show a trend.
const LEAST_VALUES: usize = 3;

const CONNECTIONS: &str = "connections";
const PAYLOAD: &str = "message size";

/// A dimension in which workloads may differ: its name, the value, and how a workload loses it.
type Dimension = (&'static str, fn(&Workload) -> usize, fn(&mut Workload));

const DIMENSIONS: [Dimension; 4] = [
    (CONNECTIONS, |it| it.connections, |it| it.connections = 0),
    ("idle connections", |it| it.idle_connections, |it| it.idle_connections = 0),
    (PAYLOAD, |it| it.payload_bytes, |it| it.payload_bytes = 0),
    ("workers", |it| it.workers.unwrap_or(0) as usize, |it| it.workers = None),
];

/// The workload without what may differ: two of one family become equal.
fn family((_, _, clear): Dimension, workload: &Workload) -> Workload {
    let mut family = workload.clone();
    family.name.clear();
    (family.warmup, family.steady_within) = (Duration::ZERO, Duration::ZERO);
    clear(&mut family);
    family
}

/// A chart for each family of at least three workloads; nothing without such a family.
pub(super) fn section(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Block {
    let of_dimension = |dimension: Dimension| {
        let families = families(workloads, dimension).into_iter();
        families.filter_map(move |members| chart(journal, dimension, &members))
    };
    let charts: Vec<Chart> = DIMENSIONS.into_iter().flat_map(of_dimension).collect();
    let legend = charts.first().map(|_| LEGEND.to_owned()).into_iter().collect();
    Block::Section("Scaling".to_owned(), vec![Block::Lines(legend), Block::Charts(charts)])
}

/// Workloads that differ in nothing else, in order.
fn families<'w, 'a>(
    workloads: &'w [WorkloadRows<'a>],
    dimension: Dimension,
) -> Vec<Vec<&'w WorkloadRows<'a>>> {
    let families = grouped(workloads.iter().map(|it| (family(dimension, &it.workload), it)));
    let values = |members: &[&WorkloadRows<'_>]| {
        let values = members.iter().map(|it| (dimension.1)(&it.workload)).filter(|it| *it > 0);
        values.collect::<BTreeSet<usize>>().len()
    };
    let members = families.into_iter().map(|(_, members)| members);
    let mut members: Vec<_> = members.filter(|it| values(it) >= LEAST_VALUES).collect();
    members.iter_mut().for_each(|it| it.sort_by_key(|it| (dimension.1)(&it.workload)));
    members
}

fn chart(journal: &Journal, dimension: Dimension, members: &[&WorkloadRows<'_>]) -> Option<Chart> {
    let first = &members[0].workload;
    let metric = match first.phase {
        Phase::Saturate => Metric::Throughput,
        Phase::Cost | Phase::Idle => Metric::primary(first.phase),
    };
    let lines = lines::lines(journal, members.iter().copied(), metric, |load, row| {
        let is_bound = metric == Metric::Throughput && row.is_limited();
        Some(((dimension.1)(&load.workload) as f64, is_bound))
    });
    let x = (dimension.0, |value: f64| match dimension.0 {
        PAYLOAD => bytes(value.round() as u64),
        _ => value.to_string(),
    });
    let y = (metric.title(), |value| metric.show(value));
    Some(Chart::titled(words(dimension, members[0], metric), ChartKind::logarithmic(lines, x, y)?))
}

/// What the picture shows, with everything that its loads have in common.
fn words(dimension: Dimension, load: &WorkloadRows<'_>, metric: Metric) -> String {
    let workload = &load.workload;
    let connections = match dimension.0 {
        CONNECTIONS => String::new(),
        _ => format!(", {} connections", workload.connections),
    };
    let payload = match dimension.0 {
        PAYLOAD => String::new(),
        _ => describe_payload(workload),
    };
    format!(
        "{}{connections}{}{payload}, {}: {} over {}",
        workload.scenario,
        describe_shape(&family(dimension, workload)),
        title(load),
        metric.title(),
        dimension.0
    )
}
