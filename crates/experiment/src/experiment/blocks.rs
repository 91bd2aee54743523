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
    journal::{Counts, EndReason, InterimLook, Journal, Procedure, Record, Run},
    suite::Workload,
};

use super::{
    Execution, Experiment, Progress, Stage,
    limits::{Done, Limits},
    loads::Loads,
    open_journal::{Place, place},
    pace::Pace,
    units::{self, Unit},
};
use crate::{
    cohort::{self, Cohort, KnownServers},
    measure::Cell,
    plan::{self, Step},
};

/// All that the making of blocks needs to know.
pub(super) struct Blocks<'e, 'a> {
    pub(super) execution: &'e mut Execution<'a>,
    pub(super) loads: &'e Loads,
    pub(super) pace: Pace,
    /// For how long parts of the experiment were measured before this one, which began then.
    pub(super) earlier: Duration,
    pub(super) began: Instant,
    /// The runs that were made before.
    pub(super) made: BTreeSet<Place>,
    /// What is known of servers from earlier cohorts.
    pub(super) known: KnownServers,
}

impl Blocks<'_, '_> {
    /// Makes blocks until it is over, and says why it is.
    pub(super) fn measure(mut self) -> io::Result<EndReason> {
        let experiment = self.execution.stage.experiment;
        let (blocks, least) = (self.loads.suite.blocks, experiment.least_blocks);
        let limits = Limits { blocks, least, goal: experiment.goal };
        let warm_up = self.loads.suite.warmup_blocks;
        // What was begun is made to its end, whatever the time.
        let begun = self.made.iter().map(|(block, ..)| block + 1).max().unwrap_or(0);
        let (mut planned, most) = match &experiment.part {
            Some(_) => (warm_up + 1, warm_up + 1),
            None => (warm_up.saturating_add(limits.blocks).max(begun), u32::MAX),
        };
        let number = |index: u32| match &experiment.part {
            // Each machine warms up by itself.
            Some(part) if index >= warm_up => warm_up + part.block - 1,
            _ => index,
        };
        // All blocks have the same cells, and of this one no run has been made.
        let whole = steps_of(&self.units(begun));
        let listed = if experiment.part.is_some() { planned } else { begun };
        let steps: Vec<Step> =
            (0..listed).flat_map(|index| steps_of(&self.units(number(index)))).collect();
        let (runs, left) = (steps.len(), self.pace.sum(&steps));
        let later = planned - listed;
        self.execution.observer.on(&Progress::Measuring {
            runs: runs + whole.len() * later as usize,
            left: left.saturating_add(self.pace.sum(&whole).saturating_mul(later)),
        });
        for index in 0..most {
            let number = number(index);
            if number >= begun {
                let done = self.done(number);
                if let Some(reason) = self.execution.look(&done, limits.end(&done))? {
                    return Ok(reason);
                }
            }
            if index >= planned {
                // A precision that is not reached yet asks for another pair.
                planned = index + 2;
                self.execution.observer.on(&Progress::Further { runs: 2 * whole.len() });
            }
            let units = self.units(number);
            let later = self.pace.sum(&whole).saturating_mul(planned - index - 1);
            for (index, unit) in units.iter().enumerate() {
                let rest = units[index..].iter().map(|unit| self.pace.sum(&unit.steps));
                let left = rest.fold(later, Duration::saturating_add);
                if self.unit(unit, left)?.is_break() {
                    return Ok(EndReason::Interrupted);
                }
            }
        }
        Ok(EndReason::Complete)
    }

    /// What is still to be measured of a block.
    fn units(&self, number: u32) -> Vec<Unit> {
        let Self { loads, made, .. } = self;
        let Stage { experiment, subjects, .. } = self.execution.stage;
        let mut steps = plan::block(subjects, &loads.suite, experiment.settings.seed, number);
        steps.retain(|step| loads.has_step(subjects, step));
        let name = |step: &Step| &loads.suite.workloads[step.workload].name;
        let is_made = |step: &Step| made.contains(&place(step, subjects, name(step)));
        units::units((subjects, &loads.suite), experiment.most_instances(), steps, is_made)
    }

    /// What has been done before block `number`, and what is known of the next one.
    fn done(&mut self, number: u32) -> Done {
        let Execution { stage, journal_file, observer } = &mut *self.execution;
        let experiment = stage.experiment;
        let blocks = number.saturating_sub(self.loads.suite.warmup_blocks);
        let widest = experiment.goal.precision.filter(|_| blocks > 0).and_then(|goal| {
            let widest = (experiment.knowledge.half_width)(journal_file.journal());
            observer.on(&Progress::Precision { widest, goal });
            widest
        });
        let complete = match experiment.in_cohorts() && blocks >= self.loads.suite.blocks {
            true => (experiment.complete_cohorts)(journal_file.journal()),
            false => None,
        };
        let next_block = self.pace.sum(&steps_of(&self.units(number)));
        let spent = self.earlier.saturating_add(self.began.elapsed());
        Done { blocks, spent, next_block, widest, complete }
    }

    /// Measures a group of instances and writes its runs down, all at once: one that was cut off has
    /// left nothing. Instances that did not fit into the memory form further groups.
    fn unit(&mut self, unit: &Unit, left: Duration) -> io::Result<ControlFlow<()>> {
        let (subjects, loads) = (self.execution.stage.subjects, self.loads);
        let is_reference = |step: &Step| plan::is_reference(subjects, &loads.suite, step);
        let mut steps = unit.steps.clone();
        loop {
            let runs = match unit.procedure {
                Procedure::Short => self.group(&steps, left)?,
                Procedure::Whole => self.run(&steps, left)?,
            };
            let Some(runs) = runs else { return Ok(ControlFlow::Break(())) };
            let is_done = |step: &Step| runs.iter().any(|run| is_of(run, step, subjects, loads));
            if steps.iter().all(is_done) {
                return Ok(ControlFlow::Continue(()));
            }
            let before = steps.len();
            steps.retain(|step| is_reference(step) || !is_done(step));
            let runs = (runs.len() + steps.len()) - before;
            self.execution.observer.on(&Progress::Further { runs });
        }
    }

    /// Measures one group. None when a signal asked to end.
    fn group(&mut self, steps: &[Step], left: Duration) -> io::Result<Option<Vec<Run>>> {
        let Execution { stage, journal_file, observer } = &mut *self.execution;
        let Stage { experiment, subjects, stop } = *stage;
        let (loads, seed) = (self.loads, experiment.settings.seed);
        let cells: Vec<Cell<'_>> = steps.iter().map(|step| cell(stage, loads, step)).collect();
        let block = steps[0].block;
        let names: BTreeSet<&str> = cells.iter().map(|cell| cell.workload.name.as_str()).collect();
        let group = next_group(journal_file.journal(), block, &names);
        let workload = names.into_iter().collect::<Vec<_>>().join(", ");
        let name = match group {
            0 => format!("cohort {}", block + 1),
            _ => format!("cohort {}, group {}", block + 1, group + 1),
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
            seed: seed.wrapping_add(u64::from(block)).wrapping_add(u64::from(group) << 32),
        };
        let mut watch =
            |round, rounds| observer.on(&Progress::Round { name: &name, round, rounds });
        let Some(mut runs) = cohort.measure(&mut self.known, &mut watch) else { return Ok(None) };
        let workloads: Vec<&Workload> = cells.iter().map(|cell| cell.workload).collect();
        cohort::note_drift(&mut runs, &workloads, experiment.margin);
        self.note(&runs, steps, began)?;
        Ok(Some(runs))
    }

    /// Measures an instance of its own under one load. None when a signal asked to end.
    fn run(&mut self, steps: &[Step], left: Duration) -> io::Result<Option<Vec<Run>>> {
        let Stage { experiment, subjects, stop } = self.execution.stage;
        let cell = cell(&self.execution.stage, self.loads, &steps[0]);
        let name = plan::label(subjects, &self.loads.suite, &steps[0]);
        let workload = &cell.workload.name;
        self.execution.observer.on(&Progress::Running { name: &name, workload, left });
        let began = Instant::now();
        let run = experiment.settings.run(&cell, stop).filter(|_| !stop.load(Ordering::Relaxed));
        let runs = run.map(|run| vec![run]);
        runs.iter().try_for_each(|runs| self.note(runs, steps, began))?;
        Ok(runs)
    }

    /// Writes runs of `steps` down, which began then.
    fn note(&mut self, runs: &[Run], steps: &[Step], began: Instant) -> io::Result<()> {
        let Execution { stage, journal_file, observer } = &mut *self.execution;
        let (subjects, loads) = (stage.subjects, self.loads);
        journal_file
            .write_all(runs.iter().map(|run| Record::Run(Box::new(run.clone()))).collect())?;
        let each = began.elapsed() / u32::try_from(runs.len().max(1)).unwrap_or(u32::MAX);
        for run in runs {
            let step = steps.iter().find(|step| is_of(run, step, subjects, loads));
            if let Some(step) = step {
                self.pace.learn(step.workload, each);
            }
            let name = step.map_or_else(String::new, |it| plan::label(subjects, &loads.suite, it));
            observer.on(&Progress::Ran { name: &name, run, journal: journal_file.journal() });
        }
        Ok(())
    }
}

impl Execution<'_> {
    /// The reason to end here, `end` if there is one. A look is written down before anybody looks.
    fn look(&mut self, done: &Done, end: Option<EndReason>) -> io::Result<Option<EndReason>> {
        let Experiment { goal, knowledge, .. } = self.stage.experiment;
        let Some(budget) = goal.budget.filter(|_| goal.until_decided) else { return Ok(end) };
        let cohorts = done.blocks;
        if !InterimLook::is_due(cohorts) && end.is_none() {
            return Ok(None);
        }
        let last = self.journal_file.journal().looks.last().copied();
        if last.is_none_or(|it| it.cohorts < cohorts) {
            let passed = done.spent.as_secs_f64() / budget.as_secs_f64();
            let share = match end {
                Some(_) => 1.0,
                // A resumed comparison knows the time of its earlier parts only about.
                None => passed.min(1.0).max(last.map_or(0.0, |it| it.share)),
            };
            self.journal_file.write(Record::Look(InterimLook { cohorts, share }))?;
        }
        let is_decided = || (knowledge.is_decided)(self.journal_file.journal());
        Ok(end.or_else(|| is_decided().then_some(EndReason::Decided)))
    }
}

fn steps_of(units: &[Unit]) -> Vec<Step> {
    units.iter().flat_map(|it| &it.steps).copied().collect()
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

pub(super) fn cell<'a>(stage: &Stage<'a>, loads: &'a Loads, step: &Step) -> Cell<'a> {
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
