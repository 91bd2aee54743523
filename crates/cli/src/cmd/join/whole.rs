//! The result of a whole plan, made of the results of its blocks.

use anyhow::Context as _;
use std::{fs, path::Path};
use wirebench_experiment::{
    experiment::{ENVIRONMENT_FILE, Finished},
    journal::{OpenJournal, new_run_folder, now},
};
use wirebench_schema::journal::{
    Counts, End, EndReason, Journal, Part, Record, Run, Start, Verified,
};

use super::{
    blocks::{BlockResult, Blocks},
    words,
};
use crate::results::stored;

/// Writes the result in a new folder below `results`.
pub(super) fn write(blocks: &Blocks, results: &Path) -> anyhow::Result<Finished> {
    let (_, first) = blocks.complete().next().context("no block is complete")?;
    let folder = new_run_folder(results, &first.journal.start.suite)?;
    let environment = folder.join(ENVIRONMENT_FILE);
    if first.machine.is_some() {
        fs::copy(first.folder.join(ENVIRONMENT_FILE), &environment)
            .with_context(|| environment.display().to_string())?;
    }
    let mut whole = OpenJournal::begin(&folder, start(blocks, first), Vec::new())?;
    for (number, result) in &blocks.results {
        let records = match result.failure {
            None => records(whole.journal(), *number, result)?,
            Some(failure) => vec![Record::Part(part(*number, result, Some(failure))?)],
        };
        whole.write_all(records)?;
    }
    let reason =
        if blocks.missing().is_empty() { EndReason::Complete } else { EndReason::Interrupted };
    whole.write(Record::End(End { ended: ended(blocks), reason }))?;
    let (folder, journal) = whole.close();
    Ok(Finished { folder, journal })
}

/// The head of the whole: that of the first block, as if all had been measured in one go.
fn start(blocks: &Blocks, first: &BlockResult) -> Start {
    let start = &first.journal.start;
    let begun = blocks.complete().map(|(_, it)| it.journal.start.started.as_str()).min();
    Start {
        command: words::of_plan(start),
        started: begun.unwrap_or(&start.started).to_owned(),
        block: None,
        ..start.clone()
    }
}

/// When the last block ended.
fn ended(blocks: &Blocks) -> String {
    let ends = blocks.complete().filter_map(|(_, it)| it.journal.end.as_ref());
    ends.map(|end| end.ended.clone()).max().unwrap_or_else(now)
}

/// The runs of a block, and what is known from then on.
fn records(known: &Journal, number: u32, result: &BlockResult) -> anyhow::Result<Vec<Record>> {
    let part = &result.journal;
    let mut records = Vec::new();
    let is_new = |it: &&_| !known.unavailable.contains(it);
    records.extend(part.unavailable.iter().filter(is_new).cloned().map(Record::Unavailable));
    let is_new = |it: &&Verified| {
        let mut all = known.verified.iter();
        !all.any(|of| (&of.variant, of.scenario) == (&it.variant, it.scenario))
    };
    records.extend(part.verified.iter().filter(is_new).cloned().map(Record::Verified));
    if known.rates.is_empty() {
        records.extend(part.rates.iter().cloned().map(Record::Rate));
    }
    // Each machine has warmed up, and a plan does so once.
    let is_first = known.runs.is_empty();
    let is_in = |run: &&Run| is_first || run.counts == Counts::Yes;
    let runs = part.runs.iter().filter(is_in).cloned();
    records.extend(runs.map(|run| Record::Run(Box::new(run))));
    records.push(Record::Part(self::part(number, result, None)?));
    Ok(records)
}

fn part(number: u32, result: &BlockResult, failure: Option<&str>) -> anyhow::Result<Part> {
    Ok(Part {
        pair: hosts(result),
        machine: stored::machine(&result.folder)?,
        block: result.journal.start.warmup_blocks + number - 1,
        failure: failure.map(str::to_owned),
    })
}

/// The host of the servers, and those of the load if there are any.
fn hosts(result: &BlockResult) -> String {
    let server = result.machine.as_ref().map_or("unknown", |it| it.host.as_str());
    let measured = result.journal.runs.iter().filter_map(|run| run.outcome.measured());
    let generators = measured.map(|it| &it.load.generators).find(|it| !it.is_empty());
    let load: Vec<&str> = generators.into_iter().flatten().map(|it| it.host.as_str()).collect();
    if load.is_empty() { server.to_owned() } else { format!("{server}:{}", load.join("+")) }
}
