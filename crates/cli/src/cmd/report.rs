//! `wirebench report`: shows a result again, from its journal alone.

use std::path::PathBuf;
use wirebench_experiment::journal;
use wirebench_report::{
    ab::{Ab, AbOptions},
    analysis::Metric,
    json,
    table::{Style, report_by},
    tune::{Look, Tuned},
};

use crate::{
    exit::{Exit, usage},
    out, results,
};

/// Arguments of `wirebench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Result folder of `wirebench run`, `ab` or `tune`, or its runs.jsonl
    run: PathBuf,
    /// Show all details: intervals, A/A check, outliers, all reasons [default: the page that `run`
    /// prints]
    #[arg(long, conflicts_with_all = ["json", "markdown"])]
    explain: bool,
    /// Print all details as Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print JSON with all metrics and their ratios by block, described in docs/formats.md
    #[arg(long, conflicts_with = "metric")]
    json: bool,
    /// Metric to compare by, with --explain or --markdown: throughput, cpu, p50, p99, p999, switches or
    /// memory; in idle phases memory-at-rest, memory-idle, memory-per-connection or idle-cpu
    /// [default: the primary metric of each phase]
    #[arg(long, value_name = "NAME")]
    metric: Option<Metric>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let journal = journal::read(&arguments.run).map_err(usage)?;
    if let Some(ab) =
        Ab::of(&journal, &AbOptions { metric: arguments.metric, ..AbOptions::default() })
    {
        out::result(&match arguments.form() {
            Form::Json => ab.json(),
            Form::Markdown => ab.text(Style::Markdown),
            Form::Explain => ab.text(Style::Text),
            Form::Page => ab.page(),
        });
        return Ok(Exit::Fine);
    }
    let tuned = Tuned::of(&journal).filter(|_| arguments.metric.is_none());
    if arguments.json {
        out::result(&match tuned {
            Some(tuned) => serde_json::to_string_pretty(&tuned)?,
            None => json::text(&journal),
        });
        return Ok(Exit::Fine);
    }
    let style = if arguments.markdown { Style::Markdown } else { Style::Text };
    if let Some(tuned) = tuned {
        out::result(&tuned.text(style, if arguments.markdown { Look::Plain } else { out::look() }));
        return Ok(Exit::Fine);
    }
    if arguments.form() != Form::Page {
        out::result(&report_by(&journal, style, arguments.metric));
        return Ok(Exit::Fine);
    }
    let folder = results::folder(&arguments.run);
    out::result(&results::page(&journal, folder));
    if folder.join(results::DETAILS_FILE).is_file() {
        out::result(&results::place(folder));
    }
    Ok(Exit::Fine)
}

/// What is shown of a result.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    /// What `run` prints.
    Page,
    /// Everything.
    Explain,
    /// Everything, as Markdown.
    Markdown,
    /// Everything, for programs.
    Json,
}

impl Arguments {
    /// The page has one metric, so another one is in the details.
    const fn form(&self) -> Form {
        match (self.json, self.markdown, self.explain || self.metric.is_some()) {
            (true, ..) => Form::Json,
            (false, true, _) => Form::Markdown,
            (false, false, true) => Form::Explain,
            (false, false, false) => Form::Page,
        }
    }
}
