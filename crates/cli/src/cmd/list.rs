//! `wirebench list`: what can be measured, and what is missing for the rest.

mod details;
mod overview;

use serde_json::{Value, json};
use wirebench_catalogue::{requirement::Availability, subject::Subject};
use wirebench_report::{
    format::Format,
    table::{Style, listing},
};
use wirebench_schema::{
    entry::{Deviation, Mechanism},
    id::{VariantId, is_like},
    suggest,
};

use crate::{
    args::{
        format::{FormatOption, GROUP, one_of},
        project::ProjectOption,
    },
    context::Context,
    embedded,
    exit::{Exit, usage},
    out,
};
use details::details;
use overview::Listed;

#[derive(Debug, clap::Args)]
#[command(mut_arg("format", |it| it.value_parser(one_of([Format::Markdown, Format::Json]))))]
pub(crate) struct Arguments {
    /// Entries such as c/epoll, variants such as cpp/boost-asio:prefork, languages such as go, or
    /// patterns such as '*/*asio*', to show each variant; a single entry is shown with details
    /// [default: all, a line per entry]
    names: Vec<String>,
    /// List only what can be built and measured here
    #[arg(long)]
    ready: bool,
    /// List only what needs setup or is not available
    #[arg(long, conflicts_with = "ready")]
    missing: bool,
    /// List only this language, such as go, or pattern; repeatable
    #[arg(long = "language", value_name = "NAME")]
    languages: Vec<String>,
    /// List only this framework, such as netty, or pattern, such as '*asio*'; repeatable
    #[arg(long = "framework", value_name = "NAME")]
    frameworks: Vec<String>,
    /// List only variants with this event mechanism: epoll, io_uring or blocking; repeatable
    #[arg(long = "mechanism", value_name = "NAME")]
    mechanisms: Vec<Mechanism>,
    #[command(flatten)]
    format: FormatOption,
    /// Show all details of each variant
    #[arg(short = 'v', long, conflicts_with = GROUP)]
    details: bool,
    #[command(flatten)]
    project: ProjectOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let context = Context::new(&arguments.project)?;
    let subjects = arguments.filter(context.select(&arguments.names)?)?;
    let survey = context.prober().survey(&subjects);
    let rows = subjects.into_iter().zip(survey);
    let is_wanted = |(_, availability): &Listed| match availability {
        Availability::Ready => !arguments.missing,
        Availability::NeedsSetup { .. } | Availability::NotAvailable { .. } => !arguments.ready,
    };
    let rows: Vec<Listed> = rows.filter(is_wanted).collect();
    let width = out::columns().map_or(overview::WIDTH, usize::from);
    let form = arguments.format.get();
    let text = if form == Some(Format::Markdown) {
        in_markdown(&rows)
    } else if form.is_some() {
        serde_json::to_string_pretty(&rows.iter().map(in_json).collect::<Vec<_>>())?
    } else if arguments.details || is_one_entry(&arguments.names) {
        rows.iter().map(details).collect::<Vec<_>>().join("\n")
    } else if rows.is_empty() {
        "no variant matches all of these options".to_owned()
    } else if arguments.names.is_empty() {
        overview::entries(&rows, width)
    } else {
        overview::variants(&rows, width)
    };
    out::result(&text);
    out::note(&embedded::headline(&context.project));
    Ok(context.interrupt.exit().unwrap_or(Exit::Fine))
}

impl Arguments {
    /// The subjects that the options mean. A name that means none is an error.
    fn filter(&self, mut subjects: Vec<Subject>) -> anyhow::Result<Vec<Subject>> {
        keep(&mut subjects, ("language", &self.languages), VariantId::language)?;
        keep(&mut subjects, ("framework", &self.frameworks), VariantId::framework)?;
        if !self.mechanisms.is_empty() {
            let declared = |it: &Subject| it.declared_mechanism();
            subjects.retain(|it| declared(it).is_some_and(|it| self.mechanisms.contains(&it)));
        }
        Ok(subjects)
    }
}

/// Keeps the subjects with one of these names, which `part` takes from theirs.
fn keep(
    subjects: &mut Vec<Subject>,
    (kind, names): (&str, &[String]),
    part: fn(&VariantId) -> &str,
) -> anyhow::Result<()> {
    let of = |subject: &Subject, name: &String| is_like(name, part(&subject.variant.id));
    for name in names {
        if !subjects.iter().any(|it| of(it, name)) {
            let known = subjects.iter().map(|it| part(&it.variant.id));
            let unknown = suggest::unknown(kind, name, known);
            return Err(usage(format!("{unknown} (`wirebench list` shows all)")));
        }
    }
    subjects.retain(|it| names.is_empty() || names.iter().any(|name| of(it, name)));
    Ok(())
}

fn is_one_entry(names: &[String]) -> bool {
    let is_entry = |name: &str| name.contains('/') && !name.ends_with('/') && !name.contains('*');
    matches!(names, [name] if is_entry(name))
}

fn in_markdown(rows: &[Listed]) -> String {
    let head = ["entry", "class", "model", "mechanism", "sharing", "scenarios", "state"];
    let cells = |(subject, availability): &Listed| {
        let variant = &subject.variant;
        let state = match availability.reason() {
            None => availability.state().to_owned(),
            Some(reason) => format!("{}: {reason}", availability.state()),
        };
        vec![
            variant.id.to_string(),
            variant.class.to_string(),
            variant.model.to_string(),
            variant.mechanism.to_string(),
            variant.sharing.to_string(),
            overview::scenarios(&[subject]),
            state,
        ]
    };
    listing(Style::Markdown, &head, head.len(), rows.iter().map(cells).collect())
}

fn in_json((subject, availability): &Listed) -> Value {
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
        "state": availability.state(),
        "reason": availability.reason(),
    })
}
