//! An experiment from the options that `run`, `ab` and `tune` share.

use std::io;
use wirebench_experiment::{
    experiment::{Experiment, Knowledge},
    measure::RunSettings,
};
use wirebench_schema::{
    journal::{Goal, Procedure},
    suite::{Scale, Suite},
    verification::Verification,
};

use crate::{
    args::output::ResultOptions,
    context::{Context, command_line},
};

/// The experiment without margin, metric, profiles and verdict, which the verbs add.
pub(crate) fn experiment_of(
    context: &Context,
    output: &ResultOptions,
    verification: Verification,
    (suite, settings): (Suite, RunSettings),
    (procedure, goal): (Procedure, Goal),
) -> io::Result<Experiment> {
    Ok(Experiment {
        suite,
        scale: Scale::Machine,
        published: None,
        left_out: Vec::new(),
        settings,
        project: output.project(context)?,
        procedure,
        margin: None,
        metric: None,
        least_blocks: 1,
        command: command_line(),
        labels: output.labels(context),
        verification,
        named: Vec::new(),
        goal,
        part: None,
        knowledge: Knowledge::of_width(|_| None),
        complete_cohorts: |_| None,
        why: None,
    })
}
