//! `wirebench report`: shows again what a run has measured, from its journal alone.

use std::path::PathBuf;
use wirebench_report::{
    ab::{Ab, Wishes},
    analysis::Metric,
    json,
    table::{Style, report_by},
    tune::{Look, Tuned},
};
use wirebench_runner::journal;

use crate::{
    cmd::tune::look,
    exit::{Exit, usage},
    out,
};

/// Arguments of `wirebench report`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder that `wirebench run` named, or its `runs.jsonl`
    run: PathBuf,
    /// Write Markdown
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write JSON: all metrics with their ratios by block; docs/formats.md describes it
    #[arg(long, conflicts_with = "metric")]
    json: bool,
    /// Compare by this: throughput, cpu, p50, p99, p999, switches or memory; of silent connections
    /// also memory-at-rest, memory-idle, memory-per-connection or idle-cpu [default: what the phase
    /// of each workload is for]
    #[arg(long, value_name = "NAME")]
    metric: Option<Metric>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let journal = journal::read(&arguments.run).map_err(usage)?;
    if let Some(ab) = Ab::of(&journal, &Wishes { metric: arguments.metric, ..Wishes::default() }) {
        out::result(&match (arguments.json, arguments.markdown) {
            (true, _) => ab.json(),
            (false, true) => ab.text(Style::Markdown),
            (false, false) => ab.text(Style::Text),
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
        out::result(&tuned.text(style, if arguments.markdown { Look::Plain } else { look() }));
        return Ok(Exit::Fine);
    }
    out::result(&report_by(&journal, style, arguments.metric));
    Ok(Exit::Fine)
}
