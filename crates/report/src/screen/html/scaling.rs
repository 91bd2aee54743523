//! Figures over what a suite varies: connections, the size of messages, idle connections or workers.

use std::{collections::BTreeSet, time::Duration};
use wirebench_schema::{
    journal::Journal,
    suite::{Phase, Workload},
};

use super::{super::adapter::title, lines};
use crate::{
    analysis::{Metric, MetricFacts, WorkloadRows},
    chart::{Chart, ChartKind, Point},
    document::Block,
    load_words::{describe_payload, describe_shape},
    names::names,
    order::grouped,
    shown::{Shown, shown},
    table_units::bytes,
};

const LEGEND: &str = "Both axes are logarithmic. Small dots are single cohorts, grey lines are not valid. A hollow \
                      mark is a lower bound: the load generator was saturated.";
/// Fewer values do not show a trend.
const LEAST_VALUES: usize = 3;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Dimension {
    Connections,
    IdleConnections,
    Payload,
    Workers,
}

names! {
    name of Dimension: Connections = "connections", IdleConnections = "idle connections",
        Payload = "message size", Workers = "workers";
}

impl Dimension {
    const ALL: [Self; 4] = [Self::Connections, Self::IdleConnections, Self::Payload, Self::Workers];

    fn of(self, workload: &Workload) -> usize {
        match self {
            Self::Connections => workload.connections,
            Self::IdleConnections => workload.idle_connections,
            Self::Payload => workload.payload_bytes,
            Self::Workers => workload.workers.unwrap_or(0) as usize,
        }
    }

    /// The workload without what may differ: two of one family become equal.
    fn family(self, workload: &Workload) -> Workload {
        let mut family = workload.clone();
        family.name.clear();
        (family.warmup, family.steady_within) = (Duration::ZERO, Duration::ZERO);
        match self {
            Self::Connections => family.connections = 0,
            Self::IdleConnections => family.idle_connections = 0,
            Self::Payload => family.payload_bytes = 0,
            Self::Workers => family.workers = None,
        }
        family
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Payload => bytes(value.round() as u64),
            _ => value.to_string(),
        }
    }
}

/// A chart for each family of at least three workloads; nothing without such a family.
pub(super) fn section(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Block {
    let of_dimension = |dimension: Dimension| {
        let families = families(workloads, dimension).into_iter();
        families.filter_map(move |members| chart(journal, dimension, &members))
    };
    let charts: Vec<Chart> = Dimension::ALL.into_iter().flat_map(of_dimension).collect();
    let legend = charts.first().map(|_| LEGEND.to_owned()).into_iter().collect();
    Block::Section("Scaling".to_owned(), vec![Block::Lines(legend), Block::Charts(charts)])
}

/// Workloads that differ in nothing else, in order.
fn families<'w, 'a>(
    workloads: &'w [WorkloadRows<'a>],
    dimension: Dimension,
) -> Vec<Vec<&'w WorkloadRows<'a>>> {
    let families = grouped(workloads.iter().map(|it| (dimension.family(&it.workload), it)));
    let values = |members: &[&WorkloadRows<'_>]| {
        let values = members.iter().map(|it| dimension.of(&it.workload)).filter(|it| *it > 0);
        values.collect::<BTreeSet<usize>>().len()
    };
    let members = families.into_iter().map(|(_, members)| members);
    let mut members: Vec<_> = members.filter(|it| values(it) >= LEAST_VALUES).collect();
    members.iter_mut().for_each(|it| it.sort_by_key(|it| dimension.of(&it.workload)));
    members
}

fn chart(journal: &Journal, dimension: Dimension, members: &[&WorkloadRows<'_>]) -> Option<Chart> {
    let first = &members[0].workload;
    let metric = match first.phase {
        Phase::Saturate => Metric::Throughput,
        phase => Metric::primary(phase),
    };
    let lines = lines::lines(journal, members, |load, row| {
        Some(Point {
            at: (dimension.of(&load.workload) as f64, row.median(metric)?),
            is_hollow: metric == Metric::Throughput && row.is_limited(),
            is_grey: shown(row) == Shown::NotCompared,
            raw: row.values(metric).into_values().collect(),
        })
    });
    let x = (dimension.name(), |value| dimension.show(value));
    let y = (metric.title(), |value| metric.show(value));
    let chart =
        Chart::new(words(dimension, members[0], metric), ChartKind::logarithmic(lines, x, y)?);
    Some(Chart { heading: chart.title.clone(), ..chart })
}

/// What the picture shows, with everything that its loads have in common.
fn words(dimension: Dimension, load: &WorkloadRows<'_>, metric: Metric) -> String {
    let workload = &load.workload;
    let connections = match dimension {
        Dimension::Connections => String::new(),
        _ => format!(", {} connections", workload.connections),
    };
    let payload = match dimension {
        Dimension::Payload => String::new(),
        _ => describe_payload(workload),
    };
    format!(
        "{}{connections}{}{payload}, {}: {} over {}",
        workload.scenario,
        describe_shape(&dimension.family(workload)),
        title(load),
        metric.title(),
        dimension.name()
    )
}
