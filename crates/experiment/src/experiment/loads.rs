//! What the blocks are made of once the rates of cost phases are known. Pure.

use std::collections::BTreeSet;
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    id::VariantId,
    journal::{FixedRate, Verified},
    suite::{Suite, Workload},
};

use crate::plan::Step;

/// What the blocks are made of.
#[derive(Debug)]
pub(super) struct Loads {
    /// The suite, with the rate of each cost phase in it.
    pub(super) suite: Suite,
    /// Variants that are not run in a workload: they cannot hold its rate, or failed a check.
    excluded: BTreeSet<(VariantId, String)>,
}

impl Loads {
    /// The suite at the rates that were found, without what failed a check.
    pub(super) fn new(suite: &Suite, rates: &[FixedRate], verified: &[Verified]) -> Self {
        let mut suite = suite.clone();
        let mut excluded = BTreeSet::new();
        for workload in &mut suite.workloads {
            let is_failed =
                |it: &&Verified| it.scenario == workload.scenario && !it.failed.is_empty();
            let failed = verified.iter().filter(is_failed);
            excluded.extend(failed.map(|it| (it.variant.clone(), workload.name.clone())));
            let Some(rate) = rates.iter().find(|rate| rate.workload == workload.name) else {
                continue;
            };
            if workload.needs_rate() {
                *workload = workload.at_rate(rate.requests_per_second);
            }
            let slow = rate.too_slow.iter().map(|(variant, _)| variant.clone());
            excluded.extend(slow.map(|variant| (variant, workload.name.clone())));
        }
        Self { suite, excluded }
    }

    /// Whether the run is made: the variant conforms and can hold the rate, and there is one.
    pub(super) fn has_step(&self, subjects: &[Subject], step: &Step) -> bool {
        self.has(&subjects[step.subject].variant.id, &self.suite.workloads[step.workload])
    }

    fn has(&self, variant: &VariantId, workload: &Workload) -> bool {
        !workload.needs_rate() && !self.excluded.contains(&(variant.clone(), workload.name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::Rate;

    #[test]
    fn a_cost_phase_is_run_at_its_rate_by_those_that_can_hold_it() {
        let phases = "duration = \"1s\"\nphases = [\"saturate\", \"cost\"]";
        let suite = crate::fixtures::suite("blocks = 1", &[phases]);
        let [fast, slow]: [VariantId; 2] = ["c/a", "c/b"].map(|id| id.parse().unwrap());
        let unknown = Loads::new(&suite, &[], &[]);
        assert!(unknown.has(&fast, &suite.workloads[0]));
        assert!(!unknown.has(&fast, &unknown.suite.workloads[1]), "it has no rate");
        let rate = FixedRate {
            workload: "a-cost".to_owned(),
            requests_per_second: Rate::per_second(700),
            reason: String::new(),
            reached: Vec::new(),
            too_slow: vec![(slow.clone(), String::new())],
        };
        let loads = Loads::new(&suite, &[rate], &[]);
        assert_eq!(loads.suite.workloads[0], suite.workloads[0]);
        let cost = &loads.suite.workloads[1];
        assert_eq!(*cost, suite.workloads[1].at_rate(700_u64));
        assert!(loads.has(&fast, cost) && !loads.has(&slow, cost));
        assert!(loads.has(&slow, &loads.suite.workloads[0]));
    }
}
