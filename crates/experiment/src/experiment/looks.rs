//! Looks at the figures between two blocks, of an experiment that may end when its answer is known.

use std::io;
use wirebench_schema::journal::{EndReason, InterimLook, Record};

use super::{Execution, Experiment, limits::Done};

impl Execution<'_> {
    /// The reason to end here, `end` if there is one. A look is written down before anybody looks.
    pub(super) fn look(
        &mut self,
        done: &Done,
        end: Option<EndReason>,
    ) -> io::Result<Option<EndReason>> {
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
