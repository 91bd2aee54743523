//! Carrying an experiment out and telling what came of it: preparation, the runs, the reports, the
//! exit code.

use anyhow::Context as _;
use std::fs;
use wirebench_experiment::{
    experiment::{Finished, Observer as _, Progress, conduct},
    journal,
};
use wirebench_report::{
    commands, json,
    table::{Style, report},
};

use super::{Arguments, Setting, Strictness, strict};
use crate::{
    context::Context,
    exit::Exit,
    first_screen,
    interrupt::Interrupt,
    out,
    preparation::{bind, prepare_all},
};

/// Prepares and measures what is set.
pub(super) fn begin(
    context: &Context,
    setting: Setting,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let Setting { experiment, subjects, missing } = setting;
    let mut reporter = arguments.telling.reporter().with_view(first_screen::live);
    for it in &experiment.left_out {
        reporter.left_out(&it.what, &it.reason);
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
    bind(&experiment)?;
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
    out::result(&first_screen::of(&finished.journal, &finished.folder));
    write_reports(finished)?;
    out::result(&first_screen::place(&finished.folder));
    if let Some(exit) = interrupt.exit() {
        let resume = journal::resume_command(&finished.folder);
        out::result(&format!("this goes on with: {resume}"));
        return Ok(exit);
    }
    let unavailable = &finished.journal.unavailable;
    let is_missing = unavailable.iter().any(|it| names.iter().any(|name| it.variant.matches(name)));
    let not_valid = match strictness {
        Strictness::Usual => 0,
        Strictness::Strict => strict::tell(&finished.journal),
    };
    Ok(match (finished.all_well() && !is_missing, not_valid) {
        (false, _) => Exit::Failed,
        (true, 0) => Exit::Fine,
        (true, _) => Exit::NotValid,
    })
}

fn write_reports(finished: &Finished) -> anyhow::Result<()> {
    let files = [
        (first_screen::DETAILS_FILE, report(&finished.journal, Style::Text)),
        ("report.md", report(&finished.journal, Style::Markdown)),
        ("report.json", json::text(&finished.journal)),
        ("commands.txt", commands::text(&finished.journal)),
    ];
    for (name, text) in files {
        let path = finished.folder.join(name);
        fs::write(&path, text).with_context(|| {
            format!(
                "{} cannot be written; all figures are in the journal, and once there is room this \
                 writes the rest: {}",
                path.display(),
                journal::resume_command(&finished.folder)
            )
        })?;
    }
    Ok(())
}
