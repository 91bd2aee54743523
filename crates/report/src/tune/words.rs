//! What a sweep and a search have found, in sentences.

use wirebench_schema::{
    id::VariantId,
    journal::{SearchLimit, SearchResult, SearchSpec},
};
use wirebench_stats::MIN_COHORTS;

use super::{CellRank, ProbedRate, Sweep, SweepCell, place};
use crate::{
    table::count,
    table_units::{latency, thousands},
};

/// What the table says, in sentences.
pub(super) fn findings(sweep: &Sweep) -> Vec<String> {
    let Some(best) = sweep.best() else { return vec!["no measurements".to_owned()] };
    let mut lines = vec![highest(best)];
    lines.extend(alike(sweep));
    let candidates = sweep.cells.iter().filter(|it| is_near(it.standing));
    let least = candidates.min_by_key(|cell| (cell.workers, cell.connections));
    lines.extend(least.filter(|it| it.standing != CellRank::Best).map(|cell| {
        let p99 = cell.latency_ns_p99.map_or_else(|| "-".to_owned(), latency);
        let rate = thousands(cell.requests_per_second.unwrap_or_default());
        let place = place(cell.workers, cell.connections);
        format!(
            "fewest workers and connections among these: {place} ({rate} requests/s, p99 {p99})"
        )
    }));
    if best.is_limited() {
        lines.push(
            "the load generator was saturated there: the highest rate is a lower bound, and its place \
             depends on the generator"
                .to_owned(),
        );
    }
    let more = sweep.workers.iter().any(|workers| *workers as usize > sweep.server_cpus);
    if more {
        let cpus = count(sweep.server_cpus, "server CPU");
        let verb = if sweep.server_cpus == 1 { "is" } else { "are" };
        lines.push(format!(
            "there {verb} {cpus}: more workers share them, so their rate with more CPUs is unknown"
        ));
    }
    if let Some(runs) = fewest_runs(sweep).filter(|runs| *runs < MIN_COHORTS) {
        let runs = count(runs, "run");
        lines.push(format!("{runs} per cell: comparing cells needs {MIN_COHORTS}, use --blocks 3"));
    }
    lines
}

fn highest(best: &SweepCell) -> String {
    let rate = thousands(best.requests_per_second.unwrap_or_default());
    let p99 = best.latency_ns_p99.map_or_else(|| "-".to_owned(), latency);
    let bound: Vec<String> = best.bound.iter().map(ToString::to_string).collect();
    let (low, high) = best.requests_per_second_range.unwrap_or_default();
    let runs = match best.runs {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs from {} to {}", thousands(low), thousands(high)),
    };
    format!(
        "highest: {rate} requests/s with {} (p99 {p99}; bound by {}; {runs})",
        place(best.workers, best.connections),
        bound.join("/")
    )
}

fn is_near(standing: CellRank) -> bool {
    matches!(standing, CellRank::Best | CellRank::Alike)
}

/// The figures of the measured cell that has the fewest; a sweep that ended early has fewer than were
/// planned.
fn fewest_runs(sweep: &Sweep) -> Option<usize> {
    let counts = sweep.cells.iter().map(|cell| cell.requests_per_second_by_block.len());
    counts.filter(|count| *count > 0).min()
}

/// The cells that are not slower than the best one, by workers, and what is known of the others.
fn alike(sweep: &Sweep) -> Option<String> {
    let mut parts = Vec::new();
    for workers in &sweep.workers {
        let mine = sweep.cells.iter().filter(|it| it.workers == *workers);
        let alike = mine.filter(|cell| cell.standing == CellRank::Alike);
        let connections: Vec<String> = alike.map(|cell| cell.connections.to_string()).collect();
        if !connections.is_empty() {
            let workers = count(*workers, "worker");
            parts.push(format!("{workers} with {} connections", connections.join(", ")));
        }
    }
    if !parts.is_empty() {
        return Some(format!("not significantly slower: {}", parts.join("; ")));
    }
    let all = |wanted| sweep.cells.iter().filter(move |cell| cell.standing == wanted);
    let (slower, unknown) = (all(CellRank::Slower).count(), all(CellRank::Unknown).count());
    let measured = all(CellRank::Unknown).any(|cell| cell.requests_per_second.is_some());
    match (slower, unknown) {
        (0, _) => measured.then(|| "no other cell can be compared with it".to_owned()),
        (_, 0) => Some("every other cell is slower".to_owned()),
        _ => Some(format!(
            "every other cell is slower, except {unknown} that cannot be compared with it: without figures, with too \
             few or too different ones, or at the load generator's limit"
        )),
    }
}

/// What was found, in one sentence; `shape` says with what.
pub(super) fn sentence(
    sought: &SearchSpec,
    found: Option<SearchResult>,
    shape: &str,
    rates: &[ProbedRate],
) -> String {
    let variant = &sought.variant;
    let objectives: Vec<String> = sought.objectives.iter().map(ToString::to_string).collect();
    let objectives = objectives.join(" and ");
    let Some(found) = found else {
        return format!("{variant}: the search for {objectives} did not finish");
    };
    let missed = rates.iter().find(|it| Some(it.requests_per_second) == found.missed);
    let Some(rate) = found.requests_per_second else {
        return nothing_held(variant, &objectives, found, shape, missed);
    };
    let known = known(found);
    let rate = thousands(rate as f64);
    let is_a_bound = found.limit != SearchLimit::Server;
    let up_to = if is_a_bound { "at least up to" } else { "up to" };
    let misses = found.missed.map_or_else(String::new, |rate| {
        let excuse = missed.and_then(ProbedRate::excuse);
        let excuse = excuse.map_or_else(String::new, |it| format!(" {it}"));
        format!(" (it misses at {}{excuse})", thousands(rate as f64))
    });
    let beyond = match found.limit {
        SearchLimit::Server => String::new(),
        SearchLimit::Generator => "; above that the load generator is saturated".to_owned(),
        SearchLimit::Others => {
            "; above that it misses because of other programs on its CPUs".to_owned()
        }
        SearchLimit::HighestRate => "; higher rates were not tried".to_owned(),
        SearchLimit::Budget => format!("; stopped after the budget{misses}"),
        SearchLimit::Interrupted => format!("; the search was interrupted{misses}"),
    };
    // It may have been that of a burst.
    if known.ends_with(NOT_CONFIRMED) {
        let held = format!("{variant} held {objectives} at {rate} requests/s");
        return format!("inconclusive: {held} ({known}; {shape}){beyond}");
    }
    format!("{variant} holds {objectives} {up_to} {rate} requests/s ({known}; {shape}){beyond}")
}

const NOT_CONFIRMED: &str = "not confirmed";

/// How well the rate is known.
fn known(found: SearchResult) -> String {
    let is_confirmed = match found.disturbed {
        Some(_) => "no confirmation was undisturbed: repeat on a quiet machine",
        None if found.held > 0 => "confirmed",
        None => NOT_CONFIRMED,
    };
    let runs = format!("{}, {is_confirmed}", count(found.runs, "run"));
    let shown = |rate: u64| thousands(rate as f64);
    match (found.low, found.high, found.runs) {
        (Some(low), Some(high), _) => {
            format!("95 % interval {} to {}, {runs}", shown(low), shown(high))
        }
        (Some(low), None, _) => format!("95 % interval {} or more, {runs}", shown(low)),
        // Of a journal in which runs at one rate confirmed it.
        (None, _, 0) if found.confirmations > 0 => {
            format!("confirmed in {} of {} runs", found.held, found.confirmations)
        }
        (None, _, 0) => NOT_CONFIRMED.to_owned(),
        (None, ..) => runs,
    }
}

fn nothing_held(
    variant: &VariantId,
    objectives: &str,
    found: SearchResult,
    shape: &str,
    missed: Option<&ProbedRate>,
) -> String {
    let advice = match missed {
        Some(missed) if missed.failing > 0 => "find out why replies fail",
        _ => "try a larger limit, or a lower rate with --rates",
    };
    let lowest = found.disturbed.or(found.missed).map(|rate| thousands(rate as f64));
    match (found.limit, lowest) {
        (_, Some(rate)) if found.disturbed.is_some() => format!(
            "inconclusive: no confirmation that {variant} holds {objectives} at {rate} requests/s was undisturbed \
             ({shape}); repeat on a quiet machine"
        ),
        (SearchLimit::Interrupted, _) => {
            format!("{variant}: the search for {objectives} did not finish")
        }
        (SearchLimit::Generator, Some(rate)) => format!(
            "inconclusive: at {rate} requests/s {variant} misses {objectives} because the load generator \
             is saturated ({shape})"
        ),
        (SearchLimit::Others, Some(rate)) => format!(
            "inconclusive: at {rate} requests/s {variant} misses {objectives} because of other programs \
             on its CPUs ({shape}); stop them, or try a larger limit"
        ),
        (SearchLimit::Server, Some(rate)) => format!(
            "{variant} does not hold {objectives} even at {rate} requests/s ({shape}): {advice}"
        ),
        _ => format!(
            "no rate at which {variant} holds {objectives} was found within the budget ({shape}): use a larger \
             --budget or a shorter -d"
        ),
    }
}
