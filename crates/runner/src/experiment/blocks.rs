//! The blocks of runs: which block comes next, which of its runs are to be made, and when it is
//! over. How one run is made is not here.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::ControlFlow,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};
use wirebench_schema::{
    journal::{EndReason, Procedure, Record, Run},
    suite::Workload,
};

use super::{
    Observer, Progress, Stage, Verification,
    book::{Book, Place, place},
    checks::Refused,
    limits::{Done, Limits},
    loads::Loads,
    pace::Pace,
};
use crate::{
    cohort::{self, Cohort, Known},
    measure::{Best, Cell},
    plan::{self, Step},
    subject::Subject,
};

/// Since when it has been measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// In parts of the experiment that were made before this one.
    pub(super) earlier: Duration,
    /// When this part began.
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
    pub(super) known: Known,
}

impl Blocks<'_> {
    /// Makes blocks until it is over, and says why it is.
    pub(super) fn measure(
        mut self,
        book: &mut Book,
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
        let whole = self.steps(begun);
        observer.on(&self.measuring(&whole, begun, planned));
        for number in 0.. {
            if number >= begun {
                let done = self.done(number, book, observer);
                if let Some(reason) = limits.end(&done) {
                    return Ok(reason);
                }
            }
            if number >= planned {
                // A precision that is not reached yet asks for another pair.
                planned = number + 2;
                observer.on(&Progress::Further { runs: 2 * whole.len() });
            }
            let units = self.units(self.steps(number));
            let later = self.pace.sum(&whole).saturating_mul(planned - number - 1);
            for (index, unit) in units.iter().enumerate() {
                let rest = units[index..].iter().map(|unit| self.pace.sum(unit.steps()));
                let left = rest.fold(later, Duration::saturating_add);
                let done = match unit {
                    Unit::Run(step) => self.run(step, left, book, observer)?,
                    Unit::Cohort(steps) => self.cohort(steps, left, book, observer)?,
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
        let begun_steps: Vec<Step> = (0..begun).flat_map(|number| self.steps(number)).collect();
        let later = planned - begun;
        let left = self.pace.sum(whole).saturating_mul(later);
        Progress::Measuring {
            runs: begun_steps.len() + whole.len() * later as usize,
            left: left.saturating_add(self.pace.sum(&begun_steps)),
        }
    }

    /// The runs of a block that are still to be made.
    fn steps(&self, number: u32) -> Vec<Step> {
        let Self { stage, loads, refused, made, .. } = self;
        let mut steps =
            plan::block(stage.subjects, &loads.suite, stage.experiment.bench.seed, number);
        steps.retain(|step| {
            let workload = &loads.suite.workloads[step.workload];
            let variant = &stage.subjects[step.subject].variant.id;
            !refused.contains(&(variant.clone(), workload.scenario))
                && loads.has(variant, workload)
                && !made.contains(&place(step, stage.subjects, &workload.name))
        });
        steps
    }

    /// What is measured together: cells of a cohort, where they can be, and each other one by itself.
    fn units(&self, steps: Vec<Step>) -> Vec<Unit> {
        let experiment = self.stage.experiment;
        let in_cohorts =
            experiment.procedure == Procedure::Cohorts && experiment.bench.tool.is_none();
        let (groups, _) = cohort::groups(&self.loads.suite.workloads);
        let group = |step: &Step| {
            groups.iter().position(|group| in_cohorts && group.contains(&step.workload))
        };
        let mut units: Vec<Unit> = Vec::new();
        let mut place: BTreeMap<usize, usize> = BTreeMap::new();
        for step in steps {
            let Some(group) = group(&step) else {
                units.push(Unit::Run(step));
                continue;
            };
            let unit = *place.entry(group).or_insert(units.len());
            match units.get_mut(unit) {
                Some(Unit::Cohort(steps)) => steps.push(step),
                _ => units.push(Unit::Cohort(vec![step])),
            }
        }
        units
    }

    /// What has been done before block `number`, and what is known of the next one.
    fn done(&self, number: u32, book: &Book, observer: &mut dyn Observer) -> Done {
        let experiment = self.stage.experiment;
        let blocks = number.saturating_sub(self.loads.suite.warmup_blocks);
        let widest = experiment.goal.precision.filter(|_| blocks > 0).and_then(|goal| {
            let widest = (experiment.precision)(book.journal());
            observer.on(&Progress::Precision { widest, goal });
            widest
        });
        let next_block = self.pace.sum(&self.steps(number));
        Done { blocks, spent: self.clock.spent(), next_block, widest }
    }

    /// Measures one cohort and writes its runs down, all at once: a cohort that was cut off has left
    /// nothing.
    fn cohort(
        &mut self,
        steps: &[Step],
        left: Duration,
        book: &mut Book,
        observer: &mut dyn Observer,
    ) -> io::Result<ControlFlow<EndReason>> {
        let Stage { experiment, subjects, stop } = *self.stage;
        let (loads, seed) = (self.loads, experiment.bench.seed);
        let cells: Vec<Cell<'_>> = steps.iter().map(|step| cell(self.stage, loads, step)).collect();
        let names: BTreeSet<&str> = cells.iter().map(|cell| cell.workload.name.as_str()).collect();
        let workload = names.into_iter().collect::<Vec<_>>().join(", ");
        let name = format!("cohort {}", cells.first().map_or(0, |cell| cell.block) + 1);
        observer.on(&Progress::Running { name: &name, workload: &workload, left });
        let began = Instant::now();
        let cohort = Cohort {
            bench: &experiment.bench,
            cells: &cells,
            stop,
            seed: seed.wrapping_add(u64::from(steps.first().map_or(0, |step| step.block))),
        };
        let mut tell = |round, rounds| observer.on(&Progress::Round { name: &name, round, rounds });
        let Some(mut runs) = cohort.measure(&mut self.known, &mut tell) else {
            return Ok(ControlFlow::Break(EndReason::Interrupted));
        };
        let workloads: Vec<&Workload> = cells.iter().map(|cell| cell.workload).collect();
        cohort::note_drift(&mut runs, &workloads, experiment.margin);
        let records: Vec<Record> =
            runs.iter().map(|run| Record::Run(Box::new(run.clone()))).collect();
        book.write_all(records)?;
        let each = began.elapsed() / u32::try_from(steps.len().max(1)).unwrap_or(u32::MAX);
        for step in steps {
            self.pace.learn(step.workload, each);
        }
        for run in &runs {
            let step = steps.iter().find(|step| is_of(run, step, subjects, loads));
            let name = step.map_or_else(String::new, |it| plan::label(subjects, &loads.suite, it));
            observer.on(&Progress::Ran { name: &name, run, journal: book.journal() });
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Makes one run and writes it down.
    fn run(
        &mut self,
        step: &Step,
        left: Duration,
        book: &mut Book,
        observer: &mut dyn Observer,
    ) -> io::Result<ControlFlow<EndReason>> {
        let Stage { experiment, subjects, stop } = *self.stage;
        let workload = &self.loads.suite.workloads[step.workload];
        let name = plan::label(subjects, &self.loads.suite, step);
        observer.on(&Progress::Running { name: &name, workload: &workload.name, left });
        let same = |run: &&Run| {
            run.variant == subjects[step.subject].variant.id && run.workload == workload.name
        };
        let best = Best::of(book.journal().runs.iter().filter(same));
        let cell = Cell { best, ..cell(self.stage, self.loads, step) };
        let interrupted = ControlFlow::Break(EndReason::Interrupted);
        if stop.load(Ordering::Relaxed) {
            return Ok(interrupted);
        }
        let began = Instant::now();
        let Some(run) = experiment.bench.run(&cell, stop) else { return Ok(interrupted) };
        book.write(Record::Run(Box::new(run.clone())))?;
        self.pace.learn(step.workload, began.elapsed());
        observer.on(&Progress::Ran { name: &name, run: &run, journal: book.journal() });
        Ok(ControlFlow::Continue(()))
    }
}

/// What is measured at once.
enum Unit {
    /// One cell, with a process of its own.
    Run(Step),
    /// Cells of one group, with a cohort of servers.
    Cohort(Vec<Step>),
}

impl Unit {
    fn steps(&self) -> &[Step] {
        match self {
            Self::Run(step) => std::slice::from_ref(step),
            Self::Cohort(steps) => steps,
        }
    }
}

fn cell<'a>(stage: &Stage<'a>, loads: &'a Loads, step: &Step) -> Cell<'a> {
    Cell {
        subject: &stage.subjects[step.subject],
        copy: step.copy,
        workload: &loads.suite.workloads[step.workload],
        block: step.block,
        counts: step.counts,
        position: step.position,
        verified: stage.experiment.verification != Verification::LeftOut,
        best: Best::default(),
    }
}

fn is_of(run: &Run, step: &Step, subjects: &[Subject], loads: &Loads) -> bool {
    run.copy == step.copy
        && run.variant == subjects[step.subject].variant.id
        && run.workload == loads.suite.workloads[step.workload].name
}
