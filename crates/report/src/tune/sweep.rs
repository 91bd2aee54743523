//! A sweep over workers and connections: a cell for each combination, and which of them are slower than the best one.

use std::collections::{BTreeMap, BTreeSet};
use wirebench_schema::{
    id::VariantId,
    journal::{Bound, Counts, Journal, Run, Start},
    suite::Workload,
};
use wirebench_stats::{geometric_mean_interval, median};

use super::{invalid, place, refusals};
use crate::{
    analysis::{Analysis, Metric, Values, WorkloadRows},
    build::cell,
    table_units::thousands,
    view::{Cell, CellRank, Figure},
};

/// The combinations that were run, with the place of each.
#[derive(Debug)]
pub(crate) struct Sweep<'a> {
    pub(super) start: &'a Start,
    /// The first load, whose scenario all have.
    pub(super) workload: &'a Workload,
    pub(super) variant: &'a VariantId,
    /// The rows: workers asked for.
    pub(super) workers: Vec<u32>,
    /// The columns: connections in total.
    pub(super) connections: Vec<usize>,
    /// Row by row, each before the cells of its requests by name.
    pub(super) all: Vec<Cell>,
}

impl<'a> Sweep<'a> {
    /// None when a workload has no number of workers.
    pub(super) fn of(analysis: &Analysis<'a>) -> Option<Self> {
        let start = &analysis.journal.start;
        let workloads = &start.workloads;
        let workers = workloads.iter().map(|it| it.workers).collect::<Option<BTreeSet<u32>>>()?;
        let connections: BTreeSet<usize> = workloads.iter().map(|it| it.connections).collect();
        let places = analysis.across_loads().map(|rows| places(&rows)).unwrap_or_default();
        let run = analysis.workloads.iter().filter(|it| !it.rows.is_empty());
        let cells = run.zip(places).flat_map(|(rows, place)| {
            let cells = cell(analysis.journal, rows, &[0], Metric::Cpu).into_iter();
            cells.map(move |it| Cell { place: Some(place), ..it })
        });
        Some(Self {
            start,
            workload: workloads.first()?,
            variant: &start.variants.first()?.variant,
            workers: workers.into_iter().collect(),
            connections: connections.into_iter().collect(),
            all: cells.collect(),
        })
    }

    /// The cells of all requests.
    pub(super) fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.all.iter().filter(|it| it.id.request.is_none())
    }

    /// The cell with this many workers and connections.
    pub(super) fn cell(&self, workers: u32, connections: usize) -> Option<&Cell> {
        self.cells().find(|it| (it.workers, it.connections) == (Some(workers), connections))
    }

    /// The cells with this place.
    pub(super) fn at(&self, place: CellRank) -> impl Iterator<Item = &Cell> {
        self.cells().filter(move |it| it.place == Some(place))
    }

    /// The cell with the highest median.
    pub(crate) fn best(&self) -> Option<&Cell> {
        self.at(CellRank::Best).next()
    }

    /// Why cells have no figures, or figures that are not what they claim to be.
    pub(super) fn notes(&self, journal: &Journal) -> Vec<String> {
        let mut failures: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut runs: Vec<&Run> = Vec::new();
        for workload in &self.start.workloads {
            let is_its = |it: &&Run| it.workload == workload.name && it.counts == Counts::Yes;
            for run in journal.runs.iter().filter(is_its) {
                let of = || place(workload.workers.unwrap_or(0), workload.connections);
                let failure = run.outcome.failure();
                failure.into_iter().for_each(|it| failures.entry(it).or_default().push(of()));
                runs.push(run);
            }
        }
        let failures = failures.into_iter().map(|(reason, mut of)| {
            of.dedup();
            format!("failed with {}: {reason}", of.join(", "))
        });
        refusals(journal).into_iter().chain(failures).chain(invalid(runs.into_iter())).collect()
    }
}

/// Whether the generator was at its limit in a run: the server may do more.
pub(super) fn is_limited(cell: &Cell) -> bool {
    cell.bound_by.contains(&Bound::Generator)
}

/// The throughput of a cell that has one.
pub(super) fn rate(cell: &Cell) -> Option<f64> {
    cell.figure(Metric::Throughput).map(|it| it.value)
}

/// The throughput of a cell with its signs, such as `!>=100 550`.
pub(super) fn shown(cell: &Cell) -> Option<String> {
    let invalid = if cell.valid { "" } else { "!" };
    let bound = if is_limited(cell) { ">=" } else { "" };
    Some(format!("{invalid}{bound}{}", thousands(rate(cell)?)))
}

/// The tail latency of a cell; none where it is a bound or void.
pub(super) fn p99(cell: &Cell) -> Option<f64> {
    cell.figure(Metric::P99).filter(|it| it.valid).map(|it: &Figure| it.value)
}

/// Compares all rows with the best one.
///
/// All pairs of rows are one family, so that the best one is not compared as though it had been chosen beforehand. A
/// row is not called slower when the generator was at its limit in it, so that the server may do more.
fn places(rows: &WorkloadRows<'_>) -> Vec<CellRank> {
    let comparison = rows.compare(Metric::Throughput);
    let rate = |row: &usize| rows.rows[*row].median(Metric::Throughput);
    let all = 0..rows.rows.len();
    let measured = all.clone().rev().filter(|row| rate(row).is_some());
    let most = |one: &usize, other: &usize| {
        rate(one).unwrap_or(0.0).total_cmp(&rate(other).unwrap_or(0.0))
    };
    let Some(best) = measured.max_by(most) else { return vec![CellRank::Unknown; all.len()] };
    let values = |row: usize| rows.rows[row].values(Metric::Throughput);
    let reaches = |row: usize| reaches(&values(row), &values(best), comparison.margin);
    let ranks = rows.ranks(Metric::Throughput);
    let place = |row: usize| match ranks[row].filter(|_| ranks[best].is_some()) {
        _ if row == best => CellRank::Best,
        Some(rank) if rank.first == 1 && reaches(row) => CellRank::Alike,
        Some(rank) if rank.first > 1 && !rows.rows[row].bound().contains(&Bound::Generator) => {
            CellRank::Slower
        }
        Some(_) | None => CellRank::Unknown,
    };
    all.map(place).collect()
}

/// True if the interval of its own ratio to the best one reaches the margin. The model's interval is as wide as
/// the blocks of all cells differ, which may be those of others.
fn reaches(values: &Values, best: &Values, margin: f64) -> bool {
    let ratios = values.iter().filter_map(|(block, it)| Some(it / best.get(block)?));
    let ratios: Vec<f64> = ratios.collect();
    let high = geometric_mean_interval(&ratios).map(|it| it.high).or_else(|| median(&ratios));
    high.is_some_and(|high| high >= 1.0 - margin)
}
