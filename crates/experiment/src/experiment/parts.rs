//! Blocks of one experiment that are measured apart, as on several machines: which of it is measured here, where its
//! rates come from, and whether two parts belong together.

use std::path::{Path, PathBuf};
use wirebench_schema::{
    environment::Environment,
    journal::{FixedRate, Journal, Start},
    secrets,
    suite::Workload,
};

use super::{Differences, Experiment, Prepared, changed};
use crate::journal;

/// One block of an experiment whose other blocks are measured apart.
#[derive(Clone, Debug)]
pub struct ExperimentPart {
    /// The block, from 1. Warm-up blocks are not counted: each part has them.
    pub block: u32,
    /// The result whose rates hold here, too.
    pub rates: Option<PathBuf>,
}

/// The results that `folder` is or has in it, in the order in which they began.
#[must_use]
pub fn results_in(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() || journal::is_in(folder) {
        return vec![folder.to_owned()];
    }
    let inside = folder.read_dir().into_iter().flatten().flatten().map(|it| it.path());
    let mut results: Vec<PathBuf> = inside.filter(|it| journal::is_in(it)).collect();
    results.sort();
    results
}

/// Why two parts do not belong to one experiment, a sentence for each reason.
#[must_use]
pub fn between_parts(
    (one, its_machine): (&Start, Option<&Environment>),
    (other, other_machine): (&Start, Option<&Environment>),
) -> Vec<String> {
    let mut sentences = changed::between_starts(one, other);
    if let (Some(one), Some(other)) = (its_machine, other_machine) {
        let mut differences = Differences::default();
        changed::environment(one, other, &mut differences);
        sentences.extend(differences.refusing);
    }
    sentences
}

/// The rates that hold for the part of `experiment` that is measured here, before its pilot. `start` is the head of its
/// journal.
pub(super) fn known_rates(
    experiment: &Experiment,
    prepared: &Prepared,
    start: &Start,
) -> Result<Vec<FixedRate>, String> {
    let Some(part) = &experiment.part else { return Ok(Vec::new()) };
    let needs_rate = |it: &&Workload| it.needs_rate();
    let Some(folder) = &part.rates else {
        let pilot = experiment.suite.workloads.iter().find(needs_rate);
        let Some(needy) = pilot.filter(|_| part.block > 1) else { return Ok(Vec::new()) };
        return Err(format!(
            "all blocks have the rate of `{}` that the pilot of block 1 finds: add --rates FOLDER with the result of \
             block 1, or --rate N to all blocks",
            needy.name
        ));
    };
    let shown = folder.display();
    let of_rates: Journal = journal::read(folder)?;
    let machine = journal::environment(folder)?;
    let mut now = start.clone();
    if !of_rates.start.keeps_secrets() {
        // Those that cannot be written differ from those in the journal.
        now.workloads = secrets::hidden(now.workloads.clone()).unwrap_or(now.workloads);
    }
    let here = (&now, Some(&prepared.environment));
    let differences = between_parts((&of_rates.start, machine.as_ref()), here);
    if !differences.is_empty() {
        let list: String = differences.iter().map(|it| format!("\n  {it}")).collect();
        return Err(format!(
            "the rates of {shown} do not hold here, because it is not of the same plan:{list}"
        ));
    }
    let lacks = |it: &&Workload| {
        needs_rate(it) && !of_rates.rates.iter().any(|rate| rate.workload == it.name)
    };
    match experiment.suite.workloads.iter().find(lacks) {
        None => Ok(of_rates.rates),
        Some(needy) => Err(format!(
            "{shown} has no rate of `{}`: measure block 1 again, and give its result to --rates",
            needy.name
        )),
    }
}
