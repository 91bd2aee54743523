//! What an experiment will do and how long that takes, before anything has been done. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    journal::Goal,
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
    /// What ends it, beside its number of blocks.
    pub goal: Goal,
}

impl Forecast {
    /// What becomes of `suite` with these subjects.
    pub(super) fn new(
        subjects: &[Subject],
        suite: &Suite,
        verification: Verification,
        goal: Goal,
    ) -> Self {
        // All blocks have the same cells.
        let block = plan::block(subjects, suite, 1, 0);
        let mut phases = BTreeMap::new();
        for workload in &suite.workloads {
            *phases.entry(workload.phase).or_default() += 1;
        }
        let scenarios =
            subjects.iter().flat_map(|subject| plan::scenarios(subject, &suite.workloads));
        let checked: Vec<Scenario> = match verification {
            Verification::Full | Verification::AllOrNothing => scenarios.collect(),
            Verification::LeftOut => Vec::new(),
        };
        let is_pilot = |step: &&Step| step.copy == 0 && suite.workloads[step.workload].needs_rate();
        let pilots: Vec<Duration> = block
            .iter()
            .filter(is_pilot)
            .map(|step| pilot::estimate(&suite.workloads[step.workload]))
            .collect();
        Self {
            blocks: suite.blocks,
            warmup_blocks: suite.warmup_blocks,
            variants: subjects.len(),
            phases,
            pilots: pilots.len(),
            checks: checked.len(),
            checks_time: checked.into_iter().map(checks_time).sum(),
            pilots_time: pilots.into_iter().fold(Duration::ZERO, Duration::saturating_add),
            goal,
            ..Self::default()
        }
    }

    /// The same with the runs of each block.
    pub(super) fn with_units(
        self,
        units: &[Unit],
        suite: &Suite,
        estimate: impl Fn(&Workload) -> Duration,
    ) -> Self {
        let steps: Vec<&Step> = units.iter().flat_map(Unit::steps).collect();
        let cells: BTreeSet<_> = steps.iter().map(|it| (it.subject, it.workload)).collect();
        let time = |step: &&Step| estimate(&suite.workloads[step.workload]);
        let block_time = steps.iter().map(time).fold(Duration::ZERO, Duration::saturating_add);
        // A budget ends it before a block that would exceed it, and an answer needs three.
        let least = if self.goal.until_decided { LEAST_UNTIL_DECIDED } else { 1 };
        let budget = self.goal.budget.unwrap_or(Duration::MAX).max(block_time * least);
        let held = budget.as_nanos() / block_time.as_nanos().max(1);
        let held = u32::try_from(held).ok().filter(|_| self.goal.until_decided);
        let counted = self.blocks.min(held.unwrap_or(u32::MAX));
        let blocks = self.warmup_blocks.saturating_add(counted);
        Self {
            blocks: counted,
            in_cohorts: units.iter().any(|unit| matches!(unit, Unit::Cohort(_))),
            runs: steps.len() * blocks as usize,
            repeated: (steps.len() - cells.len()) * blocks as usize,
            block_time,
            runs_time: block_time.saturating_mul(blocks).min(budget),
            ..self
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
        let units = plan::block(&subjects, &suite, 1, 0).into_iter().map(Unit::Run);
        let units: Vec<Unit> = units.collect();
        let with = |verification, goal| {
            let forecast = Forecast::new(&subjects, &suite, verification, goal);
            forecast.with_units(&units, &suite, plan::estimate)
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
        let held = |blocks| {
            let goal = Goal {
                budget: Some(forecast.block_time * blocks),
                until_decided: true,
                precision: None,
            };
            Forecast { blocks: 200, ..with(Verification::Full, goal) }.with_units(
                &units,
                &suite,
                plan::estimate,
            )
        };
        assert_eq!([1, 7, 300].map(|blocks| held(blocks).blocks), [3, 7, 200]);
        assert_eq!(held(7).runs_time, forecast.block_time * 7);
    }
}
