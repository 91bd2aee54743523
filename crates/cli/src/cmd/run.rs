//! `wirebench run`: builds, verifies and measures, prints the table and names the folder with all
//! of it.

mod choice;
mod dry_run;
mod execute;
mod machine;
mod options;
mod resume;
mod scale;
mod setting;

pub(crate) use options::Arguments;

use wirebench_experiment::experiment::Finished;
use wirebench_schema::suite::Scale;

use self::machine::Machine;
use crate::{
    args::{cohorts::CohortArgs, machine::Conditions, output::ResultOptions},
    context::Context,
    embedded,
    exit::{Exit, usage},
    live::interrupt::Interrupt,
    out,
    session::{Original, Resumable, Setting},
};

impl Resumable for Arguments {
    fn shared(&mut self) -> (&mut Conditions, &mut CohortArgs, &mut ResultOptions) {
        (&mut self.conditions, &mut self.cohorts, &mut self.results)
    }

    fn has_fixed_plan(&self) -> bool {
        self.cohorts.is_until_decided()
    }

    fn setting(&self, context: &Context) -> anyhow::Result<Setting> {
        self.experiment(context, &Machine::Here)
    }

    fn conclude(&self, interrupt: &Interrupt, finished: &Finished) -> anyhow::Result<Exit> {
        execute::conclude(interrupt, finished, self)
    }
}

/// Carries the verb out. `original` parses the command that a journal says began its run.
pub(crate) fn run(arguments: &Arguments, original: Original) -> anyhow::Result<Exit> {
    if let Some(folder) = &arguments.resume {
        return resume::run(folder, arguments, original);
    }
    let machine = arguments.machine().map_or(Ok(Machine::Here), Machine::recorded)?;
    let mut context = Context::new(&arguments.results.project)?;
    if let Machine::Recorded { .. } = machine {
        if let Some(option) = arguments.of_this_machine() {
            let reason =
                "needs this machine, and --dry-run=FILE plans for another: omit one of them";
            return Err(usage(format!("{option} {reason}")));
        }
        context = context.elsewhere();
    }
    // Looking for another generator takes a moment.
    let setting = arguments.experiment(&context, &machine);
    let setting = setting.or_else(|error| context.interrupt.check().and(Err(error)))?;
    if !arguments.results.quiet {
        out::note(&embedded::headline(&context.project));
    }
    if !arguments.dry_run.is_empty() {
        dry_run::print(&context, setting, &machine, arguments);
        return Ok(context.interrupt.exit().unwrap_or(Exit::Fine));
    }
    if arguments.scale == Scale::Paper {
        scale::announce(&setting.experiment.suite, &setting.subjects);
    }
    execute::begin(&context, setting, arguments)
}
