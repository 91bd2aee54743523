//! What each server is and how it was started: a table of kinds, start times and memory, and for each
//! server what opens to its versions, checks, commands and failures.

use std::collections::BTreeSet;
use wirebench_schema::{
    argv::display,
    id::VariantId,
    journal::{Counts, Described, Journal, Outcome, Run},
};

use crate::{
    analysis::Analysis,
    document::{Block, Table},
    figure_text::or_absent,
    origin::describe_versions,
    table_units::{bytes, latency},
    visits,
};

/// Lines at the end of what a failed server wrote to its standard error.
const LOG_LINES: usize = 20;

/// All servers with a run or a reason why there is none.
pub(crate) fn section(analysis: &Analysis<'_>) -> Block {
    let journal = analysis.journal;
    let servers = journal.start.variants.iter().map(|described| server(analysis, described));
    let missing = journal.unavailable.iter();
    let missing = missing.map(|it| format!("{} was not measured: {}", it.variant, it.reason));
    let blocks = [Block::Table(overview(journal))].into_iter().chain(servers);
    let blocks = blocks.chain([Block::Lines(missing.collect())]).collect();
    Block::Section("Servers".to_owned(), blocks)
}

/// What kind of server each is, and medians over its instances.
fn overview(journal: &Journal) -> Table {
    let row = |described: &Described| {
        let (ready, peak) = medians(&of(journal, &described.variant).collect::<Vec<_>>());
        let sharing = described.sharing.map(|it| format!(", {it}")).unwrap_or_default();
        let cells = [
            Some(described.variant.to_string()),
            described.class.map(|it| it.to_string()),
            described.model.map(|it| it.to_string()),
            described.mechanism.map(|it| format!("{it}{sharing}")),
            ready.map(latency),
            peak.map(|it| bytes(it.round() as u64)),
        ];
        cells.map(or_absent).to_vec()
    };
    let words = ["server", "class", "model", "mechanism"];
    Table::of(words, ["ready after", "peak memory"], journal.start.variants.iter().map(row))
}

/// The time from the start of an instance until it accepts, in nanoseconds, and its peak memory in bytes.
fn medians(runs: &[&Run]) -> (Option<f64>, Option<f64>) {
    let measured = || runs.iter().filter_map(|run| run.outcome.measured());
    let ready: Vec<f64> = measured().filter_map(|it| Some(it.instance?.ready_ns as f64)).collect();
    let read = measured().filter(|it| it.cost.is_of_processes());
    let peak: Vec<f64> = read.map(|it| it.cost.memory_peak_bytes as f64).collect();
    (wirebench_stats::median(&ready), wirebench_stats::median(&peak))
}

fn server(analysis: &Analysis<'_>, described: &Described) -> Block {
    let journal = analysis.journal;
    let runs: Vec<&Run> = of(journal, &described.variant).collect();
    let name = described.variant.to_string();
    let title = match described.title == name {
        true => name,
        false => format!("{name}: {}", described.title),
    };
    let mut blocks = vec![
        Block::list("skips", described.skips.clone()),
        Block::list("versions", describe_versions(described)),
        Block::list("checks", checks(journal, &described.variant)),
        Block::list("commands", commands(&runs)),
    ];
    blocks.extend(failures(&runs));
    blocks.push(Block::Charts(visits::chart(analysis, &described.variant).into_iter().collect()));
    Block::Folded(title, blocks)
}

/// The runs of a variant that count.
fn of<'j>(journal: &'j Journal, variant: &VariantId) -> impl Iterator<Item = &'j Run> {
    let variant = variant.clone();
    journal.runs.iter().filter(move |run| run.variant == variant && run.counts == Counts::Yes)
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
fn commands(runs: &[&Run]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let first: Vec<&&Run> = runs.iter().filter(|run| seen.insert(&run.workload)).collect();
    let server = first.first().map(|run| display(&run.server_command));
    let server = server.filter(|it| !it.is_empty());
    let loads = first.iter().filter(|run| !run.generator_command.is_empty());
    let loads = loads.map(|run| format!("{}: {}", run.workload, display(&run.generator_command)));
    server.into_iter().chain(loads).collect()
}

fn failures(runs: &[&Run]) -> Vec<Block> {
    let mut seen = BTreeSet::new();
    let failed = runs.iter().filter_map(|run| match &run.outcome {
        Outcome::Failed { reason, server_stderr } if seen.insert(reason) => {
            let line = Block::line(format!("failed: {}: {reason}", run.workload));
            Some([line, Block::Preformatted(end_of(server_stderr))])
        }
        _ => None,
    });
    failed.flatten().collect()
}

fn end_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}
