//! `wirebench report`: shows a result again, from its journal alone.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_report::{
    Details, Report as _,
    ab::{Ab, AbOptions},
    analysis::{Analysis, Metric, MetricFacts},
    document::Look,
    format::Format,
    gates::{self, Gate},
    load_text::{Detail, Wanted, load_text},
    screen, site, slices, svg,
    tune::{TuneReport, Tuned},
};
use wirebench_schema::{gate::GateScope, journal::Journal};

use crate::{
    archive,
    exit::{Exit, usage},
    format::{FormatOption, GROUP},
    gate::{GateOptions, Shown},
    latest,
    loads::{self, StoredLoad},
    out,
    results::{self, Known},
    splice,
    suites::with_figures_of_today,
    view_options::ViewOptions,
};

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("fail_if", |it| it.conflicts_with_all(["archive", "svg"])),
    mut_arg("strict", |it| it.requires("fail_if")),
    mut_arg("archive", |it| it.conflicts_with_all(["baseline", "exclude", "sort"]))
)]
pub(crate) struct Arguments {
    /// Result folder of `wirebench run`, `ab`, `tune` or `load`, or its runs.jsonl, which may be
    /// compressed, or load.json; or `latest`, the newest result in the folder of results
    #[arg(value_parser = latest::result())]
    run: PathBuf,
    /// Show all details: intervals, A/A check, outliers, all reasons; with a server, which of its
    /// slices count [default: the page that `run` prints]
    #[arg(long, value_name = "SERVER", num_args = 0..=1, require_equals = true, conflicts_with = GROUP)]
    explain: Option<Option<String>>,
    #[command(flatten)]
    format: FormatOption,
    /// Metric to compare by, with --explain or --markdown, or the only one, with --bencher or
    /// --github-action-benchmark: throughput, cpu, p50, p99, p999, switches, memory or ready; in idle phases
    /// memory-at-rest, memory-idle, memory-per-connection or idle-cpu [default: the primary metric of
    /// each phase; all with --bencher and --github-action-benchmark]
    #[arg(long, value_name = "NAME", value_parser = Metric::read, conflicts_with_all = ["csv", "json"])]
    metric: Option<Metric>,
    /// Replace the text between the lines `<!-- wirebench: begin -->` and `<!-- wirebench: end -->` of
    /// this file by the output
    #[arg(long, value_name = "FILE")]
    splice: Option<PathBuf>,
    /// Write each picture of the HTML report to this folder as SVG
    #[arg(long, value_name = "DIR", conflicts_with_all = [GROUP, "explain", "splice"])]
    svg: Option<PathBuf>,
    /// Write a smaller copy of the result to this folder, to share it: the compressed journal or load
    /// without names and folders, and the machine
    #[arg(long, value_name = "DIR", conflicts_with_all = [GROUP, "explain", "splice", "svg"])]
    archive: Option<PathBuf>,
    #[command(flatten)]
    view: ViewOptions,
    #[command(flatten)]
    gate: GateOptions,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(target) = &arguments.archive {
        archive::write(&arguments.run, target, |text| arguments.format.shared(text))?;
        out::result(&format!("{}\n", target.display()));
        return Ok(Exit::Fine);
    }
    if let Some(load) = loads::read(&arguments.run)? {
        return arguments.load(&load);
    }
    let journal = with_figures_of_today(results::journal(&arguments.run).map_err(usage)?);
    let journal = arguments.view.of(journal)?;
    if let Some(server) = arguments.drawn() {
        let drawn = slices::text(&arguments.view.analysis(&journal), server).map_err(usage)?;
        arguments.print(&drawn)?;
        return Ok(Exit::Fine);
    }
    if let Some(folder) = &arguments.svg {
        let known = Known::of(&journal, results::folder(&arguments.run))?;
        let page =
            site::run_page(&arguments.view.analysis(&journal), known.facts(Look::Plain, None));
        return arguments.pictures(&page, folder);
    }
    let metric = arguments.metric;
    let conditions = arguments.gate.conditions();
    let ab = Ab::of(&journal, &AbOptions { metric, conditions: conditions.to_vec() });
    let tuned = Tuned::of(&journal);
    let of_run = gates::scope("report", &journal);
    arguments.gate.check(&match (&ab, &tuned) {
        (Some(_), _) => GateScope { values: Metric::limitable().collect(), ..of_run },
        (_, Some(_)) => {
            GateScope { values: Metric::limitable().collect(), changes: Vec::new(), ..of_run }
        }
        (None, None) => of_run,
    })?;
    let gate = match (&ab, &tuned) {
        (Some(ab), _) => ab.gate.clone(),
        (None, Some(tuned)) => gates::of_tune(&journal, tuned, conditions),
        (None, None) => gates::of_run(&Analysis::of(&journal), conditions),
    };
    let text = arguments.text(&journal, ab.as_ref(), gate.as_ref())?;
    let is_text = ab.is_some() || arguments.format.format.is_none();
    arguments.print(&text)?;
    let shown = if is_text { Shown::There } else { Shown::Aside };
    arguments.gate.conclude("report", gate.as_ref(), shown)
}

impl Arguments {
    /// The server whose slices are shown.
    fn drawn(&self) -> Option<&str> {
        self.explain.as_ref()?.as_deref()
    }

    /// Shows a load.
    fn load(&self, stored: &StoredLoad) -> anyhow::Result<Exit> {
        let drawn = self.drawn().map(|_| "--explain=SERVER");
        if let Some(option) = self.view.given().or(drawn) {
            return Err(usage(format!(
                "{option} applies to results of `wirebench run`, and this is a load"
            )));
        }
        let report = &stored.result.report;
        self.gate.check(&gates::scope_of_load("report", &report.config))?;
        let gate = gates::of_load(report, self.gate.conditions());
        let load = stored.load(gate.as_ref());
        if let Some(folder) = &self.svg {
            return self.pictures(&load.html(), folder);
        }
        let detail = if self.explain.is_some() { Detail::Everything } else { Detail::Needed };
        let shown = || {
            let wanted = Wanted { detail, look: self.look(), ..Wanted::default() };
            let text = load_text(report, &wanted);
            self.with_place(text)
        };
        self.print(&self.format.text(&load, self.metric, shown))?;
        // Text in wrk's layout has no place for conditions.
        let is_page = self.splice.is_none() && self.format.format.is_none();
        let shown = if is_page { Shown::After } else { Shown::Aside };
        self.gate.conclude("report", gate.as_ref(), shown)
    }

    /// Prints the result, or puts it into a document.
    fn print(&self, text: &str) -> anyhow::Result<()> {
        let Some(file) = &self.splice else {
            out::result(text);
            return Ok(());
        };
        let is_markdown = matches!(self.format.format, Some(Format::Markdown));
        let block = if is_markdown { splice::Block::Markdown } else { splice::Block::Code };
        splice::into(file, block, &self.format.shared(text))?;
        out::note(&format!("{} has the result of {}", file.display(), self.run.display()));
        Ok(())
    }

    /// Writes the pictures of an HTML report.
    fn pictures(&self, page: &str, folder: &Path) -> anyhow::Result<Exit> {
        let pictures = svg::pictures(&self.format.shared(page));
        if pictures.is_empty() {
            return Err(usage(format!(
                "{} has no pictures: they are made of rates and cohorts of `wirebench run`, and of `load`",
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
    fn text(
        &self,
        journal: &Journal,
        ab: Option<&Ab<'_>>,
        gate: Option<&Gate>,
    ) -> anyhow::Result<String> {
        let metric = self.metric;
        let explain = self.explain.is_some() || metric.is_some();
        if let Some(ab) = ab {
            let shown = || if explain { ab.details() } else { ab.page(None) };
            return Ok(self.format.text(ab, metric, shown));
        }
        if let Some(tuned) = Tuned::of(journal).filter(|_| metric.is_none()) {
            let report = TuneReport { journal, tuned: &tuned, gate };
            return Ok(self.format.text(&report, None, || report.details()));
        }
        let known = Known::of(journal, results::folder(&self.run))?;
        let analysis = &self.view.analysis(journal);
        let details = Details { analysis, metric, facts: known.facts(Look::Plain, gate) };
        let page = || self.page(analysis, &known, gate);
        let shown = || if explain { details.details() } else { page() };
        Ok(self.format.text(&details, metric, shown))
    }

    /// The page that `run` prints. In a document there are no colours, and no folder of this machine.
    fn page(&self, analysis: &Analysis<'_>, known: &Known, gate: Option<&Gate>) -> String {
        let mut facts = known.facts(self.look(), gate);
        facts.folder = facts.folder.filter(|_| self.splice.is_none());
        self.with_place(screen::page(analysis, &facts))
    }

    fn with_place(&self, page: String) -> String {
        let folder = results::folder(&self.run);
        if self.splice.is_some() || !folder.join(results::HTML_FILE).is_file() {
            return page;
        }
        format!("{}\n{}", page.trim_end_matches('\n'), results::place(folder))
    }

    fn look(&self) -> Look {
        if self.splice.is_some() { Look::Plain } else { out::look() }
    }
}
