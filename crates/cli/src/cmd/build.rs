//! `wirebench build`: builds what changed, several at once, and shows what the compiler complains
//! of when one fails.

use wirebench_catalogue::{build::Freshness, requirement::Availability};

use crate::{
    args::project::ProjectOption,
    building::{BuildOptions, build_all},
    context::Context,
    exit::Exit,
    out, value,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages [default: all]
    names: Vec<String>,
    /// Parallel builds [default: one per CPU, fewer if memory is short]
    #[arg(short, long, value_name = "N", value_parser = value::positive_count::<usize>)]
    jobs: Option<usize>,
    /// Rebuild entries that are up to date
    #[arg(long)]
    force: bool,
    /// Exit with 1 if an entry needs `wirebench setup`
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let mut exit = Exit::Fine;
    let selected = context.select(&arguments.names)?;
    let there = context.available(selected, |subject, availability, reason| {
        out::result(&format!("{}: skipped, {reason}", subject.variant.id));
        let left_undone = matches!(availability, Availability::NeedsSetup { .. });
        // A named entry must be built; among unnamed ones, broken ones are skipped.
        let named = arguments.names.iter().any(|name| subject.variant.id.matches(name));
        let wanted = named || (arguments.strict && left_undone);
        if wanted || subject.broken().is_some() {
            exit = Exit::Failed;
        }
    });
    let freshness = if arguments.force { Freshness::Anew } else { Freshness::Stamped };
    let options = BuildOptions { freshness, jobs: arguments.jobs, are_results: true };
    if !build_all(&context, &there, options).is_empty() {
        exit = Exit::Failed;
    }
    Ok(context.interrupt.exit().unwrap_or(exit))
}
