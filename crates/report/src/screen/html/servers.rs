//! What each server is and how it was started: a table of kinds, start times and memory, and for each
//! server what opens to its versions, checks, commands and failures.

use maud::{Markup, html};
use std::collections::BTreeSet;
use wirebench_schema::{
    argv::display,
    id::VariantId,
    journal::{Counts, Described, Journal, Outcome, Run},
};

use super::slices;
use crate::{
    analysis::Analysis,
    html::{self, Cells, safe, text},
    origin::describe_versions,
    table_units::{bytes, latency},
};

/// Lines at the end of what a failed server wrote to its standard error.
const LOG_LINES: usize = 20;

/// All servers with a run or a reason why there is none.
pub(crate) fn section(analysis: &Analysis<'_>) -> Markup {
    let journal = analysis.journal;
    html! {
        section {
            h2 { "Servers" }
            (overview(journal))
            @for described in &journal.start.variants { (server(analysis, described)) }
            @for missing in &journal.unavailable {
                p { bdi { (safe(&missing.variant.to_string())) } " was not measured: " (safe(&missing.reason)) }
            }
        }
    }
}

/// What kind of server each is, and medians over its instances.
fn overview(journal: &Journal) -> Markup {
    let words = Cells::Words.of(["class", "model", "mechanism"]);
    let figures = Cells::Figures.of(["ready after", "peak memory"]);
    let heads = [Cells::Names.of(["server"]), words, figures].concat();
    let row = |described: &Described| {
        let (ready, peak) = medians(&of(journal, &described.variant).collect::<Vec<_>>());
        let [class, model, mechanism] = kind(described);
        let (ready, peak) = (ready.map(latency), peak.map(|it| bytes(it.round() as u64)));
        let cells = [Some(described.variant.to_string()), class, model, mechanism, ready, peak];
        cells.map(|it| text(it.as_deref().unwrap_or("-"))).to_vec()
    };
    let rows: Vec<Vec<Markup>> = journal.start.variants.iter().map(row).collect();
    html::table("Servers", &heads, &rows)
}

/// Its class, its model, and its mechanism with how workers share connections.
fn kind(described: &Described) -> [Option<String>; 3] {
    let mechanism = described.mechanism.map(|it| match described.sharing {
        Some(sharing) => format!("{it}, {sharing}"),
        None => it.to_string(),
    });
    [described.class.map(|it| it.to_string()), described.model.map(|it| it.to_string()), mechanism]
}

/// The time from the start of an instance until it accepts, in nanoseconds, and its peak memory in bytes.
fn medians(runs: &[&Run]) -> (Option<f64>, Option<f64>) {
    let measured = || runs.iter().filter_map(|run| run.outcome.measured());
    let ready: Vec<f64> = measured().filter_map(|it| Some(it.instance?.ready_ns as f64)).collect();
    let read = measured().filter(|it| it.cost.is_of_processes());
    let peak: Vec<f64> = read.map(|it| it.cost.memory_peak_bytes as f64).collect();
    (wirebench_stats::median(&ready), wirebench_stats::median(&peak))
}

fn server(analysis: &Analysis<'_>, described: &Described) -> Markup {
    let journal = analysis.journal;
    let runs: Vec<&Run> = of(journal, &described.variant).collect();
    let name = described.variant.to_string();
    html! {
        details.server {
            summary {
                b { bdi { (safe(&name)) } }
                @if described.title != name { " " (safe(&described.title)) }
            }
            dl {
                (item("skips", &described.skips))
                (item("versions", &describe_versions(described)))
                (item("checks", &checks(journal, &described.variant)))
                (commands(&runs))
                (failures(&runs))
            }
            @if let Some(picture) = slices::picture(analysis, &described.variant) { (picture) }
        }
    }
}

/// The runs of a variant that count.
fn of<'j>(journal: &'j Journal, variant: &VariantId) -> impl Iterator<Item = &'j Run> {
    let variant = variant.clone();
    journal.runs.iter().filter(move |run| run.variant == variant && run.counts == Counts::Yes)
}

fn item(name: &str, values: &[String]) -> Markup {
    html! {
        @if !values.is_empty() {
            dt { (name) }
            dd { @for value in values { div { (safe(value)) } } }
        }
    }
}

fn checks(journal: &Journal, variant: &VariantId) -> Vec<String> {
    let verified = journal.verified.iter().filter(|it| it.variant == *variant);
    let lines = verified.flat_map(|it| {
        let failed = it.failed.iter().map(|(name, why)| format!("failed {name}: {why}"));
        let known = it.deviates.iter().map(|(name, why)| format!("known: {name}: {why}"));
        let passed = format!("{}: {} passed", it.scenario, it.passed);
        [passed].into_iter().chain(failed).chain(known).collect::<Vec<_>>()
    });
    lines.collect()
}

/// The server's commands and those of its loads, each once. The port is another one in each run.
fn commands(runs: &[&Run]) -> Markup {
    let mut seen = BTreeSet::new();
    let first: Vec<&&Run> = runs.iter().filter(|run| seen.insert(&run.workload)).collect();
    let servers: BTreeSet<String> =
        first.iter().take(1).map(|run| display(&run.server_command)).collect();
    html! {
        @if !first.is_empty() {
            dt { "commands" }
            dd {
                @for command in servers { code { (safe(&command)) } }
                @for run in first {
                    @if !run.generator_command.is_empty() {
                        div { (safe(&run.workload)) ": " code { (safe(&display(&run.generator_command))) } }
                    }
                }
            }
        }
    }
}

fn failures(runs: &[&Run]) -> Markup {
    let mut seen = BTreeSet::new();
    let failed = runs.iter().filter_map(|run| match &run.outcome {
        Outcome::Failed { reason, server_stderr } if seen.insert(reason) => {
            Some((&run.workload, reason, server_stderr))
        }
        _ => None,
    });
    html! {
        @for (workload, reason, log) in failed {
            dt { "failed" }
            dd {
                (safe(workload)) ": " (safe(reason))
                @if !log.is_empty() { pre tabindex="0" { (safe(&end_of(log))) } }
            }
        }
    }
}

fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
