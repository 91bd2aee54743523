//! What there is of a plan: the results of its blocks, whether they belong together, and what is missing.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};
use wirebench_experiment::{
    experiment::{between_parts, results_in},
    journal,
};
use wirebench_schema::{
    environment::Environment,
    journal::{Counts, EndReason, Journal, Start},
};

use crate::exit::{incomparable, usage};

/// The result of one block.
#[derive(Debug)]
pub(super) struct BlockResult {
    pub(super) folder: PathBuf,
    pub(super) journal: Journal,
    pub(super) machine: Option<Environment>,
    /// Why it is not complete, if so.
    pub(super) failure: Option<&'static str>,
}

/// The blocks of one plan.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// By their numbers, from 1. A block that failed and was measured again has its complete result.
    pub(super) results: BTreeMap<u32, BlockResult>,
    /// Folders without a result, and results that cannot be read, with the reasons.
    pub(super) problems: Vec<String>,
}

impl Blocks {
    /// Reads all results in `folders`. Those of different plans are an error.
    pub(super) fn read(folders: &[PathBuf]) -> anyhow::Result<Self> {
        let mut blocks = Self::default();
        let mut seen = BTreeSet::new();
        for folder in folders {
            let results = results_in(folder);
            if results.is_empty() {
                blocks.problems.push(format!("{} has no result", folder.display()));
            }
            for result in results {
                if seen.insert(result.canonicalize().unwrap_or_else(|_| result.clone())) {
                    blocks.add(&result)?;
                }
            }
        }
        blocks.check()?;
        Ok(blocks)
    }

    fn add(&mut self, folder: &Path) -> anyhow::Result<()> {
        let read = journal::read(folder).and_then(|it| Ok((it, journal::environment(folder)?)));
        let (journal, machine) = match read {
            Ok(read) => read,
            Err(reason) => {
                self.problems.push(reason);
                return Ok(());
            }
        };
        let shown = folder.display();
        let Some(block) = journal.start.block else {
            return Err(incomparable(format!(
                "{shown} is not one block of a plan: join results of `run --block K/N` or `ab --block K/N`"
            )));
        };
        let failure = failure(&journal, block);
        let before = self.results.get(&block).filter(|it| it.failure.is_none());
        match before {
            Some(before) if failure.is_none() => {
                return Err(usage(format!(
                    "block {block} is there twice, in {} and {shown}: omit one of them",
                    before.folder.display()
                )));
            }
            Some(_) => {}
            None => {
                let result = BlockResult { folder: folder.to_owned(), journal, machine, failure };
                self.results.insert(block, result);
            }
        }
        Ok(())
    }

    /// Refuses results of different plans.
    fn check(&self) -> anyhow::Result<()> {
        let mut results = self.results.values();
        let Some(first) = results.next() else { return Ok(()) };
        for other in results {
            let [one, another] = [first, other].map(|it| (&it.journal.start, it.machine.as_ref()));
            let mut differences = between_parts(one, another);
            if first.failure.is_none() && other.failure.is_none() {
                differences.extend(between_rates(&first.journal, &other.journal));
            }
            if !differences.is_empty() {
                let list: String = differences.iter().map(|it| format!("\n  {it}")).collect();
                return Err(incomparable(format!(
                    "cannot join {} and {}, because these differ:{list}\nMeasure one of the blocks again, as the \
                     other was measured",
                    first.folder.display(),
                    other.folder.display()
                )));
            }
        }
        Ok(())
    }

    /// The head of any of them.
    pub(super) fn start(&self) -> Option<&Start> {
        self.results.values().next().map(|it| &it.journal.start)
    }

    pub(super) fn complete(&self) -> impl Iterator<Item = (u32, &BlockResult)> {
        let all = self.results.iter().map(|(number, result)| (*number, result));
        all.filter(|(_, result)| result.failure.is_none())
    }

    /// The numbers of the blocks that are not complete.
    pub(super) fn missing(&self) -> Vec<u32> {
        let all = self.start().map_or(0, |start| start.blocks);
        let complete: BTreeSet<u32> = self.complete().map(|(number, _)| number).collect();
        (1..=all).filter(|number| !complete.contains(number)).collect()
    }
}

/// Why the journal does not have all of its block, if so.
fn failure(journal: &Journal, block: u32) -> Option<&'static str> {
    let number = journal.start.warmup_blocks + block - 1;
    let has_runs =
        journal.runs.iter().any(|run| run.counts != Counts::Pilot && run.block == number);
    match journal.end.as_ref().map(|end| end.reason) {
        None => Some("cut off, or not at its end yet"),
        Some(EndReason::Complete) if has_runs => None,
        Some(EndReason::Complete) => Some("nothing was measured"),
        Some(_) => Some("interrupted"),
    }
}

/// The loads that had different rates.
fn between_rates(one: &Journal, other: &Journal) -> Vec<String> {
    let rate = |journal: &Journal, name: &str| {
        let found = journal.rates.iter().find(|it| it.workload == name);
        found.map_or_else(|| "none".to_owned(), |it| it.requests_per_second.to_string())
    };
    let names: BTreeSet<&str> =
        one.rates.iter().chain(&other.rates).map(|it| it.workload.as_str()).collect();
    let pairs = names.into_iter().map(|name| (name, rate(one, name), rate(other, name)));
    let different = pairs.filter(|(_, one, other)| one != other);
    different
        .map(|(name, one, other)| format!("the rate of {name} was `{one}` and is `{other}`"))
        .collect()
}
