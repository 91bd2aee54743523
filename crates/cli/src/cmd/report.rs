//! `wirebench report`: shows a result again, from its journal alone.

use anyhow::Context as _;
use std::{
    fs,
    path::{Path, PathBuf},
};
use wirebench_report::{
    Details, Report,
    ab::{Ab, AbOptions},
    analysis::{Analysis, Metric, MetricFacts},
    document::{Document, Look},
    format::Format,
    gates::{self, Gate},
    load,
    load_text::{Detail, Wanted, load_text},
    screen, site, svg,
    tune::{self, Tuned},
    visits,
};
use wirebench_schema::gate::GateScope;

use crate::{
    args::{filter::ViewOptions, format::GROUP, gate::Shown},
    deliver::DeliveryArgs,
    exit::{Exit, usage},
    out,
    results::{
        archive, latest,
        loads::{self, StoredLoad},
        splice,
        stored::{self, Known},
    },
    suites::with_figures_of_today,
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
    /// visits count [default: the page that `run` prints]
    #[arg(long, value_name = "SERVER", num_args = 0..=1, require_equals = true, conflicts_with = GROUP)]
    explain: Option<Option<String>>,
    /// Metric to compare by, with --explain or --format markdown, or the only one, with --format bencher or
    /// github-action-benchmark: throughput, cpu, p50, p99, p999, switches, memory or ready; in idle phases
    /// memory-at-rest, memory-idle, memory-per-connection or idle-cpu [default: the primary metric of
    /// each phase; all with the last two forms]
    #[arg(long, value_name = "NAME", value_parser = Metric::read)]
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
    delivery: DeliveryArgs,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(target) = &arguments.archive {
        archive::write(&arguments.run, target, |text| arguments.delivery.format.shared(text))?;
        out::result(&format!("{}\n", target.display()));
        return Ok(Exit::Fine);
    }
    if let (Some(_), Some(form @ (Format::Csv | Format::Json))) =
        (arguments.metric, arguments.delivery.format.form.get())
    {
        let form = form.name();
        return Err(usage(format!("--format {form} has all metrics: omit --metric")));
    }
    if let Some(load) = loads::read(&arguments.run)? {
        return arguments.load(&load);
    }
    let journal = with_figures_of_today(stored::journal(&arguments.run).map_err(usage)?);
    let journal = arguments.view.of(journal)?;
    if let Some(server) = arguments.drawn() {
        let drawn = visits::text(&arguments.view.analysis(&journal), server).map_err(usage)?;
        arguments.print(&drawn)?;
        return Ok(Exit::Fine);
    }
    if let Some(folder) = &arguments.svg {
        let known = Known::of(&journal, stored::folder(&arguments.run))?;
        let page =
            site::run_page(&arguments.view.analysis(&journal), known.facts(Look::Plain, None));
        return arguments.pictures(&page, folder);
    }
    let metric = arguments.metric;
    let is_explained = arguments.explain.is_some() || metric.is_some();
    let DeliveryArgs { gate: options, .. } = &arguments.delivery;
    let scope = gates::scope("report", &journal);
    let conditions = &options.conditions();
    if let Some(ab) = Ab::of(&journal, &AbOptions { metric, conditions: conditions.to_vec() }) {
        options.check(&GateScope { values: Metric::limitable().collect(), ..scope })?;
        let page = || if is_explained { ab.details() } else { ab.page(None) };
        return arguments.show(&ab, (ab.gate.as_ref(), Shown::There), page);
    }
    if let Some(mut tuned) = Tuned::of(&journal).filter(|_| metric.is_none()) {
        let values = Metric::limitable().collect();
        options.check(&GateScope { values, changes: Vec::new(), ..scope })?;
        tuned.gate = tune::gate(&tuned, conditions);
        return arguments.show(&tuned, (tuned.gate.as_ref(), Shown::There), || tuned.details());
    }
    options.check(&scope)?;
    let analysis = &arguments.view.analysis(&journal);
    let gate = &gates::of_run(analysis, conditions);
    let known = Known::of(&journal, stored::folder(&arguments.run))?;
    let details = Details { analysis, metric, facts: known.facts(Look::Plain, gate.as_ref()) };
    arguments.show(&details, (gate.as_ref(), Shown::There), || match is_explained {
        true => details.details(),
        false => arguments.page(analysis, &known, gate.as_ref()),
    })
}

impl Arguments {
    /// The server whose visits are shown.
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
        self.delivery.gate.check(&gates::scope_of_load("report", &report.config))?;
        let gate = load::gate(report, &self.delivery.gate.conditions());
        let load = stored.load(gate.as_ref());
        if let Some(folder) = &self.svg {
            return self.pictures(&load.page(), folder);
        }
        let detail = if self.explain.is_some() { Detail::Everything } else { Detail::Needed };
        let shown = || {
            let wanted = Wanted { detail, look: self.look(), ..Wanted::default() };
            let text = load_text(report, &wanted);
            self.with_place(text)
        };
        // Text in wrk's layout has no place for conditions.
        let place = if self.splice.is_none() { Shown::After } else { Shown::Aside };
        self.show(&load, (gate.as_ref(), place), shown)
    }

    /// Prints a result, on a terminal as `page`, and judges it.
    fn show(
        &self,
        report: &dyn Report,
        (gate, place): (Option<&Gate>, Shown),
        page: impl FnOnce() -> String,
    ) -> anyhow::Result<Exit> {
        self.print(&self.delivery.format.text(report, self.metric, page))?;
        self.delivery.judge(("report", gate, place), || Exit::Fine)
    }

    /// Prints the result, or puts it into a document.
    fn print(&self, text: &str) -> anyhow::Result<()> {
        let Some(file) = &self.splice else {
            out::result(text);
            return Ok(());
        };
        let is_markdown = self.delivery.format.form.get() == Some(Format::Markdown);
        let block = if is_markdown { splice::Block::Markdown } else { splice::Block::Code };
        splice::into(file, block, &self.delivery.format.shared(text))?;
        out::note(&format!("{} has the result of {}", file.display(), self.run.display()));
        Ok(())
    }

    /// Writes the pictures of an HTML report.
    fn pictures(&self, page: &Document, folder: &Path) -> anyhow::Result<Exit> {
        let pictures = svg::pictures(page, |text| self.delivery.format.shared(text));
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

    /// The page that `run` prints. In a document there are no colours, and no folder of this machine.
    fn page(&self, analysis: &Analysis<'_>, known: &Known, gate: Option<&Gate>) -> String {
        let mut facts = known.facts(self.look(), gate);
        facts.folder = facts.folder.filter(|_| self.splice.is_none());
        self.with_place(screen::page(analysis, &facts))
    }

    fn with_place(&self, page: String) -> String {
        let folder = stored::folder(&self.run);
        if self.splice.is_some() || !folder.join(stored::HTML_FILE).is_file() {
            return page;
        }
        format!("{}\n{}", page.trim_end_matches('\n'), stored::place(folder))
    }

    fn look(&self) -> Look {
        if self.splice.is_some() { Look::Plain } else { out::look() }
    }
}
