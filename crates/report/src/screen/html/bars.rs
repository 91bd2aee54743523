//! The first charts of a scenario: a bar for each server, in the order of the table, with its figure and the
//! comparison at the end.

use crate::{
    analysis::{Metric, MetricFacts},
    chart::{Bar, Chart, ChartKind},
    screen::{
        cells::{Column, Outcome},
        figures::{factor, subject},
        model::{Block, Group},
    },
};

/// Charts of the first load, which is the saturated one if there is one: what its rows are compared by, and
/// requests/s. None with fewer than two servers.
pub(super) fn charts(block: &Block<'_>) -> Vec<Chart> {
    let of_group = |group: &Group<'_>| {
        let more = (group.metric() != Metric::Throughput).then_some(Metric::Throughput);
        let metrics = [group.metric()].into_iter().chain(more);
        let shown = metrics.filter(|it| group.columns.contains(&Column::Figure(*it)));
        shown.filter_map(|metric| chart(block, group, metric)).collect()
    };
    block.groups.first().map(of_group).unwrap_or_default()
}

fn chart(block: &Block<'_>, group: &Group<'_>, metric: Metric) -> Option<Chart> {
    let unit = match metric {
        Metric::Cpu => " us",
        Metric::Throughput => "/s",
        _ => "",
    };
    let bar = |(row, name): (usize, &String)| {
        let cell = group.cell(row, Column::Figure(metric));
        let outcome = group.outcome(row).filter(|_| metric == group.metric());
        let ratio = group.ratio(row).map_or(1.0, |it| it.estimate.value);
        let (shade, compared) = match outcome {
            Some(Outcome::More) => ("more", format!(" ({})", factor(ratio))),
            Some(Outcome::Less) => ("less", format!(" ({ratio:.2}x)")),
            Some(Outcome::Reference) => ("reference", " (reference)".to_owned()),
            Some(Outcome::Same) => ("even", " (same)".to_owned()),
            Some(Outcome::Inconclusive) => ("even", " (inconclusive)".to_owned()),
            Some(Outcome::Withheld) | None => ("even", String::new()),
        };
        let text = format!("{}{unit}{compared}", cell.text);
        let figure = cell.figure.filter(|it| *it > 0.0)?;
        Some(Bar { name: name.clone(), figure, shade, text })
    };
    let bars: Vec<Bar> = block.rows.iter().enumerate().filter_map(bar).collect();
    let better = if metric.more_is_better() { "more is better" } else { "less is better" };
    let title = format!("{}, {}: {}, {better}", block.title, group.title, subject(metric));
    (bars.len() >= 2).then(|| Chart::new(title, ChartKind::Bars(bars)))
}
