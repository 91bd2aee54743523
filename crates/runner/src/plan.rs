//! The order of runs: blocks in which every cell has one run, shuffled from a seed. Pure.

use std::time::Duration;
use wirebench_schema::{
    load::Stop,
    scenario::Scenario,
    suite::{Suite, Workload},
};

use crate::subject::Subject;

/// Start, connect and stop of a server, beyond warm-up and window; only for the estimate of time.
const OVERHEAD: Duration = Duration::from_millis(250);

/// The most blocks of a run; more would take days.
const MOST_BLOCKS: u32 = 10_000;

/// One run to be made: indices into the subjects and the workloads of the plan.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// The block, from 0.
    pub block: u32,
    /// The position in it, from 0.
    pub position: u32,
    /// Index of the subject.
    pub subject: usize,
    /// Index of the workload.
    pub workload: usize,
}

/// All runs in their order: each block holds every cell once, in an order of its own.
///
/// The runs of one workload stay together within a block, because they are put in relation to each
/// other: the less time between them, the less of the machine's drift is between them.
#[must_use]
pub fn steps(subjects: &[Subject], workloads: &[Workload], blocks: u32, seed: u64) -> Vec<Step> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut steps = Vec::new();
    for block in 0..blocks {
        let mut order: Vec<usize> = (0..workloads.len()).collect();
        random.shuffle(&mut order);
        let mut cells = Vec::new();
        for workload in order {
            let mut able = able(subjects, &workloads[workload]);
            random.shuffle(&mut able);
            cells.extend(able.into_iter().map(|subject| (subject, workload)));
        }
        for (position, (subject, workload)) in (0..).zip(cells) {
            steps.push(Step { block, position, subject, workload });
        }
    }
    steps
}

/// The subjects that have the scenario of `workload`.
fn able(subjects: &[Subject], workload: &Workload) -> Vec<usize> {
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

/// How long a run of `workload` takes, about. A count has no known time; a second stands for it.
#[must_use]
pub fn estimate(workload: &Workload) -> Duration {
    let window = match workload.stop {
        Stop::After(duration) => duration,
        Stop::Requests(_) | Stop::RequestsPerConnection(_) => Duration::from_secs(1),
    };
    OVERHEAD + workload.warmup + window
}

/// What a user changes of a suite on the command line.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Other blocks.
    pub blocks: Option<u32>,
    /// Other workers.
    pub workers: Option<u32>,
    /// Other connections, in every workload.
    pub connections: Option<usize>,
    /// Another window, in every workload.
    pub duration: Option<Duration>,
    /// Another warm-up, in every workload.
    pub warmup: Option<Duration>,
    /// Only the workloads of these scenarios; empty means all. For a scenario without one, the
    /// first workload of the suite serves as the model.
    pub scenarios: Vec<Scenario>,
}

/// Applies the changes, or says which of them leaves nothing to measure.
pub fn change(suite: &mut Suite, changes: &Changes) -> Result<(), String> {
    suite.blocks = changes.blocks.unwrap_or(suite.blocks);
    suite.workers = changes.workers.or(suite.workers);
    if suite.blocks == 0 {
        return Err("0 blocks measure nothing: give --blocks at least 1".to_owned());
    }
    if suite.blocks > MOST_BLOCKS {
        return Err(format!("--blocks {} is too many: give at most {MOST_BLOCKS}", suite.blocks));
    }
    if suite.workers == Some(0) {
        return Err("0 workers serve nothing: give --workers at least 1".to_owned());
    }
    if !changes.scenarios.is_empty() {
        let first = suite.workloads.first().cloned();
        suite.workloads.retain(|workload| changes.scenarios.contains(&workload.scenario));
        for &scenario in &changes.scenarios {
            let has = |workload: &Workload| workload.scenario == scenario;
            if !suite.workloads.iter().any(has) {
                let name = scenario.name().to_owned();
                suite.workloads.extend(first.clone().map(|w| Workload { name, scenario, ..w }));
            }
        }
    }
    for workload in &mut suite.workloads {
        workload.connections = changes.connections.unwrap_or(workload.connections);
        workload.warmup = changes.warmup.unwrap_or(workload.warmup);
        if let Some(duration) = changes.duration {
            workload.stop = Stop::After(duration);
        }
        let anywhere =
            wirebench_schema::target::Target::new(workload.scenario.protocol(), "::1", 1, "/");
        workload.load_config(anywhere, 1, 1).check()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use std::path::Path;

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
        let project = Project::without_entries(Path::new("/nowhere"));
        let mut subjects = Subject::builtins(Path::new("wirebench"), &project).unwrap();
        subjects.push(Subject::own("x {port}", &Scenario::ALL, &[], &project).unwrap());
        subjects
    }

    #[test]
    fn every_block_has_each_cell_once_and_a_seed_gives_the_same_order_again() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let subjects = subjects();
        let plan = steps(&subjects, &suite.workloads, suite.blocks, 7);
        // Three subjects have `hello`, one of them has `hello-timeout` too.
        assert_eq!(plan.len(), 3 * 4);
        for block in 0..3 {
            let steps = plan.iter().filter(|step| step.block == block);
            let mut cells: Vec<_> = steps.map(|step| (step.workload, step.subject)).collect();
            cells.sort_unstable();
            assert_eq!(cells, [(0, 0), (0, 1), (0, 2), (1, 2)]);
            let order: Vec<_> =
                plan.iter().filter(|s| s.block == block).map(|s| s.workload).collect();
            assert!(order.is_sorted() || order.iter().rev().is_sorted(), "{order:?}");
        }
        assert_eq!(plan, steps(&subjects, &suite.workloads, suite.blocks, 7));
        assert_ne!(plan, steps(&subjects, &suite.workloads, suite.blocks, 8));
    }

    #[test]
    fn changes_that_leave_nothing_are_refused() {
        let spoilt = |changes: Changes| {
            change(&mut Suite::parse("example", SUITE).unwrap(), &changes).unwrap_err()
        };
        assert!(spoilt(Changes { blocks: Some(0), ..Changes::default() }).contains("--blocks"));
        assert!(spoilt(Changes { blocks: Some(1 << 30), ..Changes::default() }).contains("10000"));
        assert!(spoilt(Changes { workers: Some(0), ..Changes::default() }).contains("--workers"));
        assert!(spoilt(Changes { connections: Some(0), ..Changes::default() }).contains("-c"));
    }

    #[test]
    fn a_scenario_that_the_suite_lacks_is_modelled_on_its_first_workload() {
        let mut suite = Suite::parse("example", SUITE).unwrap();
        let scenarios = vec![Scenario::Echo];
        change(&mut suite, &Changes { scenarios, ..Changes::default() }).unwrap();
        let workload = &suite.workloads[0];
        assert_eq!((workload.name.as_str(), workload.scenario), ("echo", Scenario::Echo));
        assert_eq!((suite.workloads.len(), workload.connections), (1, 64));
    }
}
