//! CPU per request over the rate: the fixed rates of a scenario, and the saturated server at the end.

use maud::{Markup, html};
use wirebench_schema::{
    journal::Journal,
    load::{LoadModel, RateCurve},
};

use super::{
    super::{
        figures::rate,
        row::{Shown, is_listed, name, place, shown},
    },
    chart::{Axis, Chart, Line, Mark, Point},
};
use crate::analysis::{Metric, Row, WorkloadRows};

/// The picture of the loads of one scenario; none with fewer than two of them.
pub(super) fn section(
    journal: &Journal,
    title: &str,
    members: &[&WorkloadRows<'_>],
) -> Option<Markup> {
    let lines = lines(journal, members);
    let points = || lines.iter().flat_map(|line| &line.points);
    let values = || points().flat_map(|it| it.raw.iter().copied().chain([it.at.1]));
    let x = Axis::logarithmic("requests/s", points().map(|it| it.at.0), rate)?;
    let y = Axis::logarithmic("CPU per request", values(), |us| format!("{us} us"))?;
    if lines.iter().all(|line| line.points.len() < 2) {
        return None;
    }
    let words = format!("{title}: CPU time per request over the rate of requests");
    let chart = Chart { words, x, y, lines };
    Some(html! {
        h3 { "CPU per request over the rate" }
        p.legend {
            "Dots are fixed rates, the ring at the end is the saturated server. Small dots are single cohorts, "
            "grey lines are not valid. Both axes are logarithmic. At a low rate a request also pays for waking "
            "the server."
        }
        (chart.draw())
    })
}

fn lines(journal: &Journal, members: &[&WorkloadRows<'_>]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for member in members {
        let fixed = match &member.workload.model {
            LoadModel::Rate { curve: RateCurve::Constant(rate), .. } => Some(*rate as f64),
            LoadModel::Closed => None,
            _ => continue,
        };
        for row in member.rows.iter().filter(|row| is_listed(row) && shown(row) != Shown::Nothing) {
            let Some(point) = point(row, fixed) else { continue };
            let name = name(row);
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name, place: place(journal, row), points: vec![point] }),
            }
        }
    }
    for line in &mut lines {
        let is_end = |point: &Point| point.mark == Mark::Ring;
        line.points.sort_by(|a, b| is_end(a).cmp(&is_end(b)).then(a.at.0.total_cmp(&b.at.0)));
    }
    lines
}

/// The point of a row at a fixed rate, or at the one that it reached.
fn point(row: &Row<'_>, fixed: Option<f64>) -> Option<Point> {
    let rate = fixed.or_else(|| row.median(Metric::Throughput))?;
    let mark = if fixed.is_some() { Mark::Dot } else { Mark::Ring };
    let raw = row.values(Metric::Cpu).into_values().map(|ns| ns / 1000.0).collect();
    let at = (rate, row.median(Metric::Cpu)? / 1000.0);
    Some(Point { at, mark, is_grey: shown(row) == Shown::NotCompared, raw })
}
