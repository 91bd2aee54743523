//! `wirebench run --resume FOLDER`: reads what a run was about from its journal, makes sure that
//! nothing has changed that its figures depend on, and goes on.

use anyhow::Context as _;
use std::{io, path::Path};
use wirebench_catalogue::trust;
use wirebench_experiment::{
    experiment::{Differences, ResumedExperiment},
    journal::JOURNAL_FILE,
};
use wirebench_report::{ab, tune};
use wirebench_schema::{
    argv,
    journal::{EndReason, Journal, Start},
    units::write_duration,
};

use super::options::Arguments;
use crate::{
    args::idle::IdleOption,
    context::Context,
    exit::{Exit, usage},
    live::interrupt::Interrupt,
    out, preparation,
    results::stored,
    session::{Original, Resumable, Setting, refusal},
};

/// Goes on with the run in `folder`, which may also be given as its journal.
pub(super) fn run(
    folder: &Path,
    arguments: &Arguments,
    original: Original,
) -> anyhow::Result<Exit> {
    let named = || format!("cannot find {}", folder.display());
    let folder =
        folder.canonicalize().with_context(named).map_err(|it| usage(format!("{it:#}")))?;
    let folder = match folder.file_name().is_some_and(|name| name == JOURNAL_FILE) {
        true => folder.parent().unwrap_or(&folder),
        false => &folder,
    };
    trust::check_tree(folder, &[]).map_err(|untrusted| {
        usage(format!(
            "{untrusted}: --resume runs the commands in its journal with your rights. If you trust them, make \
             the folder yours with `chown -R`"
        ))
    })?;
    let taken_up = ResumedExperiment::open(folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => error.into(),
        _ => usage(error),
    })?;
    let start = taken_up.journal().start.clone();
    let mut original = original(&start)?;
    original.resume(start.seed, arguments.results.delivery.gate.strict);
    if arguments.cohorts.budget.is_some() && original.has_fixed_plan() {
        return Err(fixed_plan(&start));
    }
    if let Some(reason) = taken_up.ended()
        && !(reason == EndReason::Budget && arguments.cohorts.budget.is_some())
    {
        return show_again(taken_up, reason, original.as_ref(), arguments);
    }
    require_secrets(&start)?;
    std::env::set_current_dir(&start.folder).map_err(|error| {
        refusal(&start, &[format!("cannot enter its folder {}: {error}", start.folder)])
    })?;
    let context = Context::new(&original.shared().2.project)?;
    let mut setting =
        original.setting(&context).map_err(|error| refusal(&start, &[format!("{error:#}")]))?;
    setting.experiment.goal.budget = arguments.cohorts.budget.or(setting.experiment.goal.budget);
    // Earlier runs had the mode that was possible then.
    let idle = IdleOption { idle: Some(start.idle) };
    let settings = &mut setting.experiment.settings;
    (settings.idle, settings.wake_up) = (start.idle, start.wake_up);
    let mut reporter = arguments.results.reporter();
    reporter.view = Some(view(&start));
    let added = added(&taken_up, &setting);
    let subjects = taken_up.part_of_it(setting.subjects);
    let suite = &setting.experiment.suite;
    let prepared = preparation::prepare_with_baseline(&context, suite, subjects, &mut reporter)?;
    let Differences { refusing, mut noted } = taken_up.differences(&setting.experiment, &prepared);
    if !refusing.is_empty() {
        return Err(refusal(&start, &refusing));
    }
    noted.extend(added);
    noted.extend(extended(taken_up.ended(), arguments));
    for difference in &noted {
        reporter.note(&format!("changed: {difference}"));
    }
    let _awake = preparation::bind(&context, &mut setting.experiment, idle, &reporter)?;
    let stop = context.interrupt.flag();
    let finished = taken_up.go_on(&setting.experiment, &prepared, noted, stop, &mut reporter);
    drop(reporter);
    original.conclude(&context.interrupt, &finished?)
}

/// Refuses to continue a run whose command had secrets, because its journal does not keep them.
fn require_secrets(start: &Start) -> anyhow::Result<()> {
    if start.lacks_secrets() {
        return Err(usage(
            "cannot resume: the result does not keep the secrets of its command; start a new run with \
             --show-secrets, or with the secrets in a file of --requests",
        ));
    }
    Ok(())
}

/// What is shown while it goes on: the table of a suite, nothing of `ab` and `tune`.
fn view(start: &Start) -> fn(&Journal) -> String {
    let has_table = ![ab::SUITE, tune::SUITE].contains(&start.suite.as_str());
    if has_table { stored::live } else { |_| String::new() }
}

/// Nothing is left to be done: the reports are written once more.
fn show_again(
    taken_up: ResumedExperiment,
    reason: EndReason,
    original: &dyn Resumable,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let how = match reason {
        EndReason::Complete => "all runs are complete",
        EndReason::Decided => "the answer is known",
        EndReason::Precise => "the requested precision is reached",
        EndReason::Budget if original.has_fixed_plan() => "the budget is used up",
        EndReason::Budget => "the budget is used up (a larger --budget continues it)",
        EndReason::Interrupted => "it was interrupted",
    };
    if arguments.cohorts.budget.is_some() {
        return Err(usage(format!(
            "this run is finished: {how}; --budget cannot extend it; start a new run with: {}",
            argv::display(&taken_up.journal().start.command)
        )));
    }
    let exit = original.conclude(&Interrupt::listen()?, &taken_up.finished())?;
    if !arguments.results.quiet {
        out::note(&format!("nothing to resume: {how}"));
    }
    Ok(exit)
}

/// That the budget of a comparison cannot grow. More cohorts after a look at the result find a
/// difference where there is none, up to three times as often as the interval says.
fn fixed_plan(start: &Start) -> anyhow::Error {
    usage(format!(
        "this run fixes its budget before the first run, because adding cohorts after seeing a result finds \
         false differences: omit --budget to complete the plan, or start a new comparison with a larger \
         one: {}",
        argv::display(&start.command)
    ))
}

/// That a run goes on whose result has been shown. Whether it does may depend on that.
fn extended(ended: Option<EndReason>, arguments: &Arguments) -> Option<String> {
    let budget = write_duration(arguments.cohorts.budget.filter(|_| ended.is_some())?);
    Some(format!(
        "budget extended to {budget} after a result was shown: if the result was the reason, intervals \
         are too narrow"
    ))
}

/// Variants added to the entries since the run started. They are excluded, with a remark.
fn added(taken_up: &ResumedExperiment, setting: &Setting) -> Vec<String> {
    let start = &taken_up.journal().start;
    let unavailable = &taken_up.journal().unavailable;
    let subjects = setting.subjects.iter().map(|subject| &subject.variant.id);
    let new = subjects.filter(|id| {
        !start.variants.iter().any(|it| it.variant == **id)
            && !unavailable.iter().any(|it| it.variant == **id)
    });
    new.map(|id| format!("{id} is new and is excluded")).collect()
}
