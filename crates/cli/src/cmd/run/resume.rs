//! `wirebench run --resume FOLDER`: reads what a run was about from its journal, makes sure that
//! nothing has changed that its figures depend on, and goes on.

use anyhow::Context as _;
use std::{io, path::Path};
use wirebench_experiment::{
    experiment::{Differences, TakenUp},
    journal::JOURNAL_FILE,
};
use wirebench_report::{ab, tune};
use wirebench_schema::{
    argv,
    journal::{EndReason, Journal, Start},
    units::write_duration,
};

use super::{Arguments, Setting, original::Original};
use crate::{
    context::Context,
    exit::{Exit, incomparable, usage},
    first_screen,
    interrupt::Interrupt,
    out, preparation,
};

/// Goes on with the run in `folder`, which may also be given as its journal.
pub(super) fn run(folder: &Path, arguments: &Arguments) -> anyhow::Result<Exit> {
    let named = || format!("{} cannot be found", folder.display());
    let folder =
        folder.canonicalize().with_context(named).map_err(|it| usage(format!("{it:#}")))?;
    let folder = match folder.file_name().is_some_and(|name| name == JOURNAL_FILE) {
        true => folder.parent().unwrap_or(&folder),
        false => &folder,
    };
    let taken_up = TakenUp::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => error.into(),
        _ => usage(error),
    })?;
    let start = taken_up.journal().start.clone();
    let original = Original::of(&start)?.strictly(arguments.strict);
    if arguments.budget.is_some() && original.has_a_fixed_plan() {
        return Err(fixed_plan(&start));
    }
    if let Some(reason) = taken_up.ended()
        && !(reason == EndReason::Budget && arguments.budget.is_some())
    {
        return show_again(taken_up, reason, &original, arguments);
    }
    std::env::set_current_dir(&start.folder).map_err(|error| {
        refusal(&start, &[format!("its folder {} cannot be entered: {error}", start.folder)])
    })?;
    let context = Context::new(original.project())?;
    let mut setting = original
        .setting(&context)
        .map_err(|error| refusal(&start, &[format!("it cannot be set up any more: {error:#}")]))?;
    setting.experiment.goal.budget = arguments.budget.or(setting.experiment.goal.budget);
    let mut reporter = arguments.telling.reporter().with_view(view(&start));
    let added = added(&taken_up, &setting);
    let subjects = taken_up.part_of_it(setting.subjects);
    let prepared = preparation::prepare_all(&context, subjects, &mut reporter);
    if let Some(exit) = context.interrupt.exit() {
        reporter.finish();
        return Ok(exit);
    }
    let Differences { refusing, mut noted } = taken_up.differences(&setting.experiment, &prepared);
    if !refusing.is_empty() {
        reporter.finish();
        return Err(refusal(&start, &refusing));
    }
    noted.extend(added);
    noted.extend(extended(taken_up.ended(), arguments));
    for difference in &noted {
        reporter.note(&format!("not as it was: {difference}"));
    }
    preparation::bind(&setting.experiment)?;
    let stop = context.interrupt.flag();
    let finished = taken_up.go_on(&setting.experiment, &prepared, noted, stop, &mut reporter);
    reporter.finish();
    original.conclude(&context.interrupt, &finished?)
}

/// What is shown while it goes on: the table of a suite, nothing of `ab` and `tune`.
fn view(start: &Start) -> fn(&Journal) -> String {
    let has_table = ![ab::SUITE, tune::SUITE].contains(&start.suite.as_str());
    if has_table { first_screen::live } else { |_| String::new() }
}

/// Nothing is left to be done: the reports are written once more.
fn show_again(
    taken_up: TakenUp,
    reason: EndReason,
    original: &Original,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let how = match reason {
        EndReason::Complete => "all of its runs are made",
        EndReason::Precise => "it is as precise as was asked for",
        EndReason::Budget if original.has_a_fixed_plan() => "its budget is used up",
        EndReason::Budget => "its time is up (a larger --budget lets it go on)",
        EndReason::Interrupted => "it was interrupted",
    };
    if arguments.budget.is_some() {
        return Err(usage(format!(
            "this run is over, because {how}, and a budget cannot be given to it any more: begin \
             another one with {}",
            argv::display(&taken_up.journal().start.command)
        )));
    }
    let exit = original.conclude(&Interrupt::listen()?, &taken_up.finished())?;
    if !arguments.telling.quiet {
        out::note(&format!("nothing is left to be done: {how}"));
    }
    Ok(exit)
}

/// That the budget of a comparison cannot grow. More cohorts after a look at the result find a
/// difference where there is none, up to three times as often as the interval says.
fn fixed_plan(start: &Start) -> anyhow::Error {
    usage(format!(
        "`ab` fixed its budget before the first run, because cohorts that are added after a look at the \
         result find false differences; --resume alone completes the plan, and for more cohorts begin \
         another comparison with a larger --budget: {}",
        argv::display(&start.command)
    ))
}

/// That a run goes on whose result has been shown. Whether it does may depend on that.
fn extended(ended: Option<EndReason>, arguments: &Arguments) -> Option<String> {
    let budget = write_duration(arguments.budget.filter(|_| ended.is_some())?);
    Some(format!(
        "its budget became {budget} after its result was shown: if more is measured because of a result, \
         intervals are too narrow"
    ))
}

/// What has come to the entries since. It is left out, and that is worth a word.
fn added(taken_up: &TakenUp, setting: &Setting) -> Vec<String> {
    let start = &taken_up.journal().start;
    let unavailable = &taken_up.journal().unavailable;
    let subjects = setting.subjects.iter().map(|subject| &subject.variant.id);
    let new = subjects.filter(|id| {
        !start.variants.iter().any(|it| it.variant == **id)
            && !unavailable.iter().any(|it| it.variant == **id)
    });
    new.map(|id| format!("{id} was no part of it and is left out")).collect()
}

/// That the run cannot go on, why, and what can be done.
pub(super) fn refusal(start: &Start, differences: &[String]) -> anyhow::Error {
    let list: String = differences.iter().map(|it| format!("\n  {it}")).collect();
    incomparable(format!(
        "figures from now would not belong to those that are there, so this run cannot go on:{list}\n\
         put it back as it was, or begin another run in {} with: {}",
        start.folder,
        argv::display(&start.command)
    ))
}
