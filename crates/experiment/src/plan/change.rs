//! What a user changes of a suite on the command line. It reads nothing; a suite goes in, another
//! one comes out.

use std::collections::BTreeSet;
use wirebench_schema::{
    load::{LoadModel, RequestSet, Trust},
    scenario::Scenario,
    suite::{Phase, ShapePatch, Suite, Workload},
};

/// The most blocks of a run; more would take days.
const MOST_BLOCKS: u32 = 10_000;

/// The most copies of a variant; more tell nothing new.
const MOST_COPIES: u32 = 100;

/// What a user requests instead of a scenario's contract.
#[derive(Clone, Debug)]
pub struct Asked {
    pub requests: RequestSet,
    /// Header lines of each request that has no such line.
    pub headers: Vec<(String, String)>,
    pub trust: Trust,
}

impl Asked {
    /// Makes `workload` one of these requests.
    pub fn apply(&self, workload: &mut Workload) {
        workload.scenario = Scenario::Requests;
        workload.requests = Some(self.requests.clone());
        workload.headers.extend(self.headers.iter().cloned());
        workload.trust = self.trust.clone();
    }
}

/// What a user changes of a suite on the command line.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub blocks: Option<u32>,
    /// Copies of each variant; differences between them are noise.
    pub copies: Option<u32>,
    pub workers: Option<u32>,
    /// Another shape of the loads.
    pub shape: ShapePatch,
    /// Only the workloads of these scenarios; empty means all. For a scenario without one, the
    /// first workload of each phase serves as the model.
    pub scenarios: Vec<Scenario>,
    /// Requests of the workloads of the scenario `requests` that have none.
    pub requests: Option<RequestSet>,
    /// Requests of all workloads, which then have the scenario `requests`.
    pub asked: Option<Asked>,
    /// Only the workloads of these phases; empty means all. For a phase without one, the workloads
    /// that saturate serve as models.
    pub phases: Vec<Phase>,
}

/// Applies the changes, or says which of them leaves nothing to measure.
pub fn change(suite: &mut Suite, changes: &Changes) -> Result<(), String> {
    suite.blocks = changes.blocks.unwrap_or(suite.blocks);
    suite.copies = changes.copies.unwrap_or(suite.copies);
    suite.workers = changes.workers.or(suite.workers);
    check_counts(suite)?;
    match &changes.asked {
        Some(asked) => {
            choose_scenarios(suite, &[Scenario::Requests]);
            for workload in &mut suite.workloads {
                asked.apply(workload);
                // The rate of a suite is one that its entries reach; a pilot finds that of other requests.
                if workload.phase == Phase::Cost {
                    workload.model = LoadModel::Closed;
                }
            }
        }
        None => choose_scenarios(suite, &changes.scenarios),
    }
    let asks = |it: &&mut Workload| it.scenario == Scenario::Requests && it.requests.is_none();
    for workload in suite.workloads.iter_mut().filter(asks) {
        workload.requests.clone_from(&changes.requests);
    }
    choose_phases(suite, &changes.phases)?;
    let before = suite.workloads.clone();
    for workload in &mut suite.workloads {
        workload.workers = changes.workers.or(workload.workers);
    }
    changes.shape.apply_to_all(&mut suite.workloads)?;
    drop_equal(suite, &before);
    Ok(())
}

/// Of workloads that differed in more than their names `before` and no longer do, the first one stays.
fn drop_equal(suite: &mut Suite, before: &[Workload]) {
    let are_equal =
        |a: &Workload, b: &Workload| Workload { name: b.name.clone(), ..a.clone() } == *b;
    let now = suite.workloads.clone();
    let became_equal = |one: usize, other: usize| {
        are_equal(&now[one], &now[other]) && !are_equal(&before[one], &before[other])
    };
    let is_kept = |this: &usize| !(0..*this).any(|earlier| became_equal(*this, earlier));
    suite.workloads = (0..now.len()).filter(is_kept).map(|it| now[it].clone()).collect();
}

fn check_counts(suite: &Suite) -> Result<(), String> {
    let counts = [("blocks", suite.blocks, MOST_BLOCKS), ("copies", suite.copies, MOST_COPIES)];
    for (what, count, most) in counts {
        if count == 0 {
            return Err(format!("0 {what} measure nothing: give --{what} at least 1"));
        }
        if count > most {
            return Err(format!("--{what} {count} is too many: give at most {most}"));
        }
    }
    match suite.workers {
        Some(0) => Err("0 workers serve nothing: give --workers at least 1".to_owned()),
        _ => Ok(()),
    }
}

fn choose_scenarios(suite: &mut Suite, scenarios: &[Scenario]) {
    if scenarios.is_empty() {
        return;
    }
    let mut phases = BTreeSet::new();
    let models = suite.workloads.iter().filter(|workload| phases.insert(workload.phase));
    let models: Vec<Workload> = models.cloned().collect();
    suite.workloads.retain(|workload| scenarios.contains(&workload.scenario));
    for &scenario in scenarios {
        if suite.workloads.iter().any(|workload| workload.scenario == scenario) {
            continue;
        }
        for (index, model) in models.iter().enumerate() {
            let name = match index {
                0 => scenario.name().to_owned(),
                _ => format!("{scenario}-{}", model.phase),
            };
            suite.workloads.push(Workload { name, scenario, ..model.clone() });
        }
    }
}

fn choose_phases(suite: &mut Suite, phases: &[Phase]) -> Result<(), String> {
    if phases.is_empty() {
        return Ok(());
    }
    let of = |phase| suite.workloads.iter().filter(move |workload| workload.phase == phase);
    let saturating: Vec<&Workload> = of(Phase::Saturate).collect();
    let all: Vec<&Workload> = suite.workloads.iter().collect();
    let models = if saturating.is_empty() { all } else { saturating };
    let mut chosen: Vec<Workload> = Vec::new();
    for phase in Phase::ALL.into_iter().filter(|phase| phases.contains(phase)) {
        if of(phase).next().is_some() {
            chosen.extend(of(phase).cloned());
        } else {
            chosen.extend(models.iter().map(|model| model.in_phase(phase)));
        }
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = chosen.iter().find(|workload| !names.insert(&workload.name)) {
        return Err(format!(
            "two workloads would be named `{}`: write the phases into the suite's file instead of \
             giving --phase",
            twice.name
        ));
    }
    suite.workloads = chosen;
    Ok(())
}

#[cfg(test)]
mod tests;
