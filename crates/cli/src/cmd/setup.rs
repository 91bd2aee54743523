//! `wirebench setup`: installs the Debian packages that the entries need, all in one go.

use anyhow::Context as _;
use std::{path::Path, time::Duration};
use wirebench_runner::{
    command::{Job, display},
    setup::Setup,
};

use crate::{
    context::{Context, PROBE_IO_URING},
    exit::Exit,
    out,
};

/// The longest that an installation may take.
const TIMEOUT: Duration = Duration::from_secs(1800);

/// Arguments of `wirebench setup`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages; all without
    names: Vec<String>,
    /// Print the commands and run none of them
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let subjects = context.select(&arguments.names)?;
    let setup = Setup::find(&subjects, PROBE_IO_URING);
    for (variant, missing) in &setup.out_of_reach {
        out::note(&format!("{variant}: {missing}; no package that is known here brings it"));
    }
    let commands = setup.commands(rustix::process::geteuid().is_root());
    if commands.is_empty() {
        out::result("nothing to install");
        return Ok(Exit::Fine);
    }
    for command in &commands {
        out::result(&display(command));
        if arguments.dry_run {
            continue;
        }
        let job = Job { argv: command, folder: Path::new("/"), timeout: TIMEOUT };
        let output = job.output(context.interrupt.flag())?;
        if !output.status.success() {
            out::error(&format!("`{}` failed with {}", display(command), output.status));
            out::note(&last_lines(&output.text));
            return Ok(context.interrupt.exit().unwrap_or(Exit::Failed));
        }
    }
    if !arguments.dry_run {
        let left = Setup::find(&context.select(&arguments.names)?, PROBE_IO_URING);
        let left: Vec<&str> = left.packages.iter().map(String::as_str).collect();
        if !left.is_empty() {
            let left = left.join(" ");
            return Err(anyhow::anyhow!(left)).context("installed, but the entries still miss");
        }
        out::result("installed");
    }
    Ok(Exit::Fine)
}

fn last_lines(text: &str) -> String {
    const LINES: usize = 15;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
