//! `wirebench man`: writes a manual page for the program and for each verb.

use anyhow::Context as _;
use std::{fs, path::PathBuf};

use crate::{exit::Exit, out};

#[derive(Debug, clap::Args)]
#[command(after_help = "Install: wirebench man ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// Folder for the pages, created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the pages of `command`, the whole program.
pub(crate) fn run(arguments: &Arguments, command: clap::Command) -> anyhow::Result<Exit> {
    let folder = &arguments.folder;
    let shown = || format!("cannot write manual pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(shown)?;
    clap_mangen::generate_to(command, folder).with_context(shown)?;
    out::result(&format!("manual pages written to {}", folder.display()));
    Ok(Exit::Fine)
}
