//! `wirebench completions`: prints a completion script for a shell.

use clap_complete::{Shell, generate};

use crate::{exit::Exit, out};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Bash: wirebench completions bash > ~/.local/share/bash-completion/completions/wirebench"
)]
pub(crate) struct Arguments {
    /// Shell
    shell: Shell,
}

/// Prints the script for `command`, the whole program.
pub(crate) fn run(arguments: &Arguments, command: &clap::Command) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut visible(command), "wirebench", &mut script);
    out::result(&String::from_utf8(script)?);
    Ok(Exit::Fine)
}

/// The program without its internal verbs, which the scripts for some shells would complete.
fn visible(command: &clap::Command) -> clap::Command {
    let verbs = command.get_subcommands().filter(|it| !it.is_hide_set()).cloned();
    clap::Command::new("wirebench")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments().cloned())
        .subcommands(verbs)
}
