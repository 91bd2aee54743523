//! Figures over the rate: the fixed rates of a scenario, and the saturated server at the end.

use maud::Markup;
use wirebench_schema::{
    journal::Journal,
    load::{LoadModel, RateCurve},
};

use super::{
    super::figures::rate,
    lines::{self, baseline},
};
use crate::{
    analysis::{Metric, Row, WorkloadRows},
    html::chart::{Chart, Mark, Point, logarithmic, titled},
    shown::{Shown, shown},
    table_units::latency,
};

const MARKS: &str = "Full marks are fixed rates, the hollow one at the end is the saturated server. Small dots are \
                     single cohorts, grey lines are not valid. Both axes are logarithmic. ";

/// The pictures of the CPU time and of the tail latency in the loads of one scenario; none with fewer than two of
/// them.
pub(super) fn pictures(
    journal: &Journal,
    title: &str,
    loads: &[&WorkloadRows<'_>],
) -> impl Iterator<Item = Markup> {
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
    let picture = move |((metric, what, axis, show), head, meaning): (_, &str, &str)| {
        let words = format!("{title}: {what} over the rate of requests");
        let chart = chart(journal, words, loads, metric, (axis, show))?;
        let chart = chart.draw_against(baseline(journal).as_deref());
        Some(titled(head, &format!("{MARKS}{meaning}"), &chart))
    };
    kinds.into_iter().filter_map(picture)
}

fn chart(
    journal: &Journal,
    words: String,
    loads: &[&WorkloadRows<'_>],
    metric: Metric,
    y: (&str, impl Fn(f64) -> String),
) -> Option<Chart> {
    let mut lines = lines::lines(journal, loads, |load, row| match &load.workload.model {
        LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => {
            point(row, rate.as_f64(), Mark::Dot, metric)
        }
        LoadModel::Closed => point(row, row.median(Metric::Throughput)?, Mark::Ring, metric),
        _ => None,
    });
    for line in &mut lines {
        let is_end = |point: &Point| point.mark == Mark::Ring;
        line.points.sort_by(|a, b| is_end(a).cmp(&is_end(b)).then(a.at.0.total_cmp(&b.at.0)));
    }
    logarithmic(words, lines, ("requests/s", rate), y)
}

fn point(row: &Row<'_>, rate: f64, mark: Mark, metric: Metric) -> Option<Point> {
    let is_grey = match shown(row) {
        Shown::All => false,
        Shown::NoTail | Shown::Shifted => metric.is_tail(),
        Shown::NotCompared | Shown::Nothing => true,
    };
    let raw = row.values(metric).into_values().collect();
    Some(Point { at: (rate, row.median(metric)?), mark, is_grey, raw })
}
