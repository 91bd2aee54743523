//! What the blocks are made of once the rates of cost phases are known. Pure.

use std::collections::BTreeSet;
use wirebench_schema::{
    id::VariantId,
    journal::FixedRate,
    suite::{Suite, Workload},
};

/// What the blocks are made of.
#[derive(Debug)]
pub(super) struct Loads {
    /// The suite, with the rate of each cost phase in it.
    pub(super) suite: Suite,
    /// Variants that are not run in a workload because they cannot hold its rate.
    too_slow: BTreeSet<(VariantId, String)>,
}

impl Loads {
    /// The suite at the rates that were found.
    pub(super) fn new(suite: &Suite, rates: &[FixedRate]) -> Self {
        let mut suite = suite.clone();
        let mut too_slow = BTreeSet::new();
        for workload in &mut suite.workloads {
            let Some(rate) = rates.iter().find(|rate| rate.workload == workload.name) else {
                continue;
            };
            if workload.needs_rate() {
                *workload = workload.at_rate(rate.requests_per_second);
            }
            let slow = rate.too_slow.iter().map(|(variant, _)| variant.clone());
            too_slow.extend(slow.map(|variant| (variant, workload.name.clone())));
        }
        Self { suite, too_slow }
    }

    /// Whether `variant` is run in `workload`: it can hold the rate, and there is one.
    pub(super) fn has(&self, variant: &VariantId, workload: &Workload) -> bool {
        !workload.needs_rate() && !self.too_slow.contains(&(variant.clone(), workload.name.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_phase_is_run_at_its_rate_by_those_that_can_hold_it() {
        let phases = "duration = \"1s\"\nphases = [\"saturate\", \"cost\"]";
        let suite = crate::fixtures::suite("blocks = 1", &[phases]);
        let [fast, slow]: [VariantId; 2] = ["c/a", "c/b"].map(|id| id.parse().unwrap());
        let unknown = Loads::new(&suite, &[]);
        assert!(unknown.has(&fast, &suite.workloads[0]));
        assert!(!unknown.has(&fast, &unknown.suite.workloads[1]), "it has no rate");
        let rate = FixedRate {
            workload: "a-cost".to_owned(),
            requests_per_second: 700,
            reason: String::new(),
            reached: Vec::new(),
            too_slow: vec![(slow.clone(), String::new())],
        };
        let loads = Loads::new(&suite, &[rate]);
        assert_eq!(loads.suite.workloads[0], suite.workloads[0]);
        let cost = &loads.suite.workloads[1];
        assert_eq!(*cost, suite.workloads[1].at_rate(700));
        assert!(loads.has(&fast, cost) && !loads.has(&slow, cost));
        assert!(loads.has(&slow, &loads.suite.workloads[0]));
    }
}
