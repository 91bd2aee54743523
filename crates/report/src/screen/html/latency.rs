//! Latency by percentile at a fixed rate, over all cohorts of a server.

use maud::{Markup, html};
use wirebench_schema::{journal::Journal, load::LatencySummary, suite::Phase};

use super::{
    super::{
        model::Block,
        row::{name, place, with_figures},
    },
    lines::baseline,
};
use crate::{
    analysis::{Row, WorkloadRows},
    distribution::Distribution,
    html::{
        self, Cells,
        chart::{Line, Mark, Point, by_percentile},
        safe, text,
    },
    shown::{Shown, shown},
    table_units::latency,
};

/// Percentiles of the table below them.
const TABLE: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// Beyond this one a tail that is not valid is grey.
const TAIL: f64 = 99.0;

/// The picture of one load; none without a distribution, and none of a saturated server, whose latency
/// is the number of connections over its throughput.
pub(super) fn section(
    journal: &Journal,
    block: &Block,
    title: &str,
    load: &WorkloadRows<'_>,
) -> Option<Markup> {
    if load.workload.phase != Phase::Cost {
        return None;
    }
    let mut merged: Vec<(&Row<'_>, LatencySummary)> =
        with_figures(load).filter_map(|row| Some((row, merged(row)?))).collect();
    merged.sort_by_key(|(row, _)| block.place(&name(row)));
    let lines = merged.iter().map(|(row, summary)| line(journal, row, summary)).collect();
    let chart = by_percentile(format!("{} {title}: latency by percentile", block.title), lines)?;
    Some(html! {
        h3 { "Latency " (safe(title)) }
        p.legend {
            "All cohorts of a server together, from the moment a request was due to its last byte. Lines end where "
            "fewer than ten samples are left, and where no reply took as long. A grey end is not valid, for the "
            "reasons above."
        }
        (chart.draw_against(baseline(journal).as_deref()))
        (table(&format!("{} {title}: latency as a table", block.title), &merged))
    })
}

fn merged(row: &Row<'_>) -> Option<LatencySummary> {
    LatencySummary::merge(row.measurements().filter_map(|it| it.load.latency.as_ref()))
}

fn line(journal: &Journal, row: &Row<'_>, summary: &LatencySummary) -> Line {
    let distribution = Distribution::new(summary);
    let is_tail_valid = shown(row) == Shown::All;
    let points = distribution.curve().map(|at| Point {
        at,
        mark: Mark::Plain,
        is_grey: !is_tail_valid && at.0 * 100.0 >= TAIL,
        raw: Vec::new(),
    });
    Line { name: name(row), place: place(journal, row), points: points.collect() }
}

fn table(words: &str, rows: &[(&Row<'_>, LatencySummary)]) -> Markup {
    let percentiles = TABLE.map(|percent| format!("p{percent}"));
    let figures = percentiles.into_iter().chain(["samples".to_owned()]);
    let heads: Vec<_> = [(Cells::Names, "server".to_owned())]
        .into_iter()
        .chain(figures.map(|head| (Cells::Figures, head)))
        .collect();
    let cells = |(row, summary): &(&Row<'_>, LatencySummary)| {
        let distribution = Distribution::new(summary);
        let shown = TABLE.map(|percent| cell(row, &distribution, percent));
        let all = [name(row)].into_iter().chain(shown).chain([summary.count.to_string()]);
        all.map(text).collect()
    };
    let rows: Vec<Vec<Markup>> = rows.iter().map(cells).collect();
    html! { details { summary { "Latency as a table" } (html::table(words, &heads, &rows)) } }
}

fn cell(row: &Row<'_>, distribution: &Distribution<'_>, percent: f64) -> String {
    let is_valid = percent < TAIL || shown(row) == Shown::All;
    match distribution.at(percent).filter(|it| !it.is_uncertain) {
        Some(found) if is_valid => {
            let sign = if found.is_lower_bound { ">" } else { "" };
            format!("{sign}{}", latency(found.nanoseconds as f64))
        }
        Some(_) => "!".to_owned(),
        None => "-".to_owned(),
    }
}
