//! `wirebench build`: builds what changed, and shows the compiler's last lines when it fails.

use std::time::Instant;
use wirebench_runner::build::{self, Built};

use crate::{context::Context, exit::Exit, out};

/// Arguments of `wirebench build`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages; all without
    names: Vec<String>,
    /// Build also what is up to date
    #[arg(long)]
    force: bool,
    /// Fail also when something is missing for an entry
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let mut exit = Exit::Fine;
    for subject in context.select(&arguments.names)? {
        let id = &subject.variant.id;
        if let Some(reason) = context.prober().availability(&subject).reason() {
            out::result(&format!("{id}: left out, {reason}"));
            // Who names an entry wants it built.
            if arguments.strict || !arguments.names.is_empty() {
                exit = Exit::Failed;
            }
            continue;
        }
        let began = Instant::now();
        match build::build(&subject, arguments.force, context.interrupt.flag()) {
            Ok(Built::Nothing) => out::result(&format!("{id}: nothing to build")),
            Ok(Built::UpToDate) => out::result(&format!("{id}: up to date")),
            Ok(Built::Made) => {
                out::result(&format!("{id}: built in {:.1} s", began.elapsed().as_secs_f64()));
            }
            Err(_) if context.interrupt.exit().is_some() => break,
            Err(error) => {
                out::error(&format!("{id}: {error}"));
                exit = Exit::Failed;
            }
        }
    }
    Ok(context.interrupt.exit().unwrap_or(exit))
}
