//! A search as people read it: the sentence in which it ends, and a table of what each rate did.

use wirebench_schema::{
    id::VariantId,
    journal::{Found, SearchLimit, SearchSpec},
    objective::LatencyFigure,
};

use super::{ProbedRate, SearchReport};
use crate::{
    table::{Style, count, filled_table, page::Page},
    table_units::{latency, thousands},
};

/// All of it as people read it.
pub(super) fn text(search: &SearchReport, style: Style) -> String {
    let mut page = Page::new(style);
    page.headed(&format!(
        "tune {}: {} at constant rates, latency from the due time",
        search.variant, search.scenario
    ));
    page.paragraph(&search.headline);
    if !search.rates.is_empty() {
        page.table(&table(search, style), std::iter::empty());
    }
    if let Some(rate) = search.closed_loop_requests_per_second {
        page.paragraph(&format!("closed loop: {} requests/s", thousands(rate)));
    }
    match style {
        Style::Text => page.line(&search.sentence),
        Style::Markdown => page.raw(&search.sentence),
    }
    page.points(&search.notes);
    format!("{}\n", page.text().trim_end())
}

fn table(search: &SearchReport, style: Style) -> comfy_table::Table {
    let mut figures = vec!["p50", "p99", "p999"];
    figures.extend(search.sought.objectives.iter().map(|it| it.figure.name()));
    let is_shown = |figure: &&LatencyFigure| figures.contains(&figure.name());
    let figures: Vec<LatencyFigure> = LatencyFigure::ALL.iter().filter(is_shown).copied().collect();
    let mut head = vec!["requests/s"];
    head.extend(figures.iter().map(|figure| figure.name()));
    head.extend(["server CPU us/request", "held", "why not"]);
    let row_of = |rate: &ProbedRate| {
        let mut row = vec![thousands(rate.requests_per_second as f64)];
        let shown = |value: Option<f64>, unit: fn(f64) -> String| {
            value.map_or_else(|| "-".to_owned(), unit)
        };
        row.extend(
            figures.iter().map(|it| shown(rate.latency_ns.get(it.name()).copied(), latency)),
        );
        row.push(shown(rate.server_cpu_ns_per_request, |ns| format!("{:.2}", ns / 1000.0)));
        row.push(format!("{} of {}", rate.held, rate.runs));
        let excuse = rate.excuse().map_or_else(String::new, |it| format!(", {it}"));
        let first = rate.reasons.first().map(|reason| format!("{reason}{excuse}"));
        let failed = (rate.failed > 0).then(|| format!("{} failed", rate.failed));
        row.push(first.into_iter().chain(failed).collect::<Vec<_>>().join("; "));
        row
    };
    let rows: Vec<_> = search.rates.iter().map(row_of).collect();
    filled_table(style, &head, &rows, 0..head.len() - 1)
}

/// What was found, in one sentence; `shape` says with what.
pub(super) fn sentence(
    sought: &SearchSpec,
    found: Option<Found>,
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
    format!("{variant} holds {objectives} {up_to} {rate} requests/s ({known}; {shape}){beyond}")
}

/// How well the rate is known.
fn known(found: Found) -> String {
    let runs = count(found.runs, "run");
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
        (None, _, 0) => "not confirmed".to_owned(),
        (None, ..) => runs,
    }
}

fn nothing_held(
    variant: &VariantId,
    objectives: &str,
    found: Found,
    shape: &str,
    missed: Option<&ProbedRate>,
) -> String {
    let advice = match missed {
        Some(missed) if missed.failing > 0 => "find out why replies fail",
        _ => "try a larger limit, or a lower rate with --rates",
    };
    let lowest = found.missed.map(|rate| thousands(rate as f64));
    match (found.limit, lowest) {
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
