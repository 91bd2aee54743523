//! The order of runs: blocks in which every cell has one run, shuffled from a seed. Pure.

use std::time::Duration;
use wirebench_schema::{
    journal::Counts,
    load::{LoadModel, Stop},
    scenario::{Protocol, Scenario},
    suite::{Suite, Workload},
};

use crate::subject::Subject;

/// Start, connect and stop of a server, beyond warm-up and window; only for the estimate of time.
const OVERHEAD: Duration = Duration::from_millis(250);

/// What the estimate of time takes a worker to answer in a second, when the load ends after a count.
const ASSUMED_REQUESTS_PER_SECOND: f64 = 100_000.0;

/// What the estimate of time takes a worker to echo in a second.
const ASSUMED_BYTES_PER_SECOND: f64 = 1e9;

/// What the estimate of time adds to the pause between two requests.
const ASSUMED_LATENCY: Duration = Duration::from_micros(100);

/// The most blocks of a run; more would take days.
const MOST_BLOCKS: u32 = 10_000;

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
    /// Index of the workload.
    pub workload: usize,
}

/// All runs in their order: each block holds every cell once, in an order of its own.
///
/// The runs of one workload stay together within a block, because they are put in relation to each
/// other: the less time between them, the less of the machine's drift is between them.
#[must_use]
pub fn steps(subjects: &[Subject], suite: &Suite, seed: u64) -> Vec<Step> {
    let workloads = &suite.workloads;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut steps = Vec::new();
    for block in 0..suite.warmup_blocks.saturating_add(suite.blocks) {
        let counts = if block < suite.warmup_blocks { Counts::WarmUp } else { Counts::Yes };
        let mut order: Vec<usize> = (0..workloads.len()).collect();
        random.shuffle(&mut order);
        let mut cells = Vec::new();
        for workload in order {
            let mut able = able(subjects, &workloads[workload]);
            random.shuffle(&mut able);
            cells.extend(able.into_iter().map(|subject| (subject, workload)));
        }
        for (position, (subject, workload)) in (0..).zip(cells) {
            steps.push(Step { block, counts, position, subject, workload });
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

/// How long a run of `workload` takes, about. How long a count takes is a guess, which serves as
/// long as no run has been made.
#[must_use]
pub fn estimate(workload: &Workload) -> Duration {
    let window = match workload.stop {
        Stop::After(duration) => duration,
        Stop::Requests(requests) => time_of(workload, requests),
        Stop::RequestsPerConnection(requests) => {
            time_of(workload, requests.saturating_mul(workload.connections as u64))
        }
    };
    let before = workload.warmup_requests.map_or(Duration::ZERO, |n| time_of(workload, n));
    OVERHEAD + workload.warmup + before + window
}

fn time_of(workload: &Workload, requests: u64) -> Duration {
    let requests = requests as f64;
    let seconds = match &workload.model {
        LoadModel::Closed => {
            let bytes = match workload.scenario.protocol() {
                Protocol::Http1 => 0.0,
                Protocol::Echo => requests * workload.payload_bytes as f64,
            };
            let busy = requests / ASSUMED_REQUESTS_PER_SECOND + bytes / ASSUMED_BYTES_PER_SECOND;
            busy / f64::from(workload.workers.unwrap_or(1))
        }
        LoadModel::Think { delay } => {
            let each = (*delay + ASSUMED_LATENCY).as_secs_f64();
            requests / workload.connections.max(1) as f64 * each
        }
        LoadModel::Rate { curve, .. } => {
            let rates = curve.rates();
            let sum: u64 = rates.iter().sum();
            requests * rates.len() as f64 / sum.max(1) as f64
        }
    };
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 1024)
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
        workload.workers = changes.workers.or(workload.workers);
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
        let plan = steps(&subjects, &suite, 7);
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
        assert_eq!(plan, steps(&subjects, &suite, 7));
        assert_ne!(plan, steps(&subjects, &suite, 8));
    }

    #[test]
    fn warm_up_blocks_come_first_and_do_not_count() {
        let text = SUITE.replace("blocks = 3", "blocks = 2\nwarmup_blocks = 1");
        let suite = Suite::parse("example", &text).unwrap();
        let plan = steps(&subjects(), &suite, 7);
        assert_eq!(plan.len(), 3 * 4);
        for step in plan {
            assert_eq!(step.counts == Counts::WarmUp, step.block == 0, "{step:?}");
        }
    }

    #[test]
    fn the_time_of_a_count_is_guessed_from_its_work() {
        let suite = Suite::parse("example", SUITE).unwrap();
        let mut workload = suite.workloads[1].clone();
        let seconds = |workload: &Workload| (estimate(workload) - OVERHEAD).as_secs_f64();
        assert!((seconds(&workload) - 0.01).abs() < 1e-6);
        workload.stop = Stop::RequestsPerConnection(1000);
        workload.model = LoadModel::Think { delay: Duration::from_millis(1) };
        assert!((seconds(&workload) - 1.1).abs() < 1e-6);
        (workload.scenario, workload.model) = (Scenario::Echo, LoadModel::Closed);
        (workload.payload_bytes, workload.stop) = (1 << 30, Stop::Requests(2));
        assert!((seconds(&workload) - 2.147).abs() < 0.01);
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
