//! What `run` and `ab` have in common: an experiment that is ready to run, and a saved
//! command that `run --resume` continues. How each verb makes its experiment is its own.

use wirebench_catalogue::subject::Subject;
use wirebench_experiment::experiment::{Experiment, Finished};
use wirebench_schema::{
    argv,
    journal::{Start, Unavailable},
};

use crate::{
    args::{cohorts::CohortArgs, machine::Conditions, output::ResultOptions},
    context::Context,
    exit::{Exit, incomparable},
    live::interrupt::Interrupt,
};

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) experiment: Experiment,
    pub(crate) subjects: Vec<Subject>,
    /// Entries that the suite names and the project lacks.
    pub(crate) missing: Vec<Unavailable>,
}

/// The arguments of a verb whose runs can be resumed.
pub(crate) trait Resumable {
    /// The options that all of these verbs have.
    fn shared(&mut self) -> (&mut Conditions, &mut CohortArgs, &mut ResultOptions);

    /// Takes over the seed of the first start, which may have been random; silences what was said
    /// then; takes no rates from elsewhere, because the journal has them; and is strict if either command is.
    fn resume(&mut self, seed: u64, strict: bool) {
        let (conditions, cohorts, output) = self.shared();
        (conditions.seed, cohorts.rates, output.quiet) = (Some(seed), None, true);
        output.delivery.gate.strict |= strict;
    }

    /// Whether resuming may only complete the plan: a verdict on two servers is one test, whose size
    /// is fixed before the first run.
    fn has_fixed_plan(&self) -> bool;

    fn setting(&self, context: &Context) -> anyhow::Result<Setting>;

    /// Prints the result, writes the reports and decides the exit code.
    fn conclude(&self, interrupt: &Interrupt, finished: &Finished) -> anyhow::Result<Exit>;
}

/// Parses the command of a run. The table of verbs has it, so that no verb depends on another.
pub(crate) type Original = fn(&Start) -> anyhow::Result<Box<dyn Resumable>>;

/// The error for a run that cannot be resumed, with the reasons.
pub(crate) fn refusal(start: &Start, differences: &[String]) -> anyhow::Error {
    let list: String = differences.iter().map(|it| format!("\n  {it}")).collect();
    incomparable(format!(
        "cannot resume, because new figures would not be comparable with the recorded ones:{list}\n\
         Undo the change, or start a new run in {} with: {}",
        start.folder,
        argv::display(&start.command)
    ))
}
