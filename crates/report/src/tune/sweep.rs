//! A sweep over workers and connections: what each cell reached, and which of them are slower than the
//! best one. How it looks is not decided here.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use wirebench_judge::standing::{standing, void_cohorts};
use wirebench_schema::{
    id::VariantId,
    journal::{Bound, Counts, Journal, Measurement, Outcome, ReasonKind, Run},
    labels::Labels,
    load::LatencyFigure,
    scenario::Scenario,
    suite::Workload,
};
use wirebench_stats::{Better, Rank, TwoWay, geometric_mean_interval, median, range, rank_levels};

use super::{add_invalid, headline, place, refusals};
use crate::{
    analysis::{Analysis, Margins, Metric, asked_for},
    document::Block,
    origin::Origin,
    screen::html::servers,
    services,
    table::count,
};

/// What a sweep has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The server.
    pub variant: VariantId,
    /// What it does.
    pub scenario: Scenario,
    /// When the runs began, as RFC 3339 in UTC.
    pub started: String,
    pub labels: Labels,
    /// Runs, seed and placement in one line.
    pub headline: String,
    /// How often each cell was to be run.
    pub blocks: u32,
    /// CPUs of the server.
    pub server_cpus: usize,
    /// The rows: workers asked for.
    pub workers: Vec<u32>,
    /// The columns: connections in total.
    pub connections: Vec<usize>,
    /// Row by row.
    pub cells: Vec<SweepCell>,
    /// Why cells have no figures, or figures that are not what they claim to be.
    pub notes: Vec<String>,
    pub(super) origin: Origin,
    /// Its server, which only pages have.
    pub(super) server: Option<Block>,
}

/// What the runs of one cell say together.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// Workers asked for.
    pub workers: u32,
    /// Connections in total.
    pub connections: usize,
    /// Runs with figures.
    pub runs: usize,
    /// Runs without.
    pub failed: usize,
    /// Correct replies per second in each block that has figures.
    pub requests_per_second_by_block: BTreeMap<u32, f64>,
    /// Median of those.
    pub requests_per_second: Option<f64>,
    /// Smallest and largest of those.
    pub requests_per_second_range: Option<(f64, f64)>,
    /// 99th percentile of latency: the median over the runs.
    pub latency_ns_p99: Option<f64>,
    /// CPU time of the server's process tree per request: the median over the runs.
    pub server_cpu_ns_per_request: Option<f64>,
    /// Each side that bounded a run.
    pub bound: BTreeSet<Bound>,
    /// Whether fewer than three blocks are valid, or not all where there are fewer.
    pub invalid: bool,
    /// How it compares with the best cell.
    pub standing: CellRank,
}

/// How a cell compares with the best one.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellRank {
    /// It has the highest median.
    Best,
    /// It is not significantly slower than any other, and its own interval reaches the best one.
    Alike,
    /// It is slower.
    Slower,
    /// It has no figures, too few, too different ones, or a bound below the best one.
    Unknown,
}

impl SweepCell {
    /// Whether the generator was at its limit in a run: the server may do more.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.bound.contains(&Bound::Generator)
    }
}

impl Sweep {
    /// Reads it from a journal; none when a workload has no number of workers.
    pub(super) fn of(journal: &Journal) -> Option<Self> {
        let start = &journal.start;
        let first = start.workloads.first()?;
        let variant = start.variants.first()?.variant.clone();
        let mut cells = Vec::new();
        let mut notes: Vec<(ReasonKind, String)> = Vec::new();
        let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for workload in &start.workloads {
            let workers = workload.workers?;
            let mine = |run: &&Run| run.workload == workload.name && run.counts == Counts::Yes;
            let runs: Vec<&Run> = journal.runs.iter().filter(mine).collect();
            for run in &runs {
                match &run.outcome {
                    Outcome::Measured(it) => add_invalid(&mut notes, &it.reasons),
                    Outcome::Failed { reason, .. } => {
                        failures
                            .entry(reason.clone())
                            .or_default()
                            .push(place(workers, workload.connections));
                    }
                    Outcome::Idle(_) => {}
                }
            }
            cells.push(cell(workload, workers, &runs, &asked_for(journal)));
        }
        judge(&mut cells, Margins::of_run(start).of(Metric::Throughput, first.phase));
        let mut lines = [refusals(journal), services::notes(journal)].concat();
        lines.extend(failures.into_iter().map(|(reason, mut of)| {
            of.dedup();
            format!("failed with {}: {reason}", of.join(", "))
        }));
        lines.extend(notes.into_iter().map(|(_, text)| text));
        Some(Self {
            variant,
            scenario: first.scenario,
            started: start.started.clone(),
            labels: start.labels.clone(),
            headline: headline(
                journal,
                first,
                &format!("{} per cell", count(start.blocks, "run")),
                "",
            ),
            blocks: start.blocks,
            server_cpus: start.placement.server_cpus.len(),
            workers: distinct(cells.iter().map(|cell| cell.workers)),
            connections: distinct(cells.iter().map(|cell| cell.connections)),
            cells,
            notes: lines,
            origin: Origin::of(journal),
            server: Some(servers(&Analysis::of(journal))),
        })
    }

    /// The cell with this many workers and connections.
    #[must_use]
    pub fn cell(&self, workers: u32, connections: usize) -> Option<&SweepCell> {
        self.cells.iter().find(|it| it.workers == workers && it.connections == connections)
    }

    /// The cell with the highest median.
    #[must_use]
    pub fn best(&self) -> Option<&SweepCell> {
        self.cells.iter().find(|cell| cell.standing == CellRank::Best)
    }
}

fn distinct<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<BTreeSet<T>>().into_iter().collect()
}

fn cell(workload: &Workload, workers: u32, runs: &[&Run], asked: &[ReasonKind]) -> SweepCell {
    let void = void_cohorts(runs, false, asked);
    let counted = runs.iter().filter(|run| !void.contains(&run.cohort()));
    let measured: Vec<(u32, &Measurement)> =
        counted.filter_map(|run| Some((run.block, run.outcome.measured()?))).collect();
    let by_block: BTreeMap<u32, f64> =
        measured.iter().map(|(block, it)| (*block, it.load.requests_per_second)).collect();
    let rates: Vec<f64> = by_block.values().copied().collect();
    // Without the runs that lack a value, those with the longest latencies would be missing.
    let of = |value: &dyn Fn(&Measurement) -> Option<f64>| {
        median(&measured.iter().map(|(_, it)| value(it)).collect::<Option<Vec<_>>>()?)
    };
    SweepCell {
        workers,
        connections: workload.connections,
        runs: measured.len(),
        failed: runs.len() - measured.len() - void.len(),
        requests_per_second: median(&rates),
        requests_per_second_range: range(&rates),
        requests_per_second_by_block: by_block,
        latency_ns_p99: of(&|it| it.load.latency.as_ref()?.known(LatencyFigure::P99)),
        server_cpu_ns_per_request: of(&|it| it.cost.cpu_ns_per_request),
        bound: measured.iter().map(|(_, it)| it.bound).collect(),
        invalid: !measured.is_empty() && !standing(runs, false, asked).is_compared(),
        standing: CellRank::Unknown,
    }
}

/// Compares all cells with the best one.
///
/// All pairs of cells are one family, so that the best one is not compared as though it had been
/// chosen beforehand. A cell is not called slower when the generator was at its limit in it, so that
/// the server may do more.
fn judge(cells: &mut [SweepCell], margin: f64) {
    let rate = |cell: &SweepCell| cell.requests_per_second.unwrap_or(-1.0);
    let most = cells.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).map(rate);
    let best = cells.iter().position(|cell| Some(rate(cell)) >= most);
    let Some(best) = best.filter(|best| cells[*best].runs > 0) else { return };
    let ranks = ranks(cells, margin);
    let best_by_block = cells[best].requests_per_second_by_block.clone();
    for (index, cell) in cells.iter_mut().enumerate().filter(|(_, cell)| cell.runs > 0) {
        cell.standing = match ranks[index].filter(|_| ranks[best].is_some()) {
            _ if index == best => CellRank::Best,
            Some(rank) if rank.first == 1 => match reaches(cell, &best_by_block, margin) {
                true => CellRank::Alike,
                false => CellRank::Unknown,
            },
            Some(_) if !cell.is_limited() => CellRank::Slower,
            Some(_) | None => CellRank::Unknown,
        };
    }
}

/// Tells if the interval of the cell's own ratio to the best one reaches the margin. The model's interval is as wide as
/// the blocks of all cells differ, which may be those of others.
fn reaches(cell: &SweepCell, best: &BTreeMap<u32, f64>, margin: f64) -> bool {
    let blocks = cell.requests_per_second_by_block.iter();
    let ratios: Vec<f64> = blocks.filter_map(|(block, it)| Some(it / best.get(block)?)).collect();
    let high = geometric_mean_interval(&ratios).map(|it| it.high).or_else(|| median(&ratios));
    high.is_some_and(|high| high >= 1.0 - margin)
}

/// The ranks of the cells by requests per second; each has one value in each block.
fn ranks(cells: &[SweepCell], margin: f64) -> Vec<Option<Rank>> {
    let by_block = cells.iter().map(|cell| &cell.requests_per_second_by_block);
    let blocks: BTreeSet<u32> = by_block.clone().flat_map(|it| it.keys().copied()).collect();
    let logs = |values: &BTreeMap<u32, f64>| -> Vec<f64> {
        blocks.iter().map(|block| values.get(block).map_or(f64::NAN, |it| it.ln())).collect()
    };
    let rows: Vec<Vec<f64>> = by_block.map(logs).collect();
    let items: Vec<Vec<usize>> = (0..rows.len()).map(|row| vec![row]).collect();
    let ranks = |model: TwoWay| rank_levels(&model, &items, Better::More, margin);
    TwoWay::fit(&rows, &[]).map_or_else(|| vec![None; rows.len()], ranks)
}
