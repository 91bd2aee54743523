//! What a sweep and a search have found, in sentences.

use wirebench_schema::journal::{SearchLimit, SearchResult};
use wirebench_stats::{MIN_COHORTS, range};

use super::{
    CellRank, ProbedRate, RateSearch, Sweep, place,
    sweep::{is_limited, p99, rate},
};
use crate::{
    analysis::Metric,
    table_units::{count, latency, thousands},
    view::{Cell, Figure},
};

/// The best combination.
pub(super) fn highest(sweep: &Sweep<'_>) -> String {
    let best = sweep.best().and_then(|best| Some((best, best.figure(Metric::Throughput)?)));
    let Some((best, figure)) = best else { return "no measurements".to_owned() };
    let bound: Vec<String> = best.bound_by.iter().map(ToString::to_string).collect();
    let (low, high) = range(&values(figure)).unwrap_or_default();
    let runs = match figure.samples.len() {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs from {} to {}", thousands(low), thousands(high)),
    };
    format!(
        "highest: {} requests/s with {} (p99 {}; bound by {}; {runs})",
        thousands(figure.value),
        combination(best),
        tail(best),
        bound.join("/")
    )
}

fn values(figure: &Figure) -> Vec<f64> {
    figure.samples.iter().map(|it| it.value).collect()
}

fn combination(cell: &Cell) -> String {
    place(cell.workers.unwrap_or(0), cell.connections)
}

fn tail(cell: &Cell) -> String {
    p99(cell).map_or_else(|| "-".to_owned(), latency)
}

/// What the table says besides the best combination.
pub(super) fn findings(sweep: &Sweep<'_>) -> Vec<String> {
    let Some(best) = sweep.best() else { return Vec::new() };
    let mut lines: Vec<String> = alike(sweep).into_iter().collect();
    let near = sweep.at(CellRank::Alike).chain([best]);
    let least = near.min_by_key(|cell| (cell.workers, cell.connections));
    lines.extend(least.filter(|it| it.place != best.place).map(|cell| {
        let rate = thousands(rate(cell).unwrap_or_default());
        format!(
            "fewest workers and connections among these: {} ({rate} requests/s, p99 {})",
            combination(cell),
            tail(cell)
        )
    }));
    if is_limited(best) {
        lines.push(
            "the load generator was saturated there: the highest rate is a lower bound, and its place \
             depends on the generator"
                .to_owned(),
        );
    }
    let server_cpus = sweep.start.placement.server_cpus.len();
    if sweep.workers.iter().any(|workers| *workers as usize > server_cpus) {
        let cpus = count(server_cpus, "server CPU");
        let verb = if server_cpus == 1 { "is" } else { "are" };
        lines.push(format!(
            "there {verb} {cpus}: more workers share them, so their rate with more CPUs is unknown"
        ));
    }
    // A sweep that ended early has fewer than were planned.
    let runs = sweep.cells().filter_map(|it| it.figure(Metric::Throughput));
    let fewest = runs.map(|it| it.samples.len()).min();
    if let Some(runs) = fewest.filter(|runs| *runs < MIN_COHORTS) {
        let runs = count(runs, "run");
        lines.push(format!("{runs} per cell: comparing cells needs {MIN_COHORTS}, use --blocks 3"));
    }
    lines
}

/// The cells that are not slower than the best one, by workers, and what is known of the others.
fn alike(sweep: &Sweep<'_>) -> Option<String> {
    let of_workers = |workers: &u32| {
        let alike = sweep.at(CellRank::Alike).filter(|it| it.workers == Some(*workers));
        let connections: Vec<String> = alike.map(|it| it.connections.to_string()).collect();
        let part =
            || format!("{} with {} connections", count(*workers, "worker"), connections.join(", "));
        (!connections.is_empty()).then(part)
    };
    let parts: Vec<String> = sweep.workers.iter().filter_map(of_workers).collect();
    if !parts.is_empty() {
        return Some(format!("not significantly slower: {}", parts.join("; ")));
    }
    let slower = sweep.at(CellRank::Slower).count();
    let unknown = sweep.start.workloads.len() - slower - 1;
    let measured = sweep.at(CellRank::Unknown).any(|it| rate(it).is_some());
    match (slower, unknown) {
        (0, _) => measured.then(|| "no other cell can be compared with it".to_owned()),
        (_, 0) => Some("every other cell is slower".to_owned()),
        _ => Some(format!(
            "every other cell is slower, except {unknown} that cannot be compared with it: without figures, with too \
             few or too different ones, or at the load generator's limit"
        )),
    }
}

/// What was found, in one sentence.
pub(super) fn sentence(search: &RateSearch<'_>) -> String {
    let (variant, shape) = (&search.sought.variant, search.shape());
    let objectives: Vec<String> =
        search.sought.objectives.iter().map(ToString::to_string).collect();
    let objectives = objectives.join(" and ");
    let Some(found) = search.found else {
        return format!("{variant}: the search for {objectives} did not finish");
    };
    let missed = search.facts.rates.iter().find(|it| Some(it.requests_per_second) == found.missed);
    let Some(rate) = found.requests_per_second else {
        return nothing_held(search, &objectives, found, missed);
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
    search: &RateSearch<'_>,
    objectives: &str,
    found: SearchResult,
    missed: Option<&ProbedRate>,
) -> String {
    let (variant, shape) = (&search.sought.variant, search.shape());
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
