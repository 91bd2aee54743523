//! A search for the highest rate: what was found, and what each rate did.

use std::collections::BTreeMap;
use wirebench_judge::objectives::{ObjectiveResult, Side, keeps};
use wirebench_schema::{
    journal::{Counts, Journal, Measurement, Outcome, Run, SearchLimit, SearchResult, SearchSpec},
    load::LatencyFigure,
    suite::Workload,
};
use wirebench_stats::{Interval, median};

use super::{invalid, refusals};
use crate::{
    analysis::{Metric, Reads, rows},
    build::{cell, of_workload},
    table_units::{count, thousands},
    view::{Cell, Figure, ProbedRate, SearchFacts},
};

/// A server that uses less than this share of its CPU time is not at its limit.
const TIME_TO_SPARE: f64 = 0.8;

/// A search, and what was found.
#[derive(Debug)]
pub(crate) struct RateSearch<'a> {
    pub(crate) sought: &'a SearchSpec,
    /// Absent when the search was cut off, or never began.
    pub(crate) found: Option<SearchResult>,
    /// Its load, of which only the rate changes.
    pub(super) workload: &'a Workload,
    runs: Vec<&'a Run>,
    pub(super) facts: SearchFacts,
    /// The rate that was found with the figures of its runs, and then its requests by name.
    pub(super) cells: Vec<Cell>,
}

impl<'a> RateSearch<'a> {
    /// Reads it from a journal; none when nothing was sought.
    pub(super) fn of(journal: &'a Journal) -> Option<Self> {
        let sought = journal.sought.as_ref()?;
        let workload = journal.start.workloads.iter().find(|it| it.name == sought.workload)?;
        let runs = journal.runs.iter().filter(|run| run.workload == sought.workload);
        let runs: Vec<&Run> = runs.collect();
        let first = journal.runs.iter().find(|run| run.workload != sought.workload);
        let first = first.and_then(|it| it.outcome.measured());
        Some(Self {
            sought,
            found: journal.found,
            workload,
            facts: SearchFacts {
                closed_loop_requests_per_second: first.map(|it| it.load.requests_per_second),
                rates: rates(sought, &runs),
            },
            cells: cells(journal, sought, workload),
            runs,
        })
    }

    /// True if a run confirmed the rate, so that it is not that of a burst.
    pub(super) fn is_confirmed(&self) -> bool {
        self.found.is_some_and(|it| it.held > 0 && it.requests_per_second.is_some())
    }

    /// Connections and workers in words.
    pub(super) fn shape(&self) -> String {
        let workers =
            self.cells[0].workers.map(|workers| format!(", {}", count(workers, "worker")));
        count(self.workload.connections, "connection") + &workers.unwrap_or_default()
    }

    /// What must be known besides.
    pub(super) fn notes(&self, journal: &Journal) -> Vec<String> {
        let mut notes = refusals(journal);
        // What speaks against a run at another rate that missed is its miss.
        let decides = |run: &&&Run| {
            let rate = run.outcome.measured().and_then(|it| it.load.constant_rate());
            decides(self.found, rate)
        };
        let deciding = || self.runs.iter().filter(decides);
        let samples = |run: &&Run| {
            let latency = run.outcome.measured().and_then(|it| it.load.latency.as_ref());
            latency.map_or(0, |latency| latency.count)
        };
        for figure in self.sought.objectives.iter().map(|objective| objective.figure) {
            let enough = figure.enough_samples();
            if deciding().any(|run| samples(run) < enough) {
                notes.push(format!(
                    "too few samples for {figure} at that rate (at least {enough}): use a longer -d"
                ));
            }
        }
        for reason in self.runs.iter().filter_map(|run| run.outcome.failure()) {
            if notes.iter().all(|note| note != reason) {
                notes.push(reason.to_owned());
            }
        }
        notes.extend(invalid(deciding().copied()));
        notes.extend(self.found.and_then(|found| held_up(found, &self.runs)));
        notes
    }
}

impl ProbedRate {
    /// Why all runs that missed did so, if not because of the server.
    pub(super) fn excuse(&self) -> Option<&'static str> {
        let all = |missed: usize| missed > 0 && missed + self.held == self.runs;
        match self {
            it if all(it.generator_late) => Some("because of the load generator"),
            it if all(it.held_back_by_others) => Some("because of other programs"),
            _ => None,
        }
    }
}

/// Without runs at the rate that was found, which is between others, the first cell has that rate alone.
fn cells(journal: &Journal, sought: &SearchSpec, workload: &Workload) -> Vec<Cell> {
    let run = journal.runs.iter().find(|run| run.workload == sought.workload);
    let nothing = Cell {
        workers: run.map(|it| it.workers),
        trouble: Some("no rate was found".to_owned()),
        ..of_workload(workload, &sought.variant, 0)
    };
    let found = journal.found.as_ref();
    let Some((found, rate)) = found.and_then(|it| Some((it, it.requests_per_second?))) else {
        return vec![nothing];
    };
    let mut cells = of_runs(journal, workload, rate);
    if cells.is_empty() {
        cells.push(nothing.clone());
    }
    let whole = &mut cells[0];
    // Confirmations decide, whatever spoils other runs at that rate.
    (whole.workers, whole.valid) = (nothing.workers, found.held > 0);
    whole.trouble = (!whole.valid).then(|| "the rate was not confirmed".to_owned());
    let interval = found.low.zip(found.high);
    let interval = interval.map(|(low, high)| Interval { low: low as f64, high: high as f64 });
    let is_bound = found.limit != SearchLimit::Server;
    let reads = if is_bound { Reads::AtLeast } else { Reads::Exactly };
    let figure = Figure::of(Metric::Throughput, rate as f64, whole.valid);
    whole.generator_limited = false;
    whole.figures.retain(|it| it.metric != Metric::Throughput);
    whole.figures.insert(0, Figure { interval, reads, ..figure });
    cells
}

/// The cells of the runs at this rate, which are pilots of no cohort.
fn of_runs(journal: &Journal, workload: &Workload, rate: u64) -> Vec<Cell> {
    let mut journal = journal.clone();
    let rate_of = |run: &Run| run.outcome.measured()?.load.constant_rate();
    journal.runs.retain(|it| it.workload == workload.name && rate_of(it) == Some(rate));
    journal.runs.iter_mut().for_each(|it| it.counts = Counts::Yes);
    let rows = rows(&journal).into_iter().find(|it| it.workload.name == workload.name);
    let rows = rows.filter(|it| it.rows.iter().any(|row| row.measured() > 0));
    rows.map_or_else(Vec::new, |it| cell(&journal, &it, &[0], Metric::Cpu))
}

fn rates(sought: &SearchSpec, runs: &[&Run]) -> Vec<ProbedRate> {
    let mut by_rate: BTreeMap<u64, (Vec<&Measurement>, usize)> = BTreeMap::new();
    for run in runs {
        match &run.outcome {
            Outcome::Measured(it) => {
                let Some(rate) = it.load.constant_rate() else { continue };
                by_rate.entry(rate).or_default().0.push(it);
            }
            // What was asked of a run without figures, its command tells.
            Outcome::Failed { .. } => {
                let failed = asked(run).map(|rate| &mut by_rate.entry(rate).or_default().1);
                failed.into_iter().for_each(|failed| *failed += 1);
            }
            Outcome::Idle(_) => {}
        }
    }
    by_rate.into_iter().map(|(rate, (runs, failed))| probed(sought, rate, &runs, failed)).collect()
}

/// The rate in the generator's arguments; there are none when the server did not even start.
fn asked(run: &Run) -> Option<u64> {
    let mut words = run.generator_command.iter();
    words.find(|word| *word == "-R")?;
    words.next()?.parse().ok()
}

fn probed(sought: &SearchSpec, rate: u64, runs: &[&Measurement], failed: usize) -> ProbedRate {
    let mut it = ProbedRate {
        requests_per_second: rate,
        runs: runs.len() + failed,
        failing: runs.iter().filter(|it| it.load.errors.total() > 0).count(),
        failed,
        server_cpu_ns_per_request: of(runs, |it| it.cost.cpu_ns_per_request),
        ..ProbedRate::default()
    };
    for figure in LatencyFigure::ALL {
        let value = of(runs, |it| it.load.latency_of(figure).map(|it| figure.of(it)));
        it.latency_ns.extend(value.map(|value| (figure.name(), value)));
    }
    for run in runs {
        match keeps(run, &sought.objectives) {
            ObjectiveResult::Holds => it.held += 1,
            ObjectiveResult::Misses { by, reasons } => {
                it.generator_late += usize::from(by == Side::Generator);
                it.held_back_by_others += usize::from(by == Side::Others);
                if it.reasons.is_empty() {
                    it.reasons = reasons;
                }
            }
        }
    }
    it
}

fn of(runs: &[&Measurement], value: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
    median(&runs.iter().filter_map(|it| value(it)).collect::<Vec<_>>())
}
/// Whether runs at this rate decide what was found. Where nothing was found, what speaks against the
/// runs that missed may be why.
fn decides(found: Option<SearchResult>, rate: Option<u64>) -> bool {
    let (Some(found), Some(rate)) = (found, rate) else { return false };
    let Some(middle) = found.requests_per_second else { return found.missed == Some(rate) };
    (found.low.unwrap_or(middle)..=found.high.unwrap_or(middle)).contains(&rate)
}

/// That the server missed although it had time to spare: then the limit is none of its work.
fn held_up(found: SearchResult, runs: &[&Run]) -> Option<String> {
    let missed = found.missed.filter(|_| found.limit == SearchLimit::Server)?;
    let measured = runs.iter().filter_map(|run| run.outcome.measured());
    let at_missed = measured
        .filter(|it| it.load.constant_rate() == Some(missed) && it.load.errors.total() == 0);
    let shares = at_missed.map(|it| it.cost.cpu_share.max(it.cost.busiest_thread_share));
    let share = median(&shares.collect::<Vec<_>>()).filter(|share| *share < TIME_TO_SPARE)?;
    Some(format!(
        "at {} requests/s, which missed, the server used {:.0} % of its CPU time: it stalled or another \
         process used its CPUs; try a larger limit",
        thousands(missed as f64),
        share * 100.0
    ))
}
