//! The first charts of a scenario: a bar for each server, in the order of the table, with its figure and the
//! comparison at the end.

use crate::{
    analysis::{Metric, MetricFacts},
    chart::{Bar, Chart, ChartKind},
    screen::{
        figures::{cell, factor, subject},
        model::{Block, Column, Group, Outcome, Value},
    },
};

/// Charts of the first load, which is the saturated one if there is one: what its rows are compared by, and
/// requests/s. None with fewer than two servers.
pub(super) fn charts(block: &Block) -> Vec<Chart> {
    let of_group = |group: &Group| {
        let more = (group.metric != Metric::Throughput).then_some(Metric::Throughput);
        let metrics = [group.metric].into_iter().chain(more);
        metrics.filter_map(|metric| chart(block, group, metric)).collect()
    };
    block.groups.first().map(of_group).unwrap_or_default()
}

fn chart(block: &Block, group: &Group, metric: Metric) -> Option<Chart> {
    let bars = bars(block, group, metric);
    let better = if metric.more_is_better() { "more is better" } else { "less is better" };
    let title = format!("{}, {}: {}, {better}", block.title, group.title, subject(metric));
    (bars.len() >= 2).then(|| Chart::new(title, ChartKind::Bars(bars)))
}

fn bars(block: &Block, group: &Group, metric: Metric) -> Vec<Bar> {
    let column = Column::Figure(metric);
    let Some(place) = group.columns.iter().position(|it| *it == column) else { return Vec::new() };
    let outcomes: Vec<(usize, Outcome)> = group.outcomes().collect();
    let bar = |(row, name): (usize, &String)| {
        let value = group.cells[row].as_ref()?[place];
        let (Value::Exact(figure) | Value::Bound(figure)) = value else { return None };
        let outcome = outcomes.iter().find(|(of, _)| *of == row && metric == group.metric);
        let (shade, compared) = outcome.map_or(("even", String::new()), |(_, it)| compared(*it));
        let unit = match metric {
            Metric::Cpu => " us",
            Metric::Throughput => "/s",
            _ => "",
        };
        let text = format!("{}{unit}{compared}", cell(column, value));
        (figure > 0.0).then(|| Bar { name: name.clone(), figure, shade, text })
    };
    block.rows.iter().enumerate().filter_map(bar).collect()
}

fn compared(outcome: Outcome) -> (&'static str, String) {
    match outcome {
        Outcome::Different { ratio, .. } if ratio > 1.0 => {
            ("more", format!(" ({})", factor(ratio)))
        }
        Outcome::Different { ratio, .. } => ("less", format!(" ({ratio:.2}x)")),
        Outcome::Reference => ("reference", " (reference)".to_owned()),
        Outcome::Same => ("even", " (same)".to_owned()),
        Outcome::Inconclusive => ("even", " (inconclusive)".to_owned()),
        Outcome::Withheld => ("even", String::new()),
    }
}
