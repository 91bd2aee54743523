//! `wirebench doctor`: what is missing or unwise on this machine, with what mends it. It changes
//! nothing.

use wirebench_runner::{
    doctor::{State, examine_here},
    setup::Setup,
};

use crate::{context::Context, exit::Exit, out};

/// Arguments of `wirebench doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let setup = Setup::find(&context.subjects()?, &context.prober());
    for finding in examine_here(wirebench_nullserver::probe_io_uring(), &setup) {
        let state = match finding.state {
            State::Fine => "fine",
            State::Unwise => "unwise",
            State::Missing => "missing",
        };
        out::result(&format!("{state:8} {:15} {}", finding.name, finding.text));
        if let Some(remedy) = finding.remedy {
            out::result(&format!("{:24} -> {remedy}", ""));
        }
    }
    Ok(Exit::Fine)
}
