//! `wirebench site`: a static site of many results. What was made of a run is kept with it, so that each
//! journal is read once.

use anyhow::Context as _;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
};
use wirebench_experiment::{
    experiment::ENVIRONMENT_FILE,
    journal::{self, JOURNAL_FILE},
};
use wirebench_report::{
    Report as _,
    analysis::Analysis,
    document::Look,
    load::LOAD_FILE,
    site::{self, Changes, FORMAT, Summary},
};
use wirebench_schema::{journal::Journal, secrets};
use wirebench_server::{digest, parallel};

use crate::{
    args::format::{SecretsOption, redacted},
    exit::{Exit, usage},
    out,
    plan::count,
    results::{
        loads,
        stored::{Known, Stored},
    },
    suites::with_figures_of_today,
};

/// The depth of result folders below those that are given.
const DEPTH: usize = 3;
const SUMMARY_FILE: &str = "summary.json";
const PAGE_FILE: &str = "index.html";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The site has a page with all significant changes and loads, and one for each run, load, server and machine. It \
works without a server. Runs that are already in OUT stay, so results can be added one by one.

Manual: docs/site.md")]
pub(crate) struct Arguments {
    /// Result folders, or folders with result folders in them
    #[arg(required = true, value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder of the site
    #[arg(short, long = "output", visible_alias = "out", value_name = "OUT")]
    out: PathBuf,
    /// Keep folders, and host and user names
    #[arg(long)]
    no_redact: bool,
    #[command(flatten)]
    secrets: SecretsOption,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut found = Vec::new();
    for folder in &arguments.folders {
        let before = found.len();
        results_below(folder, DEPTH, &mut found)
            .map_err(|error| usage(format!("cannot read {}: {error}", folder.display())))?;
        if found.len() == before {
            return Err(usage(format!(
                "{} has no result: name folders with a {JOURNAL_FILE} or {LOAD_FILE}, such as target/wirebench",
                folder.display()
            )));
        }
    }
    let runs = arguments.out.join("runs");
    let first_page = arguments.out.join(PAGE_FILE);
    if first_page.exists() && !runs.exists() {
        return Err(usage(format!(
            "{} is not of a site of wirebench and would be overwritten: use another --output",
            first_page.display()
        )));
    }
    fs::create_dir_all(&runs).with_context(|| format!("cannot create {}", runs.display()))?;
    let loads = arguments.out.join("loads");
    let failed = in_parallel(&found, |folder| match journal::is_in(folder) {
        true => arguments.add(folder, &runs),
        false => arguments.add_load(folder, &loads),
    });
    for (folder, why) in &failed {
        out::note(&format!("warning: skipped {}: {why:#}", folder.display()));
    }
    let summaries = stored([&runs, &loads])?;
    let changes = arguments.changes(&summaries, &runs)?;
    for page in site::pages(&summaries, &changes) {
        write(&arguments.out.join(page.path), &page.text)?;
    }
    let significant = changes.iter().filter(|it| !it.changes.is_empty()).count();
    let loads = summaries.iter().filter(|it| it.load.is_some()).count();
    let runs = count(summaries.len() - loads, "run");
    let page = first_page.display();
    let loads = match loads {
        0 => String::new(),
        number => format!(", {}", count(number, "load")),
    };
    out::result(&format!("{runs}, {significant} with significant changes{loads}: {page}\n"));
    Ok(if failed.is_empty() { Exit::Fine } else { Exit::Failed })
}

impl Arguments {
    fn shared(&self, text: &str) -> String {
        if self.no_redact { text.to_owned() } else { redacted(text) }
    }

    /// Adds a run to the site, unless it is there.
    fn add(&self, folder: &Path, runs: &Path) -> anyhow::Result<()> {
        let (_, text) = journal::text(folder).map_err(anyhow::Error::msg)?;
        self.keep(folder, runs, (JOURNAL_FILE, text), |id, text| {
            let text = out::hide(text, |it| secrets::hidden_json(&it));
            let journal = with_figures_of_today(Journal::parse(&text)?);
            let known = Known::of(&journal, folder)?;
            let analysis = Analysis::of(&journal);
            let page = site::run_page(&analysis, known.facts(Look::Plain, None)).html();
            let environment = journal::environment(folder).map_err(usage)?;
            let origin = digest::of_text(text.lines().next().unwrap_or_default());
            let summary = site::summary((id, &origin), &analysis, environment.as_ref());
            Ok((text, page, summary))
        })
    }

    /// Adds a load to the site, unless it is there.
    fn add_load(&self, folder: &Path, all: &Path) -> anyhow::Result<()> {
        let other = || format!("{LOAD_FILE} is not a load");
        let text = loads::text(folder)?.with_context(other)?;
        self.keep(folder, all, (LOAD_FILE, text), |id, text| {
            let stored = loads::read(folder)?.with_context(other)?;
            let summary = site::load_summary(id, &stored.result, stored.environment.as_ref());
            Ok((text, stored.load(None).html(), summary))
        })
    }

    /// Makes the folder of a result with this file, a page and a summary, unless it is there. The summary is written
    /// last.
    fn keep(
        &self,
        folder: &Path,
        all: &Path,
        (file, text): (&str, String),
        made: impl FnOnce(&str, String) -> anyhow::Result<(String, String, Summary)>,
    ) -> anyhow::Result<()> {
        let id = digest::of_text(&text);
        let own = all.join(&id);
        if read::<Summary>(&own.join(SUMMARY_FILE)).is_some_and(|it| it.format == FORMAT) {
            return Ok(());
        }
        let (text, page, summary) = made(&id, text)?;
        let environment = fs::read_to_string(folder.join(ENVIRONMENT_FILE)).ok();
        let environment = environment.as_deref().map(|it| (ENVIRONMENT_FILE, it));
        let files = [(file, &*text), (PAGE_FILE, &*page)].into_iter().chain(environment);
        for (name, text) in files {
            write(&own.join(name), &self.shared(text))?;
        }
        write_json(&own.join(SUMMARY_FILE), &summary)
    }

    /// The changes from each run to the next one, which are kept with the newer one.
    fn changes(&self, summaries: &[Summary], runs: &Path) -> anyhow::Result<Vec<Changes>> {
        let pairs = site::pairs(summaries);
        let file = |old: &Summary, new: &Summary| {
            runs.join(&new.id).join(format!("changes-since-{}.json", old.id))
        };
        let missing: Vec<_> =
            pairs.iter().filter(|(old, new)| !file(old, new).is_file()).copied().collect();
        let failed = in_parallel(&missing, |(old, new)| {
            let [one, other] = [old, new].map(|it| Stored::read(&runs.join(&it.id)));
            let (one, other) =
                (one.map_err(anyhow::Error::msg)?, other.map_err(anyhow::Error::msg)?);
            let changes = site::changes(&one.side(&old.id), &other.side(&new.id));
            write_json(&file(old, new), &changes)
        });
        if let Some((_, why)) = failed.into_iter().next() {
            return Err(why);
        }
        Ok(pairs.iter().filter_map(|(old, new)| read(&file(old, new))).collect())
    }
}

/// The folders with a journal or a load at `folder` and below it.
fn results_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if journal::is_in(folder) || loads::is_in(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(folder)?.map(|it| it.map(|it| it.path()));
    let mut folders = entries.collect::<Result<Vec<_>, _>>()?;
    folders.sort();
    for inner in folders.iter().filter(|it| depth > 0 && it.is_dir()) {
        results_below(inner, depth - 1, found)?;
    }
    Ok(())
}

/// All results of the site in the order of their start. A run that was resumed has several journals, of which the
/// longest counts.
fn stored(folders: [&Path; 2]) -> anyhow::Result<Vec<Summary>> {
    let mut found: BTreeMap<(String, String), Summary> = BTreeMap::new();
    for folder in folders.into_iter().filter(|it| it.is_dir()) {
        for entry in fs::read_dir(folder)? {
            let summary = read::<Summary>(&entry?.path().join(SUMMARY_FILE));
            let Some(summary) = summary.filter(|it| it.format == FORMAT) else { continue };
            let key = (summary.started.clone(), summary.origin.clone());
            if found.get(&key).is_none_or(|known| summary.runs >= known.runs) {
                found.insert(key, summary);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Does something with all of `items` on all CPUs, and returns those with which it failed.
fn in_parallel<T: Sync + Clone + Send>(
    items: &[T],
    work: impl Fn(&T) -> anyhow::Result<()> + Sync,
) -> Vec<(T, anyhow::Error)> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let failed = |item: &T| work(item).err().map(|error| (item.clone(), error));
    parallel::map(items, threads, failed).into_iter().flatten().collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn write_json(path: &Path, value: &impl Serialize) -> anyhow::Result<()> {
    write(path, &serde_json::to_string(value)?)
}

/// Replaces a file as a whole, or leaves it as it was.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(failed)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&new, text).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.with_context(failed)
}
