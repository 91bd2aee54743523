//! The blocks of runs: which block comes next, which of its runs are to be made, and when it is
//! over. How one run is made is not here.

use std::{
    collections::BTreeSet,
    io,
    ops::ControlFlow,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};
use wirebench_catalogue::subject::Subject;
use wirebench_schema::{
    journal::{Counts, EndReason, Journal, Record, Run},
    suite::Workload,
};

use super::{
    Observer, Progress, Stage,
    checks::Refused,
    limits::{Done, Limits},
    loads::Loads,
    looks,
    open_journal::{OpenJournal, Place, place},
    pace::Pace,
    units::Unit,
};
use crate::{
    cohort::{self, Cohort, KnownServers},
    measure::Cell,
    plan::{self, Step},
};

/// Since when it has been measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// In parts of the experiment that were made before this one.
    pub(super) earlier: Duration,
    pub(super) began: Instant,
}

impl Clock {
    fn spent(&self) -> Duration {
        self.earlier.saturating_add(self.began.elapsed())
    }
}

/// All that the making of blocks needs to know.
pub(super) struct Blocks<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) loads: &'a Loads,
    pub(super) refused: &'a Refused,
    pub(super) pace: Pace,
    pub(super) clock: Clock,
    /// The runs that were made before.
    pub(super) made: BTreeSet<Place>,
    /// What is known of servers from earlier cohorts.
    pub(super) known: KnownServers,
}

impl Blocks<'_> {
    /// Makes blocks until it is over, and says why it is.
    pub(super) fn measure(
        mut self,
        journal_file: &mut OpenJournal,
        observer: &mut dyn Observer,
    ) -> io::Result<EndReason> {
        let experiment = self.stage.experiment;
        let (blocks, least) = (self.loads.suite.blocks, experiment.least_blocks);
        let limits = Limits { blocks, least, goal: experiment.goal };
        let warm_up = self.loads.suite.warmup_blocks;
        // What was begun is made to its end, whatever the time.
        let begun = self.made.iter().map(|(block, ..)| block + 1).max().unwrap_or(0);
        let mut planned = warm_up.saturating_add(limits.blocks).max(begun);
        // All blocks have the same cells, and of this one no run has been made.
        let whole = steps_of(&self.units(begun));
        let mut numbers: Box<dyn Iterator<Item = u32>> = Box::new(0..u32::MAX);
        if let Some(part) = &experiment.part {
            // Each machine warms up by itself.
            let own: Vec<u32> = (0..warm_up).chain([warm_up + part.block - 1]).collect();
            planned = warm_up + 1;
            let steps: Vec<Step> =
                own.iter().flat_map(|number| steps_of(&self.units(*number))).collect();
            let (runs, left) = (steps.len(), self.pace.sum(&steps));
            observer.on(&Progress::Measuring { runs, left });
            numbers = Box::new(own.into_iter());
        } else {
            observer.on(&self.measuring(&whole, begun, planned));
        }
        for (index, number) in (0..).zip(numbers) {
            if number >= begun {
                let done = self.done(number, journal_file, observer);
                if let Some(reason) =
                    looks::look(experiment, &done, limits.end(&done), journal_file)?
                {
                    return Ok(reason);
                }
            }
            if index >= planned {
                // A precision that is not reached yet asks for another pair.
                planned = index + 2;
                observer.on(&Progress::Further { runs: 2 * whole.len() });
            }
            let units = self.units(number);
            let later = self.pace.sum(&whole).saturating_mul(planned - index - 1);
            for (index, unit) in units.iter().enumerate() {
                let rest = units[index..].iter().map(|unit| self.pace.sum(unit.steps()));
                let left = rest.fold(later, Duration::saturating_add);
                let done = match unit {
                    Unit::Run(step) => self.run(step, left, journal_file, observer)?,
                    Unit::Cohort(steps) => self.cohort(steps, left, journal_file, observer)?,
                };
                if let ControlFlow::Break(reason) = done {
                    return Ok(reason);
                }
            }
        }
        Ok(EndReason::Complete)
    }

    /// What the blocks that were begun lack, and the planned ones after them.
    fn measuring(&self, whole: &[Step], begun: u32, planned: u32) -> Progress<'static> {
        let begun_steps: Vec<Step> =
            (0..begun).flat_map(|number| steps_of(&self.units(number))).collect();
        let later = planned - begun;
        let left = self.pace.sum(whole).saturating_mul(later);
        Progress::Measuring {
            runs: begun_steps.len() + whole.len() * later as usize,
            left: left.saturating_add(self.pace.sum(&begun_steps)),
        }
    }

    /// What is still to be measured of a block.
    fn units(&self, number: u32) -> Vec<Unit> {
        let Self { stage, loads, refused, made, .. } = self;
        let Stage { experiment, subjects, .. } = *stage;
        let mut steps = plan::block(subjects, &loads.suite, experiment.settings.seed, number);
        steps.retain(|step| {
            let workload = &loads.suite.workloads[step.workload];
            let variant = &subjects[step.subject].variant.id;
            !refused.contains(&(variant.clone(), workload.scenario)) && loads.has(variant, workload)
        });
        let name = |step: &Step| &loads.suite.workloads[step.workload].name;
        let is_made = |step: &Step| made.contains(&place(step, subjects, name(step)));
        experiment.grouping(subjects, &loads.suite).units(steps, is_made)
    }

    /// What has been done before block `number`, and what is known of the next one.
    fn done(&self, number: u32, journal_file: &OpenJournal, observer: &mut dyn Observer) -> Done {
        let experiment = self.stage.experiment;
        let blocks = number.saturating_sub(self.loads.suite.warmup_blocks);
        let widest = experiment.goal.precision.filter(|_| blocks > 0).and_then(|goal| {
            let widest = (experiment.knowledge.half_width)(journal_file.journal());
            observer.on(&Progress::Precision { widest, goal });
            widest
        });
        let next_block = self.pace.sum(&steps_of(&self.units(number)));
        let complete = match experiment.in_cohorts() && blocks >= self.loads.suite.blocks {
            true => (experiment.complete_cohorts)(journal_file.journal()),
            false => None,
        };
        Done { blocks, spent: self.clock.spent(), next_block, widest, complete }
    }

    /// Measures a group of instances and writes its runs down, all at once: one that was cut off has
    /// left nothing. Instances that did not fit into the memory form further groups.
    fn cohort(
        &mut self,
        steps: &[Step],
        left: Duration,
        journal_file: &mut OpenJournal,
        observer: &mut dyn Observer,
    ) -> io::Result<ControlFlow<EndReason>> {
        let (Stage { subjects, .. }, loads) = (*self.stage, self.loads);
        let is_reference = |step: &Step| plan::is_reference(subjects, &loads.suite, step);
        let mut steps = steps.to_vec();
        loop {
            let Some(runs) = self.group(&steps, left, journal_file, observer)? else {
                return Ok(ControlFlow::Break(EndReason::Interrupted));
            };
            let is_done = |step: &Step| runs.iter().any(|run| is_of(run, step, subjects, loads));
            if steps.iter().all(is_done) {
                return Ok(ControlFlow::Continue(()));
            }
            let before = steps.len();
            steps.retain(|step| is_reference(step) || !is_done(step));
            observer.on(&Progress::Further { runs: (runs.len() + steps.len()) - before });
        }
    }

    /// Measures one group. None when a signal asked to end.
    fn group(
        &mut self,
        steps: &[Step],
        left: Duration,
        journal_file: &mut OpenJournal,
        observer: &mut dyn Observer,
    ) -> io::Result<Option<Vec<Run>>> {
        let Stage { experiment, subjects, stop } = *self.stage;
        let (loads, seed) = (self.loads, experiment.settings.seed);
        let cells: Vec<Cell<'_>> = steps.iter().map(|step| cell(self.stage, loads, step)).collect();
        let Some(first) = cells.first() else { return Ok(Some(Vec::new())) };
        let names: BTreeSet<&str> = cells.iter().map(|cell| cell.workload.name.as_str()).collect();
        let group = next_group(journal_file.journal(), first.block, &names);
        let workload = names.into_iter().collect::<Vec<_>>().join(", ");
        let name = match group {
            0 => format!("cohort {}", first.block + 1),
            _ => format!("cohort {}, group {}", first.block + 1, group + 1),
        };
        observer.on(&Progress::Running { name: &name, workload: &workload, left });
        let references: BTreeSet<(usize, u32)> = steps
            .iter()
            .filter(|step| plan::is_reference(subjects, &loads.suite, step))
            .map(|step| (step.subject, step.copy))
            .collect();
        let began = Instant::now();
        let cohort = Cohort {
            settings: &experiment.settings,
            cells: &cells,
            references: references.len(),
            group,
            stop,
            seed: seed.wrapping_add(u64::from(first.block)).wrapping_add(u64::from(group) << 32),
        };
        let mut watch =
            |round, rounds| observer.on(&Progress::Round { name: &name, round, rounds });
        let Some(mut runs) = cohort.measure(&mut self.known, &mut watch) else { return Ok(None) };
        let workloads: Vec<&Workload> = cells.iter().map(|cell| cell.workload).collect();
        cohort::note_drift(&mut runs, &workloads, experiment.margin);
        let records: Vec<Record> =
            runs.iter().map(|run| Record::Run(Box::new(run.clone()))).collect();
        journal_file.write_all(records)?;
        let each = began.elapsed() / u32::try_from(runs.len().max(1)).unwrap_or(u32::MAX);
        for run in &runs {
            let step = steps.iter().find(|step| is_of(run, step, subjects, loads));
            if let Some(step) = step {
                self.pace.learn(step.workload, each);
            }
            let name = step.map_or_else(String::new, |it| plan::label(subjects, &loads.suite, it));
            observer.on(&Progress::Ran { name: &name, run, journal: journal_file.journal() });
        }
        Ok(Some(runs))
    }

    /// Makes one run and writes it down.
    fn run(
        &mut self,
        step: &Step,
        left: Duration,
        journal_file: &mut OpenJournal,
        observer: &mut dyn Observer,
    ) -> io::Result<ControlFlow<EndReason>> {
        let Stage { experiment, subjects, stop } = *self.stage;
        let workload = &self.loads.suite.workloads[step.workload];
        let name = plan::label(subjects, &self.loads.suite, step);
        observer.on(&Progress::Running { name: &name, workload: &workload.name, left });
        let cell = cell(self.stage, self.loads, step);
        let interrupted = ControlFlow::Break(EndReason::Interrupted);
        if stop.load(Ordering::Relaxed) {
            return Ok(interrupted);
        }
        let began = Instant::now();
        let Some(run) = experiment.settings.run(&cell, stop) else { return Ok(interrupted) };
        journal_file.write(Record::Run(Box::new(run.clone())))?;
        self.pace.learn(step.workload, began.elapsed());
        observer.on(&Progress::Ran { name: &name, run: &run, journal: journal_file.journal() });
        Ok(ControlFlow::Continue(()))
    }
}

fn steps_of(units: &[Unit]) -> Vec<Step> {
    units.iter().flat_map(Unit::steps).copied().collect()
}

/// The number of the next group of instances in a block that is measured under these workloads.
fn next_group(journal: &Journal, block: u32, workloads: &BTreeSet<&str>) -> u32 {
    let is_of = |run: &&Run| {
        run.block == block
            && run.counts != Counts::Pilot
            && workloads.contains(run.workload.as_str())
    };
    journal.runs.iter().filter(is_of).map(|run| run.group + 1).max().unwrap_or(0)
}

fn cell<'a>(stage: &Stage<'a>, loads: &'a Loads, step: &Step) -> Cell<'a> {
    Cell {
        subject: &stage.subjects[step.subject],
        copy: step.copy,
        workload: &loads.suite.workloads[step.workload],
        block: step.block,
        counts: step.counts,
        position: step.position,
        verification: stage.experiment.verification,
    }
}

fn is_of(run: &Run, step: &Step, subjects: &[Subject], loads: &Loads) -> bool {
    run.copy == step.copy
        && run.variant == subjects[step.subject].variant.id
        && run.workload == loads.suite.workloads[step.workload].name
}
