//! `wirebench doctor`: what is missing or unwise on this machine, with what mends it. It changes
//! nothing.

use wirebench_report::table::{Style, new_table};
use wirebench_runner::{
    doctor::{State, examine_here},
    setup::Setup,
};

use crate::{
    context::{Context, PROBE_IO_URING},
    exit::Exit,
    out,
};

/// Arguments of `wirebench doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let setup = Setup::find(&context.subjects()?, PROBE_IO_URING);
    let mut table = new_table(Style::Text, &["", "what", "found", "what to do"]);
    for finding in examine_here(PROBE_IO_URING(), &setup) {
        let state = match finding.state {
            State::Fine => "fine",
            State::Unwise => "unwise",
            State::Missing => "missing",
        };
        let remedy = finding.remedy.unwrap_or_default();
        table.add_row([state.to_owned(), finding.name.to_owned(), finding.text, remedy]);
    }
    out::result(&table.to_string());
    Ok(Exit::Fine)
}
