//! `wirebench report`: shows a result again, from its journal alone.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_experiment::journal;
use wirebench_report::{
    Details, Report as _,
    ab::{Ab, AbOptions},
    analysis::{Analysis, Metric},
    document::Look,
    format::Format,
    screen, site, svg,
    tune::Tuned,
};
use wirebench_schema::journal::Journal;

use crate::{
    archive,
    exit::{Exit, usage},
    format::{FormatOption, GROUP},
    gate::GateOptions,
    out,
    results::{self, Known},
    splice,
};

const FAIL_IF: &str = "Exit with 4 if the whole interval of a change from A to B is beyond this, such as 'cpu > \
                       +3%'; for results of `ab`; repeatable";

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("fail_if", |it| it.help(FAIL_IF).conflicts_with_all(["archive", "svg"])),
    mut_arg("strict", |it| it.requires("fail_if"))
)]
pub(crate) struct Arguments {
    /// Result folder of `wirebench run`, `ab` or `tune`, or its runs.jsonl, which may be compressed
    run: PathBuf,
    /// Show all details: intervals, A/A check, outliers, all reasons [default: the page that `run`
    /// prints]
    #[arg(long, conflicts_with = GROUP)]
    explain: bool,
    #[command(flatten)]
    format: FormatOption,
    /// Metric to compare by, with --explain or --markdown, or the only one, with --bencher or
    /// --github-action-benchmark: throughput, cpu, p50, p99, p999, switches or memory; in idle phases
    /// memory-at-rest, memory-idle, memory-per-connection or idle-cpu [default: the primary metric of
    /// each phase; all with --bencher and --github-action-benchmark]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["csv", "json"])]
    metric: Option<Metric>,
    /// Replace the text between the lines `<!-- wirebench: begin -->` and `<!-- wirebench: end -->` of
    /// this file by the output
    #[arg(long, value_name = "FILE")]
    splice: Option<PathBuf>,
    /// Write each picture of the HTML report to this folder as SVG
    #[arg(long, value_name = "DIR", conflicts_with_all = [GROUP, "explain", "splice"])]
    svg: Option<PathBuf>,
    /// Write a smaller copy of the result to this folder, to share it: the compressed journal without
    /// names and folders, and the machine
    #[arg(long, value_name = "DIR", conflicts_with_all = [GROUP, "explain", "splice", "svg"])]
    archive: Option<PathBuf>,
    #[command(flatten)]
    gate: GateOptions,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let journal = journal::read(&arguments.run).map_err(usage)?;
    if let Some(target) = &arguments.archive {
        let folder = results::folder(&arguments.run);
        archive::write(folder, target, |text| arguments.format.shared(text))?;
        out::result(&format!("{}\n", target.display()));
        return Ok(Exit::Fine);
    }
    if let Some(folder) = &arguments.svg {
        return arguments.pictures(&journal, folder);
    }
    let metric = arguments.metric;
    let ab = Ab::of(&journal, &AbOptions { metric, conditions: arguments.gate.fail_if.clone() });
    if ab.is_none() && !arguments.gate.fail_if.is_empty() {
        return Err(usage(format!(
            "--fail-if compares two servers, and {} is not a result of `wirebench ab`: use `wirebench compare OLD \
             NEW --fail-if` for two results of `run`",
            arguments.run.display()
        )));
    }
    let text = arguments.text(&journal, ab.as_ref())?;
    let exit = arguments.gate.conclude("report", ab.as_ref().and_then(|it| it.gate.as_ref()))?;
    let Some(file) = &arguments.splice else {
        out::result(&text);
        return Ok(exit);
    };
    let is_markdown = matches!(arguments.format.format, Some(Format::Markdown));
    let block = if is_markdown { splice::Block::Markdown } else { splice::Block::Code };
    let text = arguments.format.shared(&text);
    splice::into(file, block, &text)?;
    out::note(&format!("{} has the result of {}", file.display(), arguments.run.display()));
    Ok(exit)
}

impl Arguments {
    /// Writes the pictures of the HTML report.
    fn pictures(&self, journal: &Journal, folder: &Path) -> anyhow::Result<Exit> {
        let known = Known::of(journal, results::folder(&self.run))?;
        let page = site::run_page(&Analysis::of(journal), known.facts(Look::Plain));
        let pictures = svg::pictures(&self.format.shared(&page));
        if pictures.is_empty() {
            return Err(usage(format!(
                "{} has no pictures: they are made of rates and cohorts of `wirebench run`",
                self.run.display()
            )));
        }
        let failed = |path: &Path| format!("cannot write {}", path.display());
        fs::create_dir_all(folder).with_context(|| failed(folder))?;
        for picture in pictures {
            let path = folder.join(picture.name);
            fs::write(&path, picture.text).with_context(|| failed(&path))?;
            out::result(&format!("{}\n", path.display()));
        }
        Ok(Exit::Fine)
    }

    /// The result as it was asked for.
    fn text(&self, journal: &Journal, ab: Option<&Ab<'_>>) -> anyhow::Result<String> {
        let metric = self.metric;
        let explain = self.explain || metric.is_some();
        if let Some(ab) = ab {
            let shown = || if explain { ab.details() } else { ab.page(None) };
            return Ok(self.format.text(ab, metric, shown));
        }
        if let Some(tuned) = Tuned::of(journal).filter(|_| metric.is_none()) {
            return Ok(self.format.text(&tuned, None, || tuned.text(self.look())));
        }
        let known = Known::of(journal, results::folder(&self.run))?;
        let analysis = &Analysis::of(journal);
        let details = Details { analysis, metric, facts: known.facts(Look::Plain) };
        let shown = || if explain { details.details() } else { self.page(analysis, &known) };
        Ok(self.format.text(&details, metric, shown))
    }

    /// The page that `run` prints. In a document there are no colours, and no folder of this machine.
    fn page(&self, analysis: &Analysis<'_>, known: &Known) -> String {
        let folder = results::folder(&self.run);
        let page = screen::page(analysis, &known.facts(self.look()));
        if self.splice.is_some() || !folder.join(results::HTML_FILE).is_file() {
            return page;
        }
        format!("{}\n{}", page.trim_end_matches('\n'), results::place(folder))
    }

    fn look(&self) -> Look {
        if self.splice.is_some() { Look::Plain } else { out::look() }
    }
}
