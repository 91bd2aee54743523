//! The states of the machine during a run, and which visits are compared: those of one state, because ratios
//! between servers differ from one to the other. Only the probe's readings decide, never results.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use wirebench_schema::journal::{Counts, Distances, Journal, Measurement, Run, Visit};
use wirebench_stats::states::{States, fewest_visits, least};

/// Visits that every instance of a cohort has in the chosen state, for the cohort to be complete.
const COMPLETE: usize = 2;

/// The states of a run, and the chosen one.
#[derive(Clone, Debug)]
pub(crate) struct Machine<'a> {
    pub(crate) states: States,
    chosen: Option<usize>,
    cohorts: Cohorts<'a>,
    pub(super) journal: &'a Journal,
}

/// Which visits of a workload are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filter {
    pub(super) state: usize,
    /// How many of them an instance has at least, or it has no value in its cohort.
    pub(super) fewest: usize,
}

/// The states in which one workload was measured.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
pub struct MachineStates {
    /// The chosen one, or the only one; absent if nothing was probed.
    pub compared: Option<StateShare>,
    /// The others.
    pub others: Vec<StateShare>,
    /// Visits in which the state changed, or that were not probed.
    #[serde(rename = "visits_mixed")]
    pub mixed: usize,
    /// Cohorts in which every instance has at least two visits in the compared state.
    pub cohorts_complete: usize,
    /// Whether all visits are compared although there are several states: too few cohorts have visits of all
    /// instances in one.
    pub is_mixed: bool,
}

/// One state, and how many visits that count were in it.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct StateShare {
    /// Its number; the nearest is 0.
    pub state: usize,
    /// The median distance of each pair of CPUs.
    pub distance_ns: Vec<f64>,
    /// The visits of all instances.
    pub visits: usize,
}

/// How many visits that count each instance of a load has in each state, by workload, block and cohort.
type Cohorts<'a> = BTreeMap<(&'a str, u32, u32), Vec<Vec<usize>>>;

impl<'a> Machine<'a> {
    /// Of all runs of a journal.
    pub(crate) fn of(journal: &'a Journal) -> Self {
        let windows = counting(journal).filter_map(|run| run.outcome.measured());
        let all: Vec<&Distances> = windows.flat_map(distances).collect();
        let readings: Vec<&[u32]> = all.iter().filter_map(|it| it.readings()).flatten().collect();
        let states = States::of(&readings);
        let cohorts = cohorts(journal, &states);
        let chosen = states.choose(&cohorts.values().cloned().collect::<Vec<_>>());
        Self { states, chosen, cohorts, journal }
    }

    /// The same with another state, if there is such a one.
    pub(crate) fn choosing(&self, state: usize) -> Self {
        Self { chosen: Some(state), ..self.clone() }
    }

    /// The state whose visits alone are compared of this workload; none if all are.
    pub(crate) fn filter(&self, workload: &str) -> Option<Filter> {
        let state = self.chosen?;
        fewest_visits(&self.cohorts_of(workload), state).map(|fewest| Filter { state, fewest })
    }

    /// True of the distances of visits that are compared: of all without a filter.
    pub(crate) fn keep(&self, filter: Option<Filter>) -> impl Fn(&Distances) -> bool {
        move |it| {
            filter.is_none_or(|filter| self.states.during(it.readings()) == Some(filter.state))
        }
    }

    fn cohorts_of(&self, workload: &str) -> impl Iterator<Item = &Vec<Vec<usize>>> + Clone {
        self.cohorts.iter().filter(move |((name, ..), _)| *name == workload).map(|(_, it)| it)
    }

    /// In which states this workload was measured.
    pub(super) fn of_workload(&self, workload: &str) -> MachineStates {
        let runs = counting(self.journal).filter(|run| run.workload == workload);
        let windows = runs.filter_map(|run| run.outcome.measured()).flat_map(distances);
        let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        windows.for_each(|it| *counts.entry(self.states.during(it.readings())).or_default() += 1);
        let of = |state: usize| StateShare {
            state,
            distance_ns: self.states.distance_ns(state).to_vec(),
            visits: counts.get(&Some(state)).copied().unwrap_or(0),
        };
        let complete =
            |state| self.cohorts_of(workload).filter(|it| least(it, state) >= COMPLETE).count();
        let states = self.states.count();
        let compared = self.chosen.or((states == 1).then_some(0));
        MachineStates {
            compared: compared.map(of),
            others: (0..states).filter(|it| Some(*it) != compared).map(of).collect(),
            mixed: counts.get(&None).copied().filter(|_| states > 0).unwrap_or(0),
            cohorts_complete: compared.map_or(0, complete),
            is_mixed: states > 1 && self.filter(workload).is_none(),
        }
    }
}

fn cohorts<'a>(journal: &'a Journal, states: &States) -> Cohorts<'a> {
    let mut cohorts = Cohorts::new();
    for run in counting(journal) {
        let Some(measured) = run.outcome.measured() else { continue };
        let mut counts = vec![0; states.count()];
        let seen = distances(measured).filter_map(|it| states.during(it.readings()));
        seen.for_each(|state| counts[state] += 1);
        cohorts.entry((&run.workload, run.block, run.cohort())).or_default().push(counts);
    }
    cohorts
}

/// Cohorts that are complete in the chosen state for every load; none on a machine with one state.
#[must_use]
pub fn complete_cohorts(journal: &Journal) -> Option<u32> {
    let machine = Machine::of(journal);
    let chosen = machine.chosen?;
    let mut blocks: BTreeMap<u32, bool> = BTreeMap::new();
    for ((_, block, _), cohort) in &machine.cohorts {
        *blocks.entry(*block).or_insert(true) &= least(cohort, chosen) >= COMPLETE;
    }
    u32::try_from(blocks.into_values().filter(|is_complete| *is_complete).count()).ok()
}

fn counting(journal: &Journal) -> impl Iterator<Item = &Run> {
    journal.runs.iter().filter(|run| run.counts == Counts::Yes)
}

/// Where the CPUs were in each visit that counts, or in the only window of a run.
fn distances(measured: &Measurement) -> impl Iterator<Item = &Distances> {
    let window = measured.visits.is_empty().then_some(&measured.distances);
    window.into_iter().chain(Visit::counted(&measured.visits).into_iter().map(|it| &it.distances))
}
