//! `wirebench list`: every variant, what it is, and whether it can be built here.

use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt::Write};
use wirebench_catalogue::{checkouts::Checkouts, requirement::Availability, subject::Subject};
use wirebench_report::table::{Style, listing};
use wirebench_schema::{argv::display, entry::Deviation, scenario::Scenario};

use crate::{context::Context, embedded, exit::Exit, options::ProjectOption, out};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Entries such as c/epoll, variants such as cpp/boost-asio:prefork, or languages such as go;
    /// a single entry is shown with details [default: all]
    names: Vec<String>,
    /// Print a Markdown table
    #[arg(long, conflicts_with = "details")]
    markdown: bool,
    /// Print JSON with all details
    #[arg(long, conflicts_with_all = ["details", "markdown"])]
    json: bool,
    /// Show all details of each entry
    #[arg(short = 'v', long)]
    details: bool,
    #[command(flatten)]
    project: ProjectOption,
}

/// A variant and whether it can be built here.
type Row = (Subject, Availability);

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let subjects = context.select(&arguments.names)?;
    let survey = context.prober().survey(&subjects);
    let rows: Vec<Row> = subjects.into_iter().zip(survey).collect();
    let text = if arguments.json {
        serde_json::to_string_pretty(&rows.iter().map(in_json).collect::<Vec<_>>())?
    } else if arguments.markdown {
        in_markdown(&rows)
    } else if arguments.details || is_one_entry(&arguments.names) {
        rows.iter().map(details).collect::<Vec<_>>().join("\n")
    } else {
        in_groups(&rows)
    };
    out::result(&text);
    out::note(&embedded::headline(&context.project));
    Ok(context.interrupt.exit().unwrap_or(Exit::Fine))
}

fn is_one_entry(names: &[String]) -> bool {
    matches!(names, [name] if name.contains('/') && !name.ends_with('/'))
}

const fn state(availability: &Availability) -> &'static str {
    match availability {
        Availability::Ready => "ready",
        Availability::NeedsSetup { .. } => "needs setup",
        Availability::NotAvailable { .. } => "not available",
    }
}

fn scenarios(subject: &Subject) -> String {
    let scenarios = &subject.variant.scenarios;
    if scenarios.len() == Scenario::ALL.len() {
        return "all".to_owned();
    }
    scenarios.iter().map(|scenario| scenario.name()).collect::<Vec<_>>().join(" ")
}

/// Rows below the names of their languages, and below them why something cannot be built.
fn in_groups(rows: &[Row]) -> String {
    let mut text = String::new();
    let same_language = |(one, _): &Row, (other, _): &Row| language(one) == language(other);
    for group in rows.chunk_by(same_language) {
        let _ = writeln!(text, "{}", language(&group[0].0));
        let cells: Vec<[String; 5]> = group.iter().map(row).collect();
        let width = |column: usize| cells.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..5).map(width).collect();
        for ((index, row), cells) in (1..).zip(group).zip(&cells) {
            let cells = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
            let _ = writeln!(text, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end());
            // Variants that lack the same say so once.
            let reason = row.1.reason();
            let next = group.get(index);
            let repeats = next.is_some_and(|next| {
                next.1.reason() == reason && next.0.variant.id.entry() == row.0.variant.id.entry()
            });
            if let Some(reason) = reason.filter(|_| !repeats) {
                let _ = writeln!(text, "      {reason}");
            }
        }
        text.push('\n');
    }
    text + &totals(rows)
}

fn language(subject: &Subject) -> &str {
    subject.variant.id.entry().split('/').next().unwrap_or_default()
}

fn row((subject, availability): &Row) -> [String; 5] {
    let variant = &subject.variant;
    let known = |text: String| if subject.is_described() { text } else { "-".to_owned() };
    [
        variant.id.to_string(),
        state(availability).to_owned(),
        known(scenarios(subject)),
        known(variant.mechanism.to_string()),
        known(variant.sharing.to_string()),
    ]
}

fn totals(rows: &[Row]) -> String {
    let count = |name: &str| rows.iter().filter(|(_, it)| state(it) == name).count();
    let entries: BTreeSet<&str> = rows.iter().map(|(it, _)| it.variant.id.entry()).collect();
    let entries = counted(entries.len(), "entry", "entries");
    let variants = counted(rows.len(), "variant", "variants");
    let mut text = format!("{entries} with {variants}: {} ready", count("ready"));
    match count("needs setup") {
        0 => {}
        1 => text += ", 1 needs `wirebench setup`",
        some => text += &format!(", {some} need `wirebench setup`"),
    }
    match count("not available") {
        0 => {}
        some => text += &format!(", {some} not available"),
    }
    text + "; `wirebench list ENTRY` shows details\n"
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn in_markdown(rows: &[Row]) -> String {
    let head = ["entry", "class", "model", "mechanism", "sharing", "scenarios", "status"];
    let cells = |(subject, availability): &Row| {
        let variant = &subject.variant;
        let status = match availability.reason() {
            None => state(availability).to_owned(),
            Some(reason) => format!("{}: {reason}", state(availability)),
        };
        vec![
            variant.id.to_string(),
            variant.class.to_string(),
            variant.model.to_string(),
            variant.mechanism.to_string(),
            variant.sharing.to_string(),
            scenarios(subject),
            status,
        ]
    };
    listing(Style::Markdown, &head, head.len(), rows.iter().map(cells).collect())
}

fn in_json((subject, availability): &Row) -> Value {
    let variant = &subject.variant;
    let deviation = |it: &Deviation| json!({ "check": it.check, "reason": it.reason });
    let deviations: Vec<Value> = variant.deviations.iter().map(deviation).collect();
    json!({
        "entry": variant.id.entry(),
        "variant": variant.id.variant(),
        "id": variant.id,
        "title": subject.title,
        "description": subject.description,
        "note": variant.note,
        "url": subject.url,
        "class": variant.class,
        "model": variant.model,
        "mechanism": variant.mechanism,
        "sharing": variant.sharing,
        "scenarios": variant.scenarios,
        "skips": variant.skips,
        "known_issues": variant.known_issues,
        "deviations": deviations,
        "max_workers": variant.max_workers,
        "state": state(availability),
        "reason": availability.reason(),
    })
}

/// Everything that an entry declares, a line each.
fn details((subject, availability): &Row) -> String {
    let variant = &subject.variant;
    let mut lines = vec![format!("{}: {}", variant.id, subject.title)];
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            lines.push(format!("  {name:13} {text}"));
        }
    };
    add("description", &subject.description);
    add("variant", variant.note.as_deref().unwrap_or_default());
    add("home", subject.url.as_deref().unwrap_or_default());
    if subject.is_described() {
        let kinds = [variant.class.to_string(), variant.model.to_string()];
        let kinds = format!("{}, {}, {}", kinds.join(", "), variant.mechanism, variant.sharing);
        add("kind", &kinds);
        let scenarios: Vec<&str> = variant.scenarios.iter().map(|it| it.name()).collect();
        add("scenarios", &scenarios.join(", "));
        variant.skips.iter().for_each(|skipped| add("skips", skipped));
        variant.known_issues.iter().for_each(|issue| add("known issue", issue));
        for it in &variant.deviations {
            add("fails check", &format!("{}: {}", it.check, it.reason));
        }
        let sources = subject.checkouts.iter().flat_map(Checkouts::shown);
        sources.for_each(|source| add("source", &source));
        let patches = variant.sources.iter().flat_map(|source| &source.patches);
        patches.for_each(|patch| add("patched", &patch.reason));
        variant.build.iter().for_each(|step| add("built by", &display(&step.command)));
        add("started by", &display(&variant.run.command));
    }
    add("status", state(availability));
    add("", availability.reason().as_deref().unwrap_or_default());
    lines.join("\n") + "\n"
}
