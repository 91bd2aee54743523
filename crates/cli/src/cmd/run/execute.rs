//! Runs an experiment and reports the result: preparation, the runs, the reports, the
//! exit code.

use wirebench_experiment::{
    experiment::{Experiment, Finished, Observer as _, Prepared, Progress, conduct},
    plan,
};
use wirebench_report::{Details, gates, is_named, refused, screen};
use wirebench_schema::journal::{Cause, Unavailable};

use super::options::Arguments;
use crate::{
    context::Context,
    exit::Exit,
    live::interrupt::Interrupt,
    out,
    preparation::{bind, prepare_with_baseline},
    results::stored::{self, Known},
    session::Setting,
};

/// Prepares and measures what is set.
pub(super) fn begin(
    context: &Context,
    setting: Setting,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let Setting { mut experiment, subjects, missing } = setting;
    let mut reporter = arguments.results.reporter();
    reporter.view = Some(stored::live);
    for it in &experiment.left_out {
        reporter.note(&format!("skipped {}: {}", it.what, it.reason));
    }
    for it in &missing {
        reporter.on(&Progress::Unavailable(it));
    }
    let mut prepared = prepare_with_baseline(context, &experiment.suite, subjects, &mut reporter)?;
    check_comparison(&experiment, &prepared, &arguments.names)?;
    prepared.unavailable.splice(0..0, missing);
    let _awake = bind(context, &mut experiment, arguments.conditions.idle, &reporter)?;
    let finished = conduct(&experiment, &prepared, context.interrupt.flag(), &mut reporter);
    drop(reporter);
    conclude(&context.interrupt, &finished?, arguments)
}

/// Refuses to measure a baseline alone that was not named, where what it should be compared with can be installed or
/// was named.
fn check_comparison(
    experiment: &Experiment,
    prepared: &Prepared,
    names: &[String],
) -> anyhow::Result<()> {
    let subjects = prepared.subjects();
    let block = plan::block(&subjects, &experiment.suite, 1, 0);
    let is_wanted = |it: &&Unavailable| {
        it.cause == Cause::Missing || names.iter().any(|name| it.variant.matches(name))
    };
    let wanted: Vec<&Unavailable> = prepared.unavailable.iter().filter(is_wanted).collect();
    if block.is_empty() || wanted.is_empty() || !experiment.compares_nothing(&subjects, &block) {
        return Ok(());
    }
    let lines = wanted.iter().map(|it| format!("\n  {}: {}", it.variant, it.reason));
    let lines: String = lines.collect();
    anyhow::bail!("only the baseline is available, so nothing can be compared:{lines}")
}

/// Prints the result, writes the reports, and returns the exit code. What was asked for by name must have been
/// measured; what merely happens to be there need not.
pub(super) fn conclude(
    interrupt: &Interrupt,
    finished: &Finished,
    arguments: &Arguments,
) -> anyhow::Result<Exit> {
    let (journal, delivery) = (&finished.journal, &arguments.results.delivery);
    let known = Known::of(journal, &finished.folder)?;
    let analysis = &arguments.view.analysis(journal);
    let gate = gates::of_run(analysis, &delivery.gate.conditions());
    let facts = known.facts(out::look(), gate.as_ref());
    let page =
        |place| format!("{}\n{place}", screen::page(analysis, &facts).trim_end_matches('\n'));
    let details = Details { analysis, metric: None, facts };
    let of_result = || {
        let is_missing = journal.unavailable.iter().any(|it| is_named(journal, &it.variant));
        let not_valid = if delivery.gate.strict { refused(analysis) } else { Vec::new() };
        not_valid.iter().for_each(|row| out::error(row));
        match (finished.all_well() && !is_missing, not_valid.len()) {
            (false, _) => Exit::Failed,
            (true, 0) => Exit::Fine,
            (true, _) => Exit::NotValid,
        }
    };
    delivery.keep("run", &details, gate.as_ref(), (finished, interrupt), page, of_result)
}
