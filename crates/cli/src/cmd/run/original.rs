//! What a run that goes on was begun as: `wirebench run` or `wirebench ab`, with its options. How it
//! goes on is the same for both.

use clap::Parser as _;
use wirebench_experiment::experiment::Finished;
use wirebench_schema::{argv, journal::Start};

use super::{Arguments, Setting, carry_out, resume::refusal};
use crate::{
    Verb,
    cmd::ab,
    context::Context,
    exit::{Exit, usage},
    interrupt::Interrupt,
    options::{Conditions, ProjectOption, Telling},
};

/// The seed is that of the beginning, also where nobody gave one, and what was said at the beginning
/// is not said again.
fn again(conditions: &mut Conditions, telling: &mut Telling, start: &Start) {
    (conditions.seed, telling.quiet) = (Some(start.seed), true);
}

/// The verb and the options with which a run was begun.
pub(super) enum Original {
    Run(Box<Arguments>),
    Ab(Box<ab::Arguments>),
}

impl Original {
    /// What the journal's head says.
    pub(super) fn of(start: &Start) -> anyhow::Result<Self> {
        let parsed = crate::Arguments::try_parse_from(&start.command).map_err(|error| {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or_default();
            let options = "its options are not understood any more";
            refusal(start, &[format!("{options}: {}", first.trim_start_matches("error: "))])
        })?;
        match parsed.verb {
            Verb::Run(mut arguments) => {
                again(&mut arguments.conditions, &mut arguments.telling, start);
                Ok(Self::Run(arguments))
            }
            Verb::Ab(mut arguments) => {
                again(&mut arguments.conditions, &mut arguments.telling, start);
                Ok(Self::Ab(arguments))
            }
            _ => Err(usage(format!(
                "`{}` made this folder, and only `wirebench run` and `wirebench ab` can be taken up \
                 again",
                argv::display(&start.command)
            ))),
        }
    }

    /// Strict is who was so at first, and who is so now.
    pub(super) fn strictly(mut self, strict: bool) -> Self {
        match &mut self {
            Self::Run(arguments) => arguments.strict |= strict,
            Self::Ab(arguments) => arguments.strict |= strict,
        }
        self
    }

    /// Whether going on may only complete what was planned: the verdict on two servers is one test,
    /// whose size is decided before the first run.
    pub(super) const fn has_a_fixed_plan(&self) -> bool {
        matches!(self, Self::Ab(_))
    }

    /// The project that it measures.
    pub(super) const fn project(&self) -> &ProjectOption {
        match self {
            Self::Run(arguments) => &arguments.project,
            Self::Ab(arguments) => &arguments.project,
        }
    }

    /// What is to be carried out.
    pub(super) fn setting(&self, context: &Context) -> anyhow::Result<Setting> {
        match self {
            Self::Run(arguments) => Setting::new(context, arguments),
            Self::Ab(arguments) => arguments.setting(context),
        }
    }

    /// Tells what came of it.
    pub(super) fn conclude(
        &self,
        interrupt: &Interrupt,
        finished: &Finished,
    ) -> anyhow::Result<Exit> {
        match self {
            Self::Run(it) => carry_out::conclude(interrupt, finished, &it.names, it.strictness()),
            Self::Ab(arguments) => arguments.conclude(interrupt, finished),
        }
    }
}
