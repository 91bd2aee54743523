//! The order of runs: blocks in which every cell has one run, shuffled from a seed. Pure.

mod change;
mod time;

pub use change::{Asked, Changes, change};
pub use time::estimate;

use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    journal::Counts,
    scenario::Scenario,
    suite::{Suite, Workload},
};

/// The variant that stands in for a baseline that cannot be measured: it needs no toolchain.
pub const FALLBACK_BASELINE: &str = "builtin/epoll";

/// One run to be made: indices into the subjects and the workloads of the plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// The block, from 0.
    pub block: u32,
    /// Whether it counts: warm-up blocks come first and do not.
    pub counts: Counts,
    /// The position in it, from 0.
    pub position: u32,
    /// Index of the subject.
    pub subject: usize,
    /// Which of several copies of the same, from 0.
    pub copy: u32,
    /// Index of the workload.
    pub workload: usize,
}

/// All runs of the blocks that are planned, warm-up blocks first.
#[must_use]
pub fn steps(subjects: &[Subject], suite: &Suite, seed: u64) -> Vec<Step> {
    let blocks = 0..suite.warmup_blocks.saturating_add(suite.blocks);
    blocks.flat_map(|number| block(subjects, suite, seed, number)).collect()
}

/// The runs of one block in their order: each cell once, the baseline of each workload as often as
/// the suite says. It depends on nothing but its parameters, so that there can be more blocks than
/// were planned, and so that a plan can be taken up again.
///
/// Blocks come in pairs. The first of a pair is shuffled and the second is its mirror image, so that
/// after each pair every cell has had the same mean position: what changes evenly over the time of a
/// pair, such as the temperature, cannot favour anybody. It is the ABBA order of two cells, for any
/// number of them.
///
/// The runs of one workload stay together within a block, because they are compared with each
/// other: the less time between them, the less of the machine's drift is between them.
#[must_use]
pub fn block(subjects: &[Subject], suite: &Suite, seed: u64, number: u32) -> Vec<Step> {
    let is_warm_up = number < suite.warmup_blocks;
    let counts = if is_warm_up { Counts::WarmUp } else { Counts::Yes };
    let pair = if is_warm_up { number } else { number - suite.warmup_blocks };
    // A part of the seed of its own for each pair; warm-up blocks have pairs of their own.
    let part = u64::from(pair / 2) * 2 + u64::from(is_warm_up);
    let mut random = random(seed, part);
    let mut order: Vec<usize> = (0..suite.workloads.len()).collect();
    random.shuffle(&mut order);
    let mut cells = Vec::new();
    for workload in order {
        let mut able = entrants(subjects, suite, &suite.workloads[workload]);
        random.shuffle(&mut able);
        cells.extend(able.into_iter().map(|(subject, copy)| (subject, copy, workload)));
    }
    if pair % 2 == 1 {
        cells.reverse();
    }
    let step = |(position, (subject, copy, workload))| Step {
        block: number,
        counts,
        position,
        subject,
        copy,
        workload,
    };
    (0..).zip(cells).map(step).collect()
}

/// The part of a seed with this number.
pub(crate) fn random(seed: u64, part: u64) -> fastrand::Rng {
    (0..part).fold(fastrand::Rng::with_seed(seed), |mut random, _| random.fork())
}

/// The runs of `workload` in each block: index of the subject and number of the copy.
fn entrants(subjects: &[Subject], suite: &Suite, workload: &Workload) -> Vec<(usize, u32)> {
    let baseline = baseline(subjects, suite, workload);
    let mut entrants = Vec::new();
    for subject in able(subjects, workload) {
        let is_baseline = Some(subject) == baseline;
        let copies = suite.copies.max(if is_baseline { suite.baseline_copies } else { 1 });
        entrants.extend((0..copies).map(|copy| (subject, copy)));
    }
    entrants
}

/// The subject that the others are compared with in `workload`: the first of the suite's
/// baselines that has its scenario, or what stands in for one.
#[must_use]
pub fn baseline(subjects: &[Subject], suite: &Suite, workload: &Workload) -> Option<usize> {
    let names = suite.baselines.iter().map(String::as_str).chain([FALLBACK_BASELINE]);
    let able = able(subjects, workload);
    let mut found = names.filter_map(|name| {
        able.iter().copied().find(|index| subjects[*index].variant.id.matches(name))
    });
    found.next()
}

/// Whether all `steps` are of the baselines' entries, so that nothing is compared.
#[must_use]
pub fn compares_nothing(subjects: &[Subject], suite: &Suite, steps: &[Step]) -> bool {
    let entry = |index: usize| subjects[index].variant.id.entry();
    let of = |step: &Step| baseline(subjects, suite, &suite.workloads[step.workload]);
    steps.iter().all(|step| of(step).map(entry) == Some(entry(step.subject)))
}

/// Whether `step` is one of the baseline's instances that every group of a cohort has.
#[must_use]
pub fn is_reference(subjects: &[Subject], suite: &Suite, step: &Step) -> bool {
    step.copy < suite.baseline_copies && is_baseline(subjects, suite, step)
}

fn is_baseline(subjects: &[Subject], suite: &Suite, step: &Step) -> bool {
    baseline(subjects, suite, &suite.workloads[step.workload]) == Some(step.subject)
}

/// The name of a row: with its copy where a variant is run as though it were several.
#[must_use]
pub fn label(subjects: &[Subject], suite: &Suite, step: &Step) -> String {
    let id = &subjects[step.subject].variant.id;
    match step.copy {
        0 => id.to_string(),
        1 if is_baseline(subjects, suite, step) => format!("{id} (A/A)"),
        copy => format!("{id} #{}", copy + 1),
    }
}

/// The subjects that have the scenario of `workload`, by their indices.
#[must_use]
pub fn able(subjects: &[Subject], workload: &Workload) -> Vec<usize> {
    let able = |index: &usize| subjects[*index].variant.scenarios.contains(&workload.scenario);
    (0..subjects.len()).filter(able).collect()
}

/// The scenarios of `subject` that the workloads need.
#[must_use]
pub fn scenarios(subject: &Subject, workloads: &[Workload]) -> Vec<Scenario> {
    let needed = |scenario: &Scenario| {
        subject.variant.scenarios.contains(scenario)
            && workloads.iter().any(|workload| workload.scenario == *scenario)
    };
    Scenario::ALL.into_iter().filter(needed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    const SUITE: &str = r#"
description = "An example."
blocks = 3
[[workload]]
name = "hello"
scenario = "hello"
connections = 64
duration = "1s"
[[workload]]
name = "timeout"
scenario = "hello-timeout"
connections = 64
requests = 1000
"#;

    fn subjects() -> Vec<Subject> {
        fixtures::subjects(&[&Scenario::ALL])
    }

    #[test]
    fn every_block_has_each_cell_once_and_a_seed_gives_the_same_order_again() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let subjects = subjects();
        let plan = steps(&subjects, &suite, 7);
        // Three subjects have `hello`, one of which is the baseline and is run twice; one has
        // `hello-timeout` too, without a baseline.
        assert_eq!(plan.len(), 3 * 5);
        for block in 0..3 {
            let steps = plan.iter().filter(|step| step.block == block);
            let mut cells: Vec<_> =
                steps.map(|step| (step.workload, step.subject, step.copy)).collect();
            cells.sort_unstable();
            assert_eq!(cells, [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 2, 0), (1, 2, 0)]);
            let order: Vec<_> =
                plan.iter().filter(|s| s.block == block).map(|s| s.workload).collect();
            assert!(order.is_sorted() || order.iter().rev().is_sorted(), "{order:?}");
        }
        assert_eq!(plan, steps(&subjects, &suite, 7));
        assert_ne!(plan, steps(&subjects, &suite, 8));
    }

    #[test]
    fn after_each_pair_of_blocks_every_cell_has_had_the_same_mean_position() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let subjects = subjects();
        let mut orders = std::collections::BTreeSet::new();
        for pair in 0..20 {
            let [first, mut second] =
                [2 * pair, 2 * pair + 1].map(|number| block(&subjects, &suite, 7, number));
            let cell = |step: &Step| (step.workload, step.subject, step.copy);
            orders.insert(first.iter().map(cell).collect::<Vec<_>>());
            second.reverse();
            assert!(first.iter().map(cell).eq(second.iter().map(cell)));
        }
        assert!(orders.len() > 10, "each pair is shuffled anew: {orders:?}");
    }

    #[test]
    fn every_variant_can_be_run_as_though_it_were_several() {
        let mut suite = Suite::parse("example", SUITE).unwrap();
        suite.copies = 5;
        let plan = block(&subjects(), &suite, 7, 0);
        assert_eq!(plan.len(), 5 * 4);
        assert_eq!(plan.iter().map(|step| step.copy).max(), Some(4));
    }

    #[test]
    fn warm_up_blocks_come_first_and_do_not_count() {
        let text = SUITE.replace("blocks = 3", "blocks = 2\nwarmup_blocks = 1");
        let suite = Suite::parse("example", &text).unwrap();
        let plan = steps(&subjects(), &suite, 7);
        assert_eq!(plan.len(), 3 * 5);
        for step in plan {
            assert_eq!(step.counts == Counts::WarmUp, step.block == 0, "{step:?}");
        }
    }
}
