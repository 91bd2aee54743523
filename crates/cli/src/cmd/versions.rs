//! `wirebench versions`: languages, frameworks and compilers of every entry that can be built here.

use wirebench_catalogue::version;
use wirebench_report::table::{Style, listing};

use crate::{context::Context, exit::Exit, options::ProjectOption, out};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants or languages [default: all]
    names: Vec<String>,
    /// Print a Markdown table
    #[arg(long)]
    markdown: bool,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let style = if arguments.markdown { Style::Markdown } else { Style::Text };
    let mut rows = Vec::new();
    let mut exit = Exit::Fine;
    let subjects = context.select(&arguments.names)?;
    let survey = context.prober().survey(&subjects);
    for (subject, availability) in subjects.iter().zip(survey) {
        let text = match availability.reason() {
            Some(reason) => reason,
            None => match version::versions(subject, context.interrupt.flag()) {
                Ok(versions) => {
                    let each = versions.iter().map(|(name, version)| format!("{name} {version}"));
                    each.collect::<Vec<_>>().join(", ")
                }
                Err(reason) => {
                    exit = Exit::Failed;
                    reason
                }
            },
        };
        rows.push(vec![subject.variant.id.to_string(), text]);
    }
    out::result(&listing(style, &["entry", "versions"], 2, rows));
    Ok(context.interrupt.exit().unwrap_or(exit))
}
