//! The blocks of runs: which block comes next, which of its runs are to be made, and when it is
//! over. How one run is made is not here.

use std::{
    collections::BTreeSet,
    io,
    ops::ControlFlow,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};
use wirebench_schema::journal::{EndReason, Record, Run};

use super::{
    Observer, Progress, Stage, Verification,
    book::{Book, Place, place},
    checks::Refused,
    limits::{Done, Limits},
    loads::Loads,
    pace::Pace,
};
use crate::{
    measure::{Best, Cell},
    plan::{self, Step},
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
}

impl Blocks<'_> {
    /// Makes blocks until it is over, and says why it is.
    pub(super) fn measure(
        mut self,
        book: &mut Book,
        observer: &mut dyn Observer,
    ) -> io::Result<EndReason> {
        let experiment = self.stage.experiment;
        let limits = Limits { blocks: self.loads.suite.blocks, goal: experiment.goal };
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
            let steps = self.steps(number);
            let later = self.pace.sum(&whole).saturating_mul(planned - number - 1);
            for (index, step) in steps.iter().enumerate() {
                let left = self.pace.sum(&steps[index..]).saturating_add(later);
                if let ControlFlow::Break(reason) = self.run(step, left, book, observer)? {
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
        let subject = &subjects[step.subject];
        let name = plan::label(subjects, &self.loads.suite, step);
        observer.on(&Progress::Running { name: &name, workload: &workload.name, left });
        let same = |run: &&Run| run.variant == subject.variant.id && run.workload == workload.name;
        let cell = Cell {
            subject,
            copy: step.copy,
            workload,
            block: step.block,
            counts: step.counts,
            position: step.position,
            verified: experiment.verification != Verification::LeftOut,
            best: Best::of(book.journal().runs.iter().filter(same)),
        };
        let interrupted = ControlFlow::Break(EndReason::Interrupted);
        if stop.load(Ordering::Relaxed) {
            return Ok(interrupted);
        }
        let began = Instant::now();
        let Some(run) = experiment.bench.run(&cell, stop) else { return Ok(interrupted) };
        book.write(Record::Run(Box::new(run.clone())))?;
        self.pace.learn(step.workload, began.elapsed());
        observer.on(&Progress::Ran { name: &name, run: &run });
        Ok(ControlFlow::Continue(()))
    }
}
