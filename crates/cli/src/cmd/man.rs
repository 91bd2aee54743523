//! `wirebench man`: writes a manual page for the program and for each verb.

use anyhow::Context as _;
use clap::Command;
use clap_mangen::{
    Man,
    roff::{Roff, roman},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{examples, exit::Exit, out};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Folder for the pages, created if it is missing
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Writes the pages of `command`, the whole program.
pub(crate) fn run(arguments: &Arguments, command: Command) -> anyhow::Result<Exit> {
    let folder = &arguments.folder;
    let shown = || format!("cannot write manual pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(shown)?;
    write_pages(command, folder).with_context(shown)?;
    out::result(&format!("manual pages written to {}", folder.display()));
    Ok(Exit::Fine)
}

fn write_pages(command: Command, folder: &Path) -> io::Result<()> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write_page(verb.clone(), folder)?;
    }
    write_page(command, folder)
}

/// Writes the page of one verb, with its examples at the end.
fn write_page(command: Command, folder: &Path) -> io::Result<()> {
    let lines = examples::lines(command.get_name());
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render(&mut page)?;
    if !lines.is_empty() {
        let mut roff = Roff::new();
        roff.control("SH", ["EXAMPLES"]);
        // Lines are not filled.
        roff.control("nf", []);
        lines.into_iter().for_each(|line| {
            roff.text([roman(line)]);
        });
        roff.control("fi", []);
        roff.to_writer(&mut page)?;
    }
    fs::write(folder.join(man.get_filename()), page)
}
