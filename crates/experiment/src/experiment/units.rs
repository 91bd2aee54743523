//! What of a block is measured at once: the cells of a cohort, in groups of servers that are alive
//! together, and each other cell by itself. Pure.

use wirebench_catalogue::subject::Subject;
use wirebench_schema::{journal::Procedure, suite::Suite};

use crate::{
    cohort,
    plan::{self, Step},
};

/// Cells of one group of instances, which are alive together. The baseline's come first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unit {
    /// A whole load has an instance of its own.
    pub procedure: Procedure,
    pub steps: Vec<Step>,
}

impl Unit {
    const fn cohort(steps: Vec<Step>) -> Self {
        Self { procedure: Procedure::Short, steps }
    }

    /// One cell, with a process of its own.
    pub(super) fn whole(step: Step) -> Self {
        Self { procedure: Procedure::Whole, steps: vec![step] }
    }
}

/// The units of a block that consists of `steps`, without what `is_made` already. `most_instances` are alive
/// together at most; none if nothing is measured in cohorts.
///
/// Every group of a cohort has the baseline's instances, and is compared with these. They are
/// measured again for what is left of a cohort that was cut off between two groups.
pub(super) fn units(
    plan: (&[Subject], &Suite),
    most_instances: Option<usize>,
    steps: Vec<Step>,
    is_made: impl Fn(&Step) -> bool,
) -> Vec<Unit> {
    let (groups, _) = cohort::groups(&plan.1.workloads);
    let group = |step: &Step| {
        groups.iter().position(|it| most_instances.is_some() && it.contains(&step.workload))
    };
    let steps = steps.into_iter().map(|step| (group(&step), step));
    let units = cohort::grouped(steps, |(a, _), (b, _)| a.is_some() && a == b);
    let units = units.into_iter().map(|unit| {
        let (of_cohort, steps) = (unit[0].0.is_some(), unit.into_iter().map(|(_, step)| step));
        match of_cohort {
            true => split(plan, most_instances.unwrap_or(0), &steps.collect::<Vec<_>>(), &is_made),
            false => steps.filter(|it| !is_made(it)).map(Unit::whole).collect(),
        }
    });
    units.flatten().collect()
}

/// The steps of one cohort in groups of about the same size.
fn split(
    (subjects, suite): (&[Subject], &Suite),
    most_instances: usize,
    steps: &[Step],
    is_made: &impl Fn(&Step) -> bool,
) -> Vec<Unit> {
    let is_reference = |step: &&Step| plan::is_reference(subjects, suite, step);
    let (references, others): (Vec<&Step>, Vec<&Step>) = steps.iter().partition(is_reference);
    let open = instances(others.iter().filter(|it| !is_made(it)).copied());
    if open.is_empty() {
        let missing: Vec<Step> =
            references.into_iter().filter(|it| !is_made(it)).copied().collect();
        return (!missing.is_empty()).then(|| Unit::cohort(missing)).into_iter().collect();
    }
    let room = most_instances.saturating_sub(instances(references.iter().copied()).len());
    let mut left = open.as_slice();
    let mut units = Vec::new();
    while !left.is_empty() {
        let groups = left.len().div_ceil(room.max(1));
        let (now, later) = left.split_at(left.len().div_ceil(groups));
        let own = now.iter().flatten().copied();
        units.push(Unit::cohort(references.iter().copied().copied().chain(own).collect()));
        left = later;
    }
    units
}

/// Steps by instance, in the order of the first step of each.
fn instances<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<Vec<Step>> {
    cohort::grouped(steps.copied(), |a, b| (a.subject, a.copy) == (b.subject, b.copy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use std::collections::BTreeSet;
    use wirebench_schema::scenario::Scenario;

    fn suite() -> Suite {
        let phases = "duration = \"1s\"\nphases = [\"saturate\", \"cost\"]\nrate = 100";
        fixtures::suite("blocks = 2", &[phases, "requests = 10"])
    }

    /// The built-in servers and more of the user's own: the baseline and `others` besides.
    fn subjects(others: usize) -> Vec<Subject> {
        let builtins = fixtures::subjects(&[]).len();
        fixtures::subjects(&vec![&[Scenario::Hello][..]; (others + 1).saturating_sub(builtins)])
    }

    /// The groups of a block in which a cohort may have this many instances, each as the number of
    /// its instances.
    fn sizes(others: usize, most_instances: usize) -> Vec<usize> {
        let (subjects, suite) = (subjects(others), suite());
        let steps = plan::block(&subjects, &suite, 7, 0);
        let units = units((&subjects, &suite), Some(most_instances), steps, |_| false);
        let cohorts = units.iter().filter(|unit| unit.procedure == Procedure::Short);
        cohorts.map(|unit| instances(unit.steps.iter()).len()).collect()
    }

    #[test]
    fn a_cohort_that_is_too_large_is_split_evenly_and_each_group_has_the_baseline_twice() {
        assert_eq!(sizes(9, 16), [11]);
        assert_eq!(sizes(14, 16), [16]);
        assert_eq!(sizes(15, 16), [10, 9]);
        assert_eq!(sizes(47, 16), [14, 14, 14, 13]);
        assert_eq!(sizes(5, 3), [3; 5]);
        // The baseline alone is more than that.
        assert_eq!(sizes(2, 1), [3, 3]);
    }

    #[test]
    fn every_cell_is_measured_once_and_the_baseline_in_every_group() {
        let (subjects, suite) = (subjects(9), suite());
        let steps = plan::block(&subjects, &suite, 7, 0);
        let apart = units((&subjects, &suite), None, steps.clone(), |_| false);
        let units = units((&subjects, &suite), Some(5), steps.clone(), |_| false);
        let of = |unit: &Unit, reference: bool| {
            let steps = unit.steps.iter().copied();
            let is_it = |it: &Step| plan::is_reference(&subjects, &suite, it) == reference;
            steps.filter(is_it).collect::<Vec<Step>>()
        };
        let (cohorts, alone): (Vec<&Unit>, Vec<_>) =
            units.iter().partition(|it| it.procedure == Procedure::Short);
        assert_eq!(cohorts.len(), 3);
        for cohort in &cohorts {
            // Two instances under two loads, before all others.
            assert_eq!(of(cohort, true), cohort.steps[..4]);
        }
        let all: Vec<Step> = cohorts.iter().flat_map(|it| of(it, false)).collect();
        let cells: BTreeSet<_> = all.iter().map(|it| (it.subject, it.copy, it.workload)).collect();
        assert_eq!((all.len(), cells.len()), (18, 18));
        assert_eq!(alone.len(), 11);
        assert!(apart.iter().map(|it| it.steps[0]).eq(steps));
    }

    #[test]
    fn what_is_left_of_a_cohort_has_the_baseline_again_and_whole_groups_are_not_made_again() {
        let (subjects, suite) = (subjects(9), suite());
        let units = |made: &[Step]| {
            let steps = plan::block(&subjects, &suite, 7, 0);
            let is_alone = |it: &Step| suite.workloads[it.workload].name == "b";
            units((&subjects, &suite), Some(5), steps, |it| made.contains(it) || is_alone(it))
        };
        let all = units(&[]);
        let mut made = Vec::new();
        for (number, unit) in all.iter().enumerate() {
            assert_eq!(units(&made), all[number..]);
            made.extend_from_slice(&unit.steps);
        }
        assert_eq!(units(&made), []);
    }
}
