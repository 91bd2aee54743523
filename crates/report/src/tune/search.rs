//! A search for the highest rate: what was found, and what each rate did. How it looks is not
//! decided here.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_judge::objectives::{ObjectiveResult, Side, keeps};
use wirebench_schema::{
    id::VariantId,
    journal::{Journal, Measurement, Outcome, Run, SearchLimit, SearchResult, SearchSpec},
    labels::Labels,
    load::Stop,
    objective::LatencyFigure,
    scenario::Scenario,
    units::write_duration,
};
use wirebench_stats::median;

use super::{add_invalid, headline, refusals, words::sentence};
use crate::{
    analysis::Analysis, origin::Origin, screen::html::servers, services, table::count,
    table_units::thousands,
};

/// A server that uses less than this share of its CPU time is not at its limit.
const TIME_TO_SPARE: f64 = 0.8;

/// What a search has found.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct SearchReport {
    /// The server.
    pub variant: VariantId,
    /// What it does.
    pub scenario: Scenario,
    /// When the runs began, as RFC 3339 in UTC.
    pub started: String,
    #[serde(flatten)]
    pub labels: Labels,
    /// Connections in total.
    pub connections: usize,
    /// Workers of the server; absent when no run was made.
    pub workers: Option<u32>,
    /// Seed and placement in one line.
    pub headline: String,
    /// What was sought.
    pub sought: SearchSpec,
    /// What was found; absent when the search was cut off, or never began.
    pub found: Option<SearchResult>,
    /// That as a sentence.
    pub sentence: String,
    /// What a closed loop with as many connections reached.
    pub closed_loop_requests_per_second: Option<f64>,
    /// What each rate did, the lowest first.
    pub rates: Vec<ProbedRate>,
    /// What must be known besides.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(super) origin: Origin,
    /// Its server as HTML, which only pages have.
    #[serde(skip)]
    pub(super) server: String,
}

/// What the runs at one rate say together.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct ProbedRate {
    /// The rate that was asked for.
    pub requests_per_second: u64,
    /// Runs at it.
    pub runs: usize,
    /// In how many of them all objectives held.
    pub held: usize,
    /// Runs that missed because of the load generator.
    pub generator_late: usize,
    /// Runs that missed because others used the CPUs.
    pub held_back_by_others: usize,
    /// Runs in which replies failed.
    pub failing: usize,
    /// Runs without figures.
    pub failed: usize,
    /// Figures of latency by name, in nanoseconds: the median over the runs.
    pub latency_ns: BTreeMap<&'static str, f64>,
    /// CPU time of the server's process tree per request: the median over the runs.
    pub server_cpu_ns_per_request: Option<f64>,
    /// Why runs missed, the first reason of each kind.
    pub reasons: Vec<String>,
}

impl SearchReport {
    /// Reads it from a journal; none when nothing was sought.
    pub(super) fn of(journal: &Journal) -> Option<Self> {
        let sought = journal.sought.clone()?;
        let workload = journal.start.workloads.iter().find(|it| it.name == sought.workload)?;
        let mine = |run: &&Run| run.workload == sought.workload;
        let runs: Vec<&Run> = journal.runs.iter().filter(mine).collect();
        let workers = runs.first().map(|run| run.workers);
        let connections = workload.connections;
        let of_workers = workers.map(|workers| format!(", {}", count(workers, "worker")));
        let shape = count(connections, "connection") + &of_workers.unwrap_or_default();
        let rates = rates(&sought, &runs);
        let found = journal.found;
        Some(Self {
            variant: sought.variant.clone(),
            scenario: workload.scenario,
            started: journal.start.started.clone(),
            labels: journal.start.labels.clone(),
            connections,
            workers,
            headline: headline(journal, workload, &shape, &window(workload.stop)),
            closed_loop_requests_per_second: closed_loop(journal, &sought),
            sentence: sentence(&sought, found, &shape, &rates),
            notes: notes(journal, &sought, found, &runs),
            found,
            origin: Origin::of(journal),
            server: servers(&Analysis::of(journal)).into_string(),
            rates,
            sought,
        })
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

fn window(stop: Stop) -> String {
    match stop {
        Stop::After(window) => format!("{} per run, ", write_duration(window)),
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => String::new(),
    }
}

fn closed_loop(journal: &Journal, sought: &SearchSpec) -> Option<f64> {
    let first = journal.runs.iter().find(|run| run.workload != sought.workload)?;
    first.outcome.measured().map(|it| it.load.requests_per_second)
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
        let value = of(runs, |it| it.load.latency.as_ref().map(|it| figure.of(it)));
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

fn notes(
    journal: &Journal,
    sought: &SearchSpec,
    found: Option<SearchResult>,
    runs: &[&Run],
) -> Vec<String> {
    let mut notes = [refusals(journal), services::notes(journal)].concat();
    let mut invalid = Vec::new();
    for run in runs {
        match &run.outcome {
            // What speaks against a run at another rate that missed is its miss.
            Outcome::Measured(it) if decides(found, it.load.constant_rate()) => {
                add_invalid(&mut invalid, &it.reasons);
                for figure in sought.objectives.iter().map(|objective| objective.figure) {
                    let samples = it.load.latency.as_ref().map_or(0, |latency| latency.count);
                    let enough = figure.enough_samples();
                    let note = format!(
                        "too few samples for {figure} at that rate (at least {enough}): use a longer -d"
                    );
                    if samples < enough && !notes.contains(&note) {
                        notes.push(note);
                    }
                }
            }
            Outcome::Failed { reason, .. } if !notes.contains(reason) => {
                notes.push(reason.clone());
            }
            Outcome::Measured(_) | Outcome::Idle(_) | Outcome::Failed { .. } => {}
        }
    }
    notes.extend(invalid.into_iter().map(|(_, text)| text));
    notes.extend(found.and_then(|found| held_up(found, runs)));
    notes
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
