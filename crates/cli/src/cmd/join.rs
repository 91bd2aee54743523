//! `wirebench join`: puts the blocks of one plan, which were measured apart, into one result.

mod blocks;
mod whole;
mod words;

use std::path::PathBuf;
use wirebench_schema::argv;

use crate::{
    args::project::ProjectOption, embedded, exit::Exit, live::interrupt::Interrupt, out,
    session::Original,
};

use blocks::Blocks;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The results must be of one plan: the same suite, options, seed, placement, rates, programs, wirebench and \
hardware. Blocks that are missing or failed are listed with the commands that measure them; the others \
are joined anyway.

Exit codes: 1 blocks are missing; 2 usage; 3 not of one plan; else that of `run` or `ab` for the whole.

Manual, with recipes for ssh and Slurm: docs/hosts.md")]
pub(crate) struct Arguments {
    /// Results of `run --block` or `ab --block`, or folders with such results in them
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// Create the result folder in this folder [default: target/wirebench in a checkout,
    /// $XDG_STATE_HOME/wirebench elsewhere]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Joins the blocks. `original` parses the command that a journal says began its run.
pub(crate) fn run(arguments: &Arguments, original: Original) -> anyhow::Result<Exit> {
    let interrupt = Interrupt::listen()?;
    let blocks = Blocks::read(&arguments.folders)?;
    for problem in &blocks.problems {
        out::note(&format!("warning: {problem}"));
    }
    let missing = blocks.missing();
    if blocks.complete().next().is_none() {
        anyhow::bail!("no block is complete, so nothing is joined{}", commands(&blocks, &missing));
    }
    let results = match &arguments.output {
        Some(output) => std::path::absolute(output)?,
        None => usual_results()?,
    };
    let finished = whole::write(&blocks, &results)?;
    let verb = original(&finished.journal.start)?;
    let exit = verb.conclude(&interrupt, &finished)?;
    if missing.is_empty() {
        return Ok(exit);
    }
    let all = finished.journal.start.blocks;
    let commands = commands(&blocks, &missing);
    out::error(&format!("{} of {all} blocks are missing{commands}", missing.len()));
    Ok(interrupt.exit().unwrap_or(Exit::Failed))
}

/// The folder of results, without --output.
fn usual_results() -> anyhow::Result<PathBuf> {
    let project = ProjectOption::default().project()?;
    embedded::make_results(&project)?;
    Ok(project.results)
}

/// A line with its command for each block that is missing, after a colon.
fn commands(blocks: &Blocks, missing: &[u32]) -> String {
    if missing.is_empty() {
        return ": give the results of `run --block` or `ab --block`".to_owned();
    }
    let line = |block: &u32| {
        let failure = blocks.results.get(block).and_then(|it| it.failure);
        let why = failure.map_or_else(String::new, |it| format!(", {it}"));
        let command = argv::display(&words::of_block(blocks, *block));
        format!("\n  block {block}{why}: {command}")
    };
    let lines: String = missing.iter().map(line).collect();
    format!(":{lines}\nMeasure them, and join all folders again")
}
