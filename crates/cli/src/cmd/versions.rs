//! `wirebench versions`: languages, frameworks and compilers of every entry that can be built here.

use wirebench_catalogue::{requirement::Availability, subject::Subject, version};
use wirebench_report::{
    table::{Style, listing},
    wrap::wrap,
};

use crate::{args::project::ProjectOption, context::Context, exit::Exit, out, plan::count};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries, variants, languages or patterns [default: all]
    names: Vec<String>,
    /// Print a table in this form; without it text
    #[arg(long, value_name = "NAME", value_parser = ["markdown"])]
    format: Option<String>,
    #[command(flatten)]
    project: ProjectOption,
}

const HEAD: [&str; 2] = ["entry", "versions"];

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let mut exit = Exit::Fine;
    let subjects = context.select(&arguments.names)?;
    let survey = context.prober().survey(&subjects);
    let mut rows = Vec::new();
    for (subject, availability) in subjects.iter().zip(&survey) {
        let text = match availability {
            Availability::Ready => {
                version::versions(subject, context.interrupt.flag()).map(|versions| {
                    let each = versions.iter().map(|(name, version)| format!("{name} {version}"));
                    each.collect::<Vec<_>>().join(", ")
                })
            }
            .unwrap_or_else(|reason| {
                exit = Exit::Failed;
                reason
            }),
            other if arguments.format.is_some() => other.reason().unwrap_or_default(),
            other => other.state().to_owned(),
        };
        rows.push((subject, text));
    }
    if arguments.format.is_some() {
        let cells = |(subject, text): (&Subject, _)| vec![subject.variant.id.to_string(), text];
        let rows = rows.into_iter().map(cells).collect();
        out::result(&listing(Style::Markdown, &HEAD, HEAD.len(), rows));
    } else {
        out::result(&on_screen(&rows));
        let is_missing = |it: &&Availability| **it != Availability::Ready;
        match survey.iter().filter(is_missing).count() {
            0 => {}
            some => {
                let (variants, are) =
                    (count(some, "variant"), if some == 1 { "is" } else { "are" });
                let why = "`wirebench list --missing` shows why";
                out::note(&format!("{variants} {are} not ready: {why}"));
            }
        }
    }
    Ok(context.interrupt.exit().unwrap_or(exit))
}

/// A row for each entry whose variants have the same versions, else for each variant. On a terminal, no line is
/// wider than it.
fn on_screen(rows: &[(&Subject, String)]) -> String {
    let entry = |row: &(&Subject, String)| row.0.variant.id.entry().to_owned();
    let mut folded: Vec<(String, &str)> = Vec::new();
    for group in rows.chunk_by(|one, other| entry(one) == entry(other)) {
        if group.len() > 1 && group.iter().all(|(_, text)| *text == group[0].1) {
            folded.push((entry(&group[0]), &group[0].1));
        } else {
            folded
                .extend(group.iter().map(|(it, text)| (it.variant.id.to_string(), text.as_str())));
        }
    }
    let names = folded.iter().map(|(name, _)| name.len()).chain([HEAD[0].len()]);
    let used = names.max().unwrap_or(0) + 2;
    let room = out::columns().map_or(usize::MAX, |width| usize::from(width).saturating_sub(used));
    let lines = |(name, text): (String, &str)| {
        let names = [name].into_iter().chain(std::iter::repeat(String::new()));
        names.zip(wrap(text, room, "")).map(|(name, line)| vec![name, line]).collect::<Vec<_>>()
    };
    listing(Style::Text, &HEAD, HEAD.len(), folded.into_iter().flat_map(lines).collect())
}
