//! `wirebench site`: a static site of many results. What was made of a run is kept with it, so that each
//! journal is read once.

mod loads;

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
        loads::is_in as is_load,
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
        false => loads::add(arguments, folder, &loads),
    });
    for (folder, why) in &failed {
        out::note(&format!("warning: skipped {}: {why:#}", folder.display()));
    }
    let summaries = stored(&runs)?;
    let changes = arguments.changes(&summaries, &runs)?;
    let loads = loads::stored(&loads)?;
    for page in site::pages(&summaries, &changes, &loads) {
        write(&arguments.out.join(page.path), &page.text)?;
    }
    let significant = changes.iter().filter(|it| !it.changes.is_empty()).count();
    let runs = count(summaries.len(), "run");
    let page = first_page.display();
    let loads = match loads.len() {
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

    /// Makes the folder of a run in the site, unless it is there. Its summary is written last.
    fn add(&self, folder: &Path, runs: &Path) -> anyhow::Result<()> {
        let (_, text) = journal::text(folder).map_err(anyhow::Error::msg)?;
        let own = runs.join(digest::of_text(&text));
        if read::<Summary>(&own.join(SUMMARY_FILE)).is_some_and(|it| it.format == FORMAT) {
            return Ok(());
        }
        let text = out::hide(text, |it| secrets::hidden_json(&it));
        let journal = with_figures_of_today(Journal::parse(&text)?);
        fs::create_dir_all(&own)?;
        write(&own.join(JOURNAL_FILE), &self.shared(&text))?;
        let environment = fs::read_to_string(folder.join(ENVIRONMENT_FILE)).ok();
        if let Some(environment) = &environment {
            write(&own.join(ENVIRONMENT_FILE), &self.shared(environment))?;
        }
        let known = Known::of(&journal, folder)?;
        let analysis = Analysis::of(&journal);
        let page = site::run_page(&analysis, known.facts(Look::Plain, None)).html();
        write(&own.join(PAGE_FILE), &self.shared(&page))?;
        let environment = journal::environment(folder).map_err(usage)?;
        let id = own.file_name().unwrap_or_default().to_string_lossy();
        let origin = digest::of_text(text.lines().next().unwrap_or_default());
        let summary = site::summary((&id, &origin), &analysis, environment.as_ref());
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
    if journal::is_in(folder) || is_load(folder) {
        found.push(folder.to_owned());
        return Ok(());
    }
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut folders: Vec<PathBuf> =
        entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()).collect();
    folders.sort();
    for inner in folders.iter().filter(|_| depth > 0) {
        results_below(inner, depth - 1, found)?;
    }
    Ok(())
}

/// All runs of the site in the order of their start. A run that was resumed has several journals, of
/// which the longest counts.
fn stored(runs: &Path) -> anyhow::Result<Vec<Summary>> {
    let mut found: BTreeMap<(String, String), Summary> = BTreeMap::new();
    for entry in fs::read_dir(runs)? {
        let Some(summary) = read::<Summary>(&entry?.path().join(SUMMARY_FILE)) else { continue };
        let key = (summary.started.clone(), summary.origin.clone());
        let known = found.get(&key).map_or(0, |known| known.runs);
        if summary.format == FORMAT && summary.runs >= known {
            found.insert(key, summary);
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
