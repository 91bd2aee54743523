//! Runs a sweep: in each block one fresh server for each number of workers, which is loaded
//! with every number of connections. Starts and warm-ups would otherwise take longer than what is
//! measured. Servers are fresh in each block, so that the blocks show how far two of them differ.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use wirebench_schema::{
    journal::{Counts, EndReason, Record, Run},
    suite::Workload,
};

use crate::{
    experiment::{Experiment, ExperimentError, Finished, Observer, Prepared, Progress},
    journal::OpenJournal,
    measure::Cell,
    plan::{estimate, random},
};

/// A server that has just started warms up this many times as long as one that was loaded before.
const FRESH_WARM_UPS: u32 = 4;

/// Verifies the one subject that is ready, and measures every workload in every block. The budget is
/// looked at between blocks, and one of them is always made.
pub fn sweep(
    experiment: &Experiment,
    prepared: &Prepared,
    stop: &AtomicBool,
    observer: &mut dyn Observer,
) -> Result<Finished, ExperimentError> {
    let mut begun = OpenJournal::new(experiment, prepared, stop, observer)?;
    let suite = &experiment.suite;
    let subject = &prepared.ready[0].0;
    let id = &subject.variant.id;
    if suite.workloads.iter().any(|it| begun.refuses(id, it.scenario)) {
        return begun.end(EndReason::Complete);
    }
    let block_time: Duration = suite.workloads.iter().map(estimate).sum();
    let runs = suite.workloads.len() * suite.blocks as usize;
    observer.on(&Progress::Measuring { runs, left: block_time * suite.blocks });
    let began = Instant::now();
    for block in 0..suite.blocks {
        let next = began.elapsed() / block.max(1);
        let is_late = |budget: Duration| began.elapsed() + next > budget;
        if block > 0 && experiment.goal.budget.is_some_and(is_late) {
            return begun.end(EndReason::Budget);
        }
        let mut position = 0;
        for group in order(&suite.workloads, experiment.settings.seed, block) {
            let workloads = with_a_fresh_server(&suite.workloads, &group);
            let cells = (position..).zip(&workloads).map(|(position, workload)| Cell {
                subject,
                copy: 0,
                workload,
                block,
                counts: Counts::Yes,
                position,
                verification: experiment.verification,
            });
            let cells: Vec<Cell<'_>> = cells.collect();
            let blocks_left = suite.blocks - block;
            observer.on(&Progress::Running {
                name: &id.to_string(),
                workload: &workloads[0].name,
                left: (block_time * blocks_left).saturating_sub(block_time / 2),
            });
            let mut made = |run: Run| {
                begun.write(Record::Run(Box::new(run.clone())))?;
                let journal = begun.journal();
                observer.on(&Progress::Ran { name: &id.to_string(), run: &run, journal });
                Ok(())
            };
            experiment.settings.run_together(&cells, stop, &mut made)?;
            if stop.load(Ordering::Relaxed) {
                return begun.end(EndReason::Interrupted);
            }
            position += u32::try_from(group.len()).unwrap_or(u32::MAX);
        }
    }
    begun.end(EndReason::Complete)
}

/// The workloads of a block by their indices, those of one number of workers together. Blocks come in
/// pairs, of which the second is the mirror image of the first.
fn order(workloads: &[Workload], seed: u64, block: u32) -> Vec<Vec<usize>> {
    let mut random = random(seed, u64::from(block / 2));
    let mut by_workers: BTreeMap<Option<u32>, Vec<usize>> = BTreeMap::new();
    for (index, workload) in workloads.iter().enumerate() {
        by_workers.entry(workload.workers).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = by_workers.into_values().collect();
    random.shuffle(&mut groups);
    groups.iter_mut().for_each(|group| random.shuffle(group));
    if block % 2 == 1 {
        groups.reverse();
        groups.iter_mut().for_each(|group| group.reverse());
    }
    groups
}

/// The workloads of a group, of which the first warms the server up.
fn with_a_fresh_server(workloads: &[Workload], group: &[usize]) -> Vec<Workload> {
    let mut chosen: Vec<Workload> = group.iter().map(|index| workloads[*index].clone()).collect();
    if let Some(first) = chosen.first_mut() {
        first.warmup *= FRESH_WARM_UPS;
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::{super::grid, *};

    fn workloads() -> Vec<Workload> {
        let model = crate::fixtures::workload("warmup = \"100ms\"\nduration = \"1s\"");
        grid(&model, &[1, 2, 4], &[10, 50, 100]).unwrap()
    }

    #[test]
    fn a_block_has_every_cell_once_and_one_group_for_each_number_of_workers() {
        let workloads = workloads();
        for block in 0..6 {
            let groups = order(&workloads, 7, block);
            assert_eq!(groups.len(), 3);
            for group in &groups {
                assert!(
                    group.iter().all(|it| workloads[*it].workers == workloads[group[0]].workers)
                );
            }
            let mut all = groups.concat();
            all.sort_unstable();
            assert_eq!(all, (0..9).collect::<Vec<_>>());
        }
        assert_ne!(order(&workloads, 7, 0), order(&workloads, 7, 2));
        assert_ne!(order(&workloads, 7, 0), order(&workloads, 8, 0));
    }

    #[test]
    fn the_second_block_of_a_pair_is_the_mirror_image_of_the_first() {
        let workloads = workloads();
        for pair in 0..3 {
            let mut second = order(&workloads, 7, 2 * pair + 1).concat();
            second.reverse();
            assert_eq!(order(&workloads, 7, 2 * pair).concat(), second);
        }
    }

    #[test]
    fn the_first_load_of_a_server_warms_it_up_for_longer() {
        let chosen = with_a_fresh_server(&workloads(), &[5, 3]);
        let warmups: Vec<Duration> = chosen.iter().map(|it| it.warmup).collect();
        assert_eq!(warmups, [400, 100].map(Duration::from_millis));
        assert_eq!(chosen[0].name, workloads()[5].name);
    }
}
