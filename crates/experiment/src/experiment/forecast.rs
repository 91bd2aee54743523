//! What an experiment will do and how long that takes, before anything has been done. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    journal::{Goal, Procedure},
    scenario::Scenario,
    suite::{Phase, Suite, Workload},
    verification::Verification,
};

use super::{Unit, pilot};
use crate::{
    plan::{self, Step},
    why,
};

/// What the checks of a scenario take: a dozen starts of the server, and waiting for what must not
/// happen.
const ASSUMED_CHECKS: Duration = Duration::from_millis(2000);

/// What the checks of timeouts take besides: they must be seen to fire.
const ASSUMED_TIMEOUT_CHECKS: Duration = Duration::from_millis(1200);

/// Blocks of an experiment that ends when it is decided, whatever its budget.
const LEAST_UNTIL_DECIDED: u32 = 3;

/// What an experiment will do, and how long that takes, about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    pub blocks: u32,
    pub warmup_blocks: u32,
    /// Whether the runs of a block are measured with cohorts.
    pub in_cohorts: bool,
    pub variants: usize,
    /// How many workloads each phase has.
    pub phases: BTreeMap<Phase, usize>,
    pub runs: usize,
    /// Those among them that repeat a cell within its block.
    pub repeated: usize,
    /// Runs before the blocks, to find the rates of cost phases.
    pub pilots: usize,
    /// Scenarios of variants that are checked first.
    pub checks: usize,
    pub block_time: Duration,
    pub checks_time: Duration,
    pub pilots_time: Duration,
    pub runs_time: Duration,
    /// Profiles after the runs.
    pub whys: usize,
    /// Conditions that end it, in addition to its number of blocks.
    pub goal: Goal,
}

impl Forecast {
    /// What becomes of `suite` with these subjects, in units like those of each block.
    pub(super) fn new(
        (subjects, suite): (&[Subject], &Suite),
        units: &[Unit],
        (verification, goal): (Verification, Goal),
        estimate: impl Fn(&Workload) -> Duration,
    ) -> Self {
        let workload = |step: &&Step| &suite.workloads[step.workload];
        let add = Duration::saturating_add;
        let mut phases = BTreeMap::new();
        for workload in &suite.workloads {
            *phases.entry(workload.phase).or_default() += 1;
        }
        let scenarios = subjects.iter().flat_map(|it| plan::scenarios(it, &suite.workloads));
        let is_checked = verification != Verification::LeftOut;
        let checked: Vec<Scenario> = scenarios.filter(|_| is_checked).collect();
        // All blocks have the same cells.
        let block = plan::block(subjects, suite, 1, 0);
        let is_pilot = |step: &&Step| step.copy == 0 && workload(step).needs_rate();
        let pilots: Vec<&Step> = block.iter().filter(is_pilot).collect();
        let steps: Vec<&Step> = units.iter().flat_map(|it| &it.steps).collect();
        let cells: BTreeSet<_> = steps.iter().map(|it| (it.subject, it.workload)).collect();
        let block_time = steps.iter().map(workload).map(estimate).fold(Duration::ZERO, add);
        // A budget ends it before a block that would exceed it, and an answer needs three.
        let least = if goal.until_decided { LEAST_UNTIL_DECIDED } else { 1 };
        let budget = goal.budget.unwrap_or(Duration::MAX).max(block_time * least);
        let held = u32::try_from(budget.as_nanos() / block_time.as_nanos().max(1));
        let held = held.ok().filter(|_| goal.until_decided);
        let counted = suite.blocks.min(held.unwrap_or(u32::MAX));
        let blocks = suite.warmup_blocks.saturating_add(counted);
        let pilot_times = pilots.iter().map(workload).map(pilot::estimate);
        Self {
            blocks: counted,
            warmup_blocks: suite.warmup_blocks,
            in_cohorts: units.iter().any(|unit| unit.procedure == Procedure::Short),
            variants: subjects.len(),
            phases,
            runs: steps.len() * blocks as usize,
            repeated: (steps.len() - cells.len()) * blocks as usize,
            pilots: pilots.len(),
            checks: checked.len(),
            block_time,
            checks_time: checked.into_iter().map(checks_time).sum(),
            pilots_time: pilot_times.fold(Duration::ZERO, add),
            runs_time: block_time.saturating_mul(blocks).min(budget),
            whys: 0,
            goal,
        }
    }

    #[must_use]
    pub fn time(&self) -> Duration {
        let times = [self.checks_time, self.pilots_time, self.runs_time, self.whys_time()];
        times.into_iter().fold(Duration::ZERO, Duration::saturating_add)
    }

    /// The time of the profiles.
    #[must_use]
    pub fn whys_time(&self) -> Duration {
        why::ESTIMATE.saturating_mul(u32::try_from(self.whys).unwrap_or(u32::MAX))
    }
}

fn checks_time(scenario: Scenario) -> Duration {
    match scenario {
        Scenario::HelloTimeout => ASSUMED_CHECKS + ASSUMED_TIMEOUT_CHECKS,
        _ => ASSUMED_CHECKS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn everything_that_takes_time_is_counted() {
        let subjects = fixtures::subjects(&[]);
        let phases = "phases = [\"saturate\", \"cost\"]\nduration = \"1s\"";
        let suite = fixtures::suite("blocks = 3\nwarmup_blocks = 1", &[phases]);
        let units = plan::block(&subjects, &suite, 1, 0).into_iter().map(Unit::whole);
        let units: Vec<Unit> = units.collect();
        let with = |verification, goal| {
            Forecast::new((&subjects, &suite), &units, (verification, goal), plan::estimate)
        };
        let forecast = |verification| with(verification, Goal::default());
        let unchecked = forecast(Verification::LeftOut);
        let forecast = forecast(Verification::Full);
        // Two variants and the A/A run in each of two workloads.
        assert_eq!((forecast.runs, forecast.repeated), (4 * 6, 4 * 2));
        assert_eq!((forecast.checks, forecast.pilots, forecast.variants), (2, 2, 2));
        assert!(forecast.runs_time > Duration::from_secs(24));
        let pilots_time = pilot::estimate(&suite.workloads[1]) * 2;
        assert_eq!(forecast.time(), forecast.runs_time + ASSUMED_CHECKS * 2 + pilots_time);
        assert_eq!((unchecked.checks, unchecked.checks_time), (0, Duration::ZERO));
        let many = fixtures::suite("blocks = 200\nwarmup_blocks = 1", &[phases]);
        let held = |blocks| {
            let goal = Goal {
                budget: Some(forecast.block_time * blocks),
                until_decided: true,
                precision: None,
            };
            let checks = (Verification::Full, goal);
            Forecast::new((&subjects, &many), &units, checks, plan::estimate)
        };
        assert_eq!([1, 7, 300].map(|blocks| held(blocks).blocks), [3, 7, 200]);
        assert_eq!(held(7).runs_time, forecast.block_time * 7);
    }
}
