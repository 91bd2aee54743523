//! Carrying an experiment out and telling what came of it: preparation, the runs, the reports, the
//! exit code.

use wirebench_experiment::{
    experiment::{Finished, Observer as _, Progress, conduct},
    journal,
};
use wirebench_report::{Details, screen};

use super::{Arguments, Strictness, strict};
use crate::{
    context::Context,
    exit::Exit,
    interrupt::Interrupt,
    out,
    preparation::{bind, prepare_all},
    results::{self, Known},
    session::Setting,
};

/// Prepares and measures what is set.
pub(super) fn begin(
    context: &Context,
    setting: Setting,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let Setting { experiment, subjects, missing } = setting;
    let mut reporter = arguments.telling.reporter().with_view(results::live);
    for it in &experiment.left_out {
        reporter.skipped(&it.what, &it.reason);
    }
    for it in &missing {
        reporter.on(&Progress::Unavailable(it));
    }
    let mut prepared = prepare_all(context, subjects, &mut reporter);
    prepared.unavailable.splice(0..0, missing);
    if let Some(exit) = context.interrupt.exit() {
        reporter.finish();
        return Ok(exit);
    }
    bind(context, &experiment)?;
    let finished = conduct(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    reporter.finish();
    conclude(&context.interrupt, &finished?, &arguments.names, arguments.strictness())
}

/// Prints what came of it, writes the reports, and says how it went. What was asked for by one of
/// `names` must have been measured; what merely happens to be there need not.
pub(super) fn conclude(
    interrupt: &Interrupt,
    finished: &Finished,
    names: &[String],
    strictness: Strictness,
) -> anyhow::Result<Exit> {
    let journal = &finished.journal;
    let known = Known::of(journal, &finished.folder)?;
    let facts = known.facts(out::look());
    out::result(&screen::page(journal, &facts));
    results::write(finished, &Details { journal, facts })?;
    out::result(&results::place(&finished.folder));
    if let Some(exit) = interrupt.exit() {
        let resume = journal::resume_command(&finished.folder);
        out::result(&format!("Resume with: {resume}"));
        return Ok(exit);
    }
    let unavailable = &finished.journal.unavailable;
    let is_missing = unavailable.iter().any(|it| names.iter().any(|name| it.variant.matches(name)));
    let not_valid = match strictness {
        Strictness::Usual => 0,
        Strictness::Strict => strict::report(&finished.journal),
    };
    Ok(match (finished.all_well() && !is_missing, not_valid) {
        (false, _) => Exit::Failed,
        (true, 0) => Exit::Fine,
        (true, _) => Exit::NotValid,
    })
}
