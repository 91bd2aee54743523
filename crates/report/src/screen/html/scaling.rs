//! Figures over what a suite varies: connections, the size of messages, idle connections or workers.

use maud::{Markup, html};
use std::{collections::BTreeSet, time::Duration};
use wirebench_schema::{
    journal::Journal,
    suite::{Phase, Workload},
};

use super::{
    super::adapter::title,
    lines::{self, baseline},
};
use crate::{
    analysis::{Metric, MetricFacts, WorkloadRows},
    html::{
        chart::{Chart, Mark, Point, logarithmic},
        safe,
    },
    load_words::{describe_payload, describe_shape},
    names::names,
    order::grouped,
    shown::{Shown, shown},
    table_units::bytes,
};

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

/// A picture for each family of at least three workloads; none without such a family.
pub(super) fn section(journal: &Journal, workloads: &[WorkloadRows<'_>]) -> Option<Markup> {
    let charts: Vec<Chart> = Dimension::ALL
        .into_iter()
        .flat_map(|dimension| {
            let families = families(workloads, dimension).into_iter();
            families.filter_map(move |members| chart(journal, dimension, &members))
        })
        .collect();
    if charts.is_empty() {
        return None;
    }
    Some(html! {
        section {
            h2 { "Scaling" }
            p.legend {
                "Both axes are logarithmic. Small dots are single cohorts, grey lines are not valid. A hollow mark is "
                "a lower bound: the load generator was saturated."
            }
            div.pictures {
                @for chart in charts {
                    div {
                        h3 { (safe(&chart.words)) }
                        (chart.draw_against(baseline(journal).as_deref()))
                    }
                }
            }
        }
    })
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
        let is_bound = metric == Metric::Throughput && row.is_limited();
        Some(Point {
            at: (dimension.of(&load.workload) as f64, row.median(metric)?),
            mark: if is_bound { Mark::Ring } else { Mark::Dot },
            is_grey: shown(row) == Shown::NotCompared,
            raw: row.values(metric).into_values().collect(),
        })
    });
    let x = (dimension.name(), |value| dimension.show(value));
    let y = (metric.title(), |value| metric.show(value));
    logarithmic(words(dimension, members[0], metric), lines, x, y)
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
