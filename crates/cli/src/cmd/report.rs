//! `wirebench report`: shows again what a run has measured, from its journal alone.

use std::path::PathBuf;
use wirebench_report::{
    table::{Style, report},
    tune::{Look, Tuned},
};
use wirebench_runner::journal;

use crate::{
    cmd::tune::look,
    exit::{Exit, usage},
    out,
};

/// Arguments of `wirebench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder that `wirebench run` named, or its `runs.jsonl`
    run: PathBuf,
    /// Write Markdown
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let journal = journal::read(&arguments.run).map_err(usage)?;
    let style = if arguments.markdown { Style::Markdown } else { Style::Text };
    if let Some(tuned) = Tuned::of(&journal) {
        out::result(&tuned.text(style, if arguments.markdown { Look::Plain } else { look() }));
        return Ok(Exit::Fine);
    }
    out::result(&report(&journal, style));
    Ok(Exit::Fine)
}
