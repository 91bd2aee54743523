//! `wirebench list`: every variant, what it is, and whether it can be built here.

use wirebench_report::table::{Style, new_table};
use wirebench_runner::subject::Subject;
use wirebench_schema::argv::display;

use crate::{context::Context, exit::Exit, out};

/// Arguments of `wirebench list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries such as `c/epoll`, variants such as `cpp/boost-asio:prefork`, or languages such as
    /// `go/`; all without
    names: Vec<String>,
    /// Write a Markdown table
    #[arg(long, conflicts_with = "details")]
    markdown: bool,
    /// Say everything that each entry declares
    #[arg(long)]
    details: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new()?;
    let subjects = context.select(&arguments.names)?;
    if arguments.details {
        subjects.iter().for_each(|subject| out::result(&details(&context, subject)));
        return Ok(Exit::Fine);
    }
    let style = if arguments.markdown { Style::Markdown } else { Style::Text };
    let head = ["entry", "class", "model", "mechanism", "sharing", "scenarios", "here"];
    let mut table = new_table(style, &head);
    for subject in &subjects {
        table.add_row(cells(&context, subject));
    }
    out::result(&table.to_string());
    Ok(Exit::Fine)
}

fn cells(context: &Context, subject: &Subject) -> Vec<String> {
    let variant = &subject.variant;
    let scenarios: Vec<&str> = variant.scenarios.iter().map(|scenario| scenario.name()).collect();
    let here =
        context.prober().availability(subject).reason().unwrap_or_else(|| "ready".to_owned());
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

/// Everything that an entry declares, a line each.
fn details(context: &Context, subject: &Subject) -> String {
    let variant = &subject.variant;
    let mut lines = vec![format!("{}: {}", variant.id, subject.title)];
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("  {name:13} {text}"));
        }
    };
    add("what", &subject.description);
    add("variant", variant.note.as_deref().unwrap_or_default());
    add("home", subject.url.as_deref().unwrap_or_default());
    let kinds = [variant.class.to_string(), variant.model.to_string()];
    let kinds = format!("{}, {}, {}", kinds.join(", "), variant.mechanism, variant.sharing);
    add("kind", &kinds);
    let scenarios: Vec<&str> = variant.scenarios.iter().map(|scenario| scenario.name()).collect();
    add("scenarios", &scenarios.join(", "));
    add("leaves out", &variant.skips.join("; "));
    add("known issues", &variant.known_issues.join("; "));
    add("starts with", &display(&variant.run.command));
    let reason = context.prober().availability(subject).reason();
    add("here", reason.as_deref().unwrap_or("ready"));
    lines.join("\n") + "\n"
}
