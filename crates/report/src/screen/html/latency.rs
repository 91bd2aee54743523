//! Latency by percentile at a fixed rate, over all cohorts of a server.

use wirebench_schema::{journal::Journal, load::LatencySummary, suite::Phase};

use crate::{
    analysis::Row,
    chart::{Chart, ChartKind, Line, Point},
    distribution::{Distribution, Percentiles},
    document::{Block, Table},
    screen::{
        model,
        row::{name, place},
    },
    shown::{Shown, shown},
    table_units::latency,
};

const LEGEND: &str = "All cohorts of a server together, from the moment a request was due to its last byte. Lines end \
                      where fewer than ten samples are left, and where no reply took as long. A grey end is not \
                      valid, for the reasons above.";
/// Percentiles of the table below them.
const TABLE: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];
/// Beyond this one a tail that is not valid is grey.
const TAIL: f64 = 99.0;

/// The chart of one load, and the same as a table; none without a distribution, and none of a saturated server, whose
/// latency is the number of connections over its throughput.
pub(super) fn chart(
    journal: &Journal,
    block: &model::Block<'_>,
    group: &model::Group<'_>,
) -> Option<(Chart, Block)> {
    if group.load.workload.phase != Phase::Cost {
        return None;
    }
    let title = &group.title;
    let rows = (0..block.rows.len()).filter_map(|row| group.with_figures(row));
    let merged: Vec<(&Row<'_>, LatencySummary)> =
        rows.filter_map(|row| Some((row, merged(row)?))).collect();
    let lines = merged.iter().map(|(row, summary)| line(journal, row, summary)).collect();
    let chart = Chart::new(
        format!("{} {title}: latency by percentile", block.title),
        ChartKind::by_percentile(lines)?,
    );
    let heading = format!("Latency {title}");
    let table = Block::Folded(format!("{heading} as a table"), table(&merged));
    Some((chart.headed(heading).explained(LEGEND), table))
}

fn merged(row: &Row<'_>) -> Option<LatencySummary> {
    LatencySummary::merge(row.measurements().filter_map(|it| it.load.latency.as_ref()))
}

fn line(journal: &Journal, row: &Row<'_>, summary: &LatencySummary) -> Line {
    let distribution = Distribution::new(summary);
    let is_tail_valid = shown(row) == Shown::All;
    let points = distribution
        .curve()
        .map(|at| Point { is_grey: !is_tail_valid && at.0 * 100.0 >= TAIL, ..Point::new(at) });
    Line { name: name(row), place: place(journal, row), points: points.collect() }
}

fn table(rows: &[(&Row<'_>, LatencySummary)]) -> Vec<Block> {
    let percentiles = TABLE.map(|percent| format!("p{percent}")).into_iter();
    let mut all = Percentiles::of(&TABLE, latency);
    let cells = |(row, summary): &(&Row<'_>, LatencySummary)| {
        let mut cells = all.cells(Some(summary));
        if shown(row) != Shown::All {
            let tail = cells.iter_mut().zip(TABLE).filter(|it| it.1 >= TAIL);
            tail.for_each(|(cell, _)| "!".clone_into(cell));
        }
        [name(row)].into_iter().chain(cells).chain([summary.count.to_string()]).collect()
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let table = Table::of(["server"], percentiles.chain(["samples".to_owned()]), rows);
    vec![Block::Table(table), all.legend()]
}
