//! A search for the highest rate: what each rate did, and the sentence in which it ends.

use comfy_table::CellAlignment;
use serde::Serialize;
use std::{collections::BTreeMap, fmt::Write};
use wirebench_schema::{
    id::VariantId,
    journal::{Found, Journal, Kept, Measurement, Outcome, Run, SearchLimit, Side, Sought},
    load::Stop,
    objective::LatencyFigure,
    scenario::Scenario,
    suite::Workload,
    units::write_duration,
};
use wirebench_stats::median;

use super::{add_invalid, counted, ended, refusals, sides, trimmed};
use crate::{
    table::{Style, new_table},
    table_units::{latency, thousands},
};

/// What a search has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchReport {
    /// The server.
    pub variant: VariantId,
    /// What it does.
    pub scenario: Scenario,
    /// Connections in total.
    pub connections: usize,
    /// Workers of the server; absent when no run was made.
    pub workers: Option<u32>,
    /// Seed and placement in one line.
    pub headline: String,
    /// What was sought.
    pub sought: Sought,
    /// What was found; absent when the search was cut off, or never began.
    pub found: Option<Found>,
    /// That as a sentence.
    pub sentence: String,
    /// What a closed loop with as many connections reached.
    pub closed_loop_requests_per_second: Option<f64>,
    /// What each rate did, the lowest first.
    pub rates: Vec<ProbedRate>,
    /// What must be known besides.
    pub notes: Vec<String>,
}

/// What the runs at one rate say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProbedRate {
    /// The rate that was asked for.
    pub requests_per_second: u64,
    /// Runs at it.
    pub runs: usize,
    /// In how many of them all objectives held.
    pub held: usize,
    /// Runs that missed because of the load generator.
    pub generator_late: usize,
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
        let shape = counted(connections as u64, "connection");
        let shape = match workers {
            Some(workers) => format!("{shape}, {}", counted(workers, "worker")),
            None => shape,
        };
        let rates = rates(&sought, &runs);
        let found = journal.found;
        Some(Self {
            variant: sought.variant.clone(),
            scenario: workload.scenario,
            connections,
            workers,
            headline: headline(journal, workload, &shape),
            closed_loop_requests_per_second: closed_loop(journal, &sought),
            sentence: sentence(&sought, found, &shape),
            notes: notes(journal, &sought, found, &runs),
            found,
            rates,
            sought,
        })
    }
}

fn headline(journal: &Journal, workload: &Workload, shape: &str) -> String {
    let window = match workload.stop {
        Stop::After(window) => format!("{} a run, ", write_duration(window)),
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => String::new(),
    };
    format!("{shape}, {window}seed {}, {}{}", journal.start.seed, sides(journal), ended(journal))
}

fn closed_loop(journal: &Journal, sought: &Sought) -> Option<f64> {
    let first = journal.runs.iter().find(|run| run.workload != sought.workload)?;
    match &first.outcome {
        Outcome::Measured(it) => Some(it.load.requests_per_second),
        Outcome::Idle(_) | Outcome::Failed { .. } => None,
    }
}

fn rates(sought: &Sought, runs: &[&Run]) -> Vec<ProbedRate> {
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

fn probed(sought: &Sought, rate: u64, runs: &[&Measurement], failed: usize) -> ProbedRate {
    let mut it = ProbedRate {
        requests_per_second: rate,
        runs: runs.len() + failed,
        held: 0,
        generator_late: 0,
        failed,
        latency_ns: BTreeMap::new(),
        server_cpu_ns_per_request: of(runs, |it| it.cost.cpu_ns_per_request),
        reasons: Vec::new(),
    };
    for figure in LatencyFigure::ALL {
        let value = of(runs, |it| it.load.latency.as_ref().map(|it| figure.of(it)));
        it.latency_ns.extend(value.map(|value| (figure.name(), value)));
    }
    for run in runs {
        match run.keeps(&sought.objectives) {
            Kept::Holds => it.held += 1,
            Kept::Misses { by, reasons } => {
                it.generator_late += usize::from(by == Side::Generator);
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

/// What was found, in one sentence; `shape` says with what.
fn sentence(sought: &Sought, found: Option<Found>, shape: &str) -> String {
    let variant = &sought.variant;
    let objectives: Vec<String> = sought.objectives.iter().map(ToString::to_string).collect();
    let objectives = objectives.join(" and ");
    let Some(found) = found else {
        return format!("{variant}: the search for {objectives} did not come to an end");
    };
    let Some(rate) = found.requests_per_second else {
        return nothing_held(variant, &objectives, found, shape);
    };
    let confirmed = match found.confirmations {
        0 => "not confirmed".to_owned(),
        of => format!("confirmed in {} of {of} runs", found.held),
    };
    let rate = thousands(rate as f64);
    let is_a_bound = found.limit != SearchLimit::Server;
    let up_to = if is_a_bound { "at least up to" } else { "up to" };
    let beyond = match found.limit {
        SearchLimit::Server => "",
        SearchLimit::Generator => {
            "; beyond that it is the generator's limit, the server may do more"
        }
        SearchLimit::HighestRate => "; no higher rate was to be tried",
        SearchLimit::Budget => "; the time was up before a higher one could be tried",
        SearchLimit::Interrupted => "; the search was interrupted",
    };
    format!("{variant} holds {objectives} {up_to} {rate} requests/s ({shape}; {confirmed}){beyond}")
}

fn nothing_held(variant: &VariantId, objectives: &str, found: Found, shape: &str) -> String {
    let lowest = found.missed.map(|rate| thousands(rate as f64));
    match (found.limit, lowest) {
        (SearchLimit::Generator, Some(rate)) => format!(
            "whether {variant} holds {objectives} cannot be told ({shape}): at {rate} requests/s the \
             load generator is at its limit already"
        ),
        (SearchLimit::Server, Some(rate)) => format!(
            "{variant} does not hold {objectives} even at {rate} requests/s ({shape}): give a larger \
             limit, or a lower first rate with --rates"
        ),
        _ => format!(
            "no rate at which {variant} holds {objectives} was found in time ({shape}): give more \
             --budget, or a shorter -d"
        ),
    }
}

fn notes(journal: &Journal, sought: &Sought, found: Option<Found>, runs: &[&Run]) -> Vec<String> {
    let mut notes = refusals(journal);
    let mut invalid = Vec::new();
    let rate = found.and_then(|found| found.requests_per_second);
    for run in runs {
        match &run.outcome {
            // What speaks against a run that missed is its miss.
            Outcome::Measured(it) if it.load.constant_rate() == rate => {
                add_invalid(&mut invalid, &it.reasons);
                for figure in sought.objectives.iter().map(|objective| objective.figure) {
                    let samples = it.load.latency.as_ref().map_or(0, |latency| latency.count);
                    let enough = figure.enough_samples();
                    let note = format!(
                        "a run at that rate has too few samples for {figure} ({enough} are enough): \
                         give a longer -d"
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
    notes
}

/// All of it as people read it.
pub(super) fn text(search: &SearchReport, style: Style) -> String {
    let mut text = String::new();
    let heading = if style == Style::Markdown { "# " } else { "" };
    let _ = writeln!(
        text,
        "{heading}tune {}: {} at constant rates, latency from when a request was due\n",
        search.variant, search.scenario
    );
    let _ = writeln!(text, "{}\n", search.headline);
    if !search.rates.is_empty() {
        let _ = writeln!(text, "{}\n", trimmed(&table(search, style)));
    }
    if let Some(rate) = search.closed_loop_requests_per_second {
        let rate = thousands(rate);
        let _ = writeln!(text, "as fast as it goes, in a closed loop: {rate} requests/s\n");
    }
    let _ = writeln!(text, "{}", search.sentence);
    let bullet = if style == Style::Markdown { "- " } else { "  " };
    let gap = if style == Style::Markdown && !search.notes.is_empty() { "\n" } else { "" };
    text.push_str(gap);
    for note in &search.notes {
        let _ = writeln!(text, "{bullet}{note}");
    }
    text
}

fn table(search: &SearchReport, style: Style) -> comfy_table::Table {
    let mut figures = vec!["p50", "p99", "p999"];
    figures.extend(search.sought.objectives.iter().map(|it| it.figure.name()));
    let is_shown = |figure: &&LatencyFigure| figures.contains(&figure.name());
    let figures: Vec<LatencyFigure> = LatencyFigure::ALL.iter().filter(is_shown).copied().collect();
    let mut head = vec!["requests/s"];
    head.extend(figures.iter().map(|figure| figure.name()));
    head.extend(["server CPU us/request", "held", "why not"]);
    let mut table = new_table(style, &head);
    let numbers = head.len() - 1;
    for column in table.column_iter_mut().take(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for rate in &search.rates {
        let mut row = vec![thousands(rate.requests_per_second as f64)];
        let shown = |value: Option<f64>, unit: fn(f64) -> String| {
            value.map_or_else(|| "-".to_owned(), unit)
        };
        row.extend(
            figures.iter().map(|it| shown(rate.latency_ns.get(it.name()).copied(), latency)),
        );
        row.push(shown(rate.server_cpu_ns_per_request, |ns| format!("{:.2}", ns / 1000.0)));
        row.push(format!("{} of {}", rate.held, rate.runs));
        let first = rate.reasons.first().map(|reason| match rate.generator_late {
            late if late > 0 && late + rate.held == rate.runs => {
                format!("{reason}, because of the load generator")
            }
            _ => reason.clone(),
        });
        let failed = (rate.failed > 0).then(|| format!("{} failed", rate.failed));
        row.push(first.into_iter().chain(failed).collect::<Vec<_>>().join("; "));
        table.add_row(row);
    }
    table
}
