//! Figures over the rate: the fixed rates of a scenario, and the saturated server at the end.

use wirebench_schema::{
    journal::Journal,
    load::{LoadModel, RateCurve},
};

use super::lines;
use crate::{
    analysis::Metric,
    chart::{Chart, ChartKind},
    screen::{figures::rate, model::Block},
    table_units::latency,
};

const MARKS: &str = "Full marks are fixed rates, the hollow one at the end is the saturated server. Small dots are \
                     single cohorts, grey lines are not valid. Both axes are logarithmic. ";

/// The charts of the CPU time and of the tail latency in the loads of one scenario; none with fewer than two of
/// them.
pub(super) fn charts(journal: &Journal, block: &Block<'_>) -> impl Iterator<Item = Chart> {
    let microseconds: fn(f64) -> String = |ns| format!("{} us", ns / 1000.0);
    let kinds = [
        (
            (Metric::Cpu, "CPU time per request", "CPU per request", microseconds),
            "CPU per request over the rate",
            "At a low rate a request also pays for waking the server.",
        ),
        (
            (Metric::P99, "p99 latency", "p99 latency", latency),
            "Latency over throughput",
            "The latency of a saturated server is mostly the number of connections over its throughput.",
        ),
    ];
    let title = &block.title;
    let chart = move |((metric, what, axis, show), head, meaning): (_, &str, &str)| {
        let kind = kind(journal, block, metric, (axis, show))?;
        let chart = Chart::new(format!("{title}: {what} over the rate of requests"), kind);
        Some(chart.headed(head).explained(format!("{MARKS}{meaning}")))
    };
    kinds.into_iter().filter_map(chart)
}

fn kind(
    journal: &Journal,
    block: &Block<'_>,
    metric: Metric,
    y: (&str, impl Fn(f64) -> String),
) -> Option<ChartKind> {
    let loads = block.groups.iter().map(|group| group.load);
    let mut lines = lines::lines(journal, loads, metric, |load, row| match &load.workload.model {
        LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some((rate.as_f64(), false)),
        LoadModel::Closed => Some((row.median(Metric::Throughput)?, true)),
        _ => None,
    });
    for line in &mut lines {
        line.points.sort_by(|a, b| a.is_hollow.cmp(&b.is_hollow).then(a.at.0.total_cmp(&b.at.0)));
    }
    ChartKind::logarithmic(lines, ("requests/s", rate), y)
}
