//! `wirebench list`: every variant, what it is, and whether it can be built here.

use wirebench_report::table::{Style, new_table};
use wirebench_runner::{requirement::availability, subject::Subject};

use crate::{context::Context, context::PROBE_IO_URING, exit::Exit, out};

/// Arguments of `wirebench list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries such as `c/epoll`, variants such as `cpp/boost-asio:prefork`, or languages such as
    /// `go/`; all without
    names: Vec<String>,
    /// Write a Markdown table
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let subjects = context.select(&arguments.names)?;
    let style = if arguments.markdown { Style::Markdown } else { Style::Text };
    let head = ["entry", "class", "model", "mechanism", "sharing", "scenarios", "here"];
    let mut table = new_table(style, &head);
    for subject in &subjects {
        table.add_row(cells(subject));
    }
    out::result(&table.to_string());
    Ok(Exit::Fine)
}

fn cells(subject: &Subject) -> Vec<String> {
    let variant = &subject.variant;
    let scenarios: Vec<&str> = variant.scenarios.iter().map(|scenario| scenario.name()).collect();
    let here = availability(subject, PROBE_IO_URING).reason().unwrap_or_else(|| "ready".to_owned());
    vec![
        variant.id.to_string(),
        variant.class.to_string(),
        variant.model.to_string(),
        variant.mechanism.to_string(),
        variant.sharing.to_string(),
        scenarios.join(" "),
        here,
    ]
}
