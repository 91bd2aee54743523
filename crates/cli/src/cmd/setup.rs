//! `wirebench setup`: installs the Debian packages that the entries need, all in one go.

use anyhow::Context as _;
use std::{path::Path, time::Duration};
use wirebench_runner::{
    command::{Job, NO_ENV},
    setup::Setup,
};
use wirebench_schema::argv::display;

use crate::{context::Context, exit::Exit, out};

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
    let setup = Setup::find(&subjects, &context.prober());
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
        // The installer speaks for itself, and sudo may ask for a password.
        let folder = Path::new("/");
        let job = Job { argv: command, folder, env: NO_ENV, timeout: Duration::MAX };
        let status = job.foreground()?;
        if let Some(exit) = context.interrupt.exit() {
            return Ok(exit);
        }
        anyhow::ensure!(status.success(), "`{}` failed with {status}", display(command));
    }
    if !arguments.dry_run {
        let left = Setup::find(&context.select(&arguments.names)?, &context.prober());
        let left: Vec<&str> = left.packages.iter().map(String::as_str).collect();
        if !left.is_empty() {
            let left = left.join(" ");
            return Err(anyhow::anyhow!(left)).context("installed, but the entries still miss");
        }
        out::result("installed");
    }
    Ok(Exit::Fine)
}
